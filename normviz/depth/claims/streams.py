"""Which claims about the residual stream does a run bear out?"""

from __future__ import annotations

from math import sqrt

import numpy as np

from normviz.depth.claims.evidence import (
    XIONG,
    Claim,
    Verdict,
    judged,
    knobs,
    need,
    over_depths,
    profiles,
    slope,
    verdict,
)
from normviz.depth.claims.measures import GROWTH, growth
from normviz.depth.results import DepthSweep
from normviz.text import N_


def _need_xiong(result: DepthSweep) -> None:
    config = result.config
    need(
        (config.activation, config.init) == ("relu", "xavier") and config.d_ff == config.d_model,
        N_("the lemma is for relu, xavier and d_ff = d_model"),
    )


def _lemma_2_post(result: DepthSweep) -> Verdict:
    _need_xiong(result)
    found = profiles(result, "pre_norm_mean_square", "post_norm")
    depth = max(found)
    # Position l is the feed-forward sublayer of layer l; l - 0.5 is attention and 0 the embedding norm.
    layers = result.layers("pre_norm_mean_square", "post_norm", depth)
    values = found[depth][:, (layers >= 1) & (layers % 1 == 0)]
    need(values.size >= 8, N_("the mean takes 8 values, layers times seeds; there are {count}"), count=values.size)
    mean = float(values.mean())
    tolerance = max(0.03, 3 * sqrt(3.75 / (result.config.d_model * values.size)))
    words = N_("mean {mean:.3f} over {count} values, allowed 1.5 ± {tolerance:.3f}")
    return verdict(abs(mean - 1.5) <= tolerance, words, mean=mean, count=values.size, tolerance=tolerance)


def _lemma_2_pre(result: DepthSweep) -> Verdict:
    _need_xiong(result)
    found = profiles(result, "residual_mean_square", "pre_norm", deepest=4)
    depth = max(found)
    layer = np.arange(1, depth + 1)
    q = found[depth].mean(axis=0)[1:]
    below, above = q / (1 + layer / 2), q / (1 + 1.5 * layer)
    return verdict(
        bool(below.min() >= 0.9 and above.max() <= 1.1),
        N_("smallest share of the lower bound {low:.2f}, largest of the upper {high:.2f}, at L = {depth}"),
        low=float(below.min()),
        high=float(above.max()),
        depth=depth,
    )


def _pre_linear(result: DepthSweep) -> Verdict:
    found, first, last = growth(result, "pre_norm")
    return verdict(0.7 <= found <= 1.4, GROWTH, slope=found, first=first, last=last)


def _gpt2_stream(result: DepthSweep) -> Verdict:
    need(result.config.init == "gpt2", N_("the claim is about init gpt2; this run has {init}"), init=result.config.init)
    found = profiles(result, "residual_mean_square", "pre_norm")
    depths = over_depths(found)
    q = np.array([found[int(depth)][:, -1].mean() for depth in depths])
    need(bool((q > 0).all()), N_("some values are 0, so that they have no ratio"))
    value = slope(depths, q)
    words = N_("q_L has slope {slope:.2f} over L = {first} to {last}")
    return verdict(abs(value) <= 0.1, words, slope=value, first=int(depths[0]), last=int(depths[-1]))


def _explodes(result: DepthSweep) -> Verdict:
    every = profiles(result, "residual_mean_square", "no_norm", finite=False)
    found = {depth: values[:, -1].mean() for depth, values in every.items()}
    # What overflowed says nothing about how fast; the depths below it do.
    found = {depth: float(value) for depth, value in found.items() if np.isfinite(value) and value > 0}
    need(
        len(found) >= 2 and max(found) >= 8,
        N_("it takes two depths with finite values, one with 8 layers or more"),
    )
    first, last = min(found), max(found)
    factor = (found[last] / found[first]) ** (1 / (last - first))
    words = N_("q_L grows {factor:.2f} times a layer from L = {first} to {last}")
    return verdict(factor >= 1.5, words, factor=factor, first=first, last=last)


def _deep_layers_idle(result: DepthSweep) -> Verdict:
    found = profiles(result, "cosine_next", "pre_norm", deepest=16)
    depth = max(found)
    cosine = float(found[depth].mean(axis=0)[-1])
    words = N_("cosine {cosine:.3f} before and after the last of {depth} layers")
    return verdict(cosine >= 0.95, words, cosine=cosine, depth=depth)


STREAM_CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="lemma_2_post",
        sentence=N_("In Post-Norm 3/2 enters the feed-forward sublayer's norm, at every layer (lemma 2)."),
        source="arXiv:2002.04745",
        quantity="pre_norm_mean_square",
        test=N_(
            "mean over layers and seeds of the mean square at the feed-forward norms: 1.5 within 0.03, or within three "
            "standard errors sqrt(3.75/(d n)) of n values where that is more"
        ),
        knobs=knobs("post_norm", **XIONG),
        judge=judged(_lemma_2_post),
    ),
    Claim(
        id="lemma_2_pre",
        sentence=N_("In Pre-Norm the stream's mean square after layer l is between 1 + l/2 and 1 + 3l/2 (lemma 2)."),
        source="arXiv:2002.04745",
        quantity="residual_mean_square",
        test=N_("at every layer of the deepest model, mean over seeds, with 10 percent on both sides"),
        knobs=knobs("pre_norm", **XIONG),
        judge=judged(_lemma_2_pre),
    ),
    Claim(
        id="pre_stream_grows_linearly",
        sentence=N_("In Pre-Norm what enters the final norm grows linearly with the number of layers."),
        source="arXiv:2002.04745",
        quantity="residual_mean_square",
        test=N_("slope of ln(q_L - q_0) against ln L between 0.7 and 1.4; it is above 1 while tokens become alike"),
        knobs=knobs("pre_norm"),
        judge=judged(_pre_linear),
    ),
    Claim(
        id="gpt2_init_keeps_stream",
        sentence=N_("With GPT-2's initialization the size of the stream does not depend on the number of layers."),
        source="popular",
        quantity="residual_mean_square",
        test=N_("slope of ln q_L of Pre-Norm against ln L: 0 within 0.1"),
        knobs=knobs("pre_norm", init="gpt2"),
        judge=judged(_gpt2_stream),
    ),
    Claim(
        id="no_norm_explodes",
        sentence=N_("Without a norm the stream grows exponentially with depth."),
        source="popular",
        quantity="residual_mean_square",
        test=N_("q_L grows at least 1.5 times a layer, from the smallest to the largest depth with finite values"),
        knobs=knobs("no_norm"),
        judge=judged(_explodes),
    ),
    Claim(
        id="pre_deep_layers_idle",
        sentence=N_("In Pre-Norm the deepest layers hardly turn the stream."),
        source="arXiv:2502.05795",
        quantity="cosine_next",
        test=N_("cosine between x_{L-1} and x_L at least 0.95, at 16 layers or more"),
        knobs=knobs("pre_norm"),
        judge=judged(_deep_layers_idle),
    ),
)
