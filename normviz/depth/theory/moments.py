"""How large is what a sublayer writes at initialization, and what does it pass back?"""

from __future__ import annotations

from dataclasses import dataclass
from math import asin, pi, sqrt

import numpy as np
import numpy.typing as npt

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.placements import PLACEMENTS

Array = npt.NDArray[np.float64]


class NoLaw(InputError):  # noqa: N818  (an answer, not a mistake)
    """No closed form or recursion is known here; the sentence says why, and which choice would have one."""


@dataclass(frozen=True, kw_only=True)
class Scales:
    """Variances that the initial weights give to vectors with mean square 1.

    Attributes
    ----------
    tokens
        Mean square q_0 of the tokens, before any norm.
    head
        d sigma_head^2: variance of the logits of the classes, and the squared length of one token's gradient.
    logits
        d sigma_Q^2 d sigma_K^2: variance of the attention logits; with QK-norm 1.
    value, output
        d sigma_V^2 and d sigma_O^2 (1 without an output projection).
    inner
        d sigma_1^2, the variance v before the activation.
    outer
        d_ff sigma_2^2, what a unit activation becomes.
    """

    tokens: float
    head: float
    logits: float
    value: float
    output: float
    inner: float
    outer: float


def scales(config: SweepConfig, placement: str, depth: int) -> Scales:
    """The variances of a model's initial weights, with a placement's own factors (DeepNorm, Sub-LN) in them."""
    d, d_ff = config.d_model, config.d_ff
    square, oblong = (1 / d, 2 / (d + d_ff)) if config.init == "xavier" else (0.02**2, 0.02**2)
    writes = 1 / (2 * depth) if config.init == "gpt2" else 1.0
    grow = PLACEMENTS[placement].init_scale
    own = grow(depth) ** 2 if grow else 1.0
    uniform = config.attention == "uniform"
    return Scales(
        tokens={"xavier": 1.0, "gpt2": 2 * 0.02**2, "std02": 0.02**2}[config.init],
        head=d * square,
        logits=0.0 if uniform else 1.0 if config.qk_norm else (d * square) ** 2,
        value=own * d * square * (1.0 if config.output_projection else writes),
        output=own * d * square * writes if config.output_projection else 1.0,
        inner=own * d * oblong,
        outer=own * d_ff * oblong * writes,
    )


def kappa0(cosine: Array | float) -> Array:
    r"""Arc-cosine kernel of degree 0: $1 - \arccos(\rho)/\pi$, the mean of relu'(u) relu'(v) times 2.

    References
    ----------
    Cho & Saul 2009, Kernel methods for deep learning.
    """
    return np.asarray(1 - np.arccos(np.clip(cosine, -1, 1)) / pi, dtype=np.float64)


def kappa1(cosine: Array | float) -> Array:
    r"""Arc-cosine kernel of degree 1, the mean of relu(u) relu(v) over half the variance.

    $(\sqrt{1-\rho^2} + \rho(\pi - \arccos\rho))/\pi$.

    References
    ----------
    Cho & Saul 2009, Kernel methods for deep learning.
    """
    rho = np.clip(cosine, -1, 1)
    return np.asarray((np.sqrt(1 - rho**2) + rho * (pi - np.arccos(rho))) / pi, dtype=np.float64)


def activation_moment(activation: str, v: float) -> float:
    r"""$m_2 = \mathbb E\,\phi(\sqrt v z)^2$ of a standard normal z.

    relu: $v/2$. gelu (the exact one): $\frac v4 + \frac v{2\pi}A + \frac{v^2}{\pi(1+v)\sqrt{1+2v}}$ with
    $A = \arcsin\frac v{1+v}$.

    Raises
    ------
    NoLaw
        For "swiglu".
    """
    _check_activation(activation)
    if activation == "relu":
        return v / 2
    return v / 4 + v / (2 * pi) * asin(v / (1 + v)) + v**2 / (pi * (1 + v) * sqrt(1 + 2 * v))


def slope_moment(activation: str, v: float) -> float:
    r"""$m_2' = \mathbb E\,\phi'(\sqrt v z)^2$ of a standard normal z.

    relu: 1/2. gelu (the exact one): $\frac14 + \frac A{2\pi} + \frac v{\pi(1+v)\sqrt{1+2v}} +
    \frac v{2\pi(1+2v)^{3/2}}$ with $A = \arcsin\frac v{1+v}$.

    Raises
    ------
    NoLaw
        For "swiglu".
    """
    _check_activation(activation)
    if activation == "relu":
        return 0.5
    root = sqrt(1 + 2 * v)
    return 0.25 + asin(v / (1 + v)) / (2 * pi) + v / (pi * (1 + v) * root) + v / (2 * pi * root**3)


def feed_forward_gain(config: SweepConfig, placement: str, depth: int) -> float:
    r"""Mean square of the feed-forward sublayer's output for an input of mean square 1: $c_F = d_{ff}\sigma_2^2 m_2$.

    Raises
    ------
    NoLaw
        For "swiglu".
    """
    found = scales(config, placement, depth)
    return found.outer * activation_moment(config.activation, found.inner)


def feed_forward_back_gain(config: SweepConfig, placement: str, depth: int) -> float:
    r"""What the sublayer passes back of a squared gradient: $c_B = d_{ff}\sigma_2^2\, d\sigma_1^2\, m_2'$.

    Raises
    ------
    NoLaw
        For "swiglu".
    """
    found = scales(config, placement, depth)
    return found.outer * found.inner * slope_moment(config.activation, found.inner)


def _check_activation(activation: str) -> None:
    if activation not in ("relu", "gelu"):
        raise NoLaw(
            "The laws are worked out for the activations relu and gelu; got {got}. Choose one of these to see them",
            got=activation,
        )
