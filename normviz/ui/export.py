"""How does a person take the view along? As a script that computes the same numbers."""

from __future__ import annotations

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from normviz.text import Text


def script_export(code: str, name: str, t: Text, *, vector: NDArray[np.float64] | None = None) -> None:
    """Offer the current view as a runnable Python script.

    Parameters
    ----------
    code
        From `normviz.snippets`.
    name
        Stem of the file.
    vector
        What the script reads from `x.txt`, if it is too long to stand in it.
    """
    with st.expander(t("This view as a Python script")):
        st.caption(t("It needs the package only, no browser: `pip install .` in a clone of normviz."))
        st.code(code, language="python")
        # Made when they are asked for: a file of every view would be gone before the browser has looked at it.
        st.download_button(
            t("Download script"),
            lambda: code,
            file_name=f"{name}.py",
            mime="text/x-python",
            on_click="ignore",
            key=f"{name}.script",
        )
        if vector is not None:
            st.download_button(
                t("Download {file}", file="x.txt"),
                lambda: "\n".join(map(repr, vector.tolist())),
                file_name="x.txt",
                on_click="ignore",
                key="x.txt",
            )
