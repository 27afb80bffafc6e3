"""What does the depth lab draw of a result? One view at a time, each from the measured points alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from normviz.depth.points import QUANTITIES
from normviz.depth.results import DepthSweep
from normviz.figures import depth as figures
from normviz.figures.picture import Picture
from normviz.text import Text
from normviz.ui.depth.claims import claims
from normviz.ui.depth.knobs import PAGE
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot

VIEW_KNOBS: dict[str, tuple[str, ...]] = {
    "gradients": ("quantity", "where", "layers", "theory"),
    "map": ("quantity", "map"),
    "stream": ("layers", "theory"),
    "attention": ("layers",),
    "claims": (),
}
"""Which controls a view has."""


Chosen = Mapping[str, Any]


def draw(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    """Draw the chosen view; a partial result gives shorter lines.

    `chosen` holds the values of "view" and of its controls as the page's script got them. A fragment that polls would
    find a list's label in the session where the language has just changed.
    """
    _VIEWS[chosen["view"]](result, chosen, t)


def _gradients(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    quantity, where, theory = (chosen[name] for name in ("quantity", "where", "theory"))
    if not _has(result, quantity, t):
        return
    depth = _depth(result, chosen, t)
    common: dict[str, Any] = {"t": t, "mode": mode()}
    _plot(figures.gradient_picture(result, quantity=quantity, where=where, theory=theory, **common), t)
    for note in figures.divergence_notes(result, quantity, t):
        st.warning(note)
    slopes = figures.slope_notes(result, quantity, where, t)
    if slopes:
        st.caption(" · ".join(slopes))
    lesson(PAGE, "gradients", t)
    left, right = st.columns(2, gap="large")
    with left:
        _plot(figures.profile_picture(result, quantity=quantity, depth=depth, theory=theory, **common), t)
        lesson(PAGE, "profile", t)
    with right:
        _plot(figures.residual_picture(result, depth=depth, theory=theory, **common), t)
        lesson(PAGE, "residual", t)
    if theory:
        _theory(result, (quantity, "residual_mean_square"), t)


def _map(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    quantity = chosen["quantity"]
    if not _has(result, quantity, t):
        return
    asked = chosen["map"]
    measured = result.config.placements
    placement = asked if asked in measured else measured[0]
    _plot(figures.heatmap_picture(result, quantity=quantity, placement=placement, t=t, mode=mode()), t)
    lesson(PAGE, "map", t)


def _stream(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    depth = _depth(result, chosen, t)
    theory = chosen["theory"]
    common: dict[str, Any] = {"t": t, "mode": mode()}
    _plot(figures.residual_picture(result, depth=depth, theory=theory, **common), t)
    lesson(PAGE, "residual", t)
    left, right = st.columns(2, gap="large")
    with left:
        _plot(figures.write_picture(result, depth=depth, **common), t)
        lesson(PAGE, "write", t)
    with right:
        _plot(figures.cosine_picture(result, depth=depth, **common), t)
        lesson(PAGE, "cosine", t)
    if theory:
        _theory(result, ("residual_mean_square",), t)


def _attention(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    depth = _depth(result, chosen, t)
    left, right = st.columns(2, gap="large")
    with left:
        _plot(figures.logit_picture(result, depth=depth, t=t, mode=mode()), t)
    with right:
        _plot(figures.entropy_picture(result, depth=depth, t=t, mode=mode()), t)
    lesson(PAGE, "attention", t)


def _claims(result: DepthSweep, chosen: Chosen, t: Text) -> None:
    lesson(PAGE, "claims", t)
    claims(result, t)


_VIEWS: dict[str, Callable[[DepthSweep, Chosen, Text], None]] = {
    "gradients": _gradients,
    "map": _map,
    "stream": _stream,
    "attention": _attention,
    "claims": _claims,
}


def _plot(picture: Picture, t: Text) -> None:
    plot(picture, key=f"depth.{picture.name}", t=t)


def _has(result: DepthSweep, quantity: str, t: Text) -> bool:
    """Whether any model has the quantity; says so where none has."""
    found = any(quantity in point.profiles for point in result.points)
    if not found:
        st.info(t("These models have nothing to show here: {quantity}.", quantity=t(QUANTITIES[quantity].label)))
    return found


def _depth(result: DepthSweep, chosen: Chosen, t: Text) -> int:
    """The depth whose layers are shown: the one asked for, or the deepest that arrived."""
    asked = int(chosen["layers"])
    present = sorted({point.depth for point in result.points})
    if asked in present:
        return asked
    st.caption(
        t("{asked} layers are not measured; the figures over layers show {shown}.", asked=asked, shown=present[-1])
    )
    return present[-1]


def _theory(result: DepthSweep, quantities: tuple[str, ...], t: Text) -> None:
    """Say which law is dashed, from where, and where there is none."""
    notes = dict.fromkeys(note for quantity in quantities for note in figures.theory_notes(result, quantity, t))
    with st.expander(t("What is dashed, and where no law applies")):
        for note in notes:
            st.markdown(f"- {note}")
