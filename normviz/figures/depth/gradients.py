"""How does a quantity change with the number of layers, at the last, the middle and the first one?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normviz.depth.results import DepthSweep
from normviz.figures.depth.curves import Curve, ragged, summarize, tabulate
from normviz.figures.depth.laws import laws_against_depth, sources
from normviz.figures.depth.lines import lines_spec
from normviz.figures.depth.places import entry, of_places, shown_places
from normviz.figures.depth.scale import depth_axis
from normviz.figures.depth.slopes import slope_notes, slopes
from normviz.figures.depth.story import arrived, heading, nothing, slug, story
from normviz.figures.picture import Picture
from normviz.figures.words import paragraph, spaced
from normviz.text import N_, Text


def gradient_picture(
    result: DepthSweep,
    *,
    quantity: str = "grad_w2",
    where: Sequence[str] = ("last", "first"),
    theory: bool = True,
    t: Text,
    mode: str,
) -> Picture:
    """A quantity at some layers against depth, on two log axes; a partial sweep gives shorter lines.

    Each line is the geometric mean over the seeds; its whiskers reach from the smallest to the largest seed. Depths at
    which a seed is inf or nan are marked at the top edge, those with an exact zero at the bottom edge.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`. One that belongs to a whole model has one line, whatever `where` says.
    where
        One or more of "last", "middle" (layer ceil(L/2)) and "first"; a quantity of the stream starts with the input
        x_0 instead of the first layer.
    theory
        Whether the laws of `normviz.depth.theory` are drawn, dashed, where there are any.
    t, mode
        The reader's language, and "light" or "dark".

    References
    ----------
    Xiong et al. 2020, arXiv:2002.04745, figure 3.
    """
    places = shown_places(quantity, where)
    curves = [curve for placement in result.config.placements for curve in _curves(result, quantity, placement, places)]
    dashed = laws_against_depth(result, quantity, places) if theory else []
    fitted = {(slope.placement, slope.where): slope for slope in slopes(result, quantity, where)}
    label = heading(quantity, t)
    about = t("{quantity} against the number of layers, geometric mean over seeds.", quantity=label)
    title = (
        t("{quantity} of {places} against depth", quantity=label, places=of_places(places, t))
        if places != ("",)
        else t("{quantity} against depth", quantity=label)
    )
    told = [*story(curves, t, N_("{n} layers")), *slope_notes(result, quantity, where, t), *sources(dashed, t)]
    table = tabulate(curves, t("layers L"), t)
    sizes = [curve.x.size for curve in curves]
    for name, part in ((t("slope"), "slope"), (t("standard error of the slope"), "error")):
        each = [getattr(fitted.get((curve.placement, curve.where)), part, None) for curve in curves]
        table[name] = np.repeat(np.array(each, dtype=np.float64), sizes)
    return Picture(
        name=f"normviz-{slug(quantity)}-against-depth",
        title=spaced(title),
        alt=paragraph(t, [about, *told, arrived(result, t)]),
        spec=lines_spec(
            curves,
            depth_axis(result.config.depths, t, mode),
            label,
            nothing(result, quantity, t),
            t,
            mode,
            whiskers=True,
            dashed=dashed,
            notes={line: slope.words(t) for line, slope in fitted.items()},
        ),
        table=table,
    )


def _curves(result: DepthSweep, quantity: str, placement: str, places: Sequence[str]) -> list[Curve]:
    measured = [
        (depth, result.layers(quantity, placement, depth), values)
        for depth in result.config.depths
        if (values := result.values(quantity, placement, depth)).size
    ]
    x = np.array([depth for depth, _, _ in measured], dtype=np.float64)
    curves = []
    for place in places:
        values, present = ragged([values[:, entry(place, layers, depth)] for depth, layers, values in measured])
        curves.append(summarize(placement, place, x, values, present=present))
    return curves
