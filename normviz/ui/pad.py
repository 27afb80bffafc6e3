"""How does a person take hold of a vector, a gradient or an affine map, and how does it come back?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import streamlit as st
from streamlit.runtime import Runtime

from normviz.arrays import LARGEST_ENTRY, Floats, centre, root_mean_square
from normviz.figures import theme
from normviz.link import knob
from normviz.text import Text
from normviz.ui.assets import renderer

BARS = 24
"""Entries up to which each has a bar to drag; of a longer vector the tip in the plane is dragged."""


def _bounds(name: str) -> dict[str, float]:
    """Ends and step of a control of the vector lab."""
    row = knob("vector", name)
    assert row.low is not None
    assert row.high is not None
    assert row.step is not None
    return {"low": row.low, "high": row.high, "step": row.step}


SCALE, SHIFT = _bounds("scale"), _bounds("shift")
"""Ends and step of the knobs a and b of a x + b."""

Released = Callable[[dict[str, Any]], None]
Check = Callable[[Mapping[str, Any]], dict[str, Any] | None]

_PLACE = '<div class="normviz-pad-place" style="height: 480px"></div>'


def pad(
    x: Floats,
    *,
    weight: Floats | None = None,
    bias: Floats | None = None,
    eps: float,
    t: Text,
    mode: str,
    key: str,
    released: Released,
) -> None:
    r"""Draw x to take hold of: its entries as bars and its tip in the plane span{1, x}, with both norms following.

    Nothing reaches Python while a pointer is down. A drag reports on release, keys when they have rested. What Python
    sends meanwhile is shown after that.

    Parameters
    ----------
    x
        Shape [d]; with more than `BARS` entries only the tip is dragged.
    weight, bias
        Gain and bias, shape [d], of the bars; the plane shows the norms before both.
    eps
        Inside both roots, in units of x squared.
    t, mode
        The reader's language, and "light" or "dark".
    key
        Unique on the page, constant over updates.
    released
        Called before the script runs, with {"x": [...]} of finite numbers up to 1e150 in size; for a longer vector
        with {"mean": m, "std": s}, meaning $x' = m + \frac{s}{\sigma}(x - \bar x)$ with the sign of s (a constant x
        has no $x - \bar x$; a rising ramp takes its place).
    """
    short = x.size <= BARS
    mean, centered = centre(x)
    value = {"x": x.tolist()} if short else {"mean": float(mean[0]), "std": float(root_mean_square(centered)[0])}
    plane = t("The plane through 1 and x, to scale; on the circle, RMS is 1")
    words = {
        "title": t("x to drag, with LN(x) and RMSNorm(x)"),
        "names": ["x", "LN(x)", "RMSNorm(x)"],
        "tips": {
            "x": "x",
            "mean": t("mean part"),
            "centered": t("centred part"),
            "layer": "LN(x)",
            "rms": "RMSNorm(x)",
        },
        "plane": plane if short else t("{plane}. It is exact for any number of entries.", plane=plane),
        "along": t("along 1: √d · mean"),
        "across": t("across 1: √d · std"),
        "tip": t("Tip of x: mean {mean}, standard deviation {std}"),
        "live": t("mean {mean}, standard deviation {std}, RMS {rms}"),
        "hint": t("Drag a bar or the tip of x, or use the arrow keys, with Shift for larger steps.")
        if short
        else t("Drag the tip of x, or use the arrow keys, with Shift for larger steps."),
    }
    parameters = {"weight": _listed(weight), "bias": _listed(bias)} if short else {}
    data = {"value": value, "d": x.size, "eps": float(eps), **parameters}
    check: Check = (lambda sent: _entries(sent, "x", x.size)) if short else _tip
    _mount("vector", data, words, t, mode, key, released, check)


def gradient_pad(
    x: Floats,
    gradient: Floats,
    *,
    weight: Floats | None = None,
    eps: float,
    t: Text,
    mode: str,
    key: str,
    released: Released,
) -> None:
    r"""Draw a gradient to take hold of, with what both norms hand back of it, $J^\top g$, following.

    Parameters
    ----------
    x
        Where the norms are taken, shape [d].
    gradient
        With respect to the outputs, shape [d]; with more than `BARS` entries a sentence stands in its place.
    weight
        Gain of both norms, shape [d].
    eps, t, mode, key
        As for `pad`.
    released
        As for `pad`, with {"gradient": [...]}.
    """
    if gradient.size > BARS:
        st.caption(
            t("A gradient of up to {most} entries can be dragged; this one has {n}.", most=BARS, n=gradient.size)
        )
        return
    words = {
        "title": t("A gradient to drag, with what both norms hand back of it"),
        "names": [t("gradient g"), "LN: Jᵀg", "RMSNorm: Jᵀg"],
        "live": t("L2 norm: g {gradient}, through LN {layer}, through RMSNorm {rms}"),
        "hint": t("Drag a bar, or use the arrow keys, with Shift for larger steps."),
    }
    data = {"value": {"gradient": gradient.tolist()}, "x": x.tolist(), "weight": _listed(weight), "eps": float(eps)}
    _mount("gradient", data, words, t, mode, key, released, lambda sent: _entries(sent, "gradient", gradient.size))


def affine_pad(
    x: Floats,
    scale: float,
    shift: float,
    *,
    weight: Floats | None = None,
    bias: Floats | None = None,
    eps: float,
    t: Text,
    mode: str,
    key: str,
    released: Released,
) -> None:
    """Draw knobs a and b, with both norms of a x + b following and how far each has moved.

    Parameters
    ----------
    x
        Shape [d]; with more than `BARS` entries without bars, and where entries of the weight differ, without the
        line for RMSNorm.
    scale, shift
        a and b now.
    weight, bias, eps, t, mode, key
        As for `pad`.
    released
        As for `pad`, with {"scale": a, "shift": b} inside `SCALE` and `SHIFT`.
    """
    words = {
        "title": t("Knobs for a x + b, with LN and RMSNorm of it"),
        "names": ["LN(a x + b)", "RMSNorm(a x + b)", t("before: LN(x), RMSNorm(x)"), ""],
        "scale": t("scale a = {value}"),
        "shift": t("shift b = {value}"),
        "unmoved": t("{name} is unchanged."),
        "moved": t("{name} has moved by {moved}."),
        "flipped": t("{name} has flipped its sign; it has moved by {moved}."),
        "hint": "",
    }
    data = {
        "value": {"scale": float(scale), "shift": float(shift)},
        "limits": {"scale": SCALE, "shift": SHIFT},
        "eps": float(eps),
        **(
            {"x": x.tolist(), "weight": _listed(weight), "bias": _listed(bias)}
            if x.size <= BARS
            else {"x": None, "long": _summary(x, weight)}
        ),
    }
    _mount("affine", data, words, t, mode, key, released, _map)


def _summary(x: Floats, weight: Floats | None) -> dict[str, float | None]:
    """What says exactly how far the outputs of a long vector move under a x + b."""
    mean, centered = centre(x)
    gain = np.ones(1) if weight is None else np.abs(weight)
    # RMSNorm is linear in x where the gain is one number: it moves most at an end of x.
    shared = float(gain[0]) if (gain == gain[0]).all() else None
    return {
        "mean": float(mean[0]),
        "std": float(root_mean_square(centered)[0]),
        "low": float(x.min()),
        "high": float(x.max()),
        "gain": shared,
        "reach": float(np.abs(gain * centered).max()),
    }


def _mount(
    kind: str,
    data: dict[str, Any],
    words: dict[str, Any],
    t: Text,
    mode: str,
    key: str,
    released: Released,
    check: Check,
) -> None:
    if not Runtime.exists():  # a page run as a plain script has no browser to draw in
        return

    def report() -> None:
        sent = st.session_state[key].get("released")
        # It comes from a browser: anything may be in it.
        if isinstance(sent, Mapping) and (value := check(sent)) is not None:
            released(value)

    colours = {
        "ink": theme.INK[mode],
        "muted": theme.MUTED[mode],
        "grid": theme.GRID[mode],
        "paper": theme.BACKGROUND[mode],
        "layer": theme.NORM_COLORS[mode]["layer_norm"],
        "rms": theme.NORM_COLORS[mode]["rms_norm"],
    }
    words = {**words, "entry": t("entry {i}"), "undefined": t("{name} is undefined here.")}
    mount = renderer("pad", _PLACE)
    mount(key=key, data={"kind": kind, "colours": colours, "words": words, **data}, on_released_change=report)


def _listed(values: Floats | None) -> list[float] | None:
    return None if values is None else values.tolist()


def _number(value: object, low: float = -LARGEST_ENTRY, high: float = LARGEST_ENTRY) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        return None
    return float(value)


def _entries(sent: Mapping[str, Any], name: str, d: int) -> dict[str, Any] | None:
    values = sent.get(name)
    if not isinstance(values, list) or len(values) != d:
        return None
    numbers = [_number(value) for value in values]
    return None if None in numbers else {name: numbers}


def _tip(sent: Mapping[str, Any]) -> dict[str, Any] | None:
    mean, std = _number(sent.get("mean")), _number(sent.get("std"))
    return None if mean is None or std is None else {"mean": mean, "std": std}


def _map(sent: Mapping[str, Any]) -> dict[str, Any] | None:
    scale = _number(sent.get("scale"), SCALE["low"], SCALE["high"])
    shift = _number(sent.get("shift"), SHIFT["low"], SHIFT["high"])
    return None if scale is None or shift is None else {"scale": scale, "shift": shift}
