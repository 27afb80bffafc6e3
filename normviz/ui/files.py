"""How does a file get from a person to a page?"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from normviz.errors import InputError
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import complain

_MIB = 2**20


def file_field(
    label: str,
    endings: Sequence[str],
    limit: int,
    *,
    opened: Callable[[str, bytes], None],
    key: str,
    t: Text,
) -> None:
    """Draw the field for a file; a file that cannot be used is explained beneath it.

    Parameters
    ----------
    label
        What is asked for, in the reader's language.
    endings
        Of the names of files, without the dot.
    limit
        Bytes.
    opened
        Called with the file's name and bytes before the script runs; raises `InputError` if it cannot be used.
    """
    if st.context.is_embedded:
        st.caption(t("Files cannot be opened while this page is embedded in another; open it in a tab of its own."))
        return
    st.file_uploader(
        label,
        type=list(endings),
        max_upload_size=limit // _MIB,
        key=key,
        on_change=_open,
        args=(key, opened),
    )
    fault: InputError | None = st.session_state.get(_fault(key))
    if fault is not None:
        complain(fault, t)


def taken_out(key: str) -> bool:
    """Whether the person took the file out of the field and has put no other one in.

    What a page holds of it is not thrown away at once: a file that replaces another takes it out first, and may turn
    out to be unusable.
    """
    return bool(st.session_state.get(f"{key}.out"))


def _open(key: str, opened: Callable[[str, bytes], None]) -> None:
    state.act()
    st.session_state.pop(_fault(key), None)
    file = st.session_state[key]
    st.session_state[f"{key}.out"] = file is None
    if file is None:
        return
    try:
        opened(file.name, file.getvalue())
    except InputError as error:
        st.session_state[_fault(key)] = error


def _fault(key: str) -> str:
    return f"{key}.fault"
