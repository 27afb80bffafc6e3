"""What do the short texts of a link and of the fields say: a vector, an eps, a cell?"""

from __future__ import annotations

import re
from functools import lru_cache

from normviz.arrays import Floats, vectors
from normviz.errors import InputError
from normviz.text import N_
from normviz.vectors import parse_vector

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
"""A plain decimal number. `float` also reads 1_0, full-width digits and words."""

_CELL = re.compile(r"(\d{1,4})\.(\d{1,4})\.(\d{1,4})", re.ASCII)


def shortened(text: str) -> str:
    """A person's text as it is quoted in a sentence: 40 characters at most."""
    return text if len(text) <= 40 else text[:39] + "…"


@lru_cache(maxsize=4)
def parse_x(text: str) -> Floats:
    """The vector that the vector lab's field holds: numbers that the norms can take.

    The last few are remembered, because a page reads its fields again at every click.

    Raises
    ------
    InputError
        If the text is no vector, or holds numbers whose squares leave the range of float64.
    """
    return vectors(parse_vector(text))


def parse_eps(text: str) -> float:
    """The number that an eps field holds: 0 to 10.

    Raises
    ------
    InputError
        If it is no plain number in that range.
    """
    value = float(text) if _NUMBER.fullmatch(text := text.strip()) else -1.0
    if not 0 <= value <= 10:
        raise InputError(
            N_("A number from {low} to {high} is allowed; got “{got}”."), low=0, high=10, got=shortened(text)
        )
    return value


def parse_cell(text: str) -> tuple[int, int, int]:
    """The cell that a link names: `b.t.c`, counted from 0.

    Raises
    ------
    InputError
        If it is not three whole numbers joined by dots.
    """
    match = _CELL.fullmatch(text)
    if match is None:
        raise InputError(
            N_("A cell is written b.t.c with three whole numbers, such as 0.1.2; got “{got}”."), got=shortened(text)
        )
    batch, token, channel = (int(part) for part in match.groups())
    return batch, token, channel
