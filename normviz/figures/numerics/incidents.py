"""Which one or two figures show what happened?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from reprlib import repr as shown
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats
from normviz.errors import InputError
from normviz.figures.numerics.differing import differing_picture
from normviz.figures.numerics.landing import landing_picture
from normviz.figures.numerics.neighbours import neighbours_picture
from normviz.figures.numerics.residual import residual_picture
from normviz.figures.numerics.steps import steps_picture
from normviz.figures.numerics.sums import running_sum_picture
from normviz.figures.numerics.variance import variance_picture
from normviz.figures.picture import Picture
from normviz.floats import INCIDENTS, Difference, difference, landing, residual_path, rounded, variance_errors
from normviz.floats.claims import SMALL_WEIGHT, STREAM, T5_VALUE, UPDATE, UPDATES
from normviz.text import Text

# Mean over standard deviation: the claims' 100, 1,000 and 10,000 among half decades.
_RATIOS = tuple(float(f"{10 ** (half / 2):.3g}") for half in range(9))
_WEIGHTS = 24


def incident_pictures(incident_id: str, *, t: Text, mode: str) -> tuple[Picture, ...]:
    """The one or two figures that show an incident.

    Parameters
    ----------
    incident_id
        A key of `normviz.floats.INCIDENTS`.
    t, mode
        The reader's language, and "light" or "dark".

    Raises
    ------
    InputError
        If there is no such incident.
    """
    draw = _PICTURES.get(incident_id) if isinstance(incident_id, str) else None
    if draw is None:
        raise InputError(
            "{field} can be {allowed}; got {got}",
            field="incident",
            allowed=", ".join(_PICTURES),
            got=shown(incident_id),
        )
    return draw(t, mode)


def _steps(incident_id: str, t: Text, mode: str) -> Picture:
    return steps_picture(INCIDENTS[incident_id].setting.trace(), t=t, mode=mode)


def _sum(t: Text, mode: str) -> tuple[Picture, ...]:
    return running_sum_picture(INCIDENTS["sum"].setting.trace(), t=t, mode=mode), _steps("sum", t, mode)


def _square(t: Text, mode: str) -> tuple[Picture, ...]:
    return neighbours_picture(256.0**2, ("float16", "bfloat16"), t=t, mode=mode), _steps("square", t, mode)


def _t5(t: Text, mode: str) -> tuple[Picture, ...]:
    return neighbours_picture(T5_VALUE, ("float16", "bfloat16"), t=t, mode=mode), _steps("t5", t, mode)


def _orders(t: Text, mode: str) -> tuple[Picture, ...]:
    return (differing_picture(_compared(), t=t, mode=mode),)


def _one_plus_w(t: Text, mode: str) -> tuple[Picture, ...]:
    names = t("1 + w, added in bfloat16"), t("w as it is stored, in bfloat16")
    stored = landing(rounded(_weights(), "bfloat16"))
    return (landing_picture(stored, names, t=t, mode=mode),)


def _stored(t: Text, mode: str) -> tuple[Picture, ...]:
    names = t("stored: the scale, in bfloat16"), t("stored: w, in bfloat16")
    return (landing_picture(landing(_weights()), names, t=t, mode=mode),)


def _eps(t: Text, mode: str) -> tuple[Picture, ...]:
    return _steps("eps", t, mode), neighbours_picture(1e-12, ("float16", "bfloat16"), t=t, mode=mode)


def _one_pass(t: Text, mode: str) -> tuple[Picture, ...]:
    return (variance_picture(_errors(), t=t, mode=mode),)


def _residual(t: Text, mode: str) -> tuple[Picture, ...]:
    return (
        residual_picture(residual_path(STREAM, UPDATE, UPDATES), UPDATE, "bfloat16", t=t, mode=mode),
        neighbours_picture(STREAM + UPDATE, ("bfloat16", "float16"), t=t, mode=mode),
    )


@cache
def _compared() -> Difference:
    return difference("cast_then_multiply", "multiply_then_cast")


def _weights() -> Floats:
    return np.sort(SMALL_WEIGHT * np.random.default_rng(0).standard_normal(_WEIGHTS))


@cache
def _errors() -> Mapping[float, tuple[float, float]]:
    return MappingProxyType({ratio: variance_errors(ratio) for ratio in _RATIOS})


_PICTURES: Mapping[str, Callable[[Text, str], tuple[Picture, ...]]] = MappingProxyType(
    {
        "sum": _sum,
        "square": _square,
        "t5": _t5,
        "orders": _orders,
        "one_plus_w": _one_plus_w,
        "stored": _stored,
        "eps": _eps,
        "one_pass": _one_pass,
        "residual": _residual,
    }
)
