"""How does a depth sweep reach the page? The knobs become a configuration, the board runs it, a fragment draws it."""

from __future__ import annotations

from datetime import UTC, datetime

import streamlit as st

from normviz.depth.config import SweepConfig
from normviz.depth.results import DepthSweep, collect
from normviz.jobs.job import JobView
from normviz.text import Text
from normviz.ui import state
from normviz.ui.budget import duration, expected, refusal
from normviz.ui.controls import complain
from normviz.ui.depth import views
from normviz.ui.depth.explain import explain
from normviz.ui.depth.knobs import PAGE, presets, sweep_config
from normviz.ui.depth.twin import deviation, twin_runs
from normviz.ui.depth.upload import banner, upload, uploaded
from normviz.ui.depth.views import VIEW_KNOBS
from normviz.ui.job import POLL_SECONDS, explain_cluster, watcher
from normviz.ui.quoted import sentence_of
from normviz.ui.server import board

__all__ = ["PAGE", "VIEW_KNOBS", "explain", "live", "presets", "run_bar", "shown_config", "sweep_config", "upload"]

EXPERIMENT = "sweep"
UNASKED_SECONDS = 5.0
"""Up to this estimate a sweep starts by itself when a link or the first view asks for it."""

_JOB = "depth.job"


def shown_config(config: SweepConfig) -> SweepConfig:
    """The configuration of the figures: that of the opened file, of the running or last sweep, else the knobs' own."""
    opened = uploaded()
    if opened is not None:
        return opened.config
    job = _job()
    shown: SweepConfig = config if job is None else job.config
    return shown


def run_bar(config: SweepConfig, t: Text) -> None:
    """Draw Run, Cancel and the estimate; start what the link asks for if it is small."""
    cost = expected(config)
    known = board().known(EXPERIMENT, config)
    refused = None if known else refusal(cost)
    job = _job()
    asked = config.digest != st.session_state.get(_JOB)
    first = job is None and cost.seconds <= UNASKED_SECONDS
    if asked and refused is None and (known or first):
        _submit(config)
        job, asked = _job(), False
    active = job is not None and job.state in ("waiting", "running")
    away = job is not None and board().left(job.digest, watcher(PAGE))
    running = active and not away
    left = job is not None and not asked and (job.state in ("cancelled", "interrupted", "failed") or (active and away))
    with st.container(horizontal=True, vertical_alignment="center", gap="medium", key="nv_run"):
        st.button(
            t("Go on") if left else t("Run"),
            type="primary",
            key="depth.run",
            disabled=refused is not None or not (asked or left),
            on_click=_start,
            args=(config,),
        )
        st.button(t("Cancel"), key="depth.cancel", disabled=not running, on_click=_cancel)
        st.caption(
            t(
                "{time}, {flops} GFLOP, {memory} MiB",
                time=duration(cost.seconds, t),
                flops=f"{cost.flops / 1e9:,.1f}",
                memory=f"{cost.memory_bytes / 2**20:,.0f}",
            )
        )
    if refused is not None:
        complain(refused, t)
    elif asked and job is not None:
        st.info(t("The knobs have changed. The figures show the last run until you press Run."))


def live(chosen: views.Chosen, t: Text) -> None:
    """Draw the opened file, or the running or finished sweep, in the chosen view; polls only while it runs."""
    job = _job()
    active = (job is not None and job.state in ("waiting", "running")) or twin_runs(watcher(PAGE))
    st.fragment(_live, run_every=POLL_SECONDS if active else None)(chosen, t, active)


def _live(chosen: views.Chosen, t: Text, active: bool) -> None:
    if state.whole_page_due():
        st.rerun()
    job = _job()
    opened = uploaded()
    if opened is not None:
        banner(opened, t)
        views.draw(opened, chosen, t)
        st.caption(" · ".join(_provenance(opened, t)))
        return
    lost = board().cluster.state == "failed" and (job is None or job.state != "done")
    if lost:
        explain_cluster(PAGE, t, offer=job is None)
    if job is None:
        if not lost:
            st.info(t("Press Run to measure."))
        return
    board().renew(job.digest, watcher(PAGE))
    running = job.state in ("waiting", "running")
    if active and not running and not twin_runs(watcher(PAGE)):
        st.rerun()
    _progress(job, t, explained=lost)
    if active and board().left(job.digest, watcher(PAGE)):
        st.info(t("You left this sweep; it goes on for {n} others who watch it.", n=job.watchers))
    result = collect(job.config, job.points)
    if not result.points:
        return
    views.draw(result, chosen, t)
    origin = _provenance(result, t)
    if job.cached:
        origin.append(t("read from the result store"))
    st.caption(" · ".join(origin))
    deviation(result, EXPERIMENT, watcher(PAGE), t)
    if not running:
        _downloads(job, result, t)


def _downloads(job: JobView, result: DepthSweep, t: Text) -> None:
    with st.container(horizontal=True):
        st.download_button(
            t("Download the result"),
            result.to_bytes,
            file_name=f"normviz-{job.digest[:8]}.npz",
            mime="application/octet-stream",
            help=t("The file that `python -m normviz show` and `normviz.load` read."),
            on_click="ignore",
            key="depth.download",
        )
        st.download_button(
            t("Download all rows (CSV)"),
            lambda: result.to_frame().to_csv(index=False),
            file_name=f"normviz-{job.digest[:8]}.csv",
            mime="text/csv",
            on_click="ignore",
            key="depth.csv",
        )


def _progress(job: JobView, t: Text, *, explained: bool) -> None:
    """Say how far the sweep is, or why it ended early."""
    done = {"done": job.done, "total": job.total}
    if job.state == "waiting":
        place = t("{n} sweeps are ahead of yours", n=job.ahead) if job.ahead else t("yours is next")
        st.progress(0.0, text=t("Waiting for a worker …") + " " + place)
    elif job.state == "running":
        text = t("{done} of {total} models measured", **done)
        if job.seconds_left is not None:
            text += " · " + t("about {seconds} s left", seconds=f"{job.seconds_left:.0f}")
        st.progress(job.done / job.total, text=text)
    elif job.state == "cancelled":
        st.warning(t("Cancelled after {done} of {total} models. Go on measures the rest.", **done))
    elif job.state == "interrupted":
        st.warning(t("Interrupted after {done} of {total} models. Go on measures the rest.", **done))
    elif job.state == "failed":
        st.error(t("The sweep failed after {done} of {total} models.", **done))
    if job.message is not None and not explained:
        st.caption(sentence_of(job.message, t))


def _provenance(result: DepthSweep, t: Text) -> list[str]:
    """Where the numbers come from: device, arithmetic, seeds, time."""
    config = result.config
    parts = [
        t("Measured on {device}, {dtype}", device=", ".join(result.devices), dtype=config.dtype),
        t("seeds {seeds}", seeds=", ".join(str(seed) for seed in config.seeds)),
        t("{seconds} s of computing", seconds=f"{result.seconds:.2f}"),
        f"torch {result.points[0].torch_version}",
    ]
    if result.finished:
        parts.append(f"{datetime.fromtimestamp(result.finished, UTC):%Y-%m-%d %H:%M} UTC")
    halved = sum(point.halvings > 0 for point in result.points)
    if halved:
        parts.append(t("the memory ran out, so that {n} models were measured in smaller groups", n=halved))
    return parts


def _job() -> JobView | None:
    digest = st.session_state.get(_JOB)
    return board().view(digest) if digest else None


def _submit(config: SweepConfig) -> None:
    st.session_state[_JOB] = board().submit(EXPERIMENT, config, watcher(PAGE))


def _start(config: SweepConfig) -> None:
    _submit(config)
    state.act()


def _cancel() -> None:
    board().cancel(st.session_state[_JOB], watcher(PAGE))
    state.act()
