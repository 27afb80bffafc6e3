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
from normviz.streams import TOO_FEW, History, Stream, history, power_path
from normviz.text import Text
from normviz.ui.axes.data import PAGE
from normviz.ui.controls import attempt, control
from normviz.ui.feeder import feeder
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot

CHANNEL = 0
"""The channel that the figures show."""


def running(t: Text) -> dict[str, Any]:
    """Draw the running statistics along a stream, and what training and inference make of its next batch."""
    lesson(PAGE, "running", t)
    stream, given = _stream(t)
    fed = _feed(stream.kind, t)
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
            st.code(f"ValueError: {TOO_FEW.format(d=stream.d)}", language="python", wrap_lines=True)
        if len(found.tokens):
            plot(tokens_picture(found, CHANNEL, training, t=t, mode=mode()), key="axes.next", t=t)
        lesson(PAGE, "generation" if stream.kind == "generation" else "next_batch", t)
    with right:
        st.header(t("Training minus inference"))
        if stream.kind == "generation":
            st.info(t("There is no batch to take statistics of: training mode cannot run on single tokens."))
        elif found.mismatch.size:
            plot(mismatch_picture(found, t=t, mode=mode()), key="axes.mismatch", t=t)
        else:
            st.info(t("Feed a batch: there is nothing to compare yet."))
        if stream.kind != "generation":
            lesson(PAGE, "mismatch", t)
    return given


def power(t: Text) -> dict[str, Any]:
    """Draw PowerNorm's statistic and gradient along the same stream, beside BatchNorm and LayerNorm."""
    lesson(PAGE, "power", t)
    stream, given = _stream(t)
    alpha = control(PAGE, "alpha", t)
    fed = _feed(stream.kind, t)
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
        lesson(PAGE, f"square{_at_inference(stream)}", t)
    with right:
        st.header(t("One token along the stream"))
        plot(probe_picture(found, t=t, mode=mode()), key="axes.probe", t=t)
        lesson(PAGE, f"probe{_at_inference(stream)}", t)
    if stream.kind == "generation":
        lesson(PAGE, "released", t)
        return given
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
        label = t("Tokens in a training batch N") if kind == "generation" else None
        tokens = control(PAGE, "n", t, label=label)
    with columns[1]:
        momentum = control(PAGE, "momentum", t)
    with columns[2]:
        drift = control(PAGE, "drift", t, disabled=kind != "drift")
    with columns[3]:
        seed = control(PAGE, "seed", t)
    made = Stream(kind=kind, tokens=tokens, momentum=momentum, drift=drift, seed=seed)
    return made, {"stream": kind, "n": tokens, "momentum": momentum, "drift": drift, "seed": seed}


def _at_inference(stream: Stream) -> str:
    """What the names of the sections about a stream without training end in."""
    return "_generation" if stream.kind == "generation" else ""


def _feed(kind: str, t: Text) -> int:
    """Draw the number of batches, or of single tokens, with the buttons that feed more, and return it."""
    words = {"group": t("Feed batches"), "one": t("Next batch"), "ten": t("Ten batches"), "over": t("Start over")}
    label = None
    if kind == "generation":
        words |= {"group": t("Generate tokens"), "one": t("Next token"), "ten": t("Ten tokens")}
        label = t("Tokens so far")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        feeder(PAGE, "fed", words)
        fed: int = control(PAGE, "fed", t, label=label)
    return fed


def _lag(found: History, t: Text) -> None:
    """How far the running mean is from the population's, and by how much it jitters."""
    stream, space = found.stream, " " if t.lang == "en" else ""
    mean = found.running["pytorch"].mean[-1, CHANNEL]
    behind = float(found.truth[max(found.steps - 1, 0), CHANNEL] - mean)
    gap = number(abs(behind))
    if stream.kind == "generation":
        parts = [t("At inference the running mean stands still, {gap} from the population's mean.", gap=gap)]
    elif found.steps == 0:
        parts = [t("Before the first batch the running mean is 0 and the running variance 1.")]
    elif stream.kind == "drift" and behind > 0:
        parts = [t("The running mean is {gap} behind the mean of the last batch's population.", gap=gap)]
    else:
        parts = [t("The running mean is {gap} from the mean of the last batch's population.", gap=gap)]
    if stream.kind != "generation" and stream.momentum == 0:
        parts.append(t("With momentum 0 it never moves."))
    elif found.lag is not None:
        parts.append(t("A steady drift leaves it v (1 − α) / α = {lag} behind.", lag=number(found.lag)))
    if stream.kind in ("steady", "drift") and stream.momentum > 0 and found.spread is not None:
        parts.append(t("It jitters by ±{spread} when the start is forgotten.", spread=number(found.spread[CHANNEL])))
    st.markdown(space.join(parts))
