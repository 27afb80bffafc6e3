"""What does a run have to say about a claim: which values, over which depths, and are they numbers?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import sqrt
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from normviz.depth.config import MATRICES
from normviz.depth.results import DepthSweep
from normviz.text import N_

Array = npt.NDArray[np.float64]
State = Literal["holds", "fails", "untested"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a run says about a claim.

    Attributes
    ----------
    state
        "holds", "fails", or "untested" where the run cannot tell.
    words
        English message with the measured numbers, or with what is missing, as `str.format` fields.
    values
        What fills the fields.
    """

    state: State
    words: str
    values: Mapping[str, Any] = field(default_factory=dict)


class Untested(Exception):  # noqa: N818  (an answer, not a mistake)
    """Leaves a judge when the run cannot tell."""

    def __init__(self, words: str, **values: Any) -> None:
        super().__init__(words.format(**values))
        self.verdict = Verdict(state="untested", words=words, values=values)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence from a paper or from common talk, and how a run tests it.

    Attributes
    ----------
    id
        Name in links and tests.
    sentence, test
        English messages: what is claimed, and when it is taken to hold.
    source
        "arXiv:..." or "popular".
    quantity
        Id of `normviz.depth.points.QUANTITIES` that it is about.
    knobs
        Changes of `SweepConfig` fields with which a run tests it.
    judge
        A run, whole or partial, to its verdict; never raises for lack of data.
    """

    id: str
    sentence: str
    source: str
    quantity: str
    test: str
    knobs: Mapping[str, Any]
    judge: Callable[[DepthSweep], Verdict]


def judged(decide: Callable[[DepthSweep], Verdict]) -> Callable[[DepthSweep], Verdict]:
    """A judge that answers "untested" where its evidence is missing."""

    def judge(result: DepthSweep) -> Verdict:
        try:
            return decide(result)
        except Untested as missing:
            return missing.verdict

    return judge


def verdict(holds: bool, words: str, **values: float) -> Verdict:
    """The measured numbers in words; whether they pass the test."""
    return Verdict(state="holds" if holds else "fails", words=words, values=values)


def knobs(placement: str | tuple[str, ...], **more: Any) -> Mapping[str, Any]:
    """The changes that put a placement in the default setting, and more."""
    placements = (placement,) if isinstance(placement, str) else placement
    return MappingProxyType(
        {
            "placements": placements,
            "norm": "layer_norm",
            "depths": (2, 4, 8, 16, 32),
            "init": "xavier",
            "dtype": "float32",
            "gradients": MATRICES,
            **more,
        }
    )


# The simplified model of Xiong et al. 2020, which its lemma 2 is about, as far as the lemma needs it.
XIONG: Mapping[str, Any] = MappingProxyType(
    {"activation": "relu", "d_model": 64, "d_ff": 64, "n_heads": 4, "seeds": (0, 1, 2, 3)}
)


def need(condition: bool, words: str, **values: Any) -> None:
    """Leave the judge with these words unless the condition holds."""
    if not condition:
        raise Untested(words, **values)


def need_norm(result: DepthSweep) -> None:
    """Claims about norms need one."""
    need(
        result.config.norm in ("layer_norm", "rms_norm"),
        N_("the run's norm is {norm}; the claim is about layer_norm and rms_norm"),
        norm=result.config.norm,
    )


def profiles(
    result: DepthSweep, quantity: str, placement: str, *, deepest: int = 1, finite: bool = True
) -> dict[int, Array]:
    """Values [seed, layer] of each depth that has arrived, the deepest at least `deepest` layers.

    Raises
    ------
    Untested
        If there are none, or one of them is infinite or not a number.
    """
    if placement not in ("no_norm", "rezero"):
        need_norm(result)
    found = {depth: result.values(quantity, placement, depth) for depth in result.config.depths}
    found = {depth: values for depth, values in found.items() if values.size}
    need(bool(found), N_("the run has measured no {quantity} of {placement}"), quantity=quantity, placement=placement)
    need(
        max(found) >= deepest,
        N_("the deepest {placement} of this run has {depth} layers; it takes {deepest}"),
        placement=placement,
        depth=max(found),
        deepest=deepest,
    )
    if finite:
        for depth, values in found.items():
            need(
                bool(np.isfinite(values).all()),
                N_("the values of {placement} at L = {depth} are infinite or not numbers: they decide nothing"),
                placement=placement,
                depth=depth,
            )
    return found


def typical(values: Array) -> Array:
    """Geometric mean over seeds [layer]: single seeds of a gradient spread log-normally.

    Raises
    ------
    Untested
        If a value is zero.
    """
    need(bool((values > 0).all()), N_("some values are 0, so that they have no ratio"))
    return np.asarray(np.exp(np.log(values).mean(axis=0)))


def over_depths(found: Mapping[int, Array]) -> Array:
    """The depths; a slope takes at least three that span a factor of 4."""
    depths = np.array(sorted(found), dtype=np.float64)
    need(
        depths.size >= 3 and depths[-1] >= 4 * depths[0],
        N_("a slope takes three depths, the largest 4 times the smallest; {count} have arrived"),
        count=int(depths.size),
    )
    return depths


def slope(x: Array, y: Array) -> float:
    """Least-squares slope of ln y against ln x."""
    return float(np.polyfit(np.log(x), np.log(y), 1)[0])


def width_tolerance(result: DepthSweep, seeds: int) -> float:
    r"""$1.5\sqrt{2/(d\cdot seeds)}$, relative: how far chance may take a mean square when all tokens are alike."""
    return 1.5 * sqrt(2 / (result.config.d_model * seeds))
