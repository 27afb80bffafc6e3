"""What is one control: its id in the link, kind, bounds, default and words?"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NoReturn

from normviz.errors import InputError
from normviz.link.fields import shortened
from normviz.text import N_

_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)

_DECIMAL = re.compile(r"[+-]?\d{1,9}(\.\d{1,9})?", re.ASCII)

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
    low, high
        Bounds, both included, for `int` and `float`.
    step
        Distance between the values of a `float`.
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
        read = {
            "text": self._parse_text,
            "choice": self._parse_choice,
            "choices": self._parse_choices,
            "bool": self._parse_bool,
            "int": self._parse_int,
            "float": self._parse_float,
        }[self.kind]
        try:
            return read(text)
        except InputError as error:
            raise InputError(N_("{field}: {reason}"), field=self.label, reason=error) from None

    def write(self, value: Any) -> str:
        """The text that stands for a value in a link."""
        if self.kind == "choices":
            return ",".join(option for option in self.options if option in value)
        if self.kind == "bool":
            return "1" if value else "0"
        return f"{value:.9g}" if self.kind == "float" else str(value)

    def _parse_text(self, text: str) -> str:
        # A blank is a value where the first view is blank, as for a weight that is not given.
        if self.check is not None and (text.strip() or self.default.strip()):
            self.check(text)
        return text

    def _parse_bool(self, text: str) -> bool:
        if text not in ("0", "1"):
            raise InputError(N_("0 or 1 is allowed; got “{got}”."), got=shortened(text))
        return text == "1"

    def _parse_int(self, text: str) -> int:
        value = int(text) if _WHOLE.fullmatch(text) else None
        assert self.low is not None
        assert self.high is not None
        if value is None or not self.low <= value <= self.high:
            raise InputError(
                N_("A whole number from {low} to {high} is allowed; got “{got}”."),
                low=self.low,
                high=self.high,
                got=shortened(text),
            )
        return value

    def _parse_float(self, text: str) -> float:
        assert self.low is not None
        assert self.high is not None
        value = float(text) if _DECIMAL.fullmatch(text) else None
        if value is None or not self.low <= value <= self.high:
            raise InputError(
                N_("A number from {low} to {high} is allowed; got “{got}”."),
                low=self.low,
                high=self.high,
                got=shortened(text),
            )
        return value

    def _parse_choice(self, text: str) -> str:
        return self._parse_choices(text)[0] if "," not in text else self._refuse(text)

    def _parse_choices(self, text: str) -> list[str]:
        chosen = text.split(",")
        if any(option not in self.options for option in chosen):
            self._refuse(text)
        return [option for option in self.options if option in chosen]

    def _refuse(self, text: str) -> NoReturn:
        raise InputError(
            N_("Choose from {options}; got “{got}”."), options=", ".join(self.options), got=shortened(text)
        )
