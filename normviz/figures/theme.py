"""Which colour, symbol and line stands for what, in every figure?

Colour says which norm or placement is meant, and is never alone: each also has a symbol. A dashed line is theory; what
was computed is solid. The colours keep their distance for readers with deuteranopia or protanopia, and have a contrast
of at least 3:1 with the page. The first five placements are far apart; the variants keep a visible distance, and are
warm where the norm sits on the identity path, blue where that path stays free.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from normviz.text import N_

MODES: tuple[str, ...] = ("light", "dark")

FONT = (
    "'Inter', 'Source Sans Pro', system-ui, -apple-system, 'Segoe UI', Roboto, 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', 'Noto Sans SC', sans-serif"
)
FONT_SIZE = 15  # px; legible from the back of a lecture hall at full-screen width
LINE_WIDTH = 2.5  # px
MARKER_SIZE = 10  # px
DASHES: Mapping[str, str] = MappingProxyType({"measured": "solid", "theory": "dash"})

# The page: warm paper by day, blue-black by night.
BACKGROUND: Mapping[str, str] = MappingProxyType({"light": "#fbfaf7", "dark": "#14171c"})
PANEL: Mapping[str, str] = MappingProxyType({"light": "#f1efe8", "dark": "#1e2229"})
INK: Mapping[str, str] = MappingProxyType({"light": "#22252b", "dark": "#ece8df"})
MUTED: Mapping[str, str] = MappingProxyType({"light": "#64666b", "dark": "#a3a6ac"})
GRID: Mapping[str, str] = MappingProxyType({"light": "#e4e1d8", "dark": "#2b3038"})
ACCENT: Mapping[str, str] = MappingProxyType({"light": "#0f6470", "dark": "#58b8c4"})

NORM_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "layer_norm": "LayerNorm",
        "rms_norm": "RMSNorm",
        "batch_norm": "BatchNorm",
        "instance_norm": "InstanceNorm",
        "group_norm": "GroupNorm",
        "everything": N_("Everything"),
    }
)

_NEUTRAL = {"light": "#363531", "dark": "#929190"}

PLACEMENT_COLORS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {
                "post_norm": "#b3540c",
                "pre_norm": "#0e7fd9",
                "sandwich_norm": "#73317c",
                "output_norm": "#2a8d73",
                "no_norm": _NEUTRAL["light"],
                "deep_norm": "#7d3300",
                "layer_norm_scaling": "#2637a1",
                "sub_ln": "#4851ce",
                "rezero": "#8a5a7e",
                "mix_ln": "#bd853e",
                "b2t": "#db405b",
                "resi_dual": "#cf6fa3",
                "hybrid_norm": "#135d40",
                "keel": "#ae0051",
                "peri_ln": "#bd2baa",
                "parallel": "#8073fc",
            }
        ),
        "dark": MappingProxyType(
            {
                "post_norm": "#e7894f",
                "pre_norm": "#5879ce",
                "sandwich_norm": "#c69fd8",
                "output_norm": "#65e9ad",
                "no_norm": _NEUTRAL["dark"],
                "deep_norm": "#a9801d",
                "layer_norm_scaling": "#3ca4fd",
                "sub_ln": "#8051d5",
                "rezero": "#ffbcde",
                "mix_ln": "#ffdb39",
                "b2t": "#f44f65",
                "resi_dual": "#d5036b",
                "hybrid_norm": "#72bc97",
                "keel": "#c63c2c",
                "peri_ln": "#855d89",
                "parallel": "#b277b6",
            }
        ),
    }
)

NORM_COLORS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "light": MappingProxyType(
            {
                "layer_norm": "#2d21a5",
                "rms_norm": "#b18202",
                "batch_norm": "#e2547b",
                "dyt": "#48065a",
                "none": _NEUTRAL["light"],
                "instance_norm": "#3f5d24",
                "group_norm": "#0194c5",
                "everything": "#784678",
                "power_norm": "#af0aff",
            }
        ),
        "dark": MappingProxyType(
            {
                "layer_norm": "#877dfe",
                "rms_norm": "#dfba36",
                "batch_norm": "#ca3344",
                "dyt": "#904ea2",
                "none": _NEUTRAL["dark"],
                "instance_norm": "#83d877",
                "group_norm": "#52d5fe",
                "everything": "#afffdc",
                "power_norm": "#fafa32",
            }
        ),
    }
)

SYMBOLS: Mapping[str, str] = MappingProxyType(
    {
        "post_norm": "square",
        "pre_norm": "circle",
        "sandwich_norm": "diamond",
        "output_norm": "pentagon",
        "no_norm": "x",
        "deep_norm": "star",
        "layer_norm_scaling": "triangle-right",
        "sub_ln": "hexagram",
        "rezero": "cross",
        "mix_ln": "star-square",
        "b2t": "triangle-left",
        "resi_dual": "star-diamond",
        "hybrid_norm": "triangle-ne",
        "keel": "hexagon2",
        "peri_ln": "diamond-tall",
        "parallel": "star-triangle-up",
        "layer_norm": "circle",
        "rms_norm": "diamond",
        "batch_norm": "square",
        "instance_norm": "pentagon",
        "group_norm": "hexagon",
        "everything": "octagon",
        "power_norm": "hourglass",
        "dyt": "star",
        "none": "x",
    }
)

# Neighbours in this cycle, and entries three apart, differ most: statistics that touch in a block never look alike.
HUES: tuple[str, ...] = ("#4c6fd8", "#e2a32b", "#2aa397", "#d9613f", "#8a63c9", "#9aa82f", "#3fa7d6", "#b84a7a")

# Negative to positive; the middle is the panel, so that zero looks empty, and ink is legible on all of it.
DIVERGING: Mapping[str, tuple[tuple[float, str], ...]] = MappingProxyType(
    {
        "light": ((0.0, "#5f9cc6"), (0.25, "#b3cfe0"), (0.5, PANEL["light"]), (0.75, "#edc7b2"), (1.0, "#dd8a63")),
        "dark": ((0.0, "#2b6a98"), (0.25, "#254b66"), (0.5, PANEL["dark"]), (0.75, "#6e4130"), (1.0, "#a04d2a")),
    }
)

# Small to large in even steps of lightness for every reader (viridis: Smith & van der Walt 2015).
SEQUENTIAL: tuple[str, ...] = (
    "#440154", "#482878", "#3e4989", "#31688e", "#26828e", "#1f9e89", "#35b779", "#6ece58", "#b5de2b", "#fde725",
)  # fmt: skip

CLEAR = "rgba(0,0,0,0)"

# The `meta` of a trace that stays the same while a person clicks: the page may send it once and keep it.
STILL = "still"


def layout(mode: str, *, tallest: float | None = None, link: str | None = None, **more: Any) -> dict[str, Any]:
    """The layout that every figure starts from, for `mode` "light" or "dark"; `more` replaces or adds entries.

    In a column so narrow that the drawing would be higher than `tallest` times its width, the page shrinks it to that.
    Pointing at a place of the horizontal axis marks it in every figure on the page with the same `link`.
    """
    return {
        "height": 420,
        "font": {"family": FONT, "size": FONT_SIZE, "color": INK[mode]},
        "paper_bgcolor": CLEAR,
        "plot_bgcolor": CLEAR,
        "margin": {"l": 16, "r": 16, "t": 16, "b": 16},
        "hovermode": "closest",
        "hoverlabel": {
            "bgcolor": PANEL[mode],
            "bordercolor": MUTED[mode],
            "font": {"family": FONT, "size": FONT_SIZE, "color": INK[mode]},
            "align": "left",
        },
        "legend": {
            "orientation": "h",
            "x": 0,
            "xanchor": "left",
            "yref": "container",
            "y": 0.01,
            "yanchor": "bottom",
            "bgcolor": CLEAR,
            "itemsizing": "trace",
            "font": {"size": FONT_SIZE - 1, "color": INK[mode]},
        },
        "modebar": {"bgcolor": CLEAR, "color": MUTED[mode], "activecolor": ACCENT[mode]},
        # A constant revision: an update keeps what the reader zoomed, turned or hid.
        "uirevision": "normviz",
        "meta": {"background": BACKGROUND[mode], "tallest": tallest, "link": link},
        **more,
    }


def axis(mode: str, title: str, **more: Any) -> dict[str, Any]:
    """A plain axis: faint grid, muted ticks, room for its labels; `more` replaces or adds entries."""
    return {
        "title": {"text": title, "standoff": 10, "font": {"size": FONT_SIZE}},
        "automargin": True,
        "gridcolor": GRID[mode],
        "linecolor": MUTED[mode],
        "tickcolor": GRID[mode],
        "tickfont": {"color": MUTED[mode]},
        "ticks": "outside",
        "ticklen": 5,
        "zeroline": False,
        **more,
    }


def theory_color(mode: str, placement: str) -> str:
    """The colour of a placement's theory: its own, shaded towards the ink, so that it shows on the measured line."""
    if (mode, placement) == ("light", "no_norm"):  # near the ink already
        return mix(PLACEMENT_COLORS[mode][placement], BACKGROUND[mode], 0.42)
    return mix(PLACEMENT_COLORS[mode][placement], INK[mode], 0.55)


def mix(color: str, other: str, share: float) -> str:
    """The colour `share` of the way from `color` to `other`, both "#rrggbb"."""
    pairs = zip(_channels(color), _channels(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def fade(color: str, opacity: float) -> str:
    """`color` with an opacity, as plotly writes it."""
    return f"rgba({','.join(map(str, _channels(color)))},{opacity:g})"


@cache
def _channels(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)
