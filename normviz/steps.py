"""What does each step of a norm look like with the person's own numbers in the formula?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from normviz.grid import CellTrace
from normviz.norms import NormTrace
from normviz.slips import Slip
from normviz.text import N_

_SPELLED_OUT = 6
"""Up to this many entries a sum is written term by term."""

_DEVIATION = r"(x_i - \mu)^2"


@dataclass(frozen=True, kw_only=True)
class Step:
    """One line of the arithmetic.

    Attributes
    ----------
    title, latex
        An English title, marked for translation, and the formula with the numbers in it.
    stage
        When it is shown where the steps of two norms are gone through side by side, 1 to `STAGES`.
    """

    title: str
    latex: str
    stage: int = 1


STAGES = 6
"""Mean, centring, square, root, quotient, weight and bias."""


def number(value: float, digits: int = 4) -> str:
    """A number as the lab shows it: `digits` decimals, or a power of ten where those would hide it."""
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        text = f"{value:.{digits}f}".rstrip("0").rstrip(".") if float(value).is_integer() else f"{value:.{digits}f}"
        return text.replace("-0", "0") if float(text) == 0 else text
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"


def layer_norm_steps(trace: NormTrace, *, offset: bool = False) -> tuple[Step, ...]:
    r"""Mean, centring, variance, standard deviation, quotient and, where given, weight and bias of one LayerNorm.

    Parameters
    ----------
    trace
        Of one vector `[d]`, from `normviz.layer_norm`.
    offset
        Whether the weight is written as 1 + w.
    """
    x, mean, centered, var = trace.x, _scalar(trace.mean), trace.centered, _scalar(trace.var)
    assert centered is not None
    d = x.size
    root = rf"\sqrt{{{number(var)}{_plus_eps(trace.eps)}}}"
    lines = [
        Step(title=N_("Mean"), latex=rf"\mu = {_sum(x, d, 'x_i')} = {number(mean)}"),
        Step(title=N_("Subtract the mean"), latex=rf"x - \mu = {_vector(centered)}", stage=2),
        Step(
            title=N_("Variance"),
            latex=rf"\sigma^2 = {_sum(centered, d, _DEVIATION, square=True)} = {number(var)}",
            stage=3,
        ),
        Step(
            title=N_("Standard deviation"),
            latex=rf"{_with_eps('sigma', trace.eps)} = {root} = {number(np.sqrt(var + trace.eps))}",
            stage=4,
        ),
        _quotient(trace, "LN", r"x - \mu", _with_eps("sigma", trace.eps)),
    ]
    return tuple(lines + _affine(trace, "LN", offset))


def rms_norm_steps(trace: NormTrace, *, offset: bool = False) -> tuple[Step, ...]:
    """The uncentred x, mean square, root, quotient and, where given, weight of one RMSNorm.

    Parameters
    ----------
    trace
        Of one vector `[d]`, from `normviz.rms_norm`.
    offset
        Whether the weight is written as 1 + w.
    """
    x, rms = trace.x, _scalar(trace.rms)
    square = rms**2
    root = rf"\sqrt{{{number(square)}{_plus_eps(trace.eps)}}}"
    lines = [
        Step(title=N_("No mean is subtracted"), latex=rf"x = {_vector(x)}"),
        Step(
            title=N_("Mean square"),
            latex=rf"\mathrm{{ms}} = {_sum(x, x.size, 'x_i^2', square=True)} = {number(square)}",
            stage=3,
        ),
        Step(
            title=N_("Root mean square"),
            latex=rf"{_with_eps('rms', trace.eps)} = {root} = {number(np.sqrt(square + trace.eps))}",
            stage=4,
        ),
        _quotient(trace, "RMSNorm", "x", _with_eps("rms", trace.eps)),
    ]
    return tuple(lines + _affine(trace, "RMSNorm", offset))


def slip_steps(slip: Slip) -> tuple[Step, ...]:
    """What the norm divides by, and what it would divide by with the mistake.

    Parameters
    ----------
    slip
        From `normviz.slip`.
    """
    other = slip.other_divisor
    wrong = r"\text{—}" if other is None else number(other, 6) if np.isfinite(other) else r"\mathrm{NaN}"
    return (
        Step(title=N_("The norm divides by"), latex=f"{slip.usual_latex} = {number(slip.usual_divisor, 6)}"),
        Step(title=N_("The other divides by"), latex=f"{slip.other_latex} = {wrong}"),
    )


def _quotient(trace: NormTrace, name: str, above: str, below: str) -> Step:
    last = trace.weight is None and trace.bias is None
    result = rf"\mathrm{{{name}}}(x)" if last else r"\hat x"
    quotient = rf"{result} = \frac{{{above}}}{{{below}}} = {_vector(trace.normalized)}"
    return Step(title=N_("Divide"), latex=quotient, stage=5)


def _affine(trace: NormTrace, name: str, offset: bool) -> list[Step]:
    if trace.weight is None and trace.bias is None:
        return []
    gain = r"(1 + w) \odot \hat x" if offset else r"w \odot \hat x"
    parts = [r"\hat x" if trace.weight is None else gain]
    if trace.bias is not None:
        parts.append("b")
    title = N_("Multiply by the weight, add the bias") if trace.bias is not None else N_("Multiply by the weight")
    result = rf"\mathrm{{{name}}}(x) = {' + '.join(parts)} = {_vector(trace.output)}"
    return [Step(title=title, latex=result, stage=STAGES)]


def _scalar(value: NDArray[np.float64] | None) -> float:
    assert value is not None
    return float(value.reshape(()))


def _with_eps(kind: str, eps: float) -> str:
    plain = {"sigma": r"\sigma", "rms": r"\mathrm{RMS}"}[kind]
    inside = {"sigma": r"\sigma^2", "rms": r"\mathrm{ms}"}[kind]
    return plain if eps == 0 else rf"\sqrt{{{inside} + \varepsilon}}"


def _plus_eps(eps: float) -> str:
    return "" if eps == 0 else f" + {number(eps)}"


def _sum(terms: NDArray[np.float64], d: int, symbol: str, *, square: bool = False) -> str:
    if d > _SPELLED_OUT:
        return rf"\frac{{1}}{{{d}}} \sum_{{i=1}}^{{{d}}} {symbol}"
    written = [_term(value, square=square) for value in terms]
    return rf"\frac{{1}}{{{d}}}\,({' + '.join(written)})"


def _term(value: float, *, square: bool) -> str:
    text = number(value)
    plain = value >= 0 and r"\cdot" not in text
    return f"{text if plain else f'({text})'}{'^2' if square else ''}"


def _vector(values: Sequence[float] | NDArray[np.float64]) -> str:
    long = len(values) > 8
    entries = [number(value) for value in (values[:4] if long else values)]
    if long:
        entries += [r"\ldots", *map(number, values[-2:])]
    # A line may end between two entries: a phone is narrower than four numbers.
    return "[" + r",\allowbreak\ ".join(entries) + "]"


def cell_steps(cell: CellTrace, *, eps: float) -> tuple[Step, ...]:
    """What one cell of [B, T, d] is normalized with: the cells' count, mean, variance or mean square, and the result.

    Parameters
    ----------
    cell
        From `normviz.grid.cell`.
    eps
        The eps of the grid's norm.
    """
    if cell.rms is None:
        return (Step(title=N_("A pad: it is in no statistic, and its output is"), latex="0"),)
    members = cell.members_values
    n = cell.count
    if cell.mean is not None and cell.var is not None:
        centered = members - cell.mean
        lines = [
            Step(title=N_("Mean"), latex=rf"\mu = {_sum(members, n, 'x_i')} = {number(cell.mean)}"),
            Step(
                title=N_("Variance"),
                latex=rf"\sigma^2 = {_sum(centered, n, _DEVIATION, square=True)} = {number(cell.var)}",
            ),
        ]
        below = rf"\sqrt{{{number(cell.var)}{_plus_eps(eps)}}}"
        above = rf"{number(cell.value)} - {_term(cell.mean, square=False)}"
    else:
        square = cell.rms**2
        lines = [
            Step(
                title=N_("Mean square"),
                latex=rf"\mathrm{{ms}} = {_sum(members, n, 'x_i^2', square=True)} = {number(square)}",
            )
        ]
        below = rf"\sqrt{{{number(square)}{_plus_eps(eps)}}}"
        above = number(cell.value)
    return (
        *lines,
        Step(title=N_("This cell"), latex=rf"\hat x = \frac{{{above}}}{{{below}}} = {number(cell.normalized)}"),
    )
