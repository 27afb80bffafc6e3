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
from normviz.ui.export import two_scripts
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

    def files(code: str) -> None:
        arrays = {"x": given.x, "w": given.stored, "weight": given.stored, "bias": given.bias}
        for name, values in {**arrays, "gradient": options.get("gradient")}.items():
            if values is not None and f'"{name}.txt"' in code:
                _file(name, values, t)

    two_scripts(
        PAGE,
        lambda: vector_script(view, given.x, **options),
        lambda: torch_script(view, given.x, **options),
        t,
        files=files,
    )


def _file(name: str, values: Array, t: Text) -> None:
    """Offer an array that a script reads from a file."""
    st.download_button(
        t("Download {file}", file=f"{name}.txt"),
        lambda: "\n".join(map(repr, values.tolist())),
        file_name=f"{name}.txt",
        on_click="ignore",
        key=f"{name}.txt",
    )
