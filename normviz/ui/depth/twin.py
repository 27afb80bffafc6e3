"""How far is a run in half precision from the same models in float32?"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from normviz.depth.config import SweepConfig
from normviz.depth.points import QUANTITIES
from normviz.depth.results import DepthSweep, collect
from normviz.text import Text
from normviz.ui import state
from normviz.ui.server import board

_TWIN = "depth.twin"
_SHOWN = ("grad_w2", "residual_mean_square", "loss")


def twin_runs(watcher: str) -> bool:
    """Whether the float32 run is still under way; says that this page waits for it."""
    digest = st.session_state.get(_TWIN)
    job = board().view(digest) if digest else None
    if job is None or job.state not in ("waiting", "running"):
        return False
    board().renew(job.digest, watcher)
    return True


def deviation(result: DepthSweep, experiment: str, watcher: str, t: Text) -> None:
    """Draw the largest deviations from float32, or offer to measure it."""
    if result.config.dtype == "float32" or not result.complete:
        return
    exact = replace(result.config, dtype="float32")
    job = board().view(exact.digest)
    if job is not None and job.state == "done":
        found = result.deviation(collect(exact, job.points))
        parts = [f"{t(QUANTITIES[name].label)}: {found[name]:.2g}" for name in _SHOWN if name in found]
        st.caption(t("Largest relative deviation from float32:") + " " + " · ".join(parts))
    elif twin_runs(watcher):
        st.caption(t("Measuring float32 …"))
    else:
        st.button(
            t("Measure float32 too, to see the deviation"),
            key="depth.twin.run",
            on_click=_measure,
            args=(exact, experiment, watcher),
        )


def _measure(exact: SweepConfig, experiment: str, watcher: str) -> None:
    st.session_state[_TWIN] = board().submit(experiment, exact, watcher)
    state.act_on_all()  # the page polls from now on
