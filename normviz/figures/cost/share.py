"""How much of a Transformer layer belongs to its norms: of the operations, of the bytes, of the time at least?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from normviz.cost import PARTS, LayerShare, LayerSizes, NormBench, Roof, layer_share
from normviz.figures import theme
from normviz.figures.cost.marks import percent
from normviz.figures.cost.rows import Row, arrange
from normviz.figures.picture import Picture
from normviz.figures.words import number, paragraph
from normviz.text import Text

# What is no norm: hues of the theme that are none of the norms', and a hatching each.
_OTHERS = {
    "additions": (theme.HUES[2], "/"),
    "projections": (theme.HUES[6], "."),
    "attention": (theme.HUES[7], "x"),
    "mlp": (theme.HUES[4], "\\"),
    "activation": (theme.HUES[3], "-"),
}


def share_picture(
    share: LayerShare, *, roof: Roof | None = None, bench: NormBench | None = None, t: Text, mode: str
) -> Picture:
    """A layer's parts as shares of its operations, of the bytes that move and, under a roof, of the least time.

    Parameters
    ----------
    share
        From `normviz.cost.layer_share`.
    roof
        A device's memory bandwidth and matrix rate, for the layer's own number format; None leaves the time out.
    bench
        A benchmark instead of a roof: the time is that of the same layer in the number format that was measured, and
        the words name it. A benchmark without a copy beyond the caches leaves the time out and says so.
    t, mode
        The reader's language, and "light" or "dark".
    """
    columns = {
        t("operations"): {part: share.flops_share(part) for part in PARTS},
        t("bytes"): {part: share.bytes_share(part) for part in PARTS},
    }
    timed, here, name = share, roof, t("time at least")
    if here is None and bench is not None and bench.point is not None:
        timed = layer_share(replace(share.sizes, dtype=bench.config.dtype))
        here = bench.roof_for(timed.sizes)
        name = t("time at least, in {dtype}", dtype=bench.config.dtype)
    if here is not None:
        columns[name] = {part: timed.time_share(here, part) for part in PARTS}
    rows = [
        Row(left=name, right=t("norms {share} %", share=percent(values["norms"]))) for name, values in columns.items()
    ]
    arranged = arrange(rows, mode, legend=6)
    title = t("What the norms take of a layer")
    return Picture(
        name="normviz-share",
        title=title,
        alt=paragraph(t, [t("{title}.", title=title), *_told(columns, t), *share_notes(bench, t)]),
        spec={
            "data": [_bars(part, columns, arranged.places, share.sizes.norm, t, mode) for part in PARTS],
            "layout": theme.layout(
                mode,
                height=arranged.height,
                barmode="stack",
                xaxis=theme.axis(mode, t("share of the layer (%)"), range=[0, 100], tickvals=[0, 25, 50, 75, 100]),
                yaxis=arranged.yaxis,
                shapes=arranged.shapes,
                annotations=arranged.annotations,
                showlegend=True,
                legend={**theme.layout(mode)["legend"], "traceorder": "normal"},
            ),
        },
        table=pd.DataFrame(
            {
                t("part"): [t(PARTS[part.id]) for part in share.parts],
                t("operations (FLOPs)"): [part.flops for part in share.parts],
                t("bytes"): [part.bytes for part in share.parts],
                **{
                    t("share of the {what} (%)", what=name): [100 * values[part] for part in PARTS]
                    for name, values in columns.items()
                },
            }
        ),
    )


def share_notes(bench: NormBench | None, t: Text) -> list[str]:
    """What was measured for a layer's time, or why there is none, in sentences.

    Parameters
    ----------
    bench
        What `share_picture` was given; nothing is said of one that has not arrived.
    t
        The reader's language.
    """
    if bench is None or bench.point is None:
        return []
    point = bench.point
    roof = bench.roof_for(replace(LayerSizes(), dtype=bench.config.dtype))
    if roof is None:
        return [
            t("No time is drawn: the memory of {device} had no room for a copy beyond the caches.", device=point.device)
        ]
    return [
        t(
            "The time is that of this layer in {dtype} on {device}: a copy of {mib} MiB moves {bandwidth} GB/s, and a "
            "product of {side} × {side} matrices in {dtype} reaches {rate} GFLOP/s. Norms, additions, softmax and "
            "activation are charged by their bytes alone.",
            dtype=bench.config.dtype,
            device=point.device,
            mib=number(point.far_bytes / 2**21),
            bandwidth=number(roof.bandwidth / 1e9),
            side=point.side,
            rate=number(roof.rate / 1e9),
        )
    ]


def _told(columns: dict[str, dict[str, float]], t: Text) -> list[str]:
    return [
        t(
            "{what}: {parts}.",
            what=name,
            parts=("；" if t.lang == "zh" else "; ").join(
                t("{part} {share} %", part=t(PARTS[part]), share=percent(value)) for part, value in values.items()
            ),
        )
        for name, values in columns.items()
    ]


def _bars(
    part: str, columns: dict[str, dict[str, float]], places: tuple[float, ...], norm: str, t: Text, mode: str
) -> dict[str, Any]:
    fill, hatch = (theme.NORM_COLORS[mode][norm], "") if part == "norms" else _OTHERS[part]
    shares = [100 * values[part] for values in columns.values()]
    return {
        "type": "bar",
        "orientation": "h",
        "name": t(PARTS[part]),
        "x": shares,
        "y": list(places),
        "width": 18,
        "marker": {
            "color": fill if part == "norms" else theme.mix(fill, theme.BACKGROUND[mode], 0.35),
            "line": {"color": theme.BACKGROUND[mode], "width": 0 if part == "norms" else 1},
            "pattern": {
                "shape": hatch,
                "fgcolor": theme.BACKGROUND[mode],
                "fgopacity": 0.55,
                "size": 7,
                "fillmode": "overlay",
            },
        },
        "hovertemplate": t("{part}: {share} %", part=t(PARTS[part]), share="%{x:.3~g}") + "<extra></extra>",
    }
