"""Which wiring and names does a model family use?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normviz.families import FAMILIES, ROLES, Family, find
from normviz.figures.placements.variants import family_diagrams
from normviz.floats import ARITHMETICS
from normviz.link import knob
from normviz.placements import PLACEMENTS
from normviz.snippets import family_script
from normviz.text import N_, Text
from normviz.ui import state
from normviz.ui.controls import text_control
from normviz.ui.diagram import diagrams
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.placements.wirings import PAGE
from normviz.ui.quoted import quoted

PARALLEL_TWO = N_("Parallel block, two norms of the same x")
NORM_LABELS = {"layer_norm": N_("LayerNorm"), "rms_norm": N_("RMSNorm")}
FORMS = {"w": N_("w"), "1+w": N_("1 + w"), "none": N_("no weight")}
WIDTHS = {
    "d": N_("the stream, d"),
    "head": N_("one head"),
    "heads": N_("all heads"),
    "kv_heads": N_("all key-value heads"),
    "q_rank": N_("the rank of the queries"),
    "kv_rank": N_("the rank of keys and values"),
    "value_head": N_("a value head"),
    "per_layer_input": N_("the extra embedding"),
}

_LIST = "placements.family.list"


def families(t: Text) -> str:
    """Draw one family: its diagram with its names, its norms as a table, what a port gets wrong; return its script."""
    lesson(PAGE, "families", t)
    family = choose_family(t, searched=True)
    left, right = st.columns([2, 3], gap="large")
    with left:
        diagrams(family_diagrams(family, t=t, mode=mode()), key="placements.family", t=t, mode=mode())
    with right:
        st.header(family.label)
        _facts(family, t)
        _sites(family, t)
    return family_script(family.id)


def choose_family(t: Text, *, searched: bool = False) -> Family:
    """Draw the list of families, narrowed by a search if there is one, and return the chosen one."""
    found = tuple(FAMILIES)
    if searched:
        search, listed = st.columns(2, gap="medium")
        with search:
            text = text_control(PAGE, "search", t, str)
        found = find(text, {name: _words(family, t) for name, family in FAMILIES.items()})
        if not found:
            st.info(t("No family has “{text}” in its names or norms; all are listed.", text=quoted(text)))
            found = tuple(FAMILIES)
    else:
        listed = st.container()
    current: str = state.value(PAGE, "family")
    # The family that is shown stays until another one is chosen: a search alone changes nothing but the list.
    listed_now = found if current in found else (current, *found)
    st.session_state[_LIST] = current
    with listed:
        st.selectbox(
            t(knob(PAGE, "family").label),
            listed_now,
            format_func=lambda name: f"{FAMILIES[name].label} ({name})",
            key=_LIST,
            on_change=_choose,
        )
    return FAMILIES[current]


def _choose() -> None:
    if st.session_state[_LIST] in FAMILIES:
        state.put(PAGE, "family", st.session_state[_LIST])
        state.act()


def _words(family: Family, t: Text) -> str:
    """What the page says about a family in the reader's language, to be searched as well."""
    return " ".join(
        [placement_label(family, t), t(NORM_LABELS[family.norm]), *(t(ROLES[s.role]) for s in family.sites)]
    )


def placement_label(family: Family, t: Text) -> str:
    """Where a family's norms sit, in the reader's language."""
    found = PLACEMENTS.get(family.placement)
    return t(PARALLEL_TWO) if found is None else t(found.label)


def _facts(family: Family, t: Text) -> None:
    """The family in one line each: norm, placement, eps, what multiplies, in which order."""
    arithmetic = ARITHMETICS.get(family.arithmetic)
    rows = {
        t("Norm"): t(NORM_LABELS[family.norm]),
        t("Placement"): placement_label(family, t),
        "eps": f"{family.eps:g}",
        t("Multiplied by"): t(FORMS[family.form]),
        t("Computed"): t(arithmetic.label) if arithmetic else t("in float32 or in the format, as PyTorch does"),
        t("Source"): family.source,
    }
    st.table(pd.DataFrame(rows.items(), columns=[t("Property"), t("Value")]).set_index(t("Property")))
    for sentence in (*family.traps, family.by_config, family.released):
        if sentence:
            st.markdown(f"- {t(sentence)}")


def _sites(family: Family, t: Text) -> None:
    """Every norm of the family by its name."""
    heads = [t("Module"), t("What it normalizes"), t("Weight as long as"), t("Parameters")]
    rows = []
    for site in family.sites:
        parameters = [t("weight")] * site.has_weight + [t("bias")] * site.bias
        said = ", ".join(parameters) or "—"
        rows.append([site.name, t(ROLES[site.role]), t(WIDTHS[site.width]), f"{said} †" if site.optional else said])
    with st.container(key="nv_families"):
        st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    if any(site.optional for site in family.sites):
        st.caption(t("† Not in the default configuration."))
