"""What do attention and the feed-forward sublayer compute, forward and backward, for many models at once?

Inputs and outputs are [S, P, N, d], cotangents [S, P, N, K, d] (see `normviz.depth.kernels`). A backward function
returns the input's cotangent and the L2 norm [S, P, K] of the gradient of each matrix that was asked for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import torch
from torch import Tensor

from normviz.depth.config import SweepConfig
from normviz.depth.kernels import NORMS, Backward, Norm, Product, activate, l2, none, rms_norm, wide
from normviz.placements import Placement

Weights = Mapping[str, Tensor]
Gradients = dict[str, Tensor]
SublayerBackward = Callable[[Tensor], tuple[Tensor, Gradients]]


class Sublayers:
    """The two sublayers that all wirings of a slice share.

    Parameters
    ----------
    config
        Sizes, arithmetic, attention and activation.
    placement
        What is inside a sublayer: a norm before its last matrix, and one of queries, keys and values.
    device
        Where it runs.
    """

    def __init__(self, config: SweepConfig, placement: Placement, device: torch.device) -> None:
        self._config = config
        self._product = Product(config.dtype == "mixed")
        norm = partial(NORMS[config.norm], eps=config.eps)
        no_norm = partial(none, eps=config.eps)
        self._inner: Norm = norm if placement.inner_norm else no_norm
        # OLMo 2 (arXiv:2501.00656) normalizes the whole projection with RMSNorm, HybridNorm each head by itself.
        self._whole: Norm = partial(rms_norm, eps=config.eps) if config.qk_norm else no_norm
        self._head: Norm = norm if placement.qkv_norm else no_norm
        length = config.seq_len
        self._causal = config.attention == "causal"
        self._counts = torch.full((length,), length, device=device)  # of tokens that each token may attend to
        if self._causal:
            self._future = torch.ones(length, length, dtype=torch.bool, device=device).triu(1)
            self._counts = torch.arange(1, length + 1, device=device)

    def feed_forward(self, x: Tensor, weights: Weights) -> tuple[Tensor, SublayerBackward]:
        """activation(x W_1) W_2, with a gate x W_G for SwiGLU."""
        inputs = ("w1", "wg") if self._config.activation == "swiglu" else ("w1",)
        a, activation_back = activate(self._config.activation, self._linear(x, weights["in"]))
        h, inner_back = self._inner(a)
        y = self._linear(h, weights["w2"])

        def backward(g: Tensor) -> tuple[Tensor, Gradients]:
            found = self._gradients(h, g, ("w2",))
            g = activation_back(inner_back(self._linear(g, weights["w2"].mT)))
            found |= self._gradients(x, g, inputs)
            return self._linear(g, weights["in"].mT), found

        return y, backward

    def attention(self, x: Tensor, weights: Weights) -> tuple[Tensor, SublayerBackward, dict[str, Tensor]]:
        """Self-attention, and what its logits show, [S, P] each.

        Written out as softmax(Q K' / sqrt(d_head)) V: the backward passes of fused kernels add up in any order on a
        GPU, and the same configuration is to give the same numbers. Uniform attention is the mean over all tokens
        (Xiong et al. 2020, arXiv:2002.04745).
        """
        softmax = self._config.attention != "uniform"
        inputs = ("wq", "wk", "wv") if softmax else ("wv",)
        mix = self._softmax if softmax else self._uniform
        mixed, mix_back, seen = mix(self._linear(x, weights["qkv"]))
        h, inner_back = self._inner(mixed)
        y = self._linear(h, weights["wo"]) if "wo" in weights else h

        def backward(g: Tensor) -> tuple[Tensor, Gradients]:
            found: Gradients = {}
            if "wo" in weights:
                found = self._gradients(h, g, ("wo",))
                g = self._linear(g, weights["wo"].mT)
            g = mix_back(inner_back(g))
            found |= self._gradients(x, g, inputs)
            return self._linear(g, weights["qkv"].mT), found

        return y, backward, seen

    def _uniform(self, v: Tensor) -> tuple[Tensor, Backward, dict[str, Tensor]]:
        batch, heads = self._config.batch, self._config.n_heads
        v, norm_back = self._head(v.unflatten(-1, (heads, -1)))

        def over_tokens(x: Tensor) -> Tensor:  # symmetric: its own transpose
            sequences = x.unflatten(2, (batch, -1))
            means: Tensor = sequences.mean(dim=3, keepdim=True).expand_as(sequences).flatten(2, 3)
            return means

        def backward(g: Tensor) -> Tensor:
            # [S, P, N, K, d] to [S, P, N, heads, K, size], as the norm's backward pass wants it, and back.
            g = norm_back(over_tokens(g).unflatten(-1, (heads, -1)).transpose(-3, -2))
            return g.transpose(-3, -2).flatten(-2)

        return over_tokens(v).flatten(-2), backward, {}

    def _softmax(self, projected: Tensor) -> tuple[Tensor, Backward, dict[str, Tensor]]:
        config = self._config
        lead = (*projected.shape[:2], config.batch, config.n_heads)
        q, k, v = projected.unflatten(-1, (3, -1)).unbind(-2)
        (q, q_whole), (k, k_whole) = self._whole(q), self._whole(k)
        (q, q_head), (k, k_head), (v, v_head) = (self._head(_split(part, lead)) for part in (q, k, v))
        scale = 1 / math.sqrt(q.shape[-1])
        q = q * scale
        scores = self._product(q, k.mT)  # [G, T, T] with G = seeds x wirings x sequences x heads
        seen = {"logit_scale": self._logit_scale(scores, lead)}
        if self._causal:
            scores.masked_fill_(self._future, torch.finfo(scores.dtype).min)
        p = scores.softmax(dim=-1)
        mixed = self._product(p, v)
        if config.seq_len > 1:
            seen["attention_entropy"] = self._entropy(scores, p, (q * self._product(p, k)).sum(-1), lead)

        def backward(g: Tensor) -> Tensor:
            losses = g.shape[3]
            g = _split(g, lead)  # [G, T, K, size]
            gv = self._product(p.mT, g.flatten(2)).unflatten(-1, (losses, -1))
            gp = self._product(g.flatten(1, 2), v.mT).unflatten(1, (-1, losses))
            # The mean of gp under p, without a pass over all pairs: sum_j p_ij (g_i . v_j) = g_i . mixed_i
            mean = (g * mixed.unsqueeze(2)).sum(-1, keepdim=True)
            gs = gp.sub_(mean).mul_(p.unsqueeze(2))  # [G, T, K, T]
            gq = self._product(gs.flatten(1, 2), k).unflatten(1, (-1, losses)).mul_(scale)
            gk = self._product(gs.flatten(2).mT, q).unflatten(1, (losses, -1)).transpose(1, 2)
            joined = gq.new_empty(*lead[:2], lead[2], config.seq_len, losses, 3, lead[3], gq.shape[-1])
            for i, part in enumerate((q_head(gq), k_head(gk), v_head(gv))):
                joined[..., i, :, :] = part.unflatten(0, lead).movedim(3, -2)
            parts: Tensor = joined.flatten(-2).flatten(2, 3)
            if config.qk_norm:
                for i, whole_back in enumerate((q_whole, k_whole)):
                    parts[..., i, :] = whole_back(parts[..., i, :])
            return parts.flatten(-2)

        return _join(mixed, lead), backward, seen

    def _logit_scale(self, scores: Tensor, lead: tuple[int, ...]) -> Tensor:
        logits = scores.tril() if self._causal else scores
        found = l2(logits.unflatten(0, (lead[0], lead[1], -1)), 2, 3, 4)
        pairs = float(self._counts.sum()) * lead[2] * lead[3]
        return found / math.sqrt(pairs)

    def _entropy(self, scores: Tensor, p: Tensor, mean: Tensor, lead: tuple[int, ...]) -> Tensor:
        """Mean entropy over its largest, of the tokens that see several.

        ln(sum_j e^s_j) - sum_j p_j s_j. The first term is the largest logit minus ln of its chance, the second, `mean`,
        is q . sum_j p_j k_j: no logarithm of every chance.
        """
        entropy = wide(scores).amax(-1) - wide(p).amax(-1).log() - wide(mean)
        several = self._counts > 1
        shares = entropy[:, several] / self._counts[several].log()
        mean_share: Tensor = shares.unflatten(0, (lead[0], lead[1], -1)).mean(dim=(2, 3))
        return mean_share.clamp(0, 1)

    def _linear(self, x: Tensor, weight: Tensor) -> Tensor:
        """X [S, ..., in] times [S, in, out]."""
        return self._product(x.flatten(1, -2), weight).view(*x.shape[:-1], -1)

    def _gradients(self, x: Tensor, g: Tensor, names: tuple[str, ...]) -> Gradients:
        """L2 norms of x' g for the matrices that lie side by side in g's channels."""
        wanted = [name for name in names if name in self._config.gradients]
        if not wanted:
            return {}
        lead, losses = x.shape[:2], g.shape[3]
        x, g = x.flatten(0, 1), g.flatten(0, 1)
        if len(wanted) < len(names):
            parts = g.unflatten(-1, (len(names), -1))
            g = torch.cat([parts[..., names.index(name), :] for name in wanted], dim=-1)
        product = self._product(x.mT, g.flatten(2)).unflatten(-1, (losses, len(wanted), -1))
        found = l2(product, 1, 4).unflatten(0, lead)
        return {name: found[..., i] for i, name in enumerate(wanted)}


def _split(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    """[S, P, N, ..., d] to [G, T, ..., d_head]; `lead` says how many seeds, wirings, sequences and heads are in G."""
    parts: Tensor = x.unflatten(-1, (lead[3], -1)).unflatten(2, (lead[2], -1))
    return parts.movedim(-2, 3).flatten(0, 3)


def _join(x: Tensor, lead: tuple[int, ...]) -> Tensor:
    """The way back of `_split`."""
    parts: Tensor = x.unflatten(0, lead)
    return parts.movedim(3, -2).flatten(-2).flatten(2, 3)
