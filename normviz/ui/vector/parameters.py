"""Which weight, bias and eps does the person give?"""

from __future__ import annotations

from bisect import bisect_left
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray
from streamlit.delta_generator import DeltaGenerator

from normviz.errors import InputError
from normviz.link import parse_eps
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import control, text_control
from normviz.ui.vector.source import PAGE
from normviz.vectors import parse_parameter, random_bias, random_weight

Array = NDArray[np.float64]

_STOPS = ("0", *(f"{digit}e{power}" for power in range(-12, 0) for digit in (1, 2, 5)), "1", "2", "5", "10")
"""Where the slider of eps can stand."""

_SLIDER = "vector.eps.slider"


def epsilon(t: Text) -> float:
    """Draw eps as a number to type and as a slider on a log scale, and return it."""
    field, slider = st.columns([1, 2], gap="medium", vertical_alignment="bottom")
    with field:
        eps = text_control(PAGE, "eps", t, parse_eps)
    st.session_state[_SLIDER] = _nearest(eps)
    with slider:
        st.select_slider(t("eps on a log scale"), _STOPS, key=_SLIDER, on_change=_slide)
    return eps


def _slide() -> None:
    state.put(PAGE, "eps", st.session_state[_SLIDER])
    state.act()


def _nearest(eps: float) -> str:
    """The slider's stop at eps, or the next one above it."""
    return _STOPS[min(bisect_left(_STOPS, eps * (1 - 1e-9), key=float), len(_STOPS) - 1)]


def parameters(d: int, t: Text, *, complaints: DeltaGenerator) -> tuple[Array | None, Array | None, float]:
    """Draw the controls of weight and bias; what cannot be used is said in `complaints`.

    Returns
    -------
    weight, bias, offset
        The weight as it is stored and the bias, shape [d] or None; 1.0 where the model multiplies by 1 + w, else 0.0.
    """
    left, right = st.columns(2, gap="medium")
    offset = 1.0 if state.value(PAGE, "offset") else 0.0
    with left:
        weight = _one("w", d, t, "0" if offset else "1", complaints)
        control(PAGE, "offset", t)
    with right:
        bias = _one("b", d, t, "0", complaints)
        if "random" in (state.value(PAGE, "w_is"), state.value(PAGE, "b_is")):
            control(PAGE, "p_seed", t)
    return weight, bias, offset


def _one(name: str, d: int, t: Text, blank: str, complaints: DeltaGenerator) -> Array | None:
    if control(PAGE, f"{name}_is", t) == "typed":
        read = partial(parse_parameter, d=d)
        return text_control(PAGE, name, t, read, placeholder=blank, complaints=complaints)
    seed = state.value(PAGE, "p_seed")
    if name == "b":
        return random_bias(d, seed)
    return random_weight(d, seed, about=0.0 if state.value(PAGE, "offset") else 1.0)


def gradient(d: int, t: Text) -> Array:
    """Draw the control of the gradient at the output, and return it."""
    return _or_first(text_control(PAGE, "g", t, partial(parse_parameter, d=d), placeholder="1, 0, 0, …"), d)


def kept_gradient(d: int) -> Array:
    """The gradient at the output as the control, drawn or not, has it."""
    try:
        return _or_first(parse_parameter(state.good(PAGE, "g"), d=d), d)
    except InputError:  # of another length, from before x changed
        return _or_first(None, d)


def _or_first(typed: Array | None, d: int) -> Array:
    """The gradient of the first entry where none was typed."""
    return np.eye(1, d)[0] if typed is None else typed
