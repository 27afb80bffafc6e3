"""How do the names in a checkpoint reach the page, without the checkpoint? The browser reads a file's header alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st

from normviz.errors import InputError
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import complain

LARGEST = 32 * 2**20
"""Bytes of a header or an index: that of a model with ten thousand tensors has about one million."""

_field = st.components.v2.component(
    "normviz_header",
    html='<div class="nv-header-file"><label><span></span><input type="file"></label><span role="status"></span></div>',
    js=(Path(__file__).parent / "headers.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def header_field(label: str, *, opened: Callable[[str, str], None], key: str, t: Text) -> None:
    """Draw the field for a checkpoint's index or .safetensors file; of the latter only the header leaves the disk.

    Parameters
    ----------
    label
        What is asked for, in the reader's language.
    opened
        Called with the file's name and its text, before the script runs; raises `InputError` if it cannot be used.
    """
    words = {
        "label": label,
        "large": t("The header is larger than {limit} MiB: this is no checkpoint.", limit=LARGEST // 2**20),
        "long": t("The file is larger than {limit} MiB", limit=LARGEST // 2**20),
        "read": t("Only the header was read."),
    }
    _field(
        key=key,
        data={"limit": LARGEST, "words": words},
        on_file_change=lambda: _take(st.session_state[key].get("file"), opened, key),
    )
    fault: InputError | None = st.session_state.get(f"{key}.fault")
    if fault is not None:
        complain(fault, t)


def _take(told: object, opened: Callable[[str, str], None], key: str) -> None:
    # It comes from a browser: anything may be in it.
    if not (isinstance(told, list) and len(told) == 2 and isinstance(told[0], str)):
        return
    state.act()
    st.session_state.pop(f"{key}.fault", None)
    name, text = told
    if not isinstance(text, str):
        return
    try:
        opened(name, text)
    except InputError as error:
        st.session_state[f"{key}.fault"] = error
