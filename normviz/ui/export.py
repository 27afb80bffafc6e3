"""How does a person take the view along? As scripts that compute the same numbers."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from normviz.text import Text
from normviz.ui import state


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


def two_scripts(
    page: str, mine: Callable[[], str], plain: Callable[[], str], t: Text, *, files: Callable[[str], None] | None = None
) -> None:
    """Offer the current view as a script with normviz and as one in plain PyTorch.

    They are written when they are asked for: for a million entries a script costs as much as the view itself.

    Parameters
    ----------
    page
        Of which the view is one; it names the files.
    mine, plain
        Write the scripts.
    files
        Draws the files that the scripts read, given the first script.
    """
    shelf = st.expander(t("This view as a Python script"), key=f"{page}.scripts", on_change=state.act)
    if not shelf.open:
        return
    with shelf:
        left, right = st.tabs([t("With normviz"), t("In plain PyTorch")])
        code = mine()
        with left:
            st.caption(t("It needs the package only, no browser: `pip install .` in a clone of normviz."))
            download(code, f"{page}_lab", t)
        with right:
            st.caption(t("It needs PyTorch and NumPy only, and computes the same numbers."))
            download(plain(), f"{page}_lab_torch", t)
        if files is not None:
            files(code)


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
