"""How noisy are the statistics of a small batch, and the output of one token in it?"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from normviz.figures.axes import estimates_picture, outputs_picture
from normviz.figures.words import number
from normviz.grid import sample_grid
from normviz.norms import layer_norm
from normviz.streams import TOO_FEW, Estimates, Population, estimates, mean_factor, output_spread, token_outputs
from normviz.text import Text
from normviz.ui.axes.data import PAGE
from normviz.ui.controls import attempt, control
from normviz.ui.language import mode
from normviz.ui.lesson import lesson
from normviz.ui.plot import plot

CORRELATED = ("equal", "chain")


def batches(t: Text) -> dict[str, Any]:
    """Draw the spread of a batch's statistics against its size, and one token's output in many batches."""
    lesson(PAGE, "batches", t)
    kind = control(PAGE, "population", t)
    columns = st.columns(4, gap="medium")
    with columns[0]:
        tokens = control(PAGE, "seq", t)
    with columns[1]:
        size = control(PAGE, "size", t)
    with columns[2]:
        z = control(PAGE, "z", t)
    with columns[3]:
        correlation = control(PAGE, "corr", t, disabled=kind not in CORRELATED)
    population = Population(kind=kind, tokens=tokens, correlation=correlation if kind in CORRELATED else 0.0)
    count, factor = tokens * size, mean_factor(population)
    if factor > 1:
        st.markdown(
            t(
                "A batch of {count} tokens is worth {effective} independent ones: the spread of its mean is √{factor} "
                "times as large.",
                count=count,
                effective=number(count / factor),
                factor=number(factor),
            )
        )
    left, right = st.columns(2, gap="large")
    with left:
        st.header(t("The spread against the size of the batch"))
        plot(estimates_picture(_estimates(population, z), t=t, mode=mode()), key="axes.estimates", t=t)
        lesson(PAGE, "estimates", t)
        if kind != "independent":
            lesson(PAGE, f"estimates_{kind}", t)
    with right:
        st.header(t("One token in many batches"))
        if count < 2:
            st.info(t("A batch of one token has no variance: see below."))
        else:
            outputs = attempt(t, token_outputs, population, size, z=z)
            if outputs is not None:
                drawn = outputs_picture(outputs, z=z, count=count, layer=_layer_norm_of(z), t=t, mode=mode())
                plot(drawn, key="axes.outputs", t=t)
                st.markdown(
                    t(
                        "The same token with value {z}: its output is {mean} on average, with a standard deviation of "
                        "{sd} from batch to batch (theory for large batches: {law}).",
                        z=number(z),
                        mean=number(float(np.mean(outputs))),
                        sd=number(float(np.std(outputs, ddof=1))),
                        law=number(float(output_spread(population, z, np.array([count]))[0])),
                    )
                )
        lesson(PAGE, "one_token", t)
    one_token(t, d=4)
    return {"population": kind, "seq": tokens, "correlation": population.correlation, "z": z, "batch": size}


def one_token(t: Text, *, d: int) -> None:
    """A batch of a single token: PyTorch's own words, and what they mean."""
    st.header(t("A batch of one token"))
    lesson(PAGE, "batch_of_one", t)
    said = f"nn.BatchNorm1d({d})(torch.randn(1, {d}))\nValueError: {TOO_FEW.format(d=d)}"
    st.code(said, language="python", wrap_lines=True)


def _layer_norm_of(z: float) -> float:
    """What LayerNorm makes of a token with value z in its first channel and seven others drawn once."""
    return float(layer_norm(np.concatenate([[z], sample_grid(1, 1, 7, seed=0)[0, 0]])).output[0])


@lru_cache(maxsize=8)
def _estimates(population: Population, z: float) -> Estimates:
    return estimates(population, z=z)
