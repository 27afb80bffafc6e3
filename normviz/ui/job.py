"""How does a page watch a job of the cluster: who watches, and what is said where there is no cluster?"""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from normviz.text import Text
from normviz.ui.quoted import sentence_of
from normviz.ui.server import board

POLL_SECONDS = 0.5


def watcher(page: str) -> str:
    """The name under which this session's page watches its job."""
    name: str = st.session_state.setdefault(f"{page}.watcher", uuid4().hex)
    return name


def explain_cluster(page: str, t: Text, *, offer: bool) -> None:
    """Say why there is no cluster; with `offer`, draw the button that tries again."""
    cluster = board().cluster
    reason = sentence_of(cluster.reason, t) if cluster.reason is not None else ""
    st.error(t("There is no compute cluster now; the other labs work without it. {reason}", reason=reason))
    if offer:
        st.button(t("Try again"), key=f"{page}.again", on_click=cluster.restart)
