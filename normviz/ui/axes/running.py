"""What does a stream of batches leave behind? Running statistics at inference, and PowerNorm's, step by step."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normviz.figures.axes import (
    gradient_picture,
    mismatch_picture,
    probe_picture,
    running_picture,
    square_picture,
    tokens_picture,
)
from normviz.figures.words import number
from normviz.link import MOST_BATCHES
from normviz.streams import TOO_FEW, History, Stream, history, power_path
from normviz.text import Text
from normviz.ui import state
from normviz.ui.axes.data import PAGE
from normviz.ui.controls import attempt, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot

CHANNEL = 0
"""The channel that the figures show."""

_STEPS = (1, 10)
"""Batches that a button feeds."""


def running(t: Text) -> dict[str, Any]:
    """Draw the running statistics along a stream, and what training and inference make of its next batch."""
    lesson(PAGE, "running", t)
    stream, given = _stream(t)
    fed = _feed(t)
    training = control(PAGE, "mode", t) == "train"
    found = attempt(t, history, stream, fed)
    given |= {"fed": fed, "training": training}
    if found is None:
        return given
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("Running mean"))
        plot(running_picture(found, "mean", CHANNEL, t=t, mode=mode()), key="axes.running.mean", t=t)
        _lag(found, t)
    with right:
        st.header(t("Running variance"))
        plot(running_picture(found, "var", CHANNEL, t=t, mode=mode()), key="axes.running.var", t=t)
    lesson(PAGE, "conventions", t)
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("The tokens so far") if stream.kind == "generation" else t("The next batch"))
        if training and stream.kind == "generation":
            st.code(f"ValueError: {TOO_FEW.format(d=stream.d)}", language="python")
        if len(found.tokens):
            plot(tokens_picture(found, CHANNEL, training, t=t, mode=mode()), key="axes.tokens", t=t)
        lesson(PAGE, "generation" if stream.kind == "generation" else "next_batch", t)
    with right:
        st.header(t("Training minus inference"))
        if found.mismatch.size:
            plot(mismatch_picture(found, t=t, mode=mode()), key="axes.mismatch", t=t)
        else:
            st.info(t("Feed a batch: there is nothing to compare yet."))
        lesson(PAGE, "mismatch", t)
    return given


def power(t: Text) -> dict[str, Any]:
    """Draw PowerNorm's statistic and gradient along the same stream, beside BatchNorm and LayerNorm."""
    lesson(PAGE, "power", t)
    stream, given = _stream(t)
    alpha = control(PAGE, "alpha", t)
    fed = _feed(t)
    given |= {"fed": fed, "alpha": alpha}
    found = attempt(t, power_path, stream, fed, alpha=alpha)
    if found is None:
        return given
    if not found.batch.size:
        st.info(t("Feed a batch: there is nothing to compare yet."))
        return given
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("What PowerNorm divides by"))
        plot(square_picture(found, CHANNEL, t=t, mode=mode()), key="axes.square", t=t)
        lesson(PAGE, "square", t)
    with right:
        st.header(t("One token along the stream"))
        plot(probe_picture(found, t=t, mode=mode()), key="axes.probe", t=t)
        lesson(PAGE, "probe", t)
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("The approximate gradient"))
        plot(gradient_picture(found, t=t, mode=mode()), key="axes.gradient", t=t)
    with right:
        lesson(PAGE, "power_gradient", t)
    lesson(PAGE, "released", t)
    return given


def _stream(t: Text) -> tuple[Stream, dict[str, Any]]:
    """Draw the controls of the stream."""
    kind = control(PAGE, "stream", t)
    columns = st.columns(4, gap="medium")
    with columns[0]:
        tokens = control(PAGE, "n", t, disabled=kind == "generation")
    with columns[1]:
        momentum = control(PAGE, "momentum", t)
    with columns[2]:
        drift = control(PAGE, "drift", t, disabled=kind != "drift")
    with columns[3]:
        seed = control(PAGE, "seed", t)
    made = Stream(kind=kind, tokens=tokens, momentum=momentum, drift=drift, seed=seed)
    return made, {"stream": kind, "n": tokens, "momentum": momentum, "drift": drift, "seed": seed}


def _feed(t: Text) -> int:
    """Draw the number of batches with the buttons that feed more, and return it."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.button(t("Next batch"), key="axes.feed.1", on_click=_more, args=(_STEPS[0],), type="primary")
        st.button(t("Ten batches"), key="axes.feed.10", on_click=_more, args=(_STEPS[1],))
        st.button(t("Start over"), key="axes.feed.0", on_click=_start_over)
        fed: int = control(PAGE, "fed", t)
    return fed


def _more(batches: int) -> None:
    state.put(PAGE, "fed", min(state.value(PAGE, "fed") + batches, MOST_BATCHES))
    state.act()


def _start_over() -> None:
    state.put(PAGE, "fed", 0)
    state.act()


def _lag(found: History, t: Text) -> None:
    """How far the running mean is behind the population, and by how much it jitters."""
    last = found.truth[max(found.steps - 1, 0), CHANNEL]
    behind = float(last - found.running["pytorch"].mean[-1, CHANNEL])
    parts = [t("The running mean is {behind} behind the mean of the last batch's population.", behind=number(behind))]
    if found.lag is not None:
        parts.append(t("A steady drift leaves it v (1 − α) / α = {lag} behind.", lag=number(found.lag)))
    if found.spread is not None:
        parts.append(t("It jitters by ±{spread} when the start is forgotten.", spread=number(found.spread[CHANNEL])))
    st.markdown((" " if t.lang == "en" else "").join(parts))
