"""Of which norms, number formats and Transformer layers is the cost counted?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from normviz.arrays import whole_number
from normviz.errors import InputError
from normviz.text import N_

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "layer_norm": "LayerNorm",
        "rms_norm": "RMSNorm",
        "add_layer_norm": N_("residual addition + LayerNorm"),
        "add_rms_norm": N_("residual addition + RMSNorm"),
    }
)
"""What is computed; with an addition, x + f is a result as well, because the residual stream goes on from it."""

WAYS: Mapping[str, str] = MappingProxyType(
    {
        "eager": N_("operation by operation"),
        "functional": "torch.nn.functional",
        "compiled": "torch.compile",
    }
)
"""In how many kernels: one for each operation, one for the norm and one for the addition, or one for everything."""

DTYPES: Mapping[str, int] = MappingProxyType(
    {"float32": 4, "bfloat16": 2, "float16": 2, "float64": 8, "float8_e4m3fn": 1}
)
"""Bytes of a number, by the name that PyTorch gives its format."""

LARGEST = 2**40
"""Numbers of a tensor at most: 4 TiB in float32, more than any one machine holds."""

BOUNDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "tokens": (1, 2**32),
        "context": (1, 2**32),
        "batch": (1, 2**24),
        "d": (1, 2**24),
        "d_model": (1, 2**24),
        "n_heads": (1, 2**16),
        "n_kv_heads": (1, 2**16),
        "head_dim": (1, 2**16),
        "d_ff": (1, 2**26),
        "norms": (0, 16),
        "repeats": (3, 500),
        "run": (0, 2**31 - 1),
    }
)
"""Smallest and largest whole number of each size; both are allowed."""


def size(value: Any, field: str) -> int:
    """A size, refused unless it is a whole number within its `BOUNDS`."""
    return whole_number(value, field, *BOUNDS[field])


def choice(value: Any, field: str, allowed: tuple[str, ...]) -> str:
    """One of some ids."""
    if not isinstance(value, str) or value not in allowed:
        raise InputError(
            "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(allowed), got=repr(value)[:80]
        )
    return value


def check_numbers(numbers: int) -> None:
    """Refuse a tensor that no machine holds."""
    if numbers > LARGEST:
        raise InputError(
            "These sizes make a tensor of {got:.2g} numbers; at most {allowed:.2g} are counted. "
            "Choose fewer tokens N or a smaller width d",
            got=float(numbers),
            allowed=float(LARGEST),
        )


@dataclass(frozen=True, kw_only=True)
class LayerSizes:
    """One Transformer layer and what passes through it.

    Parameters
    ----------
    batch
        Sequences.
    tokens
        New tokens of each: the whole text while a model trains or reads a prompt, 1 while it writes.
    context
        Keys and values that each new token attends to, the new ones included; None is as many as `tokens`.
    d_model, n_heads, n_kv_heads, head_dim
        Width, heads of the queries, heads of keys and values, width of a head.
    d_ff, gated
        Inner width of the MLP, and whether a gate multiplies it (SwiGLU: three matrices instead of two).
    norm, norms
        "layer_norm" or "rms_norm", each over d_model, and how many a layer has.
    dtype
        Of weights and activations, one of `DTYPES`.

    Raises
    ------
    InputError
        If a field is not usable, or the layer's tensors would have more than `LARGEST` numbers.
    """

    batch: int = 1
    tokens: int = 2048
    context: int | None = None
    d_model: int = 4096
    n_heads: int = 32
    n_kv_heads: int = 8
    head_dim: int = 128
    d_ff: int = 14336
    gated: bool = True
    norm: str = "rms_norm"
    norms: int = 2
    dtype: str = "bfloat16"

    def __post_init__(self) -> None:
        context = self.tokens if self.context is None else self.context
        for field in ("batch", "tokens", "d_model", "n_heads", "n_kv_heads", "head_dim", "d_ff", "norms"):
            size(getattr(self, field), field)
        object.__setattr__(self, "context", size(context, "context"))
        choice(self.norm, "norm", ("layer_norm", "rms_norm"))
        choice(self.dtype, "dtype", tuple(DTYPES))
        if context < self.tokens:
            raise InputError(
                "context counts the new tokens as well, so that it is at least tokens ({tokens}); got {got}",
                tokens=self.tokens,
                got=context,
            )
        if self.n_heads % self.n_kv_heads:
            raise InputError(
                "n_heads is a multiple of n_kv_heads; got n_heads {n_heads} and n_kv_heads {n_kv_heads}",
                n_heads=self.n_heads,
                n_kv_heads=self.n_kv_heads,
            )
        rows, heads = self.batch * self.tokens, self.n_heads * self.head_dim
        for numbers in (rows * max(self.d_model, self.d_ff, heads), self.d_model * max(self.d_ff, heads),
                        self.batch * context * self.n_kv_heads * self.head_dim):  # fmt: skip
            check_numbers(numbers)


def _layer(norm: str, width: int, heads: int, kv_heads: int, inner: int, context: int, *, gated: bool) -> LayerSizes:
    return LayerSizes(
        tokens=context, d_model=width, n_heads=heads, n_kv_heads=kv_heads, head_dim=width // heads, d_ff=inner,
        gated=gated, norm=norm,
    )  # fmt: skip


LAYERS: Mapping[str, tuple[str, LayerSizes]] = MappingProxyType(
    {
        "gpt2": ("GPT-2 small", _layer("layer_norm", 768, 12, 12, 3072, 1024, gated=False)),
        "gpt3": ("GPT-3 175B", _layer("layer_norm", 12288, 96, 96, 49152, 2048, gated=False)),
        "llama2_7b": ("Llama 2 7B", _layer("rms_norm", 4096, 32, 32, 11008, 4096, gated=True)),
        "llama3_8b": ("Llama 3 8B", _layer("rms_norm", 4096, 32, 8, 14336, 8192, gated=True)),
        "llama3_70b": ("Llama 3 70B", _layer("rms_norm", 8192, 64, 8, 28672, 8192, gated=True)),
    }
)
"""Layers of known models with the context they were trained with: name and sizes (arXiv:2005.14165, 2307.09288,
2407.21783)."""
