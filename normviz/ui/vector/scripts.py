"""How does a person take the view of a vector along? As a script with normviz, and as one in plain PyTorch."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from normviz.geometry import cloud_size
from normviz.snippets import torch_script, vector_script
from normviz.text import Text
from normviz.ui import state
from normviz.ui.export import download
from normviz.ui.vector.given import Given
from normviz.ui.vector.parameters import kept_gradient
from normviz.ui.vector.source import PAGE

Array = NDArray[np.float64]


def export(view: str, given: Given, t: Text) -> None:
    """Offer the view as two scripts, with the long arrays that they read as files."""
    options: dict[str, Any] = {
        "weight": given.stored,
        "bias": given.bias,
        "eps": given.eps,
        "offset": given.offset,
        "origin": given.origin,
        "scale": state.value(PAGE, "scale"),
        "shift": state.value(PAGE, "shift"),
        "factor": float(state.value(PAGE, "factor")),
    }
    if view == "backward":
        options["gradient"] = kept_gradient(given.x.size)
    if view == "geometry" and state.value(PAGE, "cloud"):
        options["cloud"] = {
            "mean": state.value(PAGE, "mean"),
            "distribution": state.value(PAGE, "dist"),
            "seed": 0,
            "n": cloud_size(given.x.size),
        }
    # Made when they are asked for: for a million entries a script costs as much as the view itself.
    shelf = st.expander(t("This view as a Python script"), key="vector.scripts", on_change=state.act)
    if not shelf.open:
        return
    with shelf:
        mine, plain = st.tabs([t("With normviz"), t("In plain PyTorch")])
        code = vector_script(view, given.x, **options)
        with mine:
            st.caption(t("It needs the package only, no browser: `pip install .` in a clone of normviz."))
            download(code, "vector_lab", t)
        with plain:
            st.caption(t("It needs PyTorch and NumPy only, and computes the same numbers."))
            download(torch_script(view, given.x, **options), "vector_lab_torch", t)
        arrays = {"x": given.x, "w": given.stored, "weight": given.stored, "bias": given.bias}
        for name, values in {**arrays, "gradient": options.get("gradient")}.items():
            if values is not None and f'"{name}.txt"' in code:
                _file(name, values, t)


def _file(name: str, values: Array, t: Text) -> None:
    """Offer an array that a script reads from a file."""
    st.download_button(
        t("Download {file}", file=f"{name}.txt"),
        lambda: "\n".join(map(repr, values.tolist())),
        file_name=f"{name}.txt",
        on_click="ignore",
        key=f"{name}.txt",
    )
