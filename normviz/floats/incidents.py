"""What does a format of few bits do to a norm, in real models and in the smallest example, and which norm shows it?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, frozen
from normviz.floats.claims import (
    SMALL_WEIGHT,
    T5_VECTOR,
    Claim,
    constant,
    one_pass,
    one_plus_w,
    orders,
    squared,
    stored_as,
    summed,
    swallowed,
    t5,
    underflowed,
)
from normviz.floats.steps import norm_steps
from normviz.floats.trace import FloatTrace
from normviz.text import N_


@dataclass(frozen=True, kw_only=True, eq=False)
class Setting:
    """What `norm_steps` is called with to see an incident."""

    x: Floats
    format: str
    norm: str = "rms_norm"
    eps: float = 1e-6
    accumulate: str = "own"
    weight: Floats | None = None
    arithmetic: str = "multiply_then_cast"

    def trace(self) -> FloatTrace:
        """The norm of the setting, step by step."""
        return norm_steps(
            self.x,
            self.norm,
            self.format,
            eps=self.eps,
            accumulate=self.accumulate,
            weight=self.weight,
            arithmetic=self.arithmetic,
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Incident:
    """One thing that goes wrong.

    Attributes
    ----------
    label, sentence
        English, to be translated: a few words, and what happens.
    source
        Where it is told; "" for what the textbook's chapter tells.
    happened
        Whether `source` is a report of it from a real model or library; else it is an example or a demonstration.
    setting
        What the steps of a norm are shown with.
    claims
        Computes the numbers and gives the sentences that hold them.
    """

    label: str
    sentence: str
    source: str
    happened: bool
    setting: Setting
    claims: Callable[[], tuple[Claim, ...]]


def _normal(d: int, scale: float = 1.0, offset: float = 0.0) -> Floats:
    return frozen(offset + scale * np.random.default_rng(0).standard_normal(d))


INCIDENTS: Mapping[str, Incident] = MappingProxyType(
    {
        "sum": Incident(
            label=N_("4,096 values of 100"),
            sentence=N_("The mean square is only 10,000, but the sum on the way to it does not fit in float16."),
            source="",
            happened=False,
            setting=Setting(x=constant(100.0), format="float16"),
            claims=summed,
        ),
        "square": Incident(
            label=N_("a value of 256"),
            sentence=N_("A square that does not fit in float16 makes the whole output 0, and no error is raised."),
            source="https://github.com/pytorch/pytorch/pull/133085",
            happened=True,
            setting=Setting(x=constant(256.0), format="float16", accumulate="sum"),
            claims=squared,
        ),
        "t5": Incident(
            label=N_("T5's 66,246"),
            sentence=N_("T5 was trained in bfloat16; in float16 its feed-forward sublayer returned infinity."),
            source="https://github.com/huggingface/transformers/issues/5651",
            happened=True,
            setting=Setting(x=T5_VECTOR, format="float16",
                            accumulate="float32"),
            claims=t5,
        ),
        "orders": Incident(
            label=N_("cast and multiply, in which order?"),
            sentence=N_("Llama casts the normalized x and then multiplies; OLMo 2 and Gemma multiply first."),
            source="https://github.com/huggingface/transformers/pull/29402",
            happened=True,
            setting=Setting(x=_normal(64), format="bfloat16", accumulate="float32",
                            weight=frozen(1 + 0.3 * np.random.default_rng(1).standard_normal(64)),
                            arithmetic="cast_then_multiply"),
            claims=orders,
        ),
        "one_plus_w": Incident(
            label=N_("1 + w added in bfloat16"),
            sentence=N_("Gemma stores the scale less one; added back in bfloat16, small weights are lost."),
            source="https://github.com/huggingface/transformers/pull/29402",
            happened=True,
            setting=Setting(x=_normal(64), format="bfloat16", weight=_normal(64, SMALL_WEIGHT), arithmetic="gemma"),
            claims=one_plus_w,
        ),
        "stored": Incident(
            label=N_("w stored instead of the scale"),
            sentence=N_("Near 0 the numbers of a format stand closer together than near 1."),
            source="https://github.com/huggingface/transformers/pull/29402",
            happened=False,
            setting=Setting(x=_normal(64), format="bfloat16", accumulate="float32", weight=_normal(64, SMALL_WEIGHT),
                            arithmetic="gemma"),
            claims=stored_as,
        ),
        "eps": Incident(
            label=N_("eps = 1e-12 in float16"),
            sentence=N_("BERT's eps is below the smallest float16, and protects nothing there."),
            source="https://github.com/google-research/bert",
            happened=False,
            setting=Setting(x=constant(1e-4, 64), format="float16", eps=1e-12),
            claims=underflowed,
        ),
        "one_pass": Incident(
            label=N_("variance in one pass"),
            sentence=N_("E[x²] − E[x]² is a small difference of large numbers when the mean is large."),
            source="https://doi.org/10.1080/00031305.1983.10483115",
            happened=False,
            setting=Setting(x=_normal(64, offset=1000.0), format="float32", norm="layer_norm", eps=1e-5),
            claims=one_pass,
        ),
        "residual": Incident(
            label=N_("a bfloat16 residual stream"),
            sentence=N_("A large stream swallows what a branch adds to it."),
            source="https://arxiv.org/abs/2010.06192",
            happened=False,
            setting=Setting(x=constant(256.0, 64), format="bfloat16"),
            claims=swallowed,
        ),
    }
)  # fmt: skip
"""Id -> incident, in the order of a page."""
