"""What should the engine measure? A straightforward model: one at a time, autograd, every wiring written out."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812

from normviz.depth.config import SweepConfig
from normviz.depth.model import draw
from normviz.norms import NORMS
from normviz.placements import PLACEMENTS

Log = dict[str, dict[float, float]]
BARE = ("post_norm", "no_norm", "deep_norm", "rezero", "b2t", "keel")
"""Placements without a final norm."""


def reference(config: SweepConfig, name: str, depth: int, seed: int, dtype: torch.dtype = torch.float64) -> Log:
    """Every quantity of one model by position, in the order of the sweep's file."""
    ends, layers = draw(config, PLACEMENTS[name], depth, [seed], torch.device("cpu"))
    weights = [{key: value[0].to(dtype).requires_grad_() for key, value in layer.items()} for layer in layers]
    model = Model(config, name, weights, dtype)
    out, streams = model.run(ends.tokens[0].to(dtype).requires_grad_())
    labels = ends.labels[0]
    if config.loss == "one":
        out, labels = out[:, -1], labels[:, -1]
    loss = F.cross_entropy((out @ ends.head[0].to(dtype)).flatten(0, -2), labels.flatten())
    model.log["loss"][0] = float(loss.detach())
    places = [("grad_residual", n) for n in range(depth + 1)]
    places += [(f"grad_{key}", n) for n, layer in enumerate(weights, start=1) for key in layer]
    places += [("grad_alpha", n) for n in range(1, depth + 1)] if name == "rezero" else []
    wanted = [*streams, *(w for layer in weights for w in layer.values()), *(model.gates if name == "rezero" else [])]
    found = torch.autograd.grad(loss, wanted, allow_unused=True, materialize_grads=True)
    for (quantity, position), gradient in zip(places, found, strict=True):
        model.log[quantity][position] = float(torch.linalg.vector_norm(gradient))
    matrices = [value for q, at in model.log.items() if q.startswith("grad_w") for value in at.values()]
    model.log["grad_all"][0] = math.sqrt(sum(value**2 for value in matrices))
    return {quantity: at for quantity, at in model.log.items() if at}


def mean_square(x: Tensor) -> float:
    return float(x.detach().square().mean())


class Model:
    """One model's forward pass, written out placement by placement."""

    def __init__(self, config: SweepConfig, name: str, weights: list[dict[str, Tensor]], dtype: torch.dtype) -> None:
        self.config, self.name, self.weights = config, name, weights
        self.log: Log = defaultdict(dict)
        self.norm = NORMS[config.norm].module(config.d_model, config.eps).to(dtype)
        self.gates = [torch.zeros((), dtype=dtype, requires_grad=True) for _ in weights]

    def on_path(self, x: Tensor, at: float) -> Tensor:
        self.log["pre_norm_mean_square"][at] = mean_square(x)
        return self.norm(x)

    def join(self, x: Tensor, write: Tensor, at: float) -> Tensor:
        self.log["write_share"][at] = mean_square(write) / (mean_square(write) + mean_square(x))
        return x + write

    def run(self, x: Tensor) -> tuple[Tensor, list[Tensor]]:
        """What the head reads, and x_0 to x_L."""
        if PLACEMENTS[self.name].embedding_norm:
            x = self.on_path(x, 0)
        streams, depth = [x], len(self.weights)
        self.log["residual_mean_square"][0] = mean_square(x)
        second = x
        for n in range(1, depth + 1):
            x, second = self.layer(x, second, n)
            self.log["residual_mean_square"][n] = mean_square(x)
            self.log["cosine_next"][n] = float(F.cosine_similarity(streams[-1].detach(), x.detach(), dim=-1).mean())
            if self.name == "resi_dual":
                self.log["second_mean_square"][n] = mean_square(second)
            streams.append(x)
        if self.name == "resi_dual":
            return x + self.on_path(second, depth + 0.5), streams
        return (x if self.name in BARE else self.on_path(x, depth + 0.5)), streams

    def layer(self, x: Tensor, second: Tensor, n: int) -> tuple[Tensor, Tensor]:
        depth, name, norm, join = len(self.weights), self.name, self.norm, self.join
        if name == "hybrid_norm":
            y = join(x, self.attention(x, n), n - 0.5)
            h = self.on_path(y, n)
            return join(h, self.feed_forward(h, n), n), second
        if name == "b2t":
            h = self.on_path(join(x, self.attention(x, n), n - 0.5), n - 0.5)
            return self.on_path(join(x + h, self.feed_forward(h, n), n), n), second
        if name == "parallel":
            y = join(x, self.attention(norm(x), n), n - 0.5)
            return join(y, self.feed_forward(norm(x), n), n), second
        for f, at in ((self.attention, n - 0.5), (self.feed_forward, n)):
            if name == "post_norm" or (name == "mix_ln" and n <= depth // 4):
                x = self.on_path(join(x, f(x, n), at), at)
            elif name in ("pre_norm", "sub_ln", "mix_ln"):
                x = join(x, f(norm(x), n), at)
            elif name in ("sandwich_norm", "peri_ln"):
                x = join(x, norm(f(norm(x), n)), at)
            elif name == "output_norm":
                x = join(x, norm(f(x, n)), at)
            elif name == "no_norm":
                x = join(x, f(x, n), at)
            elif name == "deep_norm":
                x = self.on_path(join((2 * depth) ** 0.25 * x, f(x, n), at), at)
            elif name == "keel":
                x = self.on_path(join(2 * depth * x, f(norm(x), n), at), at)
            elif name == "layer_norm_scaling":
                x = join(x, f(norm(x) / math.sqrt(n), n), at)
            elif name == "rezero":
                x = join(x, self.gates[n - 1] * f(x, n), at)
            elif name == "resi_dual":
                y = f(x, n)
                x, second = self.on_path(join(x, y, at), at), second + y
        return x, second

    def attention(self, x: Tensor, n: int) -> Tensor:
        """Self-attention of x [batch, seq, d_model], one head after the other."""
        config, w = self.config, self.weights[n - 1]
        size = config.d_model // config.n_heads
        projected = {key: x @ w[key] for key in ("wq", "wk", "wv") if key in w}
        if config.qk_norm:
            for key in ("wq", "wk"):
                projected[key] = F.rms_norm(projected[key], (config.d_model,), eps=config.eps)
        allowed = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
        if config.attention == "causal":
            allowed = allowed.tril()
        mixed, logits, shares = [], [], []
        for head in range(config.n_heads):
            part = {key: value[..., head * size : (head + 1) * size] for key, value in projected.items()}
            if self.name == "hybrid_norm":
                part = {key: self.sized(size)(value) for key, value in part.items()}
            if config.attention == "uniform":
                mixed.append(part["wv"].mean(dim=1, keepdim=True).expand_as(part["wv"]))
                continue
            scores = part["wq"] @ part["wk"].mT / math.sqrt(size)
            p = scores.masked_fill(~allowed, -math.inf).softmax(-1)
            mixed.append(p @ part["wv"])
            logits.append(scores.detach()[:, allowed])
            several = allowed.sum(-1) > 1
            entropy = torch.special.entr(p.detach()).sum(-1) / allowed.sum(-1).log()
            shares.append(entropy[:, several])
        if logits:
            self.log["logit_scale"][n] = float(torch.cat(logits).square().mean().sqrt())
            self.log["attention_entropy"][n] = float(torch.cat(shares).mean())
        y = torch.cat(mixed, dim=-1)
        y = self.sized(config.d_model)(y) if self.name == "sub_ln" else y
        return self.branch(y @ w["wo"] if "wo" in w else y, n - 0.5)

    def feed_forward(self, x: Tensor, n: int) -> Tensor:
        """The feed-forward sublayer."""
        config, w = self.config, self.weights[n - 1]
        a = x @ w["w1"]
        activations: dict[str, Callable[[Tensor], Tensor]] = {
            "relu": F.relu,
            "gelu": F.gelu,
            "swiglu": lambda up: F.silu(x @ w["wg"]) * up,
        }
        h = activations[config.activation](a)
        h = self.sized(config.d_ff)(h) if self.name == "sub_ln" else h
        return self.branch(h @ w["w2"], n)

    def sized(self, size: int) -> Any:
        return NORMS[self.config.norm].module(size, self.config.eps).to(self.weights[0]["w1"].dtype)

    def branch(self, y: Tensor, at: float) -> Tensor:
        self.log["branch_mean_square"][at] = mean_square(y)
        return y
