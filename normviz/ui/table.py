"""How is a vector edited entry by entry? A table whose edits become the text that the link and the lab read."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from normviz.text import Text
from normviz.ui import state
from normviz.vectors import format_vector

LONGEST = 200
"""Above this many entries a table helps nobody; the text field and files remain."""

_BASE = "vector.table.base"
_TEXT = "vector.table.text"
_VERSION = "vector.table.version"


def vector_table(x: NDArray[np.float64], t: Text) -> None:
    """Draw the table of x; an edit rewrites the text of x.

    The table's input stays the one that the edits started from (its own output fed back would revert every second
    edit, streamlit#7749); a vector that came from elsewhere starts a new table.
    """
    text = format_vector(x)
    if st.session_state.get(_TEXT) != text:
        st.session_state[_BASE] = x
        st.session_state[_TEXT] = text
        st.session_state[_VERSION] = st.session_state.get(_VERSION, 0) + 1
    base: NDArray[np.float64] = st.session_state[_BASE]
    key = f"vector.table.{st.session_state[_VERSION]}"
    st.data_editor(
        pd.DataFrame({"x": base}, index=pd.RangeIndex(1, base.size + 1, name="i")),
        key=key,
        num_rows="dynamic",
        column_config={"x": st.column_config.NumberColumn("x", required=True, format="%g")},
        on_change=_apply,
        args=(key,),
        alt=t("The entries of x, one per row; each can be changed, added or deleted."),
    )


def _apply(key: str) -> None:
    """Turn the table's edits into the vector's text."""
    edited = after_edits(st.session_state[_BASE], st.session_state[key])
    if edited.size == 0:
        return  # an emptied table is on its way to new rows; the last vector stays
    text = format_vector(edited)
    st.session_state[_TEXT] = text
    state.put("vector", "x", text)
    state.act()


def after_edits(base: NDArray[np.float64], edits: dict[str, Any]) -> NDArray[np.float64]:
    """The vector after a data editor's edits; cleared and unfinished entries are left out.

    Parameters
    ----------
    base
        What the editor was given.
    edits
        Streamlit's record: `edited_rows` {row: {column: value}}, `added_rows` [{column: value}], `deleted_rows` [row].
    """
    rows: list[Any] = list(base)
    for row, change in edits["edited_rows"].items():
        rows[int(row)] = change.get("x", rows[int(row)])
    deleted = set(edits["deleted_rows"])
    rows = [value for position, value in enumerate(rows) if position not in deleted]
    rows += [row.get("x") for row in edits["added_rows"]]
    kept = [value for value in rows if isinstance(value, (int, float)) and np.isfinite(value)]
    return np.array(kept, dtype=np.float64)
