"""What do the lines of a depth figure say in words?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normviz.depth.points import QUANTITIES
from normviz.depth.results import DepthSweep
from normviz.figures.depth.curves import Curve
from normviz.figures.words import number
from normviz.text import N_, Text

# A change by less than this is called steady: in units of ln on a log axis, of the axis on a linear one.
_STEADY = {True: float(np.log(1.25)), False: 0.05}


def heading(quantity: str, t: Text) -> str:
    """The quantity's name at the start of a line; Chinese has no capitals, and may start with a symbol."""
    label = t(QUANTITIES[quantity].label)
    return label if t.lang == "zh" else label[:1].upper() + label[1:]


def slug(quantity: str) -> str:
    """The quantity's name in the name of a file."""
    return quantity.replace("_", "-").replace("grad-", "gradient-")


def story(curves: Sequence[Curve], t: Text, position: str) -> list[str]:
    """One sentence for each line: start, end, and whether a seed diverged; `position` words an `x` as {n}."""
    sentences = []
    for curve in curves:
        if curve.drawn.any():
            sentences.append(_course(curve, t, position))
        for counts, message in (
            (curve.diverged, N_("{name} diverged (inf or nan) at {places}.")),
            (curve.vanished, N_("{name} is exactly zero at {places}.")),
        ):
            if counts.any():
                hits = curve.x[counts > 0]
                places = f"{hits[0]:g}" if hits.size == 1 else f"{hits[0]:g}–{hits[-1]:g}"
                sentences.append(t(message, name=curve.name(t), places=t(position, n=places)))
    return sentences


def _course(curve: Curve, t: Text, position: str) -> str:
    x, y = curve.x[curve.drawn], curve.center[curve.drawn]
    scaled = np.log(y) if curve.log else y
    steady = _STEADY[curve.log]
    middle = float(np.exp(scaled.mean()) if curve.log else scaled.mean())
    words = {
        "name": curve.name(t),
        "start": t(position, n=f"{x[0]:g}"),
        "end": t(position, n=f"{x[-1]:g}"),
        "places": t(position, n=f"{x[0]:g}–{x[-1]:g}"),
        "a": number(y[0]),
        "b": number(y[-1]),
        "low": number(y.min()),
        "high": number(y.max()),
        "middle": number(middle),
    }
    if y.size == 1:
        return t("{name}: {a} at {start}.", **words)
    if np.ptp(scaled) <= steady:
        return t("{name} stays near {middle} at {places}.", **words)
    change = scaled[-1] - scaled[0]
    if abs(change) <= steady:
        return t("{name} varies between {low} and {high} at {places}.", **words)
    if change < 0:
        return t("{name} falls from {a} at {start} to {b} at {end}.", **words)
    return t("{name} rises from {a} at {start} to {b} at {end}.", **words)


def arrived(result: DepthSweep, t: Text) -> str:
    """How much of a partial sweep is there; empty for a complete one."""
    total = len(result.config.keys())
    if len(result.points) == total:
        return ""
    return t("So far {done} of {total} models have been measured.", done=len(result.points), total=total)


def nothing(result: DepthSweep, quantity: str, t: Text) -> str:
    """Why a figure of this quantity is empty."""
    if result.points and not any(quantity in point.profiles for point in result.points):
        return t("This sweep has not measured: {quantity}.", quantity=t(QUANTITIES[quantity].label))
    return t("Nothing has been measured yet.")
