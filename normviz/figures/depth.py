"""What does a depth sweep show: gradients against depth, and the profile of one depth over its layers?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from normviz.depth.results import QUANTITIES, DepthSweep
from normviz.figures import theme
from normviz.figures.curves import Curve, arrived, story, summarize, tabulate
from normviz.figures.lines import lines_spec
from normviz.figures.picture import Picture
from normviz.figures.words import paragraph, spaced
from normviz.text import N_, Text

# Which entry of a profile: the layer next to the loss, and the layer next to the embedding.
_ENTRY = {"last": -1, "first": 0}
_TITLES = {
    ("last",): N_("{quantity} of the last layer against depth"),
    ("first",): N_("{quantity} of the first layer against depth"),
    ("last", "first"): N_("{quantity} of the last and of the first layer against depth"),
}


def gradient_picture(
    result: DepthSweep,
    *,
    quantity: str = "grad_w2",
    where: Sequence[str] = ("last", "first"),
    t: Text,
    mode: str,
) -> Picture:
    """A quantity of the last and the first layer against depth, on two log axes; a partial sweep gives shorter lines.

    Each line is the geometric mean over the seeds; its whiskers reach from the smallest to the largest seed. Depths at
    which a seed is inf or nan are marked at the top edge, those with an exact zero at the bottom edge.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`.
    where
        One or both of "last" and "first".
    t, mode
        The reader's language, and "light" or "dark".

    References
    ----------
    Xiong et al. 2020, arXiv:2002.04745, figure 3.
    """
    shown = tuple(place for place in _ENTRY if place in where)
    depths = sorted(result.config.depths)
    curves = []
    for placement in result.config.placements:
        measured = [(depth, result.values(quantity, placement, depth)) for depth in depths]
        rows = [(depth, values) for depth, values in measured if values.size]
        x = np.array([depth for depth, _ in rows], dtype=np.float64)
        curves += [summarize(placement, place, x, [values[:, _ENTRY[place]] for _, values in rows]) for place in shown]

    label = _heading(quantity, t)
    start, end = np.log10([depths[0], depths[-1]])
    pad = 0.06 * (end - start) or 0.3
    xaxis = theme.axis(
        mode,
        t("number of layers L"),
        type="log",
        tickvals=depths,
        ticktext=_tick_text(depths),
        range=[start - pad, end + pad],
    )
    about = t("{quantity} against the number of layers, geometric mean over seeds.", quantity=label)
    return Picture(
        name=f"normviz-{_slug(quantity)}-against-depth",
        title=spaced(t(_TITLES[shown], quantity=label)),
        alt=paragraph(t, [about, *story(curves, t, N_("{n} layers")), arrived(result, t)]),
        spec=lines_spec(curves, xaxis, label, t("Nothing has been measured yet."), t, mode, whiskers=True),
        table=tabulate(curves, t("layers L"), t),
    )


def profile_picture(result: DepthSweep, *, quantity: str, depth: int, t: Text, mode: str) -> Picture:
    """A quantity over the layers of the models with one depth, on a log axis; the band spans the seeds.

    Parameters
    ----------
    result
        A sweep, complete or not.
    quantity
        A key of `QUANTITIES`.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    label = _heading(quantity, t)
    curves = [_over_layers(result, quantity, placement, depth) for placement in result.config.placements]
    title = spaced(t("{quantity} of each layer in models with {depth} layers", quantity=label, depth=depth))
    return _profile(result, curves, f"normviz-{_slug(quantity)}-over-layers", title, label, depth, t, mode)


def residual_picture(result: DepthSweep, *, depth: int, t: Text, mode: str) -> Picture:
    r"""RMS of the residual stream over the layers of models with one depth, on a log axis; the band spans the seeds.

    $\mathrm{RMS}(x_l)=\sqrt{q_l}$ with $q_l$ the quantity `residual_mean_square`.

    Parameters
    ----------
    result
        A sweep, complete or not.
    depth
        The number of layers; one that has not been measured gives an empty picture that says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    label = t("RMS of the residual stream")
    curves = [
        _over_layers(result, "residual_mean_square", placement, depth, root=True)
        for placement in result.config.placements
    ]
    title = t("RMS of the residual stream after each layer in models with {depth} layers", depth=depth)
    return _profile(result, curves, "normviz-residual-rms-over-layers", title, label, depth, t, mode)


def _over_layers(result: DepthSweep, quantity: str, placement: str, depth: int, *, root: bool = False) -> Curve:
    values = result.values(quantity, placement, depth)
    layers = result.layers(quantity, placement, depth)
    return summarize(placement, "", layers, list((np.sqrt(values) if root else values).T))


def _profile(
    result: DepthSweep, curves: list[Curve], name: str, title: str, label: str, depth: int, t: Text, mode: str
) -> Picture:
    step = 2 ** max(0, (depth - 1).bit_length() - 3)
    ends = [-0.2 - 0.02 * depth, depth + 0.6 + 0.02 * depth]
    xaxis = theme.axis(mode, t("layer l (0: embedding)"), tick0=0, dtick=step, range=ends)
    empty = t("Nothing has been measured at {depth} layers yet.", depth=depth)
    return Picture(
        name=name,
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *story(curves, t, N_("layer {n}")), arrived(result, t)]),
        spec=lines_spec(curves, xaxis, label, empty, t, mode, whiskers=False),
        table=tabulate(curves, t("layer l"), t),
    )


def _slug(quantity: str) -> str:
    return quantity.replace("_", "-").replace("grad-", "gradient-")


def _tick_text(depths: Sequence[int]) -> list[str]:
    """Labels of the swept depths; one too close to the last label on a log axis stays empty."""
    room = np.log(depths[-1] / depths[0]) / 12
    texts: list[str] = []
    last = -np.inf
    for depth in depths:
        fits = np.log(depth) - last >= room
        texts.append(str(depth) if fits else "")
        last = np.log(depth) if fits else last
    return texts


def _heading(quantity: str, t: Text) -> str:
    """The quantity's name at the start of a line; Chinese has no capitals, and may start with a symbol."""
    label = t(QUANTITIES[quantity].label)
    return label if t.lang == "zh" else label[:1].upper() + label[1:]
