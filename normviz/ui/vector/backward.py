"""What passes back through a norm? Its Jacobian, what it cannot see, and the image of a gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from normviz import geometry
from normviz.figures import vector as figures
from normviz.figures.words import number
from normviz.text import Text
from normviz.ui import state
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.pad import BARS, gradient_pad
from normviz.ui.plot import plot
from normviz.ui.vector.given import NORMS_HERE, Given
from normviz.ui.vector.parameters import gradient
from normviz.ui.vector.source import PAGE
from normviz.vectors import format_vector

_NAMES = {"layer_norm": "LayerNorm", "rms_norm": "RMSNorm"}
_EPS = np.logspace(-12, 1, 40)
"""The values of eps over which the singular values are drawn."""
_EPS_WIDTH = 64
"""Entries up to which they are: each eps is a singular value decomposition."""


def backward(given: Given, t: Text) -> None:
    """Draw the Jacobians with their singular values and null spaces, and what becomes of a gradient."""
    lesson(PAGE, "backward", t)
    norms = given.defined(t)
    if given.x.size <= geometry.LARGEST_SPECTRUM:
        _matrices(given, norms, t)
    else:
        limit = geometry.LARGEST_SPECTRUM
        st.info(t("The matrices are drawn up to {limit} entries; a gradient passes back for any number.", limit=limit))
    _gradient(given, norms, t)


def _matrices(given: Given, norms: Sequence[str], t: Text) -> None:
    found = {norm: geometry.spectrum(norm, given.x, weight=given.weight, eps=given.eps) for norm in norms}
    for column, norm in zip(st.columns(2, gap="medium"), norms, strict=False):
        with column:
            matrix = geometry.jacobian(norm, given.x, weight=given.weight, eps=given.eps)
            picture = figures.jacobian_picture(matrix, norm, t=t, mode=mode())
            plot(picture, key=f"vector.{picture.name}", t=t)
            _null_spaces(found[norm], t)
    lesson(PAGE, "null_space", t)
    left, right = st.columns(2, gap="medium")
    with left:
        if found:
            plot(figures.spectrum_picture(found, t=t, mode=mode()), key="vector.spectrum", t=t)
        lesson(PAGE, "spectrum", t)
    if given.x.size > _EPS_WIDTH:
        return
    with right:
        over = {norm: geometry.spectra(norm, given.x, _EPS, weight=given.weight) for norm in NORMS_HERE}
        plot(figures.eps_picture(_EPS, over, given.eps, t=t, mode=mode()), key="vector.eps.picture", t=t)
        lesson(PAGE, "eps", t)


def _null_spaces(spectrum: geometry.Spectrum, t: Text) -> None:
    d, hidden = spectrum.values.size, len(spectrum.unseen)
    st.markdown(
        t(
            "{norm}: rank {rank} of {d}. Directions of x that it cannot see: {hidden}; "
            "directions of a gradient that it throws away: {lost}.",
            norm=f"**{_NAMES[spectrum.norm]}**",
            rank=spectrum.rank,
            d=d,
            hidden=hidden,
            lost=len(spectrum.lost),
        )
    )
    if hidden > 0 and d <= BARS:
        with st.expander(t("These directions, as unit vectors")):
            rows = {t("unseen {i}", i=i + 1): vector for i, vector in enumerate(spectrum.unseen)}
            rows |= {t("thrown away {i}", i=i + 1): vector for i, vector in enumerate(spectrum.lost)}
            st.dataframe(pd.DataFrame(rows, index=pd.RangeIndex(1, d + 1, name="i")).round(6))


def _gradient(given: Given, norms: Sequence[str], t: Text) -> None:
    """A gradient at the output, and what of it arrives at x."""
    st.header(t("A gradient on its way back"))
    lesson(PAGE, "gradient", t)
    g = gradient(given.x.size, t)
    if given.x.size <= BARS:
        gradient_pad(
            given.x, g, weight=given.weight, eps=given.eps, t=t, mode=mode(), key="vector.gradient", released=_take
        )
    found = {norm: geometry.pullback(norm, given.x, g, weight=given.weight, eps=given.eps) for norm in norms}
    for norm, back in found.items():
        st.markdown(
            t(
                "{norm}: {share} of the gradient's squared length is thrown away; {length} of its length arrives at x.",
                norm=f"**{_NAMES[norm]}**",
                share=f"{100 * back.lost_share:.3g} %",
                length=number(_ratio(back)),
            )
        )
    if found and given.x.size > BARS:
        plot(figures.pullback_picture(found, t=t, mode=mode()), key="vector.pullback", t=t)


def _ratio(back: geometry.Pullback) -> float:
    """Length of the image over length of the gradient."""
    length = float(np.linalg.norm(back.gradient))
    return float(np.linalg.norm(back.image)) / length if length else 0.0


def _take(told: dict[str, Any]) -> None:
    state.put(PAGE, "g", format_vector(np.array(told["gradient"])))
    state.act()
