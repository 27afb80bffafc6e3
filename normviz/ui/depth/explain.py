"""What are the chosen placements? Their formula, a sentence and their paper, from their records."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from normviz.placements import PLACEMENTS
from normviz.text import Text


def explain(names: Sequence[str], t: Text) -> None:
    """Draw the records of some placements, folded away."""
    with st.expander(t("What the chosen placements are")):
        for name in names:
            placement = PLACEMENTS[name]
            parts = [t(placement.note), f"[arXiv:{placement.source}](https://arxiv.org/abs/{placement.source})"]
            if placement.used_by:
                parts.append(t("used by {models}", models=", ".join(placement.used_by)))
            st.markdown(f"**{t(placement.label)}**  \n" + " · ".join(parts) + f"\n\n$${placement.formula}$$")
