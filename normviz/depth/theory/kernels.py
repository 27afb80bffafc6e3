"""What do a sublayer's outputs have in common for two tokens that have something in common?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import erf, factorial, pi, sqrt

import numpy as np
import numpy.typing as npt

from normviz.depth.theory.moments import kappa0, kappa1

Array = npt.NDArray[np.float64]

# Powers of the overlap kept for an activation; for variances up to 1 the rest is below 1e-4 of the sum.
HERMITE_TERMS = 24


@cache
def _hermite_squares(v: float, slope: bool) -> tuple[float, ...]:
    """Squared Hermite coefficients of gelu(sqrt(v) z), or of its derivative; they add up to its second moment."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(100)
    u = sqrt(v) * nodes
    gate = np.array([0.5 * (1 + erf(x / sqrt(2))) for x in u])
    values = gate + u * np.exp(-(u**2) / 2) / sqrt(2 * pi) if slope else u * gate
    polynomials = np.polynomial.hermite_e.hermevander(nodes, HERMITE_TERMS - 1)
    norms = np.array([sqrt(factorial(k)) for k in range(HERMITE_TERMS)])
    found = (weights * values) @ (polynomials / norms) / sqrt(2 * pi)
    return tuple((found**2).tolist())


def activation_overlap(activation: str, v: float, cosine: Array, *, slope: bool = False) -> Array:
    r"""$\mathbb E\,\phi(u)\phi(u')$, or of the slopes, for Gaussian u, u' of variance v with correlation rho.

    relu: $\frac v2\kappa_1(\rho)$ and $\frac12\kappa_0(\rho)$. gelu: $\sum_k c_k^2\rho^k$ with the Hermite
    coefficients of $\phi(\sqrt v z)$ (Mehler's formula).
    """
    if activation == "relu":
        return kappa0(cosine) / 2 if slope else v / 2 * kappa1(cosine)
    total = np.zeros_like(cosine)
    for square in _hermite_squares(v, slope)[::-1]:
        total = total * cosine + square
    return total


@dataclass(frozen=True, kw_only=True)
class Attention:
    """What attention does to the overlaps of tokens, and of gradients on their way back.

    Attributes
    ----------
    overlap
        That of (sum_j P_tj v_j) and (sum_j P_t'j v_j), for values with the overlap of what is read.
    values
        Carries gradients' overlaps from the outputs t, t' to the values j, j'.
    logits
        Carries them to what is read, through the queries t, t' and the keys j, j', for queries and keys of variance 1.
    """

    overlap: Array
    values: Callable[[Array], Array]
    logits: Callable[[Array], Array]


def attention_overlap(read: Array, logits: Array, *, causal: bool) -> Attention:
    r"""Overlaps through attention with random queries and keys, [..., T, T].

    The weights of two outputs come from logits with covariance $s_{tt'}s_{jj'}$, so that
    $\mathbb E\,P_{tj}P_{t'j'} \approx e^{s_{tt'}s_{jj'}} / \sum_{jj'} e^{s_{tt'}s_{jj'}}$, the sum over what t and t'
    may see (numerator and denominator averaged apart, good for variances up to about 1). The exponential is expanded in
    powers, each a double running sum.

    Parameters
    ----------
    read
        Overlap of what attention reads.
    logits
        The factor s of the logits' covariance; 0 for uniform attention.
    causal
        Whether a token sees only itself and what came before.
    """

    def seen(x: Array) -> Array:
        if causal:
            return x.cumsum(-1).cumsum(-2)
        return np.broadcast_to(x.sum((-1, -2), keepdims=True), x.shape)

    def seeing(x: Array) -> Array:
        if causal:
            return x[..., ::-1, ::-1].cumsum(-1).cumsum(-2)[..., ::-1, ::-1]
        return np.broadcast_to(x.sum((-1, -2), keepdims=True), x.shape)

    weighted = [power / sqrt(factorial(k)) for k, power in enumerate(_powers(logits))]

    def attended(x: Array) -> Array:
        return np.asarray(sum(power * seen(power * x) for power in weighted))

    whole = attended(np.ones_like(read))
    overlap = attended(read) / whole

    def values(gradient: Array) -> Array:
        share = gradient / whole
        return np.asarray(sum(power * seeing(power * share) for power in weighted))

    def through_logits(gradient: Array) -> Array:
        # A logit moves the output by P_tj (v_j - output); that output's part is taken as the same for all j.
        queries = gradient * (attended(read * logits) - overlap * attended(logits)) / whole
        at_logits = gradient * logits
        keys = read * values(at_logits) - values(at_logits * overlap)
        return np.asarray(queries + keys)

    return Attention(overlap=overlap, values=values, logits=through_logits)


def _powers(logits: Array) -> list[Array]:
    """1, s, s^2, ... up to where the exponential's next term is below a thousandth."""
    largest = float(np.abs(logits).max()) ** 2
    terms = 1
    while largest**terms / factorial(terms) > 1e-3:
        terms += 1
    return [logits**k for k in range(terms)]


def label_overlap(logits: Array, classes: int) -> Array:
    r"""Mean of $(p - e_y)\cdot(p' - e_{y'})$ for independent labels, times 1, [..., T, T]: $(e^{s} - 1)/V$.

    s is the covariance of the classes' logits. A token with itself has $1 - 1/V$ more.
    """
    return np.asarray(np.expm1(logits) / classes)
