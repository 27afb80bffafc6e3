"""How does a person take the view along? As a script that computes the same numbers."""

from __future__ import annotations

import streamlit as st

from normviz.text import Text


def script_export(code: str, name: str, t: Text) -> None:
    """Offer the current view as a runnable Python script.

    Parameters
    ----------
    code
        From `normviz.snippets`.
    name
        Stem of the file.
    """
    with st.expander(t("This view as a Python script")):
        st.caption(t("It needs the package only, no browser: `pip install .` in a clone of normviz."))
        download(code, name, t)


def download(code: str, name: str, t: Text) -> None:
    """Show a script with the button that saves it as `name`.py."""
    st.code(code, language="python")
    # Made when it is asked for: a file of every view would be gone before the browser has looked at it.
    st.download_button(
        t("Download script"),
        lambda: code,
        file_name=f"{name}.py",
        mime="text/x-python",
        on_click="ignore",
        key=f"{name}.script",
    )
