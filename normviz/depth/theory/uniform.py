"""What does the mean-field recursion give in the setting of Xiong et al. 2020?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from normviz.depth.theory.moments import kappa0, kappa1

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanField:
    """The expected sizes in a model of L layers, float64.

    Attributes
    ----------
    stream
        Mean square of x_0 ... x_L, [L + 1].
    attention_sum, feed_forward_sum
        Mean square right after the sublayers' additions, before any norm on the identity path, [L].
    cosine
        Mean cosine between two tokens of a sequence in x_0 ... x_L, [L + 1].
    grad_w2, grad_w1, grad_wv
        Frobenius norms of the gradients of layers 1 ... L, [L].
    grad_residual
        L2 norm of dLoss/dx_l over all tokens, l = 0 ... L, [L + 1].
    """

    stream: Array
    attention_sum: Array
    feed_forward_sum: Array
    cosine: Array
    grad_w2: Array
    grad_w1: Array
    grad_wv: Array
    grad_residual: Array


def uniform_mean_field(
    placement: str, depth: int, tokens: int, *, width: int, loss: str = "one", sequences: int = 1, gradient: float = 1.0
) -> MeanField:
    r"""Mean square, overlap and gradients of Post-Norm or Pre-Norm for infinite width.

    Uniform attention without an output projection, ReLU, $d_{ff} = d$, weights $\mathcal N(0, 1/d)$, eps 0. For n
    tokens of mean square q and pair overlap $p = \rho q$, attention writes $a = (1 + (n-1)\rho)/n$ to both, and the
    feed-forward sublayer $\frac12$ to q and $\frac12\kappa_1(\rho)$ to p. Backward, with D the mean of
    $\|\delta_i\|^2$ and C that of $\delta_i\cdot\delta_j$: the feed-forward branch adds $D/2q$ and
    $\kappa_0 C/2q$, attention adds $s/q$ to both, $s = (D + (n-1)C)/n$; a norm on the identity path divides D and C
    by the mean square that enters it.
    $\|\partial W_2\|^2 = \frac d2[nD + n(n-1)C\kappa_1]$, $\|\partial W_1\|^2 = \frac d2[nD + n(n-1)C\kappa_0\rho]$,
    $\|\partial W_V\|^2 = n^2 s a d$.

    Parameters
    ----------
    placement
        "post_norm" or "pre_norm"; the latter with a final norm.
    depth, tokens, width
        Layers L, tokens n of a sequence, d.
    loss
        "one": each sequence answers for one token. "mean": for the mean of all its tokens.
    sequences
        Number B of independent sequences whose losses are averaged. Their gradients, each with weight 1/B, add up
        incoherently because their labels are independent: every norm is $1/\sqrt B$ of that of one sequence.
    gradient
        Length $\|g\|$ of the loss's gradient at one token before the head; 1 for head weights N(0, 1/d).

    Notes
    -----
    Left out: that with "mean" tokens which have become alike also share a part of their gradient, relative to 1 at
    most N(e - 1)/V for N tokens and V classes.

    References
    ----------
    Derived for the model of Xiong et al. 2020, arXiv:2002.04745, section 3.3; the sums agree with its lemma 2.
    """
    n = tokens
    post = placement == "post_norm"
    q, p = 1.0, 0.0 if n > 1 else 1.0
    stream, cosine = [q], [p / q]
    entered: list[tuple[float, float, float, float]] = []  # q and cosine read by attention, by feed-forward
    sums: list[tuple[float, float]] = []
    for _ in range(depth):
        rho = p / q
        a = (1 + (n - 1) * rho) / n
        first = (q, rho)
        after_attention, p = q + a, p + a
        q, p = (1.0, p / after_attention) if post else (after_attention, p)
        rho = p / q
        entered.append((*first, q, rho))
        after, p = q + 0.5, p + 0.5 * float(kappa1(rho))
        q, p = (1.0, p / after) if post else (after, p)
        sums.append((after_attention, after))
        stream.append(q)
        cosine.append(p / q)

    weight = gradient**2 / sequences
    squared = weight / n if loss == "one" else weight / n**2  # D; C starts at 0
    shared = 0.0
    if not post:
        squared /= q
    back = [(squared * n, 0.0, 0.0, 0.0)]
    for (q_att, rho_att, q_ff, rho_ff), (after_attention, after) in zip(entered[::-1], sums[::-1], strict=True):
        if post:
            squared, shared = squared / after, shared / after
        k0, k1 = float(kappa0(rho_ff)), float(kappa1(rho_ff))
        w2 = width / 2 * (n * squared + n * (n - 1) * shared * k1)
        w1 = width / 2 * (n * squared + n * (n - 1) * shared * k0 * rho_ff)
        squared, shared = squared * (1 + 0.5 / q_ff), shared * (1 + 0.5 * k0 / q_ff)
        if post:
            squared, shared = squared / after_attention, shared / after_attention
        s = (squared + (n - 1) * shared) / n
        wv = n**2 * s * width * (1 + (n - 1) * rho_att) / n
        squared, shared = squared + s / q_att, shared + s / q_att
        back.append((squared * n, w2, w1, wv))
    residual, w2s, w1s, wvs = np.sqrt(np.array(back[::-1])).T
    attention_sum, feed_forward_sum = np.array(sums).T
    return MeanField(
        stream=np.array(stream),
        attention_sum=attention_sum,
        feed_forward_sum=feed_forward_sum,
        cosine=np.array(cosine),
        grad_w2=w2s[:-1],
        grad_w1=w1s[:-1],
        grad_wv=wvs[:-1],
        grad_residual=residual,
    )
