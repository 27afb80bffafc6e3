"""What do pads do? One sentence is made longer or shorter, and the outputs of the others are watched."""

from __future__ import annotations

from typing import Any

import streamlit as st

from normviz.errors import InputError
from normviz.figures.axes import bias_picture, moved_picture
from normviz.grid import moved, padding_bias
from normviz.text import N_, Text
from normviz.ui.axes.data import PAGE, data, picker, sentence_labels
from normviz.ui.axes.grid import EPS
from normviz.ui.controls import attempt, complain, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot


def padding(t: Text) -> dict[str, Any]:
    """Draw how far the other sentences move, and the bias of the counted statistics."""
    left, right = st.columns(2, gap="large")
    with left:
        given = data(t)
    made = given.batch
    with right:
        lesson(PAGE, "padding", t)
        row = picker("row", sentence_labels(made, t), t)
        change = control(PAGE, "change", t)
    change = _possible(made.lengths[row], change, t)
    said: set[str] = set()
    found = attempt(t, moved, made, row, change, eps=EPS, said=said)
    if found is not None:
        st.markdown(
            t(
                "Words in the sentence: {before}, then {after}. Tokens in a row: {tokens}, then {then}. Share of pads: "
                "{p}, then {q}.",
                before=found.before.lengths[row],
                after=found.after.lengths[row],
                tokens=found.before.x.shape[1],
                then=found.after.x.shape[1],
                p=f"{100 * found.before.pad_share:.0f} %",
                q=f"{100 * found.after.pad_share:.0f} %",
            )
        )
    amount, bias = st.columns(2, gap="large")
    with amount:
        st.header(t("How far the other sentences move"))
        if len(made.lengths) == 1:
            st.info(t("There is no other sentence: type a second one."))
        elif found is not None:
            plot(moved_picture(found, t=t, mode=mode()), key="axes.moved", t=t)
        lesson(PAGE, "moved" if change else "not_moved", t)
    with bias:
        st.header(t("What pads do to the statistics"))
        channel = picker("channel", [t("channel {n}", n=n + 1) for n in range(made.x.shape[-1])], t)
        law = attempt(t, padding_bias, made, channel, eps=EPS, said=said)
        if law is not None:
            then = None if found is None else found.after.pad_share
            plot(bias_picture(law, made.pads, then=then, t=t, mode=mode()), key="axes.bias", t=t)
        lesson(PAGE, "bias", t)
        lesson(PAGE, f"bias_{made.pads}", t)
    return given.spec | {"row": row, "change": change, "channel": channel}


def _possible(length: int, change: int, t: Text) -> int:
    """The change of a sentence's length, or the nearest one that leaves it a word, said on the page."""
    if length + change >= 1:
        return change
    error = InputError(
        N_("A sentence keeps at least one word: this one has {words}, so that at most {most} can go; got {got}."),
        words=length,
        most=length - 1,
        got=-change,
    )
    complain(error, t, kept=str(1 - length))
    return 1 - length
