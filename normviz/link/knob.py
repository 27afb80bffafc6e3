"""What is one control: its id in the link, kind, bounds, default and words?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Literal

from normviz.errors import InputError
from normviz.link.fields import shortened
from normviz.text import N_

Kind = Literal["int", "float", "bool", "choice", "choices", "text"]


@dataclass(frozen=True, kw_only=True)
class Knob:
    """One control of a page and its place in the link.

    Parameters
    ----------
    id
        Name in the query string, never translated.
    label
        English label, marked for translation.
    kind
        How the value is written in the link; `choices` is a comma-separated set of option ids.
    default
        Value of the first view; it is left out of the link.
    low, high, step
        Bounds, both included, for `int` and `float`.
    options
        Option id -> English label, for `choice` and `choices`.
    check
        For `text`: raises `InputError` when the text cannot be used.
    help
        One English sentence on what the control does.
    """

    id: str
    label: str
    kind: Kind
    default: Any
    low: float | None = None
    high: float | None = None
    step: float | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    check: Callable[[str], object] | None = None
    help: str | None = None

    def parse(self, text: str) -> Any:
        """The value that a link's text stands for.

        Raises
        ------
        InputError
            Naming the control, what is allowed and what came.
        """
        if self.kind == "text":
            return self._parse_text(text)
        if self.kind == "choice":
            self._refuse_unknown([text], text)
            return text
        if self.kind == "choices":
            chosen = [part for part in text.split(",") if part]
            self._refuse_unknown(chosen, text)
            return [option for option in self.options if option in chosen]
        if self.kind == "bool":
            if text not in ("0", "1"):
                raise InputError(
                    N_("{field}: the link may hold 0 or 1, got “{got}”."), field=self.label, got=shortened(text)
                )
            return text == "1"
        return self._parse_number(text)

    def write(self, value: Any) -> str:
        """The text that stands for a value in a link."""
        if self.kind == "choices":
            return ",".join(option for option in self.options if option in value)
        if self.kind == "bool":
            return "1" if value else "0"
        if self.kind == "float":
            return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))
        return str(value)

    def _parse_text(self, text: str) -> str:
        if self.check is not None and text.strip():
            self.check(text)
        return text

    def _parse_number(self, text: str) -> int | float:
        allowed = {"field": self.label, "low": self.low, "high": self.high, "got": shortened(text)}
        try:
            value = int(text) if self.kind == "int" else float(text)
        except ValueError:
            value = float("nan")
        if (
            not isfinite(value)
            or (self.low is not None and value < self.low)
            or (self.high is not None and value > self.high)
        ):
            if self.kind == "int":
                raise InputError(N_("{field}: a whole number from {low} to {high} is allowed, got “{got}”."), **allowed)
            raise InputError(N_("{field}: a number from {low} to {high} is allowed, got “{got}”."), **allowed)
        return value

    def _refuse_unknown(self, chosen: list[str], text: str) -> None:
        if not chosen or any(option not in self.options for option in chosen):
            raise InputError(
                N_("{field}: choose from {options}; got “{got}”."),
                field=self.label,
                options=", ".join(self.options),
                got=shortened(text),
            )
