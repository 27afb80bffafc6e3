"""How sharply does attention choose at each layer, and how large are the numbers it chooses by?"""

from __future__ import annotations

from normviz.depth.results import DepthSweep
from normviz.figures.depth.profiles import layers_picture, over_layers
from normviz.figures.depth.story import heading
from normviz.figures.picture import Picture
from normviz.figures.words import spaced
from normviz.text import Text


def logit_picture(result: DepthSweep, *, depth: int, t: Text, mode: str) -> Picture:
    """RMS of the attention logits over the layers of models with one depth, on a log axis; the band spans the seeds.

    Parameters
    ----------
    result
        A sweep, complete or not; one with uniform attention has no logits, and the picture says so.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    title = t("RMS of the attention logits of each layer in models with {depth} layers", depth=depth)
    curves = over_layers(result, "logit_scale", depth)
    label, empty = heading("logit_scale", t), _uniform(result, t)
    return layers_picture(
        result, curves, depth, "attention-logits-over-layers", spaced(title), label, t, mode, empty=empty
    )


def entropy_picture(result: DepthSweep, *, depth: int, t: Text, mode: str) -> Picture:
    """Entropy of attention over the layers of models with one depth, from 0 (one token) to 1 (all tokens alike).

    Parameters
    ----------
    result
        A sweep, complete or not; one with uniform attention has nothing to choose, and the picture says so.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    title = t("Entropy of attention at each layer in models with {depth} layers", depth=depth)
    curves = over_layers(result, "attention_entropy", depth, log=False)
    label, empty = t("entropy / ln(allowed tokens)"), _uniform(result, t)
    return layers_picture(
        result, curves, depth, "attention-entropy-over-layers", spaced(title), label, t, mode,
        span=(0.0, 1.0), empty=empty,
    )  # fmt: skip


def _uniform(result: DepthSweep, t: Text) -> str:
    if result.config.attention != "uniform":
        return ""
    return t("Uniform attention has neither queries nor keys: it takes the mean over all tokens.")
