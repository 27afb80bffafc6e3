"""Which models does a depth sweep build, and what is the name of that choice?"""

from __future__ import annotations

import hashlib
import json
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from numbers import Real
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from normviz.errors import InputError
from normviz.placements import PLACEMENTS

SWEEP_NORMS: tuple[str, ...] = ("layer_norm", "rms_norm", "dyt", "none")
ATTENTIONS: tuple[str, ...] = ("causal", "bidirectional", "uniform")
ACTIVATIONS: tuple[str, ...] = ("relu", "gelu", "swiglu")
INITS: tuple[str, ...] = ("xavier", "gpt2", "std02")
LOSSES: tuple[str, ...] = ("mean", "one")
DTYPES: tuple[str, ...] = ("float32", "mixed", "bfloat16", "float16")
DEVICES: tuple[str, ...] = ("auto", "cpu", "cuda", "mps")
MATRICES: tuple[str, ...] = ("wq", "wk", "wv", "wo", "w1", "w2", "wg")

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "placements": tuple(PLACEMENTS),
        "norm": SWEEP_NORMS,
        "attention": ATTENTIONS,
        "activation": ACTIVATIONS,
        "init": INITS,
        "loss": LOSSES,
        "dtype": DTYPES,
        "device": DEVICES,
        "gradients": MATRICES,
    }
)

# Smallest and largest whole number of each field. The upper ends only keep sizes meaningful: what a machine can
# hold is a question for `normviz.depth.estimate`.
BOUNDS: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "depths": (1, 10_000),
        "d_model": (2, 65_536),
        "n_heads": (1, 1_024),
        "d_ff": (1, 262_144),
        "batch": (1, 65_536),
        "seq_len": (1, 65_536),
        "vocab_size": (2, 1_000_000),
        "seeds": (0, 2**31 - 1),
    }
)

# Part of every digest: raised when the same configuration would give other numbers or quantities.
FORMAT = 2

E = TypeVar("E", str, int)


class PointKey(NamedTuple):
    """One model of a sweep: a wiring, a number of layers, a seed."""

    placement: str
    depth: int
    seed: int


@dataclass(frozen=True, kw_only=True)
class SweepConfig:
    """The models of a depth sweep, at initialization.

    Every combination of placement, depth and seed is one model: stacked attention and feed-forward sublayers without
    biases, fed with independent Gaussian tokens, answered with independent random labels.

    Parameters
    ----------
    placements
        Ids of `normviz.placements.PLACEMENTS`.
    norm
        "layer_norm", "rms_norm" or "dyt", with weight 1 and bias 0, or "none".
    depths
        Numbers of layers L; a layer is an attention and a feed-forward sublayer.
    d_model, n_heads, d_ff
        Width, heads (a divisor of the width) and inner width of the feed-forward sublayer.
    batch, seq_len, vocab_size
        Sequences, tokens per sequence and number of classes.
    seeds
        Each below 2**31. A seed fixes tokens, labels and weights, the same for every placement and depth.
    init
        "xavier": N(0, 2/(fan_in + fan_out)), tokens N(0, 1). "gpt2": standard deviation 0.02, with what writes to the
        residual stream divided by sqrt(2L). "std02": 0.02 everywhere.
    attention
        "causal" or "bidirectional" softmax attention, or "uniform": the mean over all tokens, without queries and keys.
    activation
        "relu" or "gelu" (the exact one) between W_1 and W_2; "swiglu" has a gate W_G beside W_1:
        (silu(x W_G) * x W_1) W_2.
    qk_norm
        Normalize queries and keys with RMSNorm over the whole projection, before the heads are split.
    output_projection
        Whether attention ends with a matrix W_O.
    loss
        Cross-entropy, "mean" over all tokens or over "one" token (the last) of each sequence.
    eps
        Added inside every norm's root, in units of the mean square.
    dtype
        Arithmetic of the model: "float32", "bfloat16" and "float16" for weights and activations alike; "mixed" rounds
        the factors of every matrix product to bfloat16 and keeps stream, norms and sums in float32.
    device
        Where it runs; "auto" is cuda where there is one, else cpu.
    gradients
        Of which matrices the gradient is measured; those that a model has not are left out.

    Lists become tuples; depths and seeds are sorted, placements and gradients take the order of their tables, so that
    two configurations with the same models are equal. Equal configurations give equal numbers on the same device with
    the same number of torch threads, measured in the same slices; otherwise sums are taken in another order, and the
    last bits differ.

    Raises
    ------
    InputError
        If a field is not usable; the message names the field, what is allowed and what came.
    """

    placements: tuple[str, ...] = ("post_norm", "pre_norm")
    norm: str = "layer_norm"
    depths: tuple[int, ...] = (2, 4, 8, 16, 32)
    d_model: int = 64
    n_heads: int = 4
    d_ff: int = 256
    batch: int = 4
    seq_len: int = 32
    vocab_size: int = 1000
    seeds: tuple[int, ...] = (0, 1)
    init: str = "xavier"
    attention: str = "causal"
    activation: str = "relu"
    qk_norm: bool = False
    output_projection: bool = True
    loss: str = "mean"
    eps: float = 1e-5
    dtype: str = "float32"
    device: str = "auto"
    gradients: tuple[str, ...] = MATRICES

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {}
        for name in ("placements", "gradients"):
            chosen = _entries(name, getattr(self, name), _choice)
            checked[name] = tuple(sorted(chosen, key=CHOICES[name].index))
        for name in ("depths", "seeds"):
            checked[name] = tuple(sorted(_entries(name, getattr(self, name), _whole)))
        for name in ("d_model", "n_heads", "d_ff", "batch", "seq_len", "vocab_size"):
            checked[name] = _whole(name, getattr(self, name))
        for name in ("norm", "init", "attention", "activation", "loss", "dtype", "device"):
            checked[name] = _choice(name, getattr(self, name))
        for name in ("qk_norm", "output_projection"):
            if not isinstance(getattr(self, name), bool):
                raise InputError("{field} is true or false; got {got}", field=name, got=shown(getattr(self, name)))
        checked["eps"] = _eps(self.eps)
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.d_model % self.n_heads:
            raise InputError(
                "d_model is a multiple of n_heads; got d_model {d_model} and n_heads {n_heads}",
                d_model=self.d_model,
                n_heads=self.n_heads,
            )
        if self.qk_norm and self.attention == "uniform":
            raise InputError("qk_norm needs queries and keys, which uniform attention has not; got qk_norm true")
        if self.dtype == "mixed" and self.device == "mps":
            raise InputError("dtype mixed is for cpu and cuda; got device mps")

    @property
    def digest(self) -> str:
        """Hexadecimal SHA-256 of the configuration and its format: the name of the sweep and of its stored result."""
        text = json.dumps({"format": FORMAT, **self.to_dict()}, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def keys(self) -> tuple[PointKey, ...]:
        """The models in the order in which they are measured: small depths first, all placements of a seed together."""
        return tuple(
            PointKey(placement, depth, seed)
            for depth in self.depths
            for seed in self.seeds
            for placement in self.placements
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON can hold; `from_dict` is the way back."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in values.items()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SweepConfig:
        """Build a configuration from plain values; what is left out takes its default.

        Raises
        ------
        InputError
            If a field is unknown or not usable.
        """
        if not isinstance(values, Mapping):
            raise InputError("A sweep is given by its fields and their values; got {got}", got=shown(values))
        names = [field.name for field in fields(cls)]
        for name in values:
            if name not in names:
                raise InputError(
                    "A sweep has no field {got}; its fields are {allowed}", got=shown(name), allowed=", ".join(names)
                )
        return cls(**values)


def check_config(config: SweepConfig) -> None:
    """Refuse what is no `SweepConfig`, such as the plain values of one.

    Raises
    ------
    InputError
        If it is anything else; the message shows what came.
    """
    if not isinstance(config, SweepConfig):
        raise InputError("config is a SweepConfig; got {got}", got=shown(config))


def _entries(field: str, value: Any, check: Callable[[str, Any], E]) -> list[E]:
    """The checked entries of a list field: at least one, none twice."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise InputError("{field} is a list; got {got}", field=field, got=shown(value))
    entries: dict[E, None] = {}  # its keys: thousands of them are looked up at once
    for entry in value:
        checked = check(field, entry)
        if checked in entries:
            raise InputError("{field} holds each entry once; got {got} twice", field=field, got=shown(checked))
        entries[checked] = None
    if not entries:
        raise InputError("{field} has at least one entry; got none", field=field)
    return list(entries)


def _choice(field: str, value: Any) -> str:
    if not isinstance(value, str) or value not in CHOICES[field]:
        raise InputError(
            "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(CHOICES[field]), got=shown(value)
        )
    return value


def _whole(field: str, value: Any) -> int:
    low, high = BOUNDS[field]
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or not low <= number <= high:
        raise InputError(
            "{field} takes whole numbers from {low} to {high}; got {got}",
            field=field,
            low=low,
            high=high,
            got=shown(value),
        )
    return number


def _eps(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, Real) and value is not True and value is not False else math.nan
    except OverflowError:
        number = math.inf
    if not 0 <= number < math.inf:
        raise InputError("eps is a finite number, zero or above; got {got}", got=shown(value))
    return number + 0.0  # -0.0 becomes 0.0: equal configurations have one digest
