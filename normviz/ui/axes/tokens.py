"""What does a norm throw away? Two tokens that differ by it come out equal."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from normviz.figures.axes import pairs_picture
from normviz.figures.vector import affine_picture
from normviz.grid import pairs
from normviz.invariances import Affine, affine
from normviz.text import Text
from normviz.ui import state
from normviz.ui.axes.data import PAGE, data, picker, sentence_labels, token_labels
from normviz.ui.controls import attempt, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.vectors import random_weight

EPS = 0.0
"""Any larger one would show a trace of the scale."""


def tokens(t: Text) -> dict[str, Any]:
    """Draw a token and its scaled and shifted twin, and the distances of all tokens before and after the norms."""
    left, right = st.columns(2, gap="large")
    with left:
        given = data(t, padded=False)
    made = given.batch
    with right:
        lesson(PAGE, "tokens", t)
        sentence, word = st.columns(2, gap="medium")
        with sentence:
            row = picker("row", sentence_labels(made, t), t)
        with word:
            place = picker("word", token_labels(made, row, t), t)
        scales, shifts = st.columns(2, gap="medium")
        with scales:
            scale = control(PAGE, "scale", t)
        with shifts:
            shift = control(PAGE, "shift", t)
        weighted = control(PAGE, "weighted", t)
    weight = random_weight(made.x.shape[-1], state.value(PAGE, "seed")) if weighted else None
    said: set[str] = set()
    twin = attempt(t, affine, made.x[row, place], scale, shift, weight=weight, eps=EPS, said=said)
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("A token and its twin"))
        if twin is not None:
            plot(affine_picture(twin, t=t, mode=mode()), key="axes.twin", t=t)
        lesson(PAGE, "twin_weighted" if weighted else "twin", t)
    with right:
        st.header(t("All pairs of tokens"))
        if sum(made.lengths) < 2:
            st.info(t("There is only one token: type a second one."))
        else:
            found = attempt(t, pairs, made, weight=weight, eps=EPS, said=said)
            if found is not None:
                plot(pairs_picture(found, made, _distances(twin), t=t, mode=mode()), key="axes.pairs", t=t)
        lesson(PAGE, "pairs", t)
    lesson(PAGE, "lost", t)
    seed = state.value(PAGE, "seed") if weighted else None
    return given.spec | {"row": row, "word": place, "scale": scale, "shift": shift, "p_seed": seed, "eps": EPS}


def _distances(twin: Affine | None) -> tuple[float, float, float] | None:
    """How far the twin is from the token: before, after LayerNorm, after RMSNorm; None where a norm has no value."""
    if twin is None or twin.layer_before is None or twin.layer_after is None:
        return None
    if twin.rms_before is None or twin.rms_after is None:
        return None
    gaps = (twin.moved - twin.x, twin.layer_after - twin.layer_before, twin.rms_after - twin.rms_before)
    before, layer, rms = (float(np.linalg.norm(gap)) for gap in gaps)
    return before, layer, rms
