"""How long do norms take on the worker's device, and what did the paper measure on its own?"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import streamlit as st

from normviz.cost import BenchConfig, NormBench, collect
from normviz.figures.cost import bench_picture, bench_roofline, paper_picture
from normviz.jobs.job import JobView
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import attempt, control
from normviz.ui.job import POLL_SECONDS, explain_cluster, watcher
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.quoted import sentence_of
from normviz.ui.server import board

PAGE = "cost"
EXPERIMENT = "norms"

_JOB = "cost.job"
_RUN = "cost.run.number"


def measured() -> NormBench | None:
    """What this session's last benchmark has measured, or None."""
    job = _job()
    return None if job is None else collect(job.config, job.points)


def bench(t: Text) -> dict[str, Any]:
    """Draw the controls of the benchmark, its button and its result."""
    lesson(PAGE, "bench", t)
    left, right = st.columns(2, gap="large")
    with left:
        kinds = control(PAGE, "kinds", t)
        ways = control(PAGE, "ways", t)
        device, dtype = control(PAGE, "device", t), control(PAGE, "format", t)
    with right:
        rows, width = control(PAGE, "rows", t), control(PAGE, "width", t)
        repeats = control(PAGE, "repeats", t)
    config = attempt(
        t, BenchConfig, kinds=tuple(kinds), ways=tuple(ways), tokens=rows, d=width, dtype=dtype, device=device,
        repeats=repeats, run=st.session_state.get(_RUN, 0),
    )  # fmt: skip
    job = _job()
    if job is None and config is not None and board().known(EXPERIMENT, config):
        # A reload, or another tab, in the middle of a run or after it.
        st.session_state[_JOB] = board().submit(EXPERIMENT, config, watcher(PAGE))
        job = _job()
    active = job is not None and job.state in ("waiting", "running")
    with st.container(horizontal=True, vertical_alignment="center", gap="medium"):
        st.button(
            t("Run"), type="primary", key="cost.start", disabled=config is None or active, on_click=_start,
            args=(config,),
        )  # fmt: skip
        st.button(t("Cancel"), key="cost.cancel", disabled=not active, on_click=_cancel)
    st.fragment(_live, run_every=POLL_SECONDS if active else None)(t, active)
    return {"config": config}


def paper(t: Text) -> dict[str, Any]:
    """Draw the paper's own tables beside this machine's measurement, if there is one."""
    lesson(PAGE, "paper", t)
    plot(paper_picture(measured(), t=t, mode=mode()), key="cost.paper", t=t)
    return {}


def _live(t: Text, active: bool) -> None:
    if state.whole_page_due():
        st.rerun()
    job = _job()
    lost = board().cluster.state == "failed" and (job is None or job.state != "done")
    if lost:
        explain_cluster(PAGE, t, offer=job is None)
    if job is None:
        if not lost:
            st.info(t("Press Run to measure on the worker's device."))
        return
    board().renew(job.digest, watcher(PAGE))
    if active and job.state not in ("waiting", "running"):
        st.rerun()
    _progress(job, t, explained=lost)
    result = collect(job.config, job.points)
    if result.point is None:
        return
    left, right = st.columns(2, gap="large")
    with left:
        plot(bench_picture(result, t=t, mode=mode()), key="cost.bench", t=t)
    with right:
        plot(bench_roofline(result, t=t, mode=mode()), key="cost.roofline", t=t)
        lesson(PAGE, "roofline", t)
    point = result.point
    for way, reason in point.why_not.items():
        st.caption(t("{way} could not run here: {reason}", way=f"`{way}`", reason=f"`{reason.replace('`', '')}`"))
    said = [
        t("Measured on {device}, {dtype}", device=point.device, dtype=result.config.dtype),
        t("[{tokens}, {d}], {rounds} rounds after {warm_up} calls to warm up", tokens=result.config.tokens,
          d=result.config.d, rounds=point.rounds, warm_up=point.warm_up),
        t("threads: {n}", n=point.threads),
        f"torch {point.torch_version}",
        f"{datetime.fromtimestamp(point.finished, UTC):%Y-%m-%d %H:%M} UTC",
    ]  # fmt: skip
    if job.cached:
        said.append(t("read from the result store"))
    st.caption(" · ".join(said))
    st.download_button(
        t("Download the result"),
        result.to_bytes,
        file_name=f"normviz-norms-{job.digest[:8]}.npz",
        mime="application/octet-stream",
        on_click="ignore",
        key="cost.download",
    )


def _progress(job: JobView, t: Text, *, explained: bool) -> None:
    if job.state == "waiting":
        st.progress(0.0, text=t("Waiting for a worker …"))
    elif job.state == "running":
        st.progress(0.5, text=t("Measuring in turns …"))
    elif job.state == "cancelled":
        st.warning(t("Cancelled. Run measures anew."))
    elif job.state in ("failed", "interrupted"):
        st.error(t("The benchmark did not finish. Run measures anew."))
    if job.message is not None and not explained:
        st.caption(sentence_of(job.message, t))


def _job() -> JobView | None:
    digest = st.session_state.get(_JOB)
    return board().view(digest) if digest else None


def _start(config: BenchConfig) -> None:
    job = _job()
    if job is not None and job.config == config and job.state == "done":
        # What was measured a minute ago is no answer to a person who asks again.
        st.session_state[_RUN] = st.session_state.get(_RUN, 0) + 1
        config = BenchConfig(**{**config.to_dict(), "run": st.session_state[_RUN]})
    st.session_state[_JOB] = board().submit(EXPERIMENT, config, watcher(PAGE))
    state.act()


def _cancel() -> None:
    board().cancel(st.session_state[_JOB], watcher(PAGE))
    state.act()
