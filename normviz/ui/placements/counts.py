"""How many parameters have all norms of a model?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normviz.families import FAMILIES, KNOWN, Sizes, norm_parameters, sizes_needed
from normviz.figures.cost.marks import percent
from normviz.snippets import counts_script
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import attempt, control
from normviz.ui.lesson import lesson
from normviz.ui.placements.families import choose_family
from normviz.ui.placements.wirings import PAGE

OWN = "own"
_LIST = "placements.known.list"
_CHOSEN = "placements.known"


def counts(t: Text) -> str | None:
    """Draw the count of any family at any size, and the table of known models; return the script."""
    lesson(PAGE, "counts", t)
    left, right = st.columns(2, gap="large")
    with left:
        _start(t)
        family = choose_family(t)
        names = sizes_needed(family)
        columns = st.columns(2, gap="medium")
        values = {}
        for place, name in enumerate(names):
            with columns[place % 2]:
                values[name] = control(PAGE, name, t)
        sizes = attempt(t, Sizes, **values)
        found = None if sizes is None else attempt(t, norm_parameters, family, sizes)
    with right:
        if found is not None:
            st.header(t("{n} parameters", n=f"{found.total:,}"))
            st.markdown(f"$\\displaystyle {found.formula}$")
            st.markdown(
                t(
                    "Norms: {norms}. In one layer: {layer} parameters. Outside of the layers: {outside}.",
                    norms=f"{found.norms:,}",
                    layer=f"{found.per_layer:,}",
                    outside=f"{found.outside:,}",
                )
            )
    heads = [t("Model"), t("Family"), t("Norms"), t("Parameters of the norms"), t("All parameters"), t("Share")]
    rows = []
    for model in KNOWN.values():
        count = norm_parameters(FAMILIES[model.family], model.sizes)
        share = f"{percent(count.total / model.total_params)} %"
        rows.append(
            [model.label, model.family, f"{count.norms:,}", f"{count.total:,}", f"{model.total_params:,}", share]
        )
    st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    return None if sizes is None or found is None else counts_script(family.id, sizes)


def _start(t: Text) -> None:
    """Draw the list of known models; it shows the one whose sizes the controls have."""
    # Two models may have norms of the same sizes: the chosen one stays while it fits.
    fitting = [name for name in KNOWN if _is_at(name)] or [OWN]
    chosen = st.session_state.get(_CHOSEN)
    current = chosen if chosen in fitting else fitting[0]
    st.session_state[_LIST] = current
    labels = {name: model.label for name, model in KNOWN.items()} | {OWN: t("your own sizes")}
    st.selectbox(
        t("Start from"),
        [*KNOWN, *([OWN] if current == OWN else [])],
        format_func=labels.__getitem__,
        key=_LIST,
        on_change=_choose,
    )


def _values(name: str) -> dict[str, object]:
    model = KNOWN[name]
    needed = sizes_needed(FAMILIES[model.family])
    return {"family": model.family, **{size: getattr(model.sizes, size) for size in needed}}


def _is_at(name: str) -> bool:
    return all(state.good(PAGE, row) == value for row, value in _values(name).items())


def _choose() -> None:
    chosen = st.session_state[_LIST]
    if chosen in KNOWN:
        st.session_state[_CHOSEN] = chosen
        for row, value in _values(chosen).items():
            state.put(PAGE, row, value)
        state.act()
