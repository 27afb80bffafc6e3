"""In which order do the RMSNorm classes of `transformers` cast and multiply, and how many elements does that change?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import epsilon, frozen
from normviz.errors import InputError
from normviz.floats.formats import Format, as_float64, known_format, stored
from normviz.floats.summation import float32_mean
from normviz.text import N_

WIDE = ("float32", "bfloat16", "float16")
"""Formats that a model is run in."""


@dataclass(frozen=True, kw_only=True)
class Arithmetic:
    r"""One way to compute RMSNorm, $\hat x=x\,(\overline{x^2}+\varepsilon)^{-1/2}$ in float32 in all of them.

    Attributes
    ----------
    label
        English, to be translated.
    formula
        The output in LaTeX; $\mathrm{cast}$ is to the type of x.
    classes
        Classes of `transformers` that compute so.
    form
        What is stored: "w" (the scale), "1+w" (the scale less one) or "none".
    """

    label: str
    formula: str
    classes: tuple[str, ...]
    form: str


ARITHMETICS: Mapping[str, Arithmetic] = MappingProxyType(
    {
        "cast_then_multiply": Arithmetic(
            label=N_("cast, then multiply (Llama)"),
            formula=r"w\cdot\mathrm{cast}(\hat x)",
            classes=(
                "LlamaRMSNorm", "MistralRMSNorm", "Qwen2RMSNorm", "Qwen3RMSNorm", "Phi3RMSNorm", "Glm4RMSNorm",
                "Glm4MoeRMSNorm", "DeepseekV3RMSNorm", "GraniteRMSNorm", "Exaone4RMSNorm", "Llama4TextRMSNorm",
            ),
            form="w",
        ),
        "t5": Arithmetic(
            label=N_("cast to the weight's type, then multiply (T5)"),
            formula=r"w\cdot\mathrm{cast}_w(\hat x)",
            classes=("T5LayerNorm",),
            form="w",
        ),
        "multiply_then_cast": Arithmetic(
            label=N_("multiply, then cast (OLMo 2)"),
            formula=r"\mathrm{cast}(w\cdot\hat x)",
            classes=("Olmo2RMSNorm", "Olmo3RMSNorm", "GptOssRMSNorm"),
            form="w",
        ),
        "gemma": Arithmetic(
            label=N_("multiply by 1 + w, then cast (Gemma)"),
            formula=r"\mathrm{cast}\bigl(\hat x\cdot(1+w)\bigr)",
            classes=(
                "GemmaRMSNorm", "Gemma2RMSNorm", "Gemma3RMSNorm", "Qwen3NextRMSNorm", "Qwen3_5RMSNorm",
            ),
            form="1+w",
        ),
        "gemma3n": Arithmetic(
            label=N_("multiply by w, then cast (Gemma 3n)"),
            formula=r"\mathrm{cast}(\hat x\cdot w)",
            classes=("Gemma3nRMSNorm", "Gemma4RMSNorm"),
            form="w",
        ),
        "no_weight": Arithmetic(
            label=N_("no weight, cast (nanochat)"),
            formula=r"\mathrm{cast}(\hat x)",
            classes=("Llama4TextL2Norm", "NanoChatRMSNorm"),
            form="none",
        ),
    }
)  # fmt: skip
"""Id -> arithmetic, in the order of a page."""


def rms_norm_as(
    arithmetic: str,
    x: ArrayLike,
    weight: ArrayLike | None,
    *,
    eps: float,
    dtype: str,
    weight_dtype: str | None = None,
) -> NDArray[Any]:
    r"""RMSNorm as a class of `transformers` computes it on a CPU, bit for bit.

    The mean square is added in float32 in PyTorch's own order (`normviz.floats.summation`), the root's reciprocal is
    $1/\sqrt\cdot$ with two roundings as there, and every product is rounded where the class rounds it.

    Parameters
    ----------
    arithmetic
        A key of `ARITHMETICS`.
    x
        Finite numbers, shape [..., d] with d >= 1, first rounded to `dtype`; arrays of `ml_dtypes` are taken.
    weight
        What the class stores, shape [d] (or one that broadcasts with x); not looked at by "no_weight". None is the
        class's own start: zeros for "gemma", ones for the others.
    eps
        Added to the mean square, 0 or more.
    dtype, weight_dtype
        Formats of x and of the weight, "float32", "bfloat16" or "float16"; without the second, both are the first.

    Returns
    -------
    array
        Read-only, of type `dtype`; where the class promotes ("cast_then_multiply" and "t5" with a wider weight), of
        the wider type. A vector whose mean square plus eps is 0 gives NaN, as it does there.

    Raises
    ------
    InputError
        If an id is unknown, an array has entries that are not finite or a shape that does not fit, or eps is negative.
    """
    known = known_arithmetic(arithmetic)
    kind, weight_kind = wide_format(dtype, "dtype"), wide_format(weight_dtype or dtype, "weight_dtype")
    given = as_float64(x, "x")
    if given.ndim == 0 or given.shape[-1] == 0:
        raise InputError(
            "x is an array of vectors, shape [..., d] with d >= 1; got shape {shape}.", shape=list(given.shape)
        )
    eps = epsilon(eps)
    start = 0.0 if known.form == "1+w" else 1.0
    scale = as_float64(np.full(given.shape[-1], start) if weight is None else weight, "weight")
    try:
        fits = np.broadcast_shapes(scale.shape, given.shape) == given.shape
    except ValueError:
        fits = False
    if not fits:
        raise InputError(
            "weight has one number per channel, shape [{d}]; got shape {shape}.",
            d=given.shape[-1],
            shape=list(scale.shape),
        )
    with np.errstate(all="ignore"):
        out = _computed(arithmetic, stored(given, kind), stored(scale, weight_kind), np.float32(eps), kind)
    return frozen(out)


def _computed(arithmetic: str, x: NDArray[Any], weight: NDArray[Any], eps: np.float32, kind: Format) -> NDArray[Any]:
    single = np.ascontiguousarray(x, dtype=np.float32)
    out: NDArray[Any] = single * (np.float32(1) / np.sqrt(float32_mean(single * single) + eps))
    scale = weight.astype(np.float32)
    if arithmetic in ("cast_then_multiply", "t5"):
        # T5 casts to the weight's type, Llama to that of x; then the wider of both types is multiplied in.
        cast = weight.dtype if arithmetic == "t5" else kind.dtype
        out = out.astype(cast).astype(np.float32) * scale
        return out.astype(_promoted(cast, weight.dtype))
    if arithmetic == "gemma":
        scale = np.float32(1) + scale
    if arithmetic != "no_weight":
        out = out * scale
    return out.astype(kind.dtype)


def _promoted(a: np.dtype[Any], b: np.dtype[Any]) -> np.dtype[Any]:
    """The type of a product, as PyTorch promotes: two different half precisions give float32."""
    return a if a == b else np.dtype(np.float32)


def known_arithmetic(arithmetic: str) -> Arithmetic:
    """The arithmetic of this id, refused where there is none."""
    found = ARITHMETICS.get(arithmetic) if isinstance(arithmetic, str) else None
    if found is None:
        raise InputError(
            "{field} can be {allowed}; got {got}",
            field="arithmetic",
            allowed=", ".join(ARITHMETICS),
            got=shown(arithmetic),
        )
    return found


def wide_format(format: str, field: str) -> Format:
    """The format of this id, refused where no model is run in it."""
    if format not in WIDE:
        raise InputError("{field} can be {allowed}; got {got}", field=field, allowed=", ".join(WIDE), got=shown(format))
    return known_format(format, field)
