"""Where do a right and a wrong port of the same weights part?"""

from __future__ import annotations

import streamlit as st

from normviz.families import MISTAKES, PortingConfig, applicable, port
from normviz.figures.placements.porting import porting_picture
from normviz.snippets import porting_script
from normviz.text import Text
from normviz.ui.controls import attempt, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.placements.families import choose_family
from normviz.ui.placements.wirings import PAGE
from normviz.ui.plot import plot


def porting(t: Text) -> str:
    """Draw the mistakes that a family offers, and the error that they make, layer by layer; return the script."""
    lesson(PAGE, "porting", t)
    left, right = st.columns([2, 3], gap="large")
    with left:
        family = choose_family(t)
        offered = applicable(family.id)
        made = tuple(name for name in MISTAKES if name in offered and control(PAGE, f"mistake_{name}", t))
        layers, seed = control(PAGE, "layers", t), control(PAGE, "seed", t)
        dtype = control(PAGE, "dtype", t)
    with right:
        config = PortingConfig(family=family.id, n_layers=layers, seed=seed, dtype=dtype, mistakes=made)
        found = attempt(t, port, config)
        if found is not None:
            plot(porting_picture(found, t=t, mode=mode()), key="placements.porting", t=t)
            if not made:
                st.caption(t("No mistake is chosen: both are the same model."))
            elif made == ("cast_order",) and dtype == "float32":
                st.caption(t("In float32 nothing is cast, so that the order makes no difference: try bfloat16."))
    return porting_script(config)
