"""Which cells of the block [B, T, d] share a statistic?"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from normviz.figures import theme
from normviz.figures.axes.mesh import Blocks, blocks, edges
from normviz.figures.axes.sharing import (
    Cell,
    Words,
    cell_sentence,
    members_of,
    sharing_sentence,
    shown_sentence,
    shown_values,
    table_of_cells,
    title_of,
    word_of,
)
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

if TYPE_CHECKING:
    from normviz.grid import GridTrace

Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

# Above this many cells only the outer surface of a set of cells is drawn, without gaps: the largest grid stays light.
_SEPARATE = 1000
# Above this many cells hovering says nothing; the table has every value.
_HOVER = 256
_GLASS = {"light": 0.14, "dark": 0.3}
_SHADES = 12
# What is lit stands this far out of the glass around all cells, in cells, so that the two never fight for a pixel.
_PROUD = 0.02

# Where the camera stands and looks, and the tangent of half its field of view, which is plotly's.
_EYE, _CENTER = np.array([1.2, -1.52, 0.76]), np.array([0.0, 0.0, -0.16])
_VIEW = np.tan(np.pi / 8)
# CSS pixels of the figure in the narrowest column.
_FIGURE = np.array([320.0, 256.0])
# The box's corners and the middles of the edges along which plotly names channels, sequences and tokens, in halves of
# its sides; and the CSS pixels that each needs to the left and below, to the right and above.
_PLACES = np.array([*product((-1, 1), repeat=3), (0, -1, -1), (1, 0, -1), (-1, -1, 0)])
_LEFT_BELOW = np.array([*[(8, 8)] * 8, (96, 60), (0, 70), (80, 0)])
_RIGHT_ABOVE = np.array([*[(8, 8)] * 8, (0, 0), (98, 0), (0, 0)])


def blocks_picture(
    trace: GridTrace,
    *,
    selected: Cell | None = None,
    values: str = "before",
    words: Words | None = None,
    t: Text,
    mode: str,
) -> Picture:
    """The grid as blocks: hue is a cell's statistic, shade its value; the selected cell's is lit in the norm's colour.

    Parameters
    ----------
    trace
        From `normviz.normalize_grid`.
    selected
        (sequence, token, channel), from 0; None lights every cell.
    values
        What the shade shows: "before" is the input x, "after" the normalized output.
    words
        The word of each real token of each sequence, shown on hovering; what lies beyond is a pad.
    t, mode
        The reader's language, and "light" or "dark".

    Returns
    -------
    Picture
        Every triangle has its cell [sequence, token, channel], from 0, as `customdata`.
    """
    separate = trace.x.size <= _SEPARATE
    half = 0.42 if separate else 0.5
    whole = _whole(trace.x.shape, half, separate)
    hue, shade = _hue(trace), _shade(shown_values(trace, values))
    texts = _texts(trace, words, t) if trace.x.size <= _HOVER else None
    # All cells have the same triangles and colours at each click: the page gets them once.
    hues = (*theme.HUES, theme.MUTED[mode])
    traces = [{**_mesh(whole, hue * _SHADES + shade, hues, texts, mode), "meta": theme.STILL}]
    if selected is not None:
        members = members_of(trace, selected)
        traces[0]["opacity"] = _GLASS[mode]
        if members.any():
            lit = blocks(members, half=half + _PROUD, outside_of=None if separate else members)
            traces.append(_mesh(lit, shade, (theme.NORM_COLORS[mode][trace.axis],), texts, mode))
        if members.all():
            traces = [{**traces[1], "meta": theme.STILL}]
        traces.append(_outline(selected, half + _PROUD, mode))
    return Picture(
        name="normviz-blocks",
        title=title_of(trace, values, t),
        alt=paragraph(
            t,
            [
                t(
                    "A block of {batch} × {tokens} × {d} cells (sequences × tokens × channels); "
                    "cells of one hue share a statistic, a stronger shade is a larger value.",
                    **dict(zip(("batch", "tokens", "d"), trace.x.shape, strict=True)),
                ),
                shown_sentence(values, t),
                sharing_sentence(trace, t),
                "" if selected is None else cell_sentence(trace, selected, t),
            ],
        ),
        spec={"data": traces, "layout": _layout(trace, t, mode)},
        table=table_of_cells(trace, t),
    )


@lru_cache(maxsize=8)
def _whole(shape: tuple[int, ...], half: float, separate: bool) -> Blocks:
    """All cells of a grid of this shape, the same at each click."""
    every = np.ones(shape, dtype=np.bool_)
    return blocks(every, half=half, outside_of=None if separate else every)


def _mesh(
    mesh: Blocks, color: Bytes, hues: tuple[str, ...], texts: npt.NDArray[Any] | None, mode: str
) -> dict[str, Any]:
    """The triangles, in the colours that `color` [B, T, d] counts: the shades of the first hue, of the second, ..."""
    b, token, c = mesh.vertices.T
    of_triangle = tuple(mesh.cells.T)
    spec: dict[str, Any] = {
        "type": "mesh3d",
        "x": c.copy(),
        "y": b.copy(),
        "z": token.copy(),
        **dict(zip("ijk", (column.copy() for column in mesh.triangles.T), strict=True)),
        "intensity": color[of_triangle],
        "intensitymode": "cell",
        "cmin": -0.5,
        "cmax": len(hues) * _SHADES - 0.5,
        "colorscale": _scale(hues, mode),
        "showscale": False,
        # With a colour for each triangle, plotly.js counts triangles, not vertices, when it reports a click or a hover.
        "customdata": mesh.cells,
        "flatshading": True,
        "lighting": {"ambient": 0.9, "diffuse": 0.3, "specular": 0.03, "roughness": 0.9, "fresnel": 0.05},
        "lightposition": {"x": -4000, "y": -9000, "z": 12000},
        "hoverinfo": "none",
        "showlegend": False,
    }
    if texts is not None:
        spec |= {"hoverinfo": "text", "hovertext": texts[of_triangle].tolist()}
    return spec


def _texts(trace: GridTrace, words: Words | None, t: Text) -> npt.NDArray[Any]:
    """What hovering over each cell says, text [B, T, d]."""
    texts = np.empty(trace.x.shape, dtype=object)
    for b, token, c in product(*map(range, texts.shape)):
        place = t("sequence {b}, token {token}, channel {c}", b=b + 1, token=token + 1, c=c + 1)
        change = f"{number(trace.x[b, token, c])} → {number(trace.output[b, token, c])}"
        texts[b, token, c] = "<br>".join(filter(None, [word_of(words, b, token, t), place, change]))
    return texts


def _hue(trace: GridTrace) -> Bytes:
    """The place of each cell's hue in `theme.HUES`, [B, T, d]; one beyond for a pad."""
    _, first = np.unique(trace.group[trace.group >= 0], return_index=True)
    sequence = np.argwhere(trace.group >= 0)[first, 0]
    # Counted within the sequence, and three on for the next one: neighbours in every direction differ in hue.
    rank = np.arange(sequence.size) - np.searchsorted(sequence, sequence)
    hue = np.append((rank + 3 * sequence) % len(theme.HUES), len(theme.HUES))  # group -1 is a pad
    of_cell: Bytes = hue[trace.group].astype(np.uint8)
    return of_cell


def _shade(shown: npt.NDArray[np.float64]) -> Bytes:
    """How strong each cell's colour is, from 0 for the smallest value to _SHADES - 1 for the largest."""
    low, high = shown.min(), shown.max()
    share = (shown - low) / (high - low) if high > low else np.full(shown.shape, 0.5)
    shade: Bytes = np.rint(share * (_SHADES - 1)).astype(np.uint8)
    return shade


@cache
def _scale(hues: tuple[str, ...], mode: str) -> list[list[Any]]:
    """A colour scale in steps: each hue from nearly the page's colour to full, then the next hue."""
    page = theme.BACKGROUND[mode]
    shares = [0.72 * (1 - step / (_SHADES - 1)) for step in range(_SHADES)]
    colors = [theme.mix(hue, page, share) for hue in hues for share in shares]
    ends = np.linspace(0, 1, len(colors) + 1)
    return [[float(end), color] for place, color in enumerate(colors) for end in ends[place : place + 2]]


def _outline(selected: Cell, half: float, mode: str) -> dict[str, Any]:
    b, token, c = edges(selected, half=half + 0.01).T
    return {
        "type": "scatter3d",
        "mode": "lines",
        "x": c.copy(),
        "y": b.copy(),
        "z": token.copy(),
        "line": {"color": theme.INK[mode], "width": 6},
        "hoverinfo": "skip",
        "showlegend": False,
    }


def _layout(trace: GridTrace, t: Text, mode: str) -> dict[str, Any]:
    batch, tokens, d = trace.x.shape
    # Flattened so that a long grid keeps a readable shape; the blocks of a cubic grid stay cubes.
    ratio = _fitted(np.array([d, batch, tokens], dtype=np.float64) ** 0.7)
    return theme.layout(
        mode,
        tallest=float(_FIGURE[1] / _FIGURE[0]),
        height=460,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        scene={
            "camera": {
                name: dict(zip("xyz", place.tolist(), strict=True))
                for name, place in (("eye", _EYE), ("center", _CENTER))
            },
            "aspectmode": "manual",
            "aspectratio": dict(zip("xyz", ratio.tolist(), strict=True)),
            "xaxis": _scene_axis(mode, t("channels d"), d, ratio[0]),
            "yaxis": _scene_axis(mode, t("sequences B"), batch, ratio[1]),
            "zaxis": _scene_axis(mode, t("tokens T"), tokens, ratio[2], downward=True),
        },
    )


def _fitted(lengths: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The sides of the box, enlarged until the camera's picture of it fills the narrowest column."""
    box = lengths / np.linalg.norm(lengths)
    forward = (_CENTER - _EYE) / np.linalg.norm(_CENTER - _EYE)
    right = np.cross(forward, (0, 0, 1))
    right /= np.linalg.norm(right)
    scales = np.linspace(0.5, 2, 61)
    seen = scales[:, None, None] * _PLACES * box / 2 - _EYE
    flat = seen @ np.stack([right, np.cross(right, forward)], axis=1) / (seen @ forward)[..., None]
    pixels = flat / _VIEW * _FIGURE[1] / 2
    fits = ((pixels >= -_FIGURE / 2 + _LEFT_BELOW) & (pixels <= _FIGURE / 2 - _RIGHT_ABOVE)).all(axis=(1, 2))
    ratio: npt.NDArray[np.float64] = box * scales[fits].max()
    return ratio


def _scene_axis(mode: str, title: str, n: int, length: float, *, downward: bool = False) -> dict[str, Any]:
    step = 2 ** max(0, int(np.ceil(np.log2(n / (8 * length)))))
    ends = [0.4, n + 0.6]
    return {
        "title": {"text": title, "font": {"size": theme.FONT_SIZE - 1, "color": theme.INK[mode]}},
        "range": ends[::-1] if downward else ends,
        "tickvals": sorted({1, *range(step, n + 1, step)}),
        "tickfont": {"size": theme.FONT_SIZE - 3, "color": theme.MUTED[mode]},
        "showgrid": False,
        "showbackground": False,
        "showline": False,
        "zeroline": False,
        "showspikes": False,
        "ticks": "",
    }
