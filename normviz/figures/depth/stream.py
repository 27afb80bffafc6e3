"""Why do deep layers matter less: how much does a sublayer write, and how far does it turn the stream?"""

from __future__ import annotations

import numpy as np

from normviz.depth.results import DepthSweep
from normviz.figures.depth.curves import summarize
from normviz.figures.depth.profiles import layers_picture, over_layers
from normviz.figures.picture import Picture
from normviz.figures.words import spaced
from normviz.text import Text


def write_picture(result: DepthSweep, *, depth: int, t: Text, mode: str) -> Picture:
    """The share of each sublayer's write in the stream over the layers, on a log axis; attention has open markers.

    Parameters
    ----------
    result
        A sweep, complete or not.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    quantity, curves = "write_share", []
    for placement in result.config.placements:
        values, x = result.values(quantity, placement, depth), result.layers(quantity, placement, depth)
        # Attention of layer l stands at l - 0.5.
        for where, part in (("feed_forward", x == np.floor(x)), ("attention", x != np.floor(x))):
            curves.append(summarize(placement, where, x[part], values[:, part]))
    label = t("write / (write + stream)")
    title = t("Share of each sublayer's write in the stream of models with {depth} layers", depth=depth)
    return layers_picture(result, curves, depth, "write-share-over-layers", spaced(title), label, t, mode)


def cosine_picture(result: DepthSweep, *, depth: int, t: Text, mode: str) -> Picture:
    """The cosine between the stream before and after each layer, on a linear axis; 1 means no change.

    Parameters
    ----------
    result
        A sweep, complete or not.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    label = "cos(x<sub>l−1</sub>, x<sub>l</sub>)"
    title = t("Cosine between the stream before and after each layer in models with {depth} layers", depth=depth)
    curves = over_layers(result, "cosine_next", depth, log=False)
    return layers_picture(result, curves, depth, "cosine-over-layers", spaced(title), label, t, mode, span=(0.5, 1.0))
