"""Which Transformer is measured: its tokens and weights at initialization, and its forward pass?"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import count

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812  (the name that torch's users know)

from normviz.depth.config import SweepConfig
from normviz.placements import Placement, join, trace

# Called with "residual", "branch" or "pre_norm", the position (layer l ends at l, its attention at l - 0.5), and the
# tensor [batch, seq, d_model] that is there.
Watch = Callable[[str, float, Tensor], None]

ACTIVATE: dict[str, Callable[[Tensor], Tensor]] = {"relu": F.relu, "gelu": F.gelu}


@dataclass(frozen=True, kw_only=True)
class Model:
    """Everything a seed decides.

    Attributes
    ----------
    tokens
        What enters the stack, [batch, seq, d_model].
    labels
        Independent uniform classes, int64 [batch, seq].
    head
        [d_model, vocab_size].
    layers
        A dictionary for each layer: "wq", "wk", "wv", "wo", "w1", "w2", each [in, out] for `x @ w`. Uniform attention
        has neither "wq" nor "wk"; without an output projection there is no "wo".
    """

    tokens: Tensor
    labels: Tensor
    head: Tensor
    layers: tuple[dict[str, Tensor], ...]


def shapes(config: SweepConfig) -> dict[str, tuple[int, int]]:
    """The matrices of a layer, [in, out], in the order in which they are drawn."""
    d, d_ff = config.d_model, config.d_ff
    found = {"wq": (d, d), "wk": (d, d), "wv": (d, d), "wo": (d, d), "w1": (d, d_ff), "w2": (d_ff, d)}
    if config.attention == "uniform":
        del found["wq"], found["wk"]
    if not config.output_projection:
        del found["wo"]
    return found


def draw(config: SweepConfig, depth: int, seed: int, device: torch.device) -> Model:
    """Draw tokens, labels and weights.

    All numbers come from one float32 stream on the CPU, layer after layer, and are moved then: devices, dtypes,
    placements and depths share them ("gpt2" scales what writes to the residual stream with the depth).

    Notes
    -----
    xavier: Glorot's normal N(0, 2/(fan_in + fan_out)); tokens N(0, 1), head N(0, 1/d). gpt2: N(0, 0.02^2), tokens the
    sum of a token and a position embedding, W_O and W_2 (W_V where there is no W_O) divided by sqrt(2L). std02:
    N(0, 0.02^2).
    """
    generator = torch.Generator().manual_seed(seed)
    dtype: torch.dtype = getattr(torch, config.dtype)

    def normal(*shape: int, std: float) -> Tensor:
        numbers = torch.randn(*shape, generator=generator).mul_(std)
        return numbers.to(device=device, dtype=dtype).requires_grad_()

    def std(name: str, fan_in: int, fan_out: int) -> float:
        if config.init == "xavier":
            return math.sqrt(2 / (fan_in + fan_out))
        writes = name == "w2" or name == ("wo" if config.output_projection else "wv")
        return 0.02 / math.sqrt(2 * depth) if config.init == "gpt2" and writes else 0.02

    token_std, head_std = {
        "xavier": (1.0, 1 / math.sqrt(config.d_model)),
        "gpt2": (0.02 * math.sqrt(2), 0.02),
        "std02": (0.02, 0.02),
    }[config.init]
    size = (config.batch, config.seq_len)
    return Model(
        tokens=normal(*size, config.d_model, std=token_std),
        labels=torch.randint(config.vocab_size, size, generator=generator).to(device),
        head=normal(config.d_model, config.vocab_size, std=head_std).detach(),
        layers=tuple(
            {name: normal(*shape, std=std(name, *shape)) for name, shape in shapes(config).items()}
            for _ in range(depth)
        ),
    )


def attention(config: SweepConfig, weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """Self-attention of x [batch, seq, d_model].

    Written out as softmax(Q K' / sqrt(d_head)) V: the backward passes of fused kernels add up in any order on a GPU,
    and the same configuration is to give the same numbers. QK-norm is RMSNorm over the whole projection (OLMo 2,
    arXiv:2501.00656); uniform attention is the mean over all tokens (Xiong et al. 2020, arXiv:2002.04745).
    """
    v = x @ weights["wv"]
    if config.attention == "uniform":
        mixed = v.mean(dim=1, keepdim=True).expand_as(v)
    else:
        q, k = x @ weights["wq"], x @ weights["wk"]
        if config.qk_norm:
            q, k = (F.rms_norm(projection, (config.d_model,), eps=config.eps) for projection in (q, k))
        q, k, v = (h.view(*h.shape[:2], config.n_heads, -1).transpose(1, 2) for h in (q, k, v))
        scores = (q / math.sqrt(q.shape[-1])) @ k.mT
        if config.attention == "causal":
            future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=x.device).triu(1)
            scores.masked_fill_(future, -math.inf)
        mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(-2)
    return mixed @ weights["wo"] if "wo" in weights else mixed


def feed_forward(config: SweepConfig, weights: dict[str, Tensor], x: Tensor) -> Tensor:
    """activation(x W1) W2."""
    return ACTIVATE[config.activation](x @ weights["w1"]) @ weights["w2"]


def stack(
    config: SweepConfig, model: Model, placement: Placement, norm: Callable[[Tensor], Tensor], watch: Watch
) -> Tensor:
    """Send the tokens through all layers; `watch` sees the stream on its way.

    x_0 is what enters the first layer (after the embedding norm, where there is one), x_l what leaves layer l.

    Returns
    -------
    Tensor
        [batch, seq, d_model], after the final norm where there is one.
    """
    on_path = trace(placement).identity_norms

    def outer_norm(x: Tensor, position: float) -> Tensor:
        watch("pre_norm", position, x)
        return norm(x)

    def sublayer(x: Tensor, compute: Callable[[Tensor], Tensor], position: float) -> Tensor:
        calls = count()

        def watched_norm(h: Tensor) -> Tensor:
            return outer_norm(h, position) if next(calls) in on_path else norm(h)

        def watched_compute(h: Tensor) -> Tensor:
            y = compute(h)
            watch("branch", position, y)
            return y

        return join(placement, x, watched_norm, watched_compute)

    x = outer_norm(model.tokens, 0.0) if placement.embedding_norm else model.tokens
    watch("residual", 0.0, x)
    for layer, weights in enumerate(model.layers, start=1):
        x = sublayer(x, partial(attention, config, weights), layer - 0.5)
        x = sublayer(x, partial(feed_forward, config, weights), layer)
        watch("residual", layer, x)
    return outer_norm(x, len(model.layers) + 0.5) if placement.final_norm else x


def cross_entropy(config: SweepConfig, model: Model, x: Tensor) -> Tensor:
    """Mean cross-entropy of the head's logits in nats, over all tokens or over the last one of each sequence."""
    labels = model.labels
    if config.loss == "one":
        x, labels = x[:, -1:], labels[:, -1:]
    # float32 logits, as in mixed-precision training: half precision would round the loss itself.
    return F.cross_entropy((x @ model.head).flatten(0, 1).float(), labels.flatten())
