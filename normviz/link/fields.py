"""What do the short texts of a link say: an eps, a cell?"""

from __future__ import annotations

from normviz.errors import InputError
from normviz.text import N_


def shortened(text: str) -> str:
    """A person's text as it is quoted in a sentence: 40 characters at most."""
    return text if len(text) <= 40 else text[:39] + "…"


def parse_eps(text: str) -> float:
    """The number that an eps field holds: 0 to 10.

    Raises
    ------
    InputError
        If it is no finite number in that range.
    """
    try:
        value = float(text.strip() or "nan")
    except ValueError:
        value = float("nan")
    if not 0 <= value <= 10:
        raise InputError(
            N_("{field}: a number from {low} to {high} is allowed, got “{got}”."),
            field="eps",
            low=0,
            high=10,
            got=shortened(text),
        )
    return value


def parse_cell(text: str) -> tuple[int, int, int]:
    """The cell that a link names: `b.t.c`, counted from 0.

    Raises
    ------
    InputError
        If it is not three whole numbers joined by dots.
    """
    parts = text.split(".")
    if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError(
            N_("The selected cell is written b.t.c with three whole numbers, such as 0.1.2; got “{got}”."),
            got=shortened(text),
        )
    batch, token, channel = (int(part) for part in parts)
    return batch, token, channel
