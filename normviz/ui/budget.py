"""What will a sweep cost on this host, and does the host start it?"""

from __future__ import annotations

import os

from normviz.depth.config import SweepConfig
from normviz.depth.estimate import Estimate, Speed, check_limit, estimate
from normviz.errors import InputError
from normviz.text import N_, Text
from normviz.ui.server import board

MAX_SECONDS = ("NORMVIZ_MAX_SECONDS", 600.0)
"""Variable and default of the longest sweep, in estimated seconds, that this host starts."""

MAX_BYTES = ("NORMVIZ_MAX_BYTES", 2.0 * 2**30)
"""Variable and default of the largest model with its activations, in estimated bytes, that this host starts."""

GUESSED_SPEED = Speed(flops_per_second=5e10, seconds_per_op=1e-5, device="cpu")
"""One core of a laptop; used until a worker has measured its own speed."""


def expected(config: SweepConfig) -> Estimate:
    """What the sweep will cost at the speed that a worker measured, or at a guess until then."""
    speed = board().speed() or GUESSED_SPEED
    return estimate(config, flops_per_second=speed.flops_per_second, seconds_per_op=speed.seconds_per_op)


def refusal(cost: Estimate) -> InputError | None:
    """Why this host does not start such a sweep, or None."""
    try:
        check_limit(cost, max_seconds=_limit(*MAX_SECONDS), max_bytes=_limit(*MAX_BYTES))
    except InputError as error:
        return error
    return None


def _limit(variable: str, default: float) -> float:
    """A limit of this host, from its environment; blank means the default."""
    text = os.environ.get(variable, "").strip()
    try:
        value = float(text) if text else default
    except ValueError:
        value = 0.0
    if not value > 0:
        raise InputError(N_("{variable} on this host is a number above 0; got {got}."), variable=variable, got=text)
    return value


def duration(seconds: float, t: Text) -> str:
    """An estimated time, no finer than the estimate is."""
    if seconds < 1:
        return t("Less than a second")
    if seconds < 120:
        return t("About {n} s", n=f"{seconds:.0f}")
    if seconds < 7200:
        return t("About {n} minutes", n=f"{seconds / 60:.0f}")
    return t("About {n} hours", n=f"{seconds / 3600:,.0f}")
