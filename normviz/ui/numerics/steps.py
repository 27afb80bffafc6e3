"""What does each step of a norm do to its numbers in a format of few bits?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from normviz.figures.numerics import (
    claim_text,
    held,
    incident_pictures,
    neighbours_picture,
    running_sum_picture,
    steps_picture,
)
from normviz.floats import FORMATS, INCIDENTS, MARKS, FloatTrace, Setting
from normviz.link import knob, parse_eps, parse_x
from normviz.snippets import FloatsGiven
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import attempt, control, text_control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot

PAGE = "numerics"


def steps(t: Text) -> FloatsGiven:
    """Draw one norm of the person's vector, step by step."""
    lesson(PAGE, "steps", t)
    left, right = st.columns(2, gap="large")
    with left:
        x = text_control(PAGE, "x", t, parse_x, area=True)
        eps = text_control(PAGE, "eps", t, parse_eps)
    with right:
        norm = control(PAGE, "norm", t)
        kind = control(PAGE, "format", t)
        accumulate = control(PAGE, "accumulate", t)
    setting = Setting(x=x, format=kind, norm=norm, eps=eps, accumulate=accumulate)
    _trace(setting, t)
    return FloatsGiven(view="steps", setting=setting)


def incidents(t: Text) -> FloatsGiven:
    """Draw one incident: what happened, its numbers computed now, and the steps of its norm."""
    lesson(PAGE, "incidents", t)
    name = control(PAGE, "incident", t)
    incident = INCIDENTS[name]
    st.header(t(incident.label))
    st.markdown(t(incident.sentence))
    for claim in incident.claims():
        st.markdown(f"- {claim_text(claim, t)}")
    if not incident.happened:
        st.caption(t("A danger shown with numbers of its own, not the report of a model."))
    if incident.source:
        st.caption(t("Source: {source}", source=incident.source))
    for column, picture in zip(st.columns(2, gap="large"), incident_pictures(name, t=t, mode=mode()), strict=False):
        with column:
            plot(picture, key=f"numerics.{picture.name}", t=t)
    return FloatsGiven(view="incident", incident=name)


def _trace(setting: Setting, t: Text) -> None:
    trace = attempt(t, setting.trace)
    if trace is None:
        return
    left, right = st.columns([3, 2], gap="large")
    with left:
        plot(steps_picture(trace, t=t, mode=mode()), key="numerics.steps", t=t)
    with right:
        plot(running_sum_picture(trace, t=t, mode=mode()), key="numerics.sum", t=t)
    entry = _entry(trace.d, t)
    _table(trace, entry, t)
    value = float(trace["square"].exact[entry])
    drawn = neighbours_picture(
        value, [setting.format, *(name for name in FORMATS if name != setting.format)], t=t, mode=mode()
    )
    plot(drawn, key="numerics.neighbours", t=t)


def _entry(d: int, t: Text) -> int:
    """Draw which entry of the vector the table follows, and return it, from 0."""
    row = knob(PAGE, "entry")
    place: int = min(state.value(PAGE, "entry"), d)
    key = "numerics.entry.field"
    st.session_state[key] = place
    st.number_input(t(row.label), min_value=1, max_value=d, key=key, on_change=_follow, width=160)
    return place - 1


def _follow() -> None:
    state.put(PAGE, "entry", st.session_state["numerics.entry.field"])
    state.act()


def _table(trace: FloatTrace, entry: int, t: Text) -> None:
    """Each step at one entry: exact, in the format, the numbers below and above, and what was done to it."""
    heads = [t("Step"), t("Exact"), t("In the format"), t("Next below"), t("Next above"), t("What happened")]
    rows = []
    for step in trace.steps:
        place = min(entry, step.exact.size - 1)
        near = step.near(place)
        cells = (float(step.exact[place]), float(step.value[place]), near.below, near.above)
        digits = 9 if step.format == "float32" else 6
        rows.append([t(step.label), *(held(cell, digits) for cell in cells), t(MARKS[step.mark(place)])])
    with st.container(key="nv_floats"):
        st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
