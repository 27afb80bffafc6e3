"""Which numbers say what went wrong?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from normviz.arrays import Floats, frozen
from normviz.floats.difference import difference
from normviz.floats.formats import FORMATS, neighbours, round_to, rounded
from normviz.floats.lost import residual_path
from normviz.floats.steps import norm_steps
from normviz.floats.summation import Singles, float32_mean
from normviz.text import N_


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One sentence about an incident with the numbers that were computed for it.

    Attributes
    ----------
    sentence
        English, to be translated, with a field for each value.
    values
        Field -> number.
    """

    sentence: str
    values: Mapping[str, float]


_LIMIT = FORMATS["float16"].largest
_D = 4096
_DRAWN = 100_000
STREAM, UPDATE, UPDATES = 256.0, 1.0, 100
"""A residual stream, what each branch adds to it, and how many do."""
VARIANCE_D, VARIANCE_ROWS = 1024, 256
"""Numbers in each vector, and vectors, that an error of the variance is the RMS over."""
SMALL_WEIGHT = 0.01
"""Standard deviation of the weights w that an incident is about."""
T5_VALUE = 66_246.3906
"""What `T5DenseReluDense` returned in float32 where float16 gave infinity."""
T5_VECTOR = frozen(np.array([T5_VALUE, 1.0, -2.0, 0.5, 3.0, -1.0, 0.25, -0.5]))
"""That value among usual ones."""


def constant(value: float, d: int = _D) -> Floats:
    """A vector of one value."""
    return frozen(np.full(d, value))


def summed() -> tuple[Claim, ...]:
    """4,096 values of 100 in float16."""
    own, kept = (norm_steps(constant(100.0), "rms_norm", "float16", eps=1e-6, accumulate=a) for a in ("own", "sum"))
    total, term = float(own["sum"].exact[0]), own["sum"].first_overflow
    return (
        Claim(
            sentence=N_("The sum of the squares is {total}, {times} times the largest float16, {largest}."),
            values={"total": total, "times": total / _LIMIT, "largest": _LIMIT},
        ),
        Claim(
            sentence=N_("A running sum in float16 is infinite from term {term} on; the norm then returns {naive}."),
            values={"term": -1 if term is None else term + 1, "naive": float(own.output[0])},
        ),
        Claim(
            sentence=N_("With only the sum in float32, the mean square is {mean} and the norm returns {kept}."),
            values={"mean": float(kept["mean_square"].value[0]), "kept": float(kept.output[0])},
        ),
    )


def squared() -> tuple[Claim, ...]:
    """Values of 256 in float16."""
    fits = neighbours(256.0, "float16").below
    inside, beyond, wide = (
        float(norm_steps(constant(value), "rms_norm", "float16", eps=1e-6, accumulate=accumulate).output[0])
        for value, accumulate in ((255.0, "sum"), (256.0, "sum"), (256.0, "float32"))
    )
    share = math.erfc(2.56 / math.sqrt(2))
    return (
        Claim(
            sentence=N_("{fits} squared still is a float16; 256 squared, {square}, is above {largest}."),
            values={"fits": fits, "square": 256.0**2, "largest": _LIMIT},
        ),
        Claim(
            sentence=N_(
                "The norm of a vector of 255s is {inside}, of 256s it is {beyond}; cast to float32 first, {wide}."
            ),
            values={"inside": inside, "beyond": beyond, "wide": wide},
        ),
        Claim(
            sentence=N_("Of normal numbers with RMS 100, a share of {share} is that large: {count} of 4,096."),
            values={"share": share, "count": share * _D},
        ),
    )


def t5() -> tuple[Claim, ...]:
    """T5's value above the largest float16."""
    held = {name: float(rounded(T5_VALUE, name)) for name in ("float16", "bfloat16", "float32")}
    output = norm_steps(T5_VECTOR, "rms_norm", "float16", eps=1e-6, accumulate="float32").output
    return (
        Claim(
            sentence=N_("float16 ends at {largest}: {value} becomes {held}."),
            values={"largest": _LIMIT, "value": T5_VALUE, "held": held["float16"]},
        ),
        Claim(
            sentence=N_("The next norm returns {first} for it and {other} for every other channel."),
            values={"first": float(output[0]), "other": float(np.abs(output[1:]).max())},
        ),
        Claim(
            sentence=N_("bfloat16 holds {coarse}, float32 {fine}."),
            values={"coarse": held["bfloat16"], "fine": held["float32"]},
        ),
    )


def orders() -> tuple[Claim, ...]:
    """Casting before and after the product."""
    llama = difference("cast_then_multiply", "multiply_then_cast")
    return (
        Claim(
            sentence=N_("In bfloat16, Llama and OLMo 2 differ in {olmo} of the elements, Llama and Gemma in {gemma}."),
            values={"olmo": llama.share, "gemma": difference("cast_then_multiply", "gemma").share},
        ),
        Claim(
            sentence=N_("T5 differs from Llama in {t5}, Gemma 3n from OLMo 2 in {gemma3n}."),
            values={
                "t5": difference("cast_then_multiply", "t5").share,
                "gemma3n": difference("multiply_then_cast", "gemma3n").share,
            },
        ),
        Claim(
            sentence=N_("The relative error is {twice} (RMS) with Llama's two roundings, {once} with the single one."),
            values={"twice": llama.rms[0], "once": llama.rms[1]},
        ),
    )


def _small_weights() -> Floats:
    """Weights around 0 as float32 holds them."""
    return round_to(SMALL_WEIGHT * np.random.default_rng(0).standard_normal(_DRAWN), FORMATS["float32"])


def one_plus_w() -> tuple[Claim, ...]:
    """1 + w rounded to bfloat16."""
    w = round_to(_small_weights(), FORMATS["bfloat16"])
    scale = round_to(1 + w, FORMATS["bfloat16"])
    kind = FORMATS["bfloat16"]
    return (
        Claim(
            sentence=N_("In bfloat16, 1 + w is 1 for every w from {low} to {high}."),
            values={"low": -kind.epsilon / 4, "high": kind.epsilon / 2},
        ),
        Claim(
            sentence=N_(
                "Of weights with a standard deviation of {std}, a share of {share} vanishes so; added in float32, none."
            ),
            values={"std": SMALL_WEIGHT, "share": float((scale[w != 0] == 1).mean())},
        ),
        Claim(
            sentence=N_("The scale is wrong by up to {largest}."),
            values={"largest": float(np.abs(scale - 1 - w).max())},
        ),
    )


def stored_as() -> tuple[Claim, ...]:
    """The scale stored as w, or as it is."""
    w = _small_weights()
    as_w, as_scale = (
        float(np.abs(error).max())
        for error in (round_to(w, FORMATS["bfloat16"]) - w, round_to(1 + w, FORMATS["bfloat16"]) - (1 + w))
    )
    return (
        Claim(
            sentence=N_(
                "Scales with a standard deviation of {std}, stored as w in bfloat16, are wrong by up to {as_w}."
            ),
            values={"std": SMALL_WEIGHT, "as_w": as_w},
        ),
        Claim(
            sentence=N_("Stored as the scale, by up to {as_scale}: {times} times as much."),
            values={"as_scale": as_scale, "times": as_scale / as_w},
        ),
    )


def underflowed() -> tuple[Claim, ...]:
    """eps and small squares in float16."""
    held = [float(rounded(value, "float16")) for value in (1e-12, 1e-6, 1e-5, 1e-4**2)]
    output = norm_steps(constant(1e-4), "rms_norm", "float16", eps=1e-12, accumulate="own").output
    return (
        Claim(
            sentence=N_("As a float16, 1e-12 is {bert}, 1e-6 is {llama} and 1e-5 is {gpt}."),
            values={"bert": held[0], "llama": held[1], "gpt": held[2]},
        ),
        Claim(
            sentence=N_(
                "The square of 1e-4 is {square}, so that nothing is left under the root: the output is {output}."
            ),
            values={"square": held[3], "output": float(output[0])},
        ),
    )


def variance_errors(
    ratio: float, *, d: int = VARIANCE_D, rows: int = VARIANCE_ROWS, seed: int = 0
) -> tuple[float, float]:
    r"""Relative error (RMS over rows) of the variance in float32 as $\overline{x^2}-\bar x^2$ and from $x-\bar x$.

    Parameters
    ----------
    ratio
        Mean of the numbers in units of their standard deviation, which is 1.
    d, rows, seed
        Numbers in each row, rows, and where they come from.
    """
    x: Singles = (ratio + np.random.default_rng(seed).standard_normal((rows, d))).astype(np.float32)
    exact = x.astype(np.float64).var(axis=-1, keepdims=True)
    mean = float32_mean(x)
    direct, two_pass = float32_mean(x * x) - mean * mean, float32_mean((x - mean) ** 2)
    once, twice = (float(np.sqrt(((found / exact - 1) ** 2).mean())) for found in (direct, two_pass))
    return once, twice


def one_pass() -> tuple[Claim, ...]:
    """The variance as a difference of two means."""
    errors = {ratio: variance_errors(ratio) for ratio in (100.0, 1000.0, 10_000.0)}
    return (
        Claim(
            sentence=N_(
                "Relative error of E[x²] − E[x]² in float32, RMS over {rows} vectors of {d} numbers: {hundred} where "
                "the mean is 100 standard deviations, {thousand} at 1,000, {more} at 10,000."
            ),
            values={
                "rows": float(VARIANCE_ROWS),
                "d": float(VARIANCE_D),
                "hundred": errors[100.0][0],
                "thousand": errors[1000.0][0],
                "more": errors[10_000.0][0],
            },
        ),
        Claim(
            sentence=N_("With the mean taken off first, {two_pass} at 1,000."), values={"two_pass": errors[1000.0][1]}
        ),
    )


def swallowed() -> tuple[Claim, ...]:
    """Branches added to a bfloat16 stream."""
    near = neighbours(256.0, "bfloat16")
    path = residual_path(STREAM, UPDATE, UPDATES)
    return (
        Claim(
            sentence=N_("Around 256, bfloat16 has a number every {ulp}: 256 + 0.5 is {half} and 256 + 1 is {one}."),
            values={
                "ulp": near.ulp,
                "half": float(rounded(256.5, "bfloat16")),
                "one": float(rounded(257.0, "bfloat16")),
            },
        ),
        Claim(
            sentence=N_("After {steps} branches that each add 1, the stream is {stream} instead of {exact}."),
            values={"steps": float(UPDATES), "stream": float(path[-1]), "exact": STREAM + UPDATES * UPDATE},
        ),
        Claim(
            sentence=N_("An update below {share} of the stream always vanishes."),
            values={"share": FORMATS["bfloat16"].epsilon / 4},
        ),
    )
