"""What does the vector lab show of a vector? One view at a time, each computed from what was given."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite

import streamlit as st

from normviz import geometry
from normviz.figures import vector as figures
from normviz.figures.picture import Picture
from normviz.slips import SLIPS, slip
from normviz.steps import layer_norm_steps, number, rms_norm_steps, slip_steps
from normviz.text import Text
from normviz.ui.controls import control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot
from normviz.ui.steps import show_steps, stepper
from normviz.ui.vector.backward import backward
from normviz.ui.vector.given import Given
from normviz.ui.vector.invariances import invariances
from normviz.ui.vector.source import PAGE


def draw(view: str, given: Given, t: Text) -> None:
    """Draw the chosen view of the vector."""
    _VIEWS[view](given, t)


def _steps(given: Given, t: Text) -> None:
    layer, rms = given.traces(t)
    until = stepper(PAGE, "step", t)
    columns = st.columns(2, gap="medium")
    with columns[0]:
        st.header("LayerNorm")
        steps = layer_norm_steps(layer, offset=bool(given.offset)) if layer else None
        show_steps(steps, t, key="layer_norm", until=until)
    with columns[1]:
        st.header("RMSNorm")
        steps = rms_norm_steps(rms, offset=bool(given.offset)) if rms else None
        show_steps(steps, t, key="rms_norm", until=until)
    columns = st.columns(2, gap="medium")
    with columns[0]:
        if layer is not None or rms is not None:  # else there is nothing whose square could be drawn
            _plot(figures.triangle_picture(geometry.triangle(given.x), t=t, mode=mode()), t)
        lesson(PAGE, "triangle", t)
    with columns[1]:
        _plot(figures.bars_picture(layer, rms, t=t, mode=mode()), t)
        lesson(PAGE, "entries", t)
    _slips(given, t)


def _slips(given: Given, t: Text) -> None:
    """The notes where people stumble, each with a switch that shows the difference on this vector."""
    st.header(t("Where people stumble"))
    columns = st.columns(2, gap="medium")
    for place, name in enumerate(SLIPS):
        with columns[place % 2], st.container(border=True):
            shown = control(PAGE, f"slip_{name}", t)
            lesson(PAGE, f"slip_{name}", t)
            if not shown:
                continue
            found = given.attempt(t, slip, name, given.x, eps=given.eps)
            if found is None:
                continue
            show_steps(slip_steps(found), t, key=f"slip_{name}")
            if found.difference is None or not isfinite(found.difference):
                st.markdown(t("The other one has no value for this vector."))
            elif found.difference == 0:
                st.markdown(t("On this vector the two agree to the last digit."))
            else:
                moved = f"${number(found.difference, 6)}$"
                st.markdown(
                    t("On this vector the largest entry of the output moves by {difference}.", difference=moved)
                )


def _geometry(given: Given, t: Text) -> None:
    given.defined(t)
    x, eps = given.x, given.eps
    cloud = None
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        # At d = 1 every LayerNorm is 0, or undefined.
        if x.size > 1 and control(PAGE, "cloud", t):
            kind, mean = control(PAGE, "dist", t), control(PAGE, "mean", t)
            cloud = given.attempt(t, geometry.cloud, x.size, mean=mean, distribution=kind, eps=eps)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if x.size < 3:
            st.info(t("At d = {d} all there is lies in the plane; the 3-D picture begins at d = 3.", d=x.size))
        else:
            space = given.attempt(t, geometry.space, x, weight=given.weight, bias=given.bias, eps=eps)
            if space is not None:
                _plot(figures.space_picture(space, cloud, t=t, mode=mode()), t)
            lesson(PAGE, "space" if x.size == 3 else "space_frame", t)
    with right:
        if (plane := given.attempt(t, geometry.plane, x, eps=eps)) is not None:
            _plot(figures.plane_picture(plane, t=t, mode=mode()), t)
        lesson(PAGE, "plane", t)
    left, right = st.columns(2, gap="medium")
    with left:
        if (lengths := given.attempt(t, geometry.lengths, x, eps=eps)) is not None:
            _plot(figures.length_picture(lengths, t=t, mode=mode()), t)
        lesson(PAGE, "lengths", t)
    with right:
        if cloud is not None:
            _plot(figures.cloud_picture(cloud, t=t, mode=mode()), t)
            lesson(PAGE, "cloud", t)
        elif x.size > 1:
            lesson(PAGE, "no_cloud", t)


_VIEWS: dict[str, Callable[[Given, Text], None]] = {
    "steps": _steps,
    "geometry": _geometry,
    "invariances": invariances,
    "backward": backward,
}


def _plot(picture: Picture, t: Text) -> None:
    plot(picture, key=f"vector.{picture.name}", t=t)
