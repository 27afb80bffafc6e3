"""How does the whole state of a page fit into its address, and come back from it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from normviz.errors import InputError
from normviz.link.fields import parse_cell, parse_eps, parse_x, shortened
from normviz.link.knob import Kind, Knob
from normviz.link.table import AXIS_OPTIONS, KNOBS, MOST_SHOWN
from normviz.text import N_

__all__ = [
    "APP_WORDS",
    "AXIS_OPTIONS",
    "KNOBS",
    "MAX_TEXT",
    "MOST_SHOWN",
    "Kind",
    "Knob",
    "knob",
    "parse_cell",
    "parse_eps",
    "parse_x",
    "read",
    "write",
]

APP_WORDS = ("lang",)
"""Query words that belong to the app as a whole."""

MAX_TEXT = 2000
"""Longest text, in characters, that goes into a link; browsers and chat programs cut longer addresses."""


def read(page: str, query: Mapping[str, str]) -> tuple[dict[str, Any], list[InputError]]:
    """The state that a query string stands for, and what in it could not be used.

    Parameters
    ----------
    page
        A key of `KNOBS`.
    query
        The link's query string as a mapping; `lang` belongs to the app, not to a page.

    Returns
    -------
    values, problems
        A value for every knob (the default where the link says nothing or nothing usable), one error per bad entry.
    """
    known = {knob.id: knob for knob in KNOBS[page]}
    values = {knob.id: knob.default for knob in known.values()}
    problems: list[InputError] = []
    for name, text in query.items():
        if name in APP_WORDS:
            continue
        if name not in known:
            problems.append(InputError(N_("This page has no control named “{name}”."), name=shortened(name)))
            continue
        try:
            values[name] = known[name].parse(text)
        except InputError as error:
            problems.append(error)
    return values, problems


def write(page: str, values: Mapping[str, Any]) -> dict[str, str]:
    """The shortest query string that `read` turns back into these values."""
    query = {}
    for knob in KNOBS[page]:
        value = values.get(knob.id, knob.default)
        if value != knob.default and len(text := knob.write(value)) <= MAX_TEXT:
            query[knob.id] = text
    return query


def knob(page: str, name: str) -> Knob:
    """The row of one control."""
    return next(row for row in KNOBS[page] if row.id == name)
