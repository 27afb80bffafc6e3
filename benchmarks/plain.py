"""How would one measure gradients against depth without normviz? The baseline of the engine's benchmarks.

torch's own Transformer layer, a hook for the residual stream, a loop over depths, seeds and placements, `backward()`:
`python -m benchmarks.plain` prints what it measures and how long it takes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from statistics import mean

import torch
from torch import Tensor, nn

PLACEMENTS = ("post_norm", "pre_norm")


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The models: every combination of `PLACEMENTS`, depths and seeds, with d_ff = 4 d_model."""

    d_model: int
    n_heads: int
    batch: int
    seq_len: int
    depths: tuple[int, ...]
    seeds: tuple[int, ...]
    vocab_size: int = 1000


@dataclass(frozen=True, kw_only=True)
class Given:
    """Numbers of one model from elsewhere: tokens [B, T, d], labels [B, T], head and the layers' matrices [in, out]."""

    tokens: Tensor
    labels: Tensor
    head: Tensor
    layers: Sequence[Mapping[str, Tensor]]


@dataclass(frozen=True, kw_only=True)
class Record:
    """One model: mean squares of x_0 to x_L, and each matrix's gradient norm in layers 1 to L."""

    placement: str
    depth: int
    seed: int
    loss: float
    stream: list[float]
    gradients: dict[str, list[float]]


def matrices(layer: nn.TransformerEncoderLayer) -> dict[str, tuple[Tensor, slice]]:
    """Where a layer's matrices lie, each [out, in]: torch keeps queries, keys and values in one parameter."""
    attention, d = layer.self_attn, layer.self_attn.embed_dim
    packed = attention.in_proj_weight
    return {
        **{name: (packed, slice(i * d, (i + 1) * d)) for i, name in enumerate(("wq", "wk", "wv"))},
        "wo": (attention.out_proj.weight, slice(None)),
        "w1": (layer.linear1.weight, slice(None)),
        "w2": (layer.linear2.weight, slice(None)),
    }


def measure(
    sizes: Sizes,
    *,
    device: str = "cpu",
    dtype: str = "float32",
    given: Callable[[str, int, int], Given] | None = None,
) -> Iterator[Record]:
    """Measure one model after the other.

    Parameters
    ----------
    sizes
        The models.
    device, dtype
        Where and in which arithmetic; "mixed" is autocast to bfloat16.
    given
        Numbers for a placement, depth and seed; otherwise Glorot's normal matrices and N(0, 1) tokens are drawn.
    """
    for depth in sizes.depths:
        for seed in sizes.seeds:
            for placement in PLACEMENTS:
                numbers = given(placement, depth, seed) if given else None
                yield _model(sizes, placement, depth, seed, torch.device(device), dtype, numbers)


def _model(
    sizes: Sizes, placement: str, depth: int, seed: int, device: torch.device, dtype: str, given: Given | None
) -> Record:
    torch.manual_seed(seed)
    d, size = sizes.d_model, (sizes.batch, sizes.seq_len)
    kind = torch.float32 if dtype == "mixed" else getattr(torch, dtype)
    norm_first = placement == "pre_norm"
    with device:
        layer = nn.TransformerEncoderLayer(
            d, sizes.n_heads, 4 * d, dropout=0.0, batch_first=True, norm_first=norm_first, bias=False, dtype=kind
        )
        norm = nn.LayerNorm(d, bias=False, dtype=kind) if norm_first else None
        # As BERT has it, and normviz's Post-Norm: the first layer, like all others, reads what a norm has written.
        stem = nn.Identity() if norm_first else nn.LayerNorm(d, bias=False, dtype=kind)
        model = nn.TransformerEncoder(layer, depth, norm=norm, enable_nested_tensor=False)
        head = nn.Linear(d, sizes.vocab_size, bias=False, dtype=kind)
        x = torch.randn(*size, d, dtype=kind)
        labels = torch.randint(sizes.vocab_size, size)
        mask = nn.Transformer.generate_square_subsequent_mask(sizes.seq_len, dtype=kind)
    layers = [matrices(layer) for layer in model.layers if isinstance(layer, nn.TransformerEncoderLayer)]
    with torch.no_grad():
        for parameter, rows in (place for layer in layers for place in layer.values()):
            nn.init.xavier_normal_(parameter[rows])
        nn.init.normal_(head.weight, std=d**-0.5)
        if given:
            x.copy_(given.tokens)
            labels.copy_(given.labels)
            head.weight.copy_(given.head.T)
            for own, other in zip(layers, given.layers, strict=True):
                for name, (parameter, rows) in own.items():
                    parameter[rows] = other[name].T

    stream: list[Tensor] = []

    def note(_: nn.Module, __: tuple[Tensor, ...], output: Tensor) -> None:
        stream.append(output.detach().float().square().mean())

    for module in (stem, *model.layers):
        module.register_forward_hook(note)
    with torch.autocast(device.type, torch.bfloat16) if dtype == "mixed" else nullcontext():
        logits = head(model(stem(x), mask=mask, is_causal=True))
        loss = nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten())
    loss.backward()
    norms = [torch.stack([_gradient(*layer[name]).norm() for layer in layers]) for name in layers[0]]
    # One transfer for all numbers, which a GPU would otherwise stop for again and again.
    numbers = torch.cat([loss.detach().view(1), torch.stack(stream), *norms]).tolist()
    gradients = {name: numbers[2 + depth + i * depth :][:depth] for i, name in enumerate(layers[0])}
    return Record(
        placement=placement,
        depth=depth,
        seed=seed,
        loss=numbers[0],
        stream=numbers[1 : 2 + depth],
        gradients=gradients,
    )


def _gradient(parameter: Tensor, rows: slice) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad[rows].float()


def main() -> None:
    """Print the gradient of W2 of the last layer, mean over seeds, for each placement and depth, and the time."""
    parser = argparse.ArgumentParser(description="Measure gradients against depth with torch alone.")
    parser.add_argument("--width", type=int, default=64, help="d_model, a multiple of 16")
    parser.add_argument("--device", default="cpu", help="cpu or cuda")
    options = parser.parse_args()
    sizes = Sizes(d_model=options.width, n_heads=4, batch=4, seq_len=32, depths=(2, 4, 8, 16, 32), seeds=(0, 1, 2, 3))
    start = time.perf_counter()
    records = list(measure(sizes, device=options.device))
    seconds = time.perf_counter() - start
    print(f"{'L2 norm of dLoss/dW2, layer L':32}" + "".join(f"{f'L = {depth}':>10}" for depth in sizes.depths))
    for placement in PLACEMENTS:
        values = [
            mean(r.gradients["w2"][-1] for r in records if (r.placement, r.depth) == (placement, depth))
            for depth in sizes.depths
        ]
        print(f"{placement:32}" + "".join(f"{value:10.4f}" for value in values))
    print(f"{len(records)} models in {seconds:.2f} s")


if __name__ == "__main__":
    main()
