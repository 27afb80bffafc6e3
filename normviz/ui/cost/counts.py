"""What does a norm cost on paper, alone and in a whole layer?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import streamlit as st

from normviz.cost import KINDS, LAYERS, BenchConfig, NormCost, layer_share, norm_cost
from normviz.figures.cost import share_notes, share_picture
from normviz.figures.cost.marks import percent
from normviz.figures.words import number
from normviz.text import Text
from normviz.ui.controls import attempt, control
from normviz.ui.cost.bench import PAGE, measured
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot


def counts(t: Text) -> dict[str, Any]:
    """Draw the parameters, operations and bytes of each norm on the sizes entered."""
    lesson(PAGE, "counts", t)
    columns = st.columns(4, gap="medium")
    with columns[0]:
        tokens = control(PAGE, "tokens", t)
    with columns[1]:
        d = control(PAGE, "d", t)
    with columns[2]:
        dtype = control(PAGE, "dtype", t)
    with columns[3]:
        way = control(PAGE, "way", t)
    said: set[str] = set()
    found = {kind: attempt(t, norm_cost, kind, tokens, d, dtype, way=way, said=said) for kind in KINDS}
    costs = {kind: cost for kind, cost in found.items() if cost is not None}
    heads = [
        t("Norm"), t("Parameters"), t("Operations"), t("Bytes read"), t("Bytes written"), t("Operations per byte"),
    ]  # fmt: skip
    rows = [
        [
            t(KINDS[kind]),
            f"{cost.parameters:,}",
            f"{cost.flops:,}",
            f"{cost.bytes_read:,}",
            f"{cost.bytes_written:,}",
            number(cost.intensity),
        ]
        for kind, cost in costs.items()
    ]
    if rows:
        st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))
        _formulas(costs, t)
    config = attempt(t, BenchConfig, kinds=tuple(KINDS), ways=(way,), tokens=tokens, d=d, dtype=dtype, said=said)
    return {"config": config}


def _formulas(costs: dict[str, NormCost], t: Text) -> None:
    """The same as formulas."""
    st.caption(
        t("N: tokens, d: width, s: bytes of a number, u: bytes of a number of the statistics (float32 at least).")
    )
    names = {
        "parameters": t("Parameters"), "flops": t("Operations"), "bytes_read": t("Bytes read"),
        "bytes_written": t("Bytes written"),
    }  # fmt: skip
    rows = [
        [t(KINDS[kind]), *(f"$\\displaystyle {cost.formulas[name]}$" for name in names)] for kind, cost in costs.items()
    ]
    heads = [t("Norm"), *names.values()]
    st.table(pd.DataFrame(rows, columns=heads).set_index(heads[0]))


def layer(t: Text) -> dict[str, Any]:
    """Draw the norms' share of a whole layer."""
    lesson(PAGE, "layer", t)
    name = control(PAGE, "layer", t)
    new = control(PAGE, "new", t)
    sizes = LAYERS[name][1]
    if new == "one":
        sizes = replace(sizes, tokens=1)
    share = layer_share(sizes)
    result = measured()
    st.markdown(
        t(
            "The norms are {flops} % of the layer's operations and {bytes} % of the bytes that it moves.",
            flops=percent(share.flops_share()),
            bytes=percent(share.bytes_share()),
        )
    )
    plot(share_picture(share, bench=result, t=t, mode=mode()), key="cost.share", t=t)
    if result is None or result.point is None:
        st.caption(
            t("Run the live benchmark once, and the share of the time at this device's speeds is drawn as well.")
        )
    else:
        st.caption(" ".join(share_notes(result, t)))
    return {"sizes": sizes}
