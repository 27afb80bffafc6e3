"""How does a person take a sweep along without normviz? As plain PyTorch."""

from __future__ import annotations

import streamlit as st

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.snippets import standalone_script
from normviz.text import Text


def standalone_export(config: SweepConfig, quantity: str, t: Text) -> None:
    """Offer the sweep as a script that needs PyTorch only and draws the same numbers."""
    with st.expander(t("The same models in plain PyTorch, without normviz")):
        try:
            code = standalone_script(config, quantity=quantity)
        except InputError as error:
            st.info(t.error(error))
            return
        st.caption(t("For reading in a lecture: the same seeds, the same weights, the wirings written out."))
        st.code(code, language="python")
        st.download_button(
            t("Download script"),
            lambda: code,
            file_name="depth_plain.py",
            mime="text/x-python",
            on_click="ignore",
            key="depth_plain.script",
        )
