"""How is one model drawn, run forward and backward, and measured in a script without normviz?"""

from __future__ import annotations

from collections.abc import Collection
from textwrap import indent

from normviz.depth.config import SweepConfig
from normviz.placements import PLACEMENTS
from normviz.snippets.blocks import matrices
from normviz.snippets.wirings import INIT_SCALES

STREAM = {
    "grad_residual": "[g.cpu().double().norm().item() for g in torch.autograd.grad(loss, stream)]",
    "residual_mean_square": "[x.cpu().double().square().mean().item() for x in stream]",
    "cosine_next": "[F.cosine_similarity(a.float(), b.float(), dim=-1).mean().item() for a, b in zip(stream, "
    "stream[1:])]",
}
"""Quantities of the residual stream, and how they are read off a list of its states."""


def measuring(config: SweepConfig, quantity: str) -> str:
    """The function that builds one model, runs it forward and backward, and returns the quantity's values."""
    placed = PLACEMENTS.items()
    embedding_norm = [name for name, placement in placed if placement.embedding_norm]
    final_norm = [name for name, placement in placed if placement.final_norm]
    two_streams = [name for name, placement in placed if placement.two_streams]
    stream = quantity in STREAM
    of_layer = "x" if _test(config, two_streams) == "" else "x[0] if isinstance(x, tuple) else x"
    body = [
        *_drawing(config),
        "",
        *_conditional(config, "x = norm(x)", embedding_norm),
        *(["stream = [x]"] if stream else []),
        *_conditional(config, "x = (x, x)", two_streams),
        "for layer, w in enumerate(layers, start=1):",
        f"    x = {_call(config)}(w, x, layer, depth)",
        *([f"    stream.append({of_layer})"] if stream else []),
        *_conditional(config, "x = norm(x)", final_norm),
        *_conditional(config, "x = x[0] + norm(x[1])", two_streams),
        *(["x, labels = x[:, -1:], labels[:, -1:]  # the last token of each sequence"] if config.loss == "one" else []),
        "loss = F.cross_entropy((x @ head).flatten(0, 1).float(), labels.flatten())",
        "",
        *_values(config, quantity),
    ]
    docstring = '"""One model, forward and backward: a value for each layer."""'
    return "def measure(placement, depth, seed):\n" + indent("\n".join([docstring, *body]), "    ")


def _drawing(config: SweepConfig) -> list[str]:
    """Tokens, labels, head and weights, in the order in which normviz draws them."""
    scaled = [name for name in config.placements if name in INIT_SCALES]
    tokens, head, std = {
        "xavier": ("1.0", "1 / math.sqrt(d_model)", "scale * math.sqrt(2 / (n_in + n_out))"),
        "gpt2": ("0.02 * math.sqrt(2)", "0.02", "scale * 0.02"),
        "std02": ("0.02", "0.02", "scale * 0.02"),
    }[config.init]
    lines = [
        "generator = torch.Generator().manual_seed(seed)",
        "",
        "def normal(*shape, std):",
        "    numbers = torch.randn(*shape, generator=generator) * std",
        "    return numbers.to(device=device, dtype=dtype).requires_grad_()",
        "",
        "def matrix(n_in, n_out, scale=1.0):",
        f"    return normal(n_in, n_out, std={std})",
        "",
        f"x = normal(batch, seq_len, d_model, std={tokens})",
        "labels = torch.randint(vocab_size, (batch, seq_len), generator=generator).to(device)",
        f"head = normal(d_model, vocab_size, std={head})",
    ]
    if scaled:
        scales = ", ".join(f'"{name}": {INIT_SCALES[name]}' for name in scaled)
        lines.append(f"scale = {{{scales}}}.get(placement, 1.0)")
    writes = {"w2", "wo" if config.output_projection else "wv"} if config.init == "gpt2" else set()
    if writes:
        lines.append(f"write = {'scale' if scaled else '1'} / math.sqrt(2 * depth)  # GPT-2: what writes to the stream")
    lines += ["layers = [", "    {"]
    for name, sizes in matrices(config).items():
        factor = "write" if name in writes else "scale" if scaled and name not in ("wq", "wk") else ""
        lines.append(f'        "{name}": matrix({sizes}{", " + factor if factor else ""}),')
    if "rezero" in config.placements:
        lines.append('        "alpha": torch.zeros((), device=device, dtype=dtype, requires_grad=True),')
    return [*lines, "    }", "    for _ in range(depth)", "]"]


def _call(config: SweepConfig) -> str:
    return config.placements[0] if len(config.placements) == 1 else "PLACEMENTS[placement]"


def _values(config: SweepConfig, quantity: str) -> list[str]:
    if quantity in STREAM:
        return [f"return {STREAM[quantity]}"]
    if quantity == "loss":
        return ["return [loss.item()]"]
    if quantity == "grad_all":
        names = ", ".join(f'"{name}"' for name in matrices(config))
        return [
            f"weights = [w[name] for w in layers for name in ({names})]",
            "squares = [g.cpu().double().square().sum().item() for g in torch.autograd.grad(loss, weights)]",
            "return [sum(squares) ** 0.5]",
        ]
    name = quantity.removeprefix("grad_")
    return [
        f'gradients = torch.autograd.grad(loss, [w["{name}"] for w in layers])',
        "return [g.cpu().double().norm().item() for g in gradients]",
    ]


def _test(config: SweepConfig, names: Collection[str]) -> str | None:
    """A condition that holds for the chosen placements among `names`; "" where none is, None where all are."""
    inside = [name for name in config.placements if name in names]
    outside = [name for name in config.placements if name not in names]
    if not inside or not outside:
        return None if inside else ""
    few, negation = (inside, "") if len(inside) <= len(outside) else (outside, "not ")
    if len(few) == 1:
        return f'placement {"!=" if negation else "=="} "{few[0]}"'
    return f"placement {negation}in ({', '.join(map(_quoted, few))})"


def _conditional(config: SweepConfig, statement: str, names: Collection[str]) -> list[str]:
    """A statement for the placements in `names`, without a condition where it is true of all or of none."""
    test = _test(config, names)
    if test == "":
        return []
    return [statement] if test is None else [f"if {test}:", f"    {statement}"]


def _quoted(text: str) -> str:
    return f'"{text}"'
