"""Where does one norm round, overflow or underflow, computed step by step in a format?"""

from __future__ import annotations

from collections.abc import Mapping
from reprlib import repr as shown
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normviz.arrays import (
    Floats,
    centre,
    epsilon,
    frozen,
    mean_square,
    one_vector,
    parameter,
    rms_divisor,
    std_divisor,
)
from normviz.errors import InputError
from normviz.floats.arithmetic import ARITHMETICS, known_arithmetic
from normviz.floats.formats import FORMATS, Format, as_float64, known_format, round_to, stored
from normviz.floats.trace import LABELS, FloatStep, FloatTrace, first_place, marks_of
from normviz.text import N_

NORMS: tuple[str, ...] = ("rms_norm", "layer_norm")

ACCUMULATIONS: Mapping[str, str] = MappingProxyType(
    {
        "own": N_("everything in the format, the running sum too"),
        "sum": N_("every step in the format, only the sum in float32"),
        "float32": N_("cast to float32 first, back at the end"),
    }
)
"""Id -> label. "sum" is what PyTorch does with `x / (x.pow(2).mean() + eps).sqrt()`, "float32" what it does inside."""

MOST_CHANNELS = 16_384

_FORMULAS: Mapping[str, str] = MappingProxyType(
    {
        "x": r"x_i",
        "sum_x": r"\sum_i x_i",
        "mean": r"\mu=\frac1d\sum_i x_i",
        "centered": r"c_i=x_i-\mu",
        "square": r"{c}_i^2",
        "sum": r"\sum_i {c}_i^2",
        "mean_square": r"v=\frac1d\sum_i {c}_i^2",
        "eps": r"\varepsilon",
        "plus_eps": r"v+\varepsilon",
        "root": r"\sqrt{v+\varepsilon}",
        "reciprocal": r"r=1/\sqrt{v+\varepsilon}",
        "normalized": r"\hat x_i={c}_i\,r",
        "weight": r"w_i",
        "scale": r"1+w_i",
        "cast": r"\mathrm{cast}(\hat x_i)",
        "product": r"y_i={s}\,\hat x_i",
        "output": r"\mathrm{cast}(y_i)",
    }
)


def norm_steps(
    x: ArrayLike,
    norm: str,
    format: str,
    *,
    eps: float,
    accumulate: str = "float32",
    weight: ArrayLike | None = None,
    arithmetic: str = "multiply_then_cast",
) -> FloatTrace:
    r"""RMSNorm or LayerNorm of one vector with every intermediate rounded as the format rounds it.

    $y=s\odot c\,(\tfrac1d\sum_i c_i^2+\varepsilon)^{-1/2}$ with c = x for RMSNorm and $c=x-\mu$ for LayerNorm. Every
    operation is rounded once. _Sums run from the first term to the last, so that a float32 sum may differ in its last
    bit from PyTorch's, which adds in blocks (`rms_norm_as` does as PyTorch).

    Parameters
    ----------
    x
        Finite numbers, shape [d], d from 1 to 16,384.
    norm
        "rms_norm" or "layer_norm".
    format
        A key of `FORMATS`: that of x, of the weight and of the output.
    eps
        0 or more.
    accumulate
        A key of `ACCUMULATIONS`.
    weight
        What is stored, shape [d]; None for none.
    arithmetic
        A key of `ARITHMETICS`: whether the weight is the scale or the scale less one, and, under "float32", whether the
        cast comes before the product.

    Raises
    ------
    InputError
        If an argument is out of its range, or the exact norm is undefined (see `normviz.norms`).
    """
    kind = known_format(format)
    for field, value, allowed in (("norm", norm, NORMS), ("accumulate", accumulate, tuple(ACCUMULATIONS))):
        if value not in allowed:
            raise InputError(
                "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(allowed), got=shown(value)
            )
    known_arithmetic(arithmetic)
    exact = one_vector(as_float64(x, "x"))
    if exact.size > MOST_CHANNELS:
        raise InputError(
            "x has up to {limit:,} numbers, so that each step can be drawn; got {d:,}.",
            limit=MOST_CHANNELS,
            d=exact.size,
        )
    weight = None if ARITHMETICS[arithmetic].form == "none" or weight is None else as_float64(weight, "weight")
    return _Steps(norm, format, kind, epsilon(eps), accumulate, arithmetic).run(
        exact, parameter(weight, "weight", exact.size)
    )


class _Sums(NamedTuple):
    """What is kept of a sum: its running sums, and the first term that was lost."""

    held: Floats
    exact: Floats
    lost: int | None


class _Steps:
    """The computation so far: every step appends its result."""

    def __init__(self, norm: str, format: str, kind: Format, eps: float, accumulate: str, arithmetic: str) -> None:
        self.norm, self.format, self.kind, self.eps = norm, format, kind, eps
        self.accumulate, self.arithmetic = accumulate, arithmetic
        # Where single operations are rounded, and where sums are.
        self.inner = "float32" if accumulate == "float32" else format
        self.adder = format if accumulate == "own" else "float32"
        self.found: list[FloatStep] = []
        self.symbols = {"{c}": "c" if norm == "layer_norm" else "x", "{s}": "w_i"}

    def run(self, exact: Floats, weight: Floats | None) -> FloatTrace:
        with np.errstate(all="ignore"):
            x = self._add("x", exact, exact, self.format)
            c, exact_c = x, exact
            if self.norm == "layer_norm":
                c, exact_c = self._centred(x, exact, middle := centre(exact))
                divisor = std_divisor(*middle, self.eps)
            else:
                divisor = rms_divisor(exact, self.eps)
            square = self._add("square", exact_c**2, c**2, came=(c,))
            total = self._sum("sum", exact_c**2, square)
            mean = self._add("mean_square", mean_square(exact_c), total / exact.size, came=(total,))
            # A Python number added to a tensor is a float32 in PyTorch, whatever the tensor holds.
            eps = self._add("eps", np.array([self.eps]), np.array([self.eps]), self.adder)
            plus = self._with_eps(mean_square(exact_c) + self.eps, mean, eps)
            root = self._add("root", divisor, np.sqrt(plus), came=(plus,))
            reciprocal = self._add("reciprocal", 1 / divisor, 1 / root, came=(root,))
            normalized = self._add("normalized", exact_c / divisor, c * reciprocal, came=(c, reciprocal))
            self._scaled(exact_c / divisor, normalized, weight)
        return FloatTrace(
            norm=self.norm,
            format=self.format,
            accumulate=self.accumulate,
            arithmetic=self.arithmetic,
            eps=self.eps,
            d=exact.size,
            steps=tuple(self.found),
        )

    def _with_eps(self, exact: Floats, mean: Floats, eps: Floats) -> Floats:
        """Add in the type of eps, then round to that of the mean, as PyTorch does."""
        result = mean + eps
        value = round_to(round_to(result, FORMATS[self.adder]), FORMATS[self.inner])
        return self._keep("plus_eps", exact, value, self.inner, _flags(result, value, FORMATS[self.inner]), (mean, eps))

    def _centred(self, x: Floats, exact: Floats, middle: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
        total = self._sum("sum_x", exact, x)
        mean = self._add("mean", middle[0], total / exact.size, came=(total,))
        return self._add("centered", middle[1], x - mean, came=(x, mean)), middle[1]

    def _scaled(self, exact: Floats, normalized: Floats, weight: Floats | None) -> None:
        last = normalized
        if weight is not None:
            w = self._add("weight", weight, weight, self.format)
            if ARITHMETICS[self.arithmetic].form == "1+w":
                self.symbols["{s}"] = "(1+w_i)"
                weight = 1 + weight
                w = self._add("scale", weight, 1 + w, came=(w,))
            early = self.arithmetic in ("cast_then_multiply", "t5") and self.inner != self.format
            if early:
                normalized = self._add("cast", exact, normalized, self.format, came=(normalized,))
            exact = exact * weight
            last = self._add("product", exact, w * normalized, self.format if early else None, came=(w, normalized))
        if self.found[-1].format != self.format:
            self._add("output", exact, last, self.format, came=(last,))

    def _sum(self, name: str, exact: Floats, terms: Floats) -> Floats:
        """Add from the first term to the last."""
        kind = FORMATS[self.adder]
        partial = np.add.accumulate(stored(terms, kind)).astype(np.float64)
        before = np.concatenate([[0.0], partial[:-1]])
        lost, beyond, small = (np.array([flag.any()]) for flag in _flags(before + terms, partial, kind))
        flags = (lost, beyond, small)
        sums = _Sums(frozen(partial), frozen(np.cumsum(exact)), first_place((partial == before) & (terms != 0)))
        # Of the terms, only what may be carried on counts: at most an infinity of each sign, NaN and 0.
        special = np.unique(terms[~np.isfinite(terms) | (terms == 0)])
        came = tuple(special[:, None])
        return self._keep(name, exact.sum(keepdims=True), partial[-1:].copy(), self.adder, flags, came, sums)

    def _add(
        self,
        name: str,
        exact: Floats,
        result: Floats,
        format: str | None = None,
        *,
        came: tuple[Floats, ...] = (),
    ) -> Floats:
        """Round the result of an operation on the operands `came`."""
        format = format or self.inner
        value = round_to(result, FORMATS[format])
        return self._keep(name, exact, value, format, _flags(result, value, FORMATS[format]), came)

    def _keep(
        self,
        name: str,
        exact: Floats,
        value: Floats,
        format: str,
        flags: tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]],
        came: tuple[Floats, ...],
        sums: _Sums | None = None,
    ) -> Floats:
        formula = _FORMULAS[name]
        for symbol, written in self.symbols.items():
            formula = formula.replace(symbol, written)
        rounded, overflow, underflow = (frozen(flag) for flag in flags)
        self.found.append(
            FloatStep(
                id=name,
                label=LABELS[name],
                formula=formula,
                format=format,
                exact=frozen(np.array(exact)),
                value=frozen(value),
                rounded=rounded,
                overflow=overflow,
                underflow=underflow,
                marks=frozen(marks_of(exact, value, flags, came)),
                partial=sums and sums.held,
                partial_exact=sums and sums.exact,
                first_lost=sums and sums.lost,
            )
        )
        return value


def _flags(
    result: Floats, value: Floats, kind: Format
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.bool_]]:
    """Where a result was rounded, overflowed and lost digits below the format's normal numbers."""
    finite = np.isfinite(result)
    overflow = finite & ~np.isfinite(value)
    rounded = finite & (value != result)
    return rounded, overflow, rounded & (np.abs(result) < kind.smallest_normal)
