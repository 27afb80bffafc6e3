"""How are the placements wired? Their diagrams side by side, and the norms that the trace counts."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normviz.figures.placements.variants import placement_diagrams
from normviz.placements import PLACEMENTS
from normviz.snippets import wirings_script
from normviz.text import Text
from normviz.ui.controls import control
from normviz.ui.diagram import diagrams
from normviz.ui.language import mode
from normviz.ui.lesson import lesson

PAGE = "placements"


def wirings(t: Text) -> str:
    """Draw the chosen placements, each traced from its functions, and return their script."""
    chosen = [PLACEMENTS[name] for name in control(PAGE, "placements", t)]
    lesson(PAGE, "wirings", t)
    drawn = [(one, picture) for one in chosen for picture in placement_diagrams(one, t=t, mode=mode())]
    diagrams([picture for _, picture in drawn], key="placements.wirings", t=t, mode=mode())
    st.header(t("How many norms?"))
    lesson(PAGE, "counts_of_wirings", t)
    heads = [
        t("Placement"), t("In a layer"), t("On the identity path"), t("Inside its sublayers"), t("Outside the layers"),
        t("Used by"), t("Source"),
    ]  # fmt: skip
    rows = [
        [
            picture.title,
            picture.counts.layer,
            picture.counts.on_path,
            picture.counts.inside,
            picture.counts.outside,
            ", ".join(placement.used_by) or "—",
            f"arXiv:{placement.source}",
        ]
        for placement, picture in drawn
    ]
    st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
    return wirings_script([placement.id for placement in chosen])
