"""How does a result file that a person has open in the page?"""

from __future__ import annotations

import streamlit as st

from normviz.depth.results import LARGEST_UPLOAD, DepthSweep, from_bytes
from normviz.errors import InputError
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import complain
from normviz.ui.depth.knobs import knob_values, set_knobs
from normviz.ui.quoted import sentence_of

_RESULT = "depth.uploaded"
_NAME = "depth.uploaded.name"
_UPLOAD = "depth.upload"
_MIB = 2**20


def uploaded() -> DepthSweep | None:
    """The result that stands on the page instead of the job's."""
    result: DepthSweep | None = st.session_state.get(_RESULT)
    return result


def upload(t: Text) -> None:
    """Draw the field for a result file; what cannot be opened is explained, and what was shown stays."""
    with st.expander(t("Open a result file")):
        if st.context.is_embedded:
            st.caption(t("Files cannot be opened while this page is embedded in another; open it in a tab of its own."))
            return
        file = st.file_uploader(
            t("A result file (.npz), up to {limit} MiB", limit=LARGEST_UPLOAD // _MIB),
            type=["npz"],
            max_upload_size=LARGEST_UPLOAD // _MIB,
            key=_UPLOAD,
            on_change=state.act,
        )
        st.caption(t("What this page downloads, and what `python -m normviz sweep` and `save` write."))
        if file is None or st.session_state.get(_NAME) == file.file_id:
            return
        st.session_state[_NAME] = file.file_id
        try:
            st.session_state[_RESULT] = from_bytes(file.getvalue(), largest=LARGEST_UPLOAD)
        except InputError as error:
            st.session_state[_NAME] = None  # said again as long as the file lies there
            complain(error, t, field="Open a result file")
        else:
            st.rerun()  # the figures stand above


def banner(result: DepthSweep, t: Text) -> None:
    """Say that a file is shown, and offer the ways on."""
    st.info(t("The figures show a file that you opened, not a run of this page."))
    with st.container(horizontal=True):
        st.button(t("Close the file"), key="depth.upload.close", on_click=_close)
        try:
            knob_values(result.config)
        except InputError as error:
            st.caption(t("Its knobs cannot be set on this page: {reason}", reason=sentence_of(error, t)))
        else:
            st.button(t("Take over its knobs"), key="depth.upload.knobs", on_click=_take_over, args=(result,))


def _close() -> None:
    st.session_state.pop(_RESULT, None)
    state.act_on_all()


def _take_over(result: DepthSweep) -> None:
    set_knobs(result.config)
