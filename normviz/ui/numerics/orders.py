"""Which order of casting and multiplying, and which form of the weight, does a model use?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normviz.figures.numerics import decay_picture, differing_picture
from normviz.figures.words import number
from normviz.floats import ARITHMETICS, difference, weight_decay
from normviz.floats.decay import FORMS
from normviz.snippets import FloatsGiven
from normviz.text import Text
from normviz.ui.controls import attempt, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.numerics.steps import PAGE
from normviz.ui.plot import plot


def orders(t: Text) -> FloatsGiven:
    """Draw how many outputs of two arithmetics differ, and by how much each is off."""
    lesson(PAGE, "arithmetic", t)
    left, right = st.columns(2, gap="large")
    with left:
        first, second = control(PAGE, "first", t), control(PAGE, "second", t)
    with right:
        kind = control(PAGE, "wide", t)
        spread, seed = control(PAGE, "spread", t), control(PAGE, "seed", t)
    found = attempt(t, difference, first, second, format=kind, spread=spread, seed=seed)
    left, right = st.columns(2, gap="large")
    with left:
        if found is not None:
            st.markdown(
                t(
                    "{share} of the outputs differ. The errors are {first} and {second} (root mean square); rounding "
                    "once makes at most {unit}.",
                    share=f"{100 * found.share:.1f} %",
                    first=number(found.rms[0]),
                    second=number(found.rms[1]),
                    unit=number(found.unit),
                )
            )
            plot(differing_picture(found, t=t, mode=mode()), key="numerics.differing", t=t)
            if first == second:
                st.caption(t("Both are the same order."))
            if found.without_weight:
                st.caption(t("One of them has no weight, so that both are computed without."))
    with right:
        heads = [t("Order"), t("Formula"), t("Classes of transformers")]
        rows = [
            [t(one.label), f"$\\displaystyle {one.formula}$", ", ".join(one.classes)] for one in ARITHMETICS.values()
        ]
        st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    return FloatsGiven(view="arithmetics", first=first, second=second, format=kind, spread=spread, seed=seed)


def decay(t: Text) -> FloatsGiven:
    """Draw where weight decay pulls the scale in both forms."""
    lesson(PAGE, "decay", t)
    columns = st.columns(4, gap="medium")
    with columns[0]:
        start = control(PAGE, "start", t)
    with columns[1]:
        lr = float(control(PAGE, "lr", t))
    with columns[2]:
        rate = control(PAGE, "decay", t)
    with columns[3]:
        steps = control(PAGE, "steps", t)
    paths = {form: attempt(t, weight_decay, form, start=start, lr=lr, decay=rate, steps=steps) for form in FORMS}
    drawn = {form: path for form, path in paths.items() if path is not None}
    if drawn:
        plot(decay_picture(drawn, t=t, mode=mode()), key="numerics.decay", t=t)
    return FloatsGiven(view="decay", start=start, lr=lr, decay=rate, steps=steps)
