"""How does a quantity change over the layers of the models with one depth?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normviz.depth.results import DepthSweep
from normviz.figures.depth.curves import Curve, summarize, tabulate
from normviz.figures.depth.laws import Dashed, laws_over_layers, sources
from normviz.figures.depth.lines import lines_spec
from normviz.figures.depth.scale import layer_axis
from normviz.figures.depth.story import arrived, heading, slug, story
from normviz.figures.picture import Picture
from normviz.figures.words import paragraph, spaced
from normviz.text import N_, Text

LINK = "layer"
"""The figures that have layers along their horizontal axis mark a pointed layer in one another."""


def profile_picture(
    result: DepthSweep, *, quantity: str, depth: int, theory: bool = True, t: Text, mode: str
) -> Picture:
    """A quantity over the layers of the models with one depth, on a log axis; the band spans the seeds.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    theory
        Whether the laws of `normviz.depth.theory` are drawn, dashed, where there are any.
    t, mode
        The reader's language, and "light" or "dark".
    """
    label = heading(quantity, t)
    title = spaced(t("{quantity} of each layer in models with {depth} layers", quantity=label, depth=depth))
    dashed = laws_over_layers(result, quantity, depth) if theory else []
    curves = over_layers(result, quantity, depth)
    return layers_picture(result, curves, depth, slug(quantity) + "-over-layers", title, label, t, mode, dashed=dashed)


def residual_picture(result: DepthSweep, *, depth: int, theory: bool = True, t: Text, mode: str) -> Picture:
    r"""RMS of the residual stream over the layers of models with one depth, on a log axis; the band spans the seeds.

    $\mathrm{RMS}(x_l)=\sqrt{q_l}$ with $q_l$ the quantity `residual_mean_square`.

    Parameters
    ----------
    result
        A sweep, complete or not.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    theory
        Whether the laws of `normviz.depth.theory` are drawn, dashed, where there are any.
    t, mode
        The reader's language, and "light" or "dark".
    """
    quantity, label = "residual_mean_square", t("RMS of the residual stream")
    curves = over_layers(result, quantity, depth, root=True)
    title = t("RMS of the residual stream after each layer in models with {depth} layers", depth=depth)
    dashed = laws_over_layers(result, quantity, depth, root=True) if theory else []
    return layers_picture(result, curves, depth, "residual-rms-over-layers", title, label, t, mode, dashed=dashed)


def over_layers(result: DepthSweep, quantity: str, depth: int, *, root: bool = False, log: bool = True) -> list[Curve]:
    """One line for each placement over its layers; with `root`, of the values' square roots."""
    curves = []
    for placement in result.config.placements:
        values = result.values(quantity, placement, depth)
        x = result.layers(quantity, placement, depth)
        curves.append(summarize(placement, "", x, np.sqrt(values) if root else values, log=log))
    return curves


def layers_picture(
    result: DepthSweep,
    curves: Sequence[Curve],
    depth: int,
    name: str,
    title: str,
    label: str,
    t: Text,
    mode: str,
    *,
    dashed: Sequence[Dashed] = (),
    span: tuple[float, float] | None = None,
    empty: str = "",
) -> Picture:
    """A picture of lines over the layers; `span` makes the axis linear, `empty` says why there is nothing at all."""
    reason = empty or t("Nothing has been measured at {depth} layers yet.", depth=depth)
    told = [*story(curves, t, N_("layer {n}")), *sources(dashed, t)]
    if not any(curve.x.size for curve in curves):
        told.append(reason)
    return Picture(
        name=f"normviz-{name}",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *told, arrived(result, t)]),
        spec=lines_spec(
            curves, layer_axis(depth, t, mode), label, reason, t, mode,
            whiskers=False, dashed=dashed, span=span, link=LINK,
        ),
        table=tabulate(curves, t("layer l"), t),
    )  # fmt: skip
