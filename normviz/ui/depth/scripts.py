"""How does a person take a sweep along without normviz? As plain PyTorch."""

from __future__ import annotations

import streamlit as st

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.snippets import standalone_script
from normviz.text import Text
from normviz.ui.export import download
from normviz.ui.quoted import sentence_of


def standalone_export(config: SweepConfig, quantity: str, t: Text) -> None:
    """Offer the sweep as a script that needs PyTorch only and draws the same numbers."""
    with st.expander(t("The same models in plain PyTorch, without normviz")):
        try:
            code = standalone_script(config, quantity=quantity)
        except InputError as error:
            st.info(sentence_of(error, t))
            return
        st.caption(t("For reading in a lecture: the same seeds, the same weights, the wirings written out."))
        download(code, "depth_plain", t)
