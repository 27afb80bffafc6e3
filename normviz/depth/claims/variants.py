"""Which claims about the published variants does a run bear out?"""

from __future__ import annotations

from math import sqrt

import numpy as np

from normviz.depth.claims.evidence import (
    Array,
    Claim,
    Verdict,
    judged,
    knobs,
    need,
    profiles,
    typical,
    verdict,
    width_tolerance,
)
from normviz.depth.claims.measures import GROWTH, RATIO, SLOPE, depth_slope, first_over_last, growth
from normviz.depth.config import MATRICES
from normviz.depth.results import DepthSweep
from normviz.text import N_


def _output_explodes(result: DepthSweep) -> Verdict:
    need(not result.config.qk_norm, N_("this run has QK-norm; the claim is about a run without"))
    need(result.config.attention != "uniform", N_("uniform attention has no queries and keys to normalize"))
    found = profiles(result, "grad_w2", "output_norm", deepest=16)
    first, last = min(found), max(found)
    need(first <= 4, N_("the comparison takes a depth of 4 layers or fewer as well"))
    ratio = float(typical(found[last])[0] / typical(found[first])[0])
    words = N_("first layer's gradient grows {ratio:.3g} times from L = {first} to {last}")
    return verdict(ratio >= 4, words, ratio=ratio, first=first, last=last)


def _output_held(result: DepthSweep) -> Verdict:
    need(result.config.qk_norm, N_("this run has no QK-norm"))
    found, first, last = depth_slope(result, "grad_w2", "output_norm", 0)
    return verdict(abs(found) <= 0.15, SLOPE, slope=found, first=first, last=last)


def _deep_flat(result: DepthSweep) -> Verdict:
    ratio, depth = first_over_last(result, "deep_norm")
    return verdict(1 / 1.3 <= ratio <= 1.3, RATIO, ratio=ratio, depth=depth)


def _deep_entering(result: DepthSweep) -> Verdict:
    found = profiles(result, "pre_norm_mean_square", "deep_norm", deepest=4)
    depth = max(found)
    layers = result.layers("pre_norm_mean_square", "deep_norm", depth)
    mean = float(found[depth][:, layers > 0].mean())
    ratio = mean / sqrt(2 * depth)
    words = N_("{mean:.2f} at L = {depth}, {ratio:.2f} of the square root of 2L")
    return verdict(abs(ratio - 1) <= 0.1, words, mean=mean, depth=depth, ratio=ratio)


def _mix_even(result: DepthSweep) -> Verdict:
    mixed, pre = (profiles(result, "grad_w2", name, deepest=8) for name in ("mix_ln", "pre_norm"))
    both = sorted(mixed.keys() & pre.keys())
    need(bool(both) and both[-1] >= 8, N_("the two placements have no depth of 8 layers or more in common"))
    depth = both[-1]
    spreads = [float(np.log(typical(found[depth])).std()) for found in (mixed, pre)]
    return verdict(
        spreads[0] <= 0.9 * spreads[1],
        N_("spread of ln gradient over layers: Mix-LN {mixed:.2f}, Pre-Norm {pre:.2f} at L = {depth}"),
        mixed=spreads[0],
        pre=spreads[1],
        depth=depth,
    )


def _rezero(result: DepthSweep) -> Verdict:
    alphas = profiles(result, "grad_alpha", "rezero")
    largest = []
    for name in MATRICES:
        for depth in alphas:
            values = result.values(f"grad_{name}", "rezero", depth)
            need(bool(np.isfinite(values).all()), N_("a gradient is infinite or not a number"))
            largest.extend(np.abs(values).ravel().tolist())
    need(bool(largest), N_("this run has measured no weight's gradient"))
    alpha = max(float(values.max()) for values in alphas.values())
    return verdict(
        max(largest) == 0 and alpha > 0,
        N_("largest gradient of a matrix {matrix:.3g}, of a gate {gate:.3g}"),
        matrix=max(largest),
        gate=alpha,
    )


def _adds_one(result: DepthSweep) -> Verdict:
    found = profiles(result, "residual_mean_square", "sandwich_norm", deepest=4)
    depth = max(found)
    mean = found[depth].mean(axis=0)
    gain = float(mean[-1] - mean[0]) / (2 * depth)
    tolerance = max(0.05, width_tolerance(result, found[depth].shape[0]))
    words = N_("{gain:.3f} for each sublayer at L = {depth}, allowed 1 ± {tolerance:.3f}")
    return verdict(abs(gain - 1) <= tolerance, words, gain=gain, depth=depth, tolerance=tolerance)


def _peri_linear(result: DepthSweep) -> Verdict:
    found, first, last = growth(result, "peri_ln")
    return verdict(abs(found - 1) <= 0.1, GROWTH, slope=found, first=first, last=last)


def _scaling_slow(result: DepthSweep) -> Verdict:
    found, first, last = growth(result, "layer_norm_scaling")
    return verdict(found <= 0.65, GROWTH, slope=found, first=first, last=last)


def _qk_logits(result: DepthSweep) -> Verdict:
    need(result.config.qk_norm, N_("this run has no QK-norm"))
    scales: list[Array] = []
    for placement in result.config.placements:
        if any(result.values("logit_scale", placement, depth).size for depth in result.config.depths):
            scales.extend(values.ravel() for values in profiles(result, "logit_scale", placement).values())
    need(bool(scales), N_("this run has measured no attention logits"))
    every = np.concatenate(scales)
    words = N_("RMS of the logits between {low:.2f} and {high:.2f}")
    low, high = float(every.min()), float(every.max())
    return verdict(low >= 0.5 and high <= 2, words, low=low, high=high)


VARIANT_CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="output_norm_needs_qk_norm",
        sentence=N_("With Output-Norm alone gradients explode: it needs QK-norm."),
        source="arXiv:2501.00656",
        quantity="grad_w2",
        test=N_(
            "gradient of W2 in layer 1, without QK-norm: at least 4 times larger at 16 layers or more than at 2 to 4"
        ),
        knobs=knobs("output_norm", qk_norm=False, attention="causal"),
        judge=judged(_output_explodes),
    ),
    Claim(
        id="qk_norm_holds_output_norm",
        sentence=N_("With QK-norm, Output-Norm's gradients at the bottom do not depend on the number of layers."),
        source="arXiv:2501.00656",
        quantity="grad_w2",
        test=N_("slope of ln gradient of W2 in layer 1 against ln L, with QK-norm: 0 within 0.15"),
        knobs=knobs("output_norm", qk_norm=True, attention="causal"),
        judge=judged(_output_held),
    ),
    Claim(
        id="qk_norm_bounds_logits",
        sentence=N_("QK-norm keeps the attention logits of every layer at one size."),
        source="arXiv:2302.05442",
        quantity="logit_scale",
        test=N_("RMS of the logits between 0.5 and 2 in every layer, depth and seed"),
        knobs=knobs("output_norm", qk_norm=True, attention="causal"),
        judge=judged(_qk_logits),
    ),
    Claim(
        id="deep_norm_is_flat",
        sentence=N_("DeepNorm's gradients are the same in all layers."),
        source="arXiv:2203.00555",
        quantity="grad_w2",
        test=N_("gradient of W2: first layer over last between 1/1.3 and 1.3, at 8 layers or more"),
        knobs=knobs("deep_norm"),
        judge=judged(_deep_flat),
    ),
    Claim(
        id="deep_norm_outweighs_branches",
        sentence=N_("What enters DeepNorm's norms has mean square sqrt(2L): the stream outweighs the branches."),
        source="arXiv:2203.00555",
        quantity="pre_norm_mean_square",
        test=N_("mean over sublayers of the deepest model over sqrt(2L): 1 within 0.1"),
        knobs=knobs("deep_norm"),
        judge=judged(_deep_entering),
    ),
    Claim(
        id="sandwich_adds_one",
        sentence=N_("In Sandwich-Norm every sublayer adds 1 to the stream's mean square."),
        source="arXiv:2105.13290",
        quantity="residual_mean_square",
        test=N_(
            "(q_L - q_0)/2L of the deepest model: 1 within 0.05, or within 1.5 sqrt(2/(d seeds)) where that is more"
        ),
        knobs=knobs("sandwich_norm"),
        judge=judged(_adds_one),
    ),
    Claim(
        id="peri_ln_grows_linearly",
        sentence=N_("In Peri-LN the variance of the stream grows by the same amount with every layer."),
        source="arXiv:2502.02732",
        quantity="residual_mean_square",
        test=N_("slope of ln(q_L - q_0) against ln L: 1 within 0.1"),
        knobs=knobs("peri_ln"),
        judge=judged(_peri_linear),
    ),
    Claim(
        id="layer_norm_scaling_grows_slowly",
        sentence=N_("LayerNorm Scaling keeps the stream from growing as Pre-Norm's does."),
        source="arXiv:2502.05795",
        quantity="residual_mean_square",
        test=N_("slope of ln(q_L - q_0) against ln L at most 0.65"),
        knobs=knobs("layer_norm_scaling"),
        judge=judged(_scaling_slow),
    ),
    Claim(
        id="mix_ln_is_more_even",
        sentence=N_("Mix-LN spreads the gradients more evenly over the layers than Pre-Norm."),
        source="arXiv:2412.13795",
        quantity="grad_w2",
        test=N_("spread of ln gradient of W2 over the layers: at most 0.9 of Pre-Norm's, at 8 layers or more"),
        knobs=knobs(("pre_norm", "mix_ln")),
        judge=judged(_mix_even),
    ),
    Claim(
        id="rezero_trains_gates_first",
        sentence=N_("In ReZero no weight gets a gradient at the first step, only the gates do."),
        source="arXiv:2003.04887",
        quantity="grad_alpha",
        test=N_("all matrices' gradients are exactly 0, and a gate's is not"),
        knobs=knobs("rezero"),
        judge=judged(_rezero),
    ),
)
