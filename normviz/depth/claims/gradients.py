"""Which claims about Post-Norm's and Pre-Norm's gradients does a run bear out?"""

from __future__ import annotations

from math import exp, log

import numpy as np

from normviz.depth.claims.evidence import (
    Claim,
    Verdict,
    judged,
    knobs,
    need,
    over_depths,
    profiles,
    slope,
    typical,
    verdict,
    width_tolerance,
)
from normviz.depth.claims.measures import RATIO, SLOPE, depth_slope, first_over_last
from normviz.depth.results import DepthSweep
from normviz.depth.theory import NoLaw, law
from normviz.text import N_


def _post_last(result: DepthSweep) -> Verdict:
    found, first, last = depth_slope(result, "grad_w2", "post_norm", -1)
    return verdict(abs(found) <= 0.1, SLOPE, slope=found, first=first, last=last)


def _pre_last_stream(result: DepthSweep) -> Verdict:
    gradients = profiles(result, "grad_w2", "pre_norm")
    streams = profiles(result, "residual_mean_square", "pre_norm")
    depths = over_depths({depth: values for depth, values in gradients.items() if depth in streams})
    q = np.array([typical(streams[int(depth)])[-1] for depth in depths])
    need(
        bool(q.max() >= 3 * q.min()),
        N_("q_L grows by a factor of {growth:.2f} over this run's depths; a slope on it takes 3"),
        growth=float(q.max() / q.min()),
    )
    found = slope(q, np.array([typical(gradients[int(depth)])[-1] for depth in depths]))
    return verdict(
        abs(found + 0.5) <= 0.06,
        N_("slope {slope:.2f} on q_L from {low:.3g} to {high:.3g}"),
        slope=found,
        low=float(q.min()),
        high=float(q.max()),
    )


def _pre_last_depth(result: DepthSweep) -> Verdict:
    found, first, last = depth_slope(result, "grad_w2", "pre_norm", -1)
    return verdict(abs(found + 0.5) <= 0.1, SLOPE, slope=found, first=first, last=last)


def _post_vanishes(result: DepthSweep) -> Verdict:
    ratio, depth = first_over_last(result, "post_norm")
    return verdict(ratio <= 0.5, RATIO, ratio=ratio, depth=depth)


def _pre_flat(result: DepthSweep) -> Verdict:
    ratio, depth = first_over_last(result, "pre_norm")
    return verdict(1 / 1.5 <= ratio <= 1.5, RATIO, ratio=ratio, depth=depth)


def _post_over_pre(result: DepthSweep) -> Verdict:
    post, pre = (profiles(result, "grad_w2", name, deepest=6) for name in ("post_norm", "pre_norm"))
    both = sorted(post.keys() & pre.keys())
    need(bool(both) and both[-1] >= 6, N_("the two placements have no depth of 6 layers or more in common"))
    depth = both[-1]
    ratio = float(typical(post[depth])[-1] / typical(pre[depth])[-1])
    return verdict(
        ratio >= 1.2, N_("last layer, Post-Norm over Pre-Norm: {ratio:.2f} at L = {depth}"), ratio=ratio, depth=depth
    )


def _input_gradient(result: DepthSweep) -> Verdict:
    found, first, last = depth_slope(result, "grad_residual", "pre_norm", 0)
    return verdict(abs(found) <= 0.1, SLOPE, slope=found, first=first, last=last)


def _norms_alike(result: DepthSweep) -> Verdict:
    ratios, seeds = [], 0
    for placement in ("post_norm", "pre_norm"):
        if placement not in result.config.placements:
            continue
        for depth, values in profiles(result, "grad_w2", placement).items():
            try:
                expected = law(result.config, "grad_w2", placement, depth).value[-1]
            except NoLaw:
                need(False, N_("no theory applies to this run, so that one run has nothing to compare with"))
            ratios.append(log(typical(values)[-1] / expected))
            seeds = max(seeds, values.shape[0])
    need(bool(ratios), N_("this run has neither Post-Norm nor Pre-Norm"))
    ratio = exp(float(np.mean(ratios)))
    words = {
        "layer_norm": N_(
            "with LayerNorm the last layer's gradient is {ratio:.3f} of a theory that knows no norm's kind"
        ),
        "rms_norm": N_("with RMSNorm the last layer's gradient is {ratio:.3f} of a theory that knows no norm's kind"),
    }[result.config.norm]
    return verdict(abs(log(ratio)) <= 0.1 + width_tolerance(result, seeds) / 2, words, ratio=ratio)


W2_LAST = N_("slope of ln gradient of W2, last layer, against ln L: 0 within 0.1; three depths that span a factor of 4")

GRADIENT_CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="post_last_layer_keeps",
        sentence=N_("In Post-Norm the gradient of the last layer does not depend on the number of layers."),
        source="arXiv:2002.04745",
        quantity="grad_w2",
        test=W2_LAST,
        knobs=knobs("post_norm"),
        judge=judged(_post_last),
    ),
    Claim(
        id="pre_last_layer_follows_stream",
        sentence=N_("In Pre-Norm the gradient of the last layer falls like one over the RMS of the residual stream."),
        source="arXiv:2002.04745",
        quantity="grad_w2",
        test=N_("slope of ln gradient of W2, last layer, on ln q_L: -0.50 within 0.06, where q_L grows threefold"),
        knobs=knobs("pre_norm"),
        judge=judged(_pre_last_stream),
    ),
    Claim(
        id="pre_last_layer_root_depth",
        sentence=N_("In Pre-Norm the gradient of the last layer falls like one over the square root of L."),
        source="arXiv:2002.04745",
        quantity="grad_w2",
        test=N_(
            "slope of ln gradient of W2, last layer, against ln L: -0.5 within 0.1; the measured one is near -0.53"
        ),
        knobs=knobs("pre_norm"),
        judge=judged(_pre_last_depth),
    ),
    Claim(
        id="post_vanishes",
        sentence=N_("In Post-Norm the gradients vanish toward the bottom."),
        source="popular",
        quantity="grad_w2",
        test=N_("gradient of W2: first layer at most 0.5 of the last, at 8 layers or more"),
        knobs=knobs("post_norm"),
        judge=judged(_post_vanishes),
    ),
    Claim(
        id="pre_is_flat",
        sentence=N_("In Pre-Norm the gradients are the same in all layers."),
        source="popular",
        quantity="grad_w2",
        test=N_("gradient of W2: first layer over last between 1/1.5 and 1.5, at 8 layers or more"),
        knobs=knobs("pre_norm"),
        judge=judged(_pre_flat),
    ),
    Claim(
        id="post_above_pre",
        sentence=N_("At the top, Post-Norm has larger gradients than Pre-Norm."),
        source="arXiv:2002.04745",
        quantity="grad_w2",
        test=N_("gradient of W2 in the last layer: Post-Norm at least 1.2 of Pre-Norm, at 6 layers or more"),
        knobs=knobs(("post_norm", "pre_norm")),
        judge=judged(_post_over_pre),
    ),
    Claim(
        id="input_gradient_keeps",
        sentence=N_("In Pre-Norm the gradient that reaches the input does not depend on the number of layers."),
        source="popular",
        quantity="grad_residual",
        test=N_("slope of ln |dLoss/dx_0| against ln L: 0 within 0.1"),
        knobs=knobs("pre_norm", attention="causal", loss="mean"),
        judge=judged(_input_gradient),
    ),
    Claim(
        id="norms_alike",
        sentence=N_("For depth it makes no difference whether the norm is LayerNorm or RMSNorm."),
        source="popular",
        quantity="grad_w2",
        test=N_(
            "gradient of W2 in the last layer over a theory that does not know which norm it is: 1 within a factor of "
            "e^(0.1 + 0.75 sqrt(2/(d seeds))); a run with the other norm completes it"
        ),
        knobs=knobs(("post_norm", "pre_norm"), norm="rms_norm", activation="relu", attention="causal", seq_len=32),
        judge=judged(_norms_alike),
    ),
)
