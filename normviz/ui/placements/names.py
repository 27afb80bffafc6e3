"""Whose checkpoint is it, and what is each of its norms for?"""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd
import streamlit as st

from normviz.families import FAMILIES, ROLES, Decoded, Names, Said, decode, read_names
from normviz.snippets import decoder_script
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import attempt, link_too_long, text_control
from normviz.ui.headers import header_field
from normviz.ui.lesson import lesson
from normviz.ui.placements.families import placement_label
from normviz.ui.placements.wirings import PAGE
from normviz.ui.quoted import quoted

_HELD = "placements.names.held"
_HELD_NAME = "placements.names.held.name"
_HELD_OVER = "placements.names.held.over"
_ROWS = 200
"""Names that are listed; more are counted."""


def names(t: Text) -> str:
    """Draw the field and the file, and what the names tell; return the script."""
    lesson(PAGE, "names", t)
    left, right = st.columns(2, gap="large")
    with left:
        typed = text_control(PAGE, "names", t, read_names, area=True)
        link_too_long(PAGE, "names", t)
    with right:
        header_field(t("An index (.json) or a .safetensors file"), opened=_open, key="placements.upload", t=t)
    if state.good(PAGE, "names") != st.session_state.get(_HELD_OVER):
        st.session_state.pop(_HELD, None)  # other names were typed since
    held: Names | None = st.session_state.get(_HELD)
    if held is not None:
        with right:
            st.caption(t("Shown is the file {name}, held by this page; the link leaves it out.", name=_held_name()))
            st.button(t("Close the file"), key="placements.names.close", on_click=_close)
    given = typed if held is None else held
    if given.skipped:
        st.caption(t("Lines that were no names: {n}.", n=f"{given.skipped:,}"))
    found = attempt(t, decode, given)
    if found is not None:
        _draw(found, given, t)
    return decoder_script(given)


def _draw(found: Decoded, given: Names, t: Text) -> None:
    """The verdict, then the norms by role, then what is missing, unexpected, unclear or unknown."""
    if found.candidates:
        labels = ", ".join(FAMILIES[name].label for name in found.candidates)
        st.header(labels)
        placements = dict.fromkeys(placement_label(FAMILIES[name], t) for name in found.candidates)
        counted = t("shapes not given") if found.parameters is None else f"{found.parameters:,}"
        st.markdown(
            t(
                "Placement: {placement}. Layers: {layers}. Norms: {norms}; their parameters: {parameters}. Other keys: "
                "{other}.",
                placement=" / ".join(placements),
                layers=found.n_layers,
                norms=len(found.found),
                parameters=counted,
                other=found.other,
            )
        )
    else:
        st.header(t("Too few names") if found.possible else t("No family found"))
    for said in (*found.why, *found.ambiguous):
        st.markdown(f"- {_sentence(said, t)}")
    _listed(t("Missing"), found.missing, t)
    _listed(t("Unexpected"), found.unexpected, t)
    _listed(t("Not understood"), found.unknown, t)
    _listed(t("In other parts of the model"), found.elsewhere, t)
    _listed(t("Named twice"), given.repeated, t)
    if found.found:
        heads = [t("Key"), t("What it normalizes"), t("Layer"), t("Shape")]
        rows = [
            [
                one.key,
                t(ROLES[one.role]),
                "—" if one.layer is None else str(one.layer),
                "—" if one.shape is None else str(list(one.shape)),
            ]
            for one in found.found[:_ROWS]
        ]
        with st.container(key="nv_names"):
            st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]).map(quoted))
        if len(found.found) > _ROWS:
            st.caption(t("The first {shown} of {total}.", shown=_ROWS, total=len(found.found)))


def _sentence(said: Said, t: Text) -> str:
    return t(said.message, **{name: quoted(str(value)) for name, value in said.values.items()})


def _listed(title: str, keys: Iterable[str], t: Text) -> None:
    """Some keys under a title; nothing where there are none."""
    every = list(keys)
    if not every:
        return
    shown = ", ".join(f"`{key.replace('`', '')}`" for key in every[:12])
    more = t(" and {n} more", n=len(every) - 12) if len(every) > 12 else ""
    st.markdown(f"**{title}** ({len(every)}): {shown}{more}")


def _open(name: str, text: str) -> None:
    st.session_state[_HELD] = read_names(text)
    st.session_state[_HELD_NAME] = name
    st.session_state[_HELD_OVER] = state.good(PAGE, "names")


def _close() -> None:
    st.session_state.pop(_HELD, None)
    state.act()


def _held_name() -> str:
    return f"`{str(st.session_state[_HELD_NAME]).replace('`', '')}`"
