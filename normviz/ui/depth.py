"""How does a depth sweep reach the page? The knobs become a configuration, the board runs it, a fragment draws it."""

from __future__ import annotations

from uuid import uuid4

import streamlit as st

from normviz.depth.config import SweepConfig
from normviz.depth.results import DepthSweep, collect
from normviz.errors import InputError
from normviz.figures.depth import gradient_picture, profile_picture, residual_picture
from normviz.jobs.job import JobView
from normviz.text import Text
from normviz.ui import state
from normviz.ui.budget import duration, expected, refusal
from normviz.ui.controls import complain
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.server import board

EXPERIMENT = "sweep"
POLL_SECONDS = 0.5

UNASKED_SECONDS = 5.0
"""Up to this estimate a sweep starts by itself when a link or the first view asks for it."""

_JOB = "depth.job"
_WATCHER = "depth.watcher"
_CONFIG = "depth.config"


def sweep_config(t: Text) -> SweepConfig:
    """The configuration that the knobs stand for; the last good one, and the reason, where they do not fit together."""
    value = {row: state.good("depth", row) for row in _CONFIG_KNOBS}
    width = int(value["d_model"])
    try:
        config = SweepConfig(
            placements=tuple(value["placements"]),
            depths=tuple(int(depth) for depth in value["depths"]),
            norm=value["norm"],
            init=value["init"],
            seeds=tuple(range(value["seeds"])),
            d_model=width,
            n_heads=int(value["n_heads"]),
            d_ff=int(value["ff"]) * width,
            batch=value["batch"],
            seq_len=value["seq_len"],
            attention=value["attention"],
            activation=value["activation"],
            qk_norm=value["qk_norm"],
            loss=value["loss"],
            eps=float(value["eps"]),
            dtype=value["dtype"],
            device=value["device"],
        )
    except InputError as error:
        complain(error, t)
        kept: SweepConfig = st.session_state.get(_CONFIG, SweepConfig())
        return kept
    st.session_state[_CONFIG] = config
    return config


def shown_config(config: SweepConfig) -> SweepConfig:
    """The configuration of the figures: that of the running or last sweep, else the knobs' own."""
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
    away = job is not None and board().left(job.digest, _watcher())
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


def live(quantity: str, layers: int, t: Text) -> None:
    """Draw the running or finished sweep; polls only while it runs."""
    job = _job()
    active = job is not None and job.state in ("waiting", "running")
    st.fragment(_live, run_every=POLL_SECONDS if active else None)(quantity, layers, t, active)


def _live(quantity: str, layers: int, t: Text, active: bool) -> None:
    job = _job()
    lost = board().cluster.state == "failed" and (job is None or job.state != "done")
    if lost:
        _explain_cluster(job, t)
    if job is None:
        if not lost:
            st.info(t("Press Run to measure."))
        return
    board().renew(job.digest, _watcher())
    if active and job.state not in ("waiting", "running"):
        st.rerun()
    _progress(job, t, explained=lost)
    if active and board().left(job.digest, _watcher()):
        st.info(t("You left this sweep; it goes on for {n} others who watch it.", n=job.watchers))
    result = collect(job.config, job.points)
    if not result.points:
        return
    _figures(result, quantity, layers, t)
    st.caption(_provenance(job, result, t))
    if not active:
        st.download_button(
            t("Download the result"),
            result.to_bytes,
            file_name=f"normviz-{job.digest[:8]}.npz",
            mime="application/octet-stream",
            help=t("The file that `python -m normviz show` and `normviz.load` read."),
            on_click="ignore",
            key="depth.download",
        )


def _explain_cluster(job: JobView | None, t: Text) -> None:
    """Say why there is no cluster, and offer to try again where Go on does not."""
    cluster = board().cluster
    reason = t.error(cluster.reason) if cluster.reason is not None else ""
    st.error(t("There is no compute cluster now; the other labs work without it. {reason}", reason=reason))
    if job is None:
        st.button(t("Try again"), key="depth.again", on_click=cluster.restart)


def _progress(job: JobView, t: Text, *, explained: bool) -> None:
    """Say how far the sweep is, or why it ended early."""
    done = {"done": job.done, "total": job.total}
    if job.state == "waiting":
        st.progress(0.0, text=t("Waiting for a worker …"))
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
        st.caption(t.error(job.message))


def _figures(result: DepthSweep, quantity: str, layers: int, t: Text) -> None:
    present = sorted({point.depth for point in result.points})
    depth = layers if layers in present else present[-1]
    if depth != layers:
        st.caption(t("{asked} layers are not measured; the two lower figures show {shown}.", asked=layers, shown=depth))
    plot(gradient_picture(result, quantity=quantity, t=t, mode=mode()), key="depth.gradients", t=t)
    lesson("depth", "gradients", t)
    left, right = st.columns(2, gap="large")
    with left:
        plot(profile_picture(result, quantity=quantity, depth=depth, t=t, mode=mode()), key="depth.profile", t=t)
        lesson("depth", "profile", t)
    with right:
        plot(residual_picture(result, depth=depth, t=t, mode=mode()), key="depth.residual", t=t)
        lesson("depth", "residual", t)


def _provenance(job: JobView, result: DepthSweep, t: Text) -> str:
    config = result.config
    parts = [
        t("Measured on {device}, {dtype}", device=", ".join(result.devices), dtype=config.dtype),
        t("seeds {seeds}", seeds=", ".join(str(seed) for seed in config.seeds)),
        t("{seconds} s of computing", seconds=f"{result.seconds:.2f}"),
        f"torch {result.points[0].torch_version}",
    ]
    if job.cached:
        parts.append(t("read from the result store"))
    return " · ".join(parts)


def _job() -> JobView | None:
    digest = st.session_state.get(_JOB)
    return board().view(digest) if digest else None


def _submit(config: SweepConfig) -> None:
    st.session_state[_JOB] = board().submit(EXPERIMENT, config, _watcher())


def _start(config: SweepConfig) -> None:
    _submit(config)
    state.act()


def _cancel() -> None:
    board().cancel(st.session_state[_JOB], _watcher())
    state.act()


def _watcher() -> str:
    name: str = st.session_state.setdefault(_WATCHER, uuid4().hex)
    return name


_CONFIG_KNOBS = (
    "placements", "depths", "norm", "init", "seeds", "d_model", "n_heads", "ff", "batch", "seq_len", "attention",
    "activation", "qk_norm", "loss", "eps", "dtype", "device",
)  # fmt: skip
