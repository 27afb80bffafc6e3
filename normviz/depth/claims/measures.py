"""Which number does a claim look at: a slope against depth, a ratio of layers, a growth?"""

from __future__ import annotations

import numpy as np

from normviz.depth.claims.evidence import need, over_depths, profiles, slope, typical
from normviz.depth.results import DepthSweep
from normviz.text import N_

SLOPE = N_("slope {slope:.2f} over L = {first} to {last}")
RATIO = N_("first layer over last: {ratio:.2f} at L = {depth}")
GROWTH = N_("q_L - q_0 grows with exponent {slope:.2f} over L = {first} to {last}")


def depth_slope(result: DepthSweep, quantity: str, placement: str, layer: int) -> tuple[float, int, int]:
    """Slope against L of the value in the first (0) or last (-1) column; the depths at both ends."""
    found = profiles(result, quantity, placement)
    depths = over_depths(found)
    values = np.array([typical(found[int(depth)])[layer] for depth in depths])
    return slope(depths, values), int(depths[0]), int(depths[-1])


def first_over_last(result: DepthSweep, placement: str, deepest: int = 8) -> tuple[float, int]:
    """Gradient of W2 in layer 1 over that in layer L, in the deepest model; and its depth."""
    found = profiles(result, "grad_w2", placement, deepest=deepest)
    depth = max(found)
    values = typical(found[depth])
    return float(values[0] / values[-1]), depth


def growth(result: DepthSweep, placement: str) -> tuple[float, int, int]:
    """Slope of ln(q_L - q_0) against ln L."""
    found = profiles(result, "residual_mean_square", placement)
    depths = over_depths(found)
    means = [found[int(depth)].mean(axis=0) for depth in depths]
    gains = np.array([mean[-1] - mean[0] for mean in means])
    need(bool((gains > 0).all()), N_("the stream does not grow at every depth of this run"))
    return slope(depths, gains), int(depths[0]), int(depths[-1])
