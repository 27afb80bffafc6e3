"""How are a model's norm, sublayers and layers written in a script without normviz?"""

from __future__ import annotations

from textwrap import indent

from normviz.depth.config import SweepConfig
from normviz.placements import PLACEMENTS
from normviz.snippets.wirings import ACTIVATIONS, LAYERS, NORMS


def blocks(config: SweepConfig) -> list[str]:
    """Functions `norm`, `attention`, `feed_forward`, and one for a layer of each chosen placement."""
    return [_norm(config), _attention(config), _feed_forward(config), *map(_layer, config.placements)]


def _norm(config: SweepConfig) -> str:
    name, expression = NORMS[config.norm]
    return f'def norm(x):\n    """{name}, as it is before training."""\n    return {expression}'


def _attention(config: SweepConfig) -> str:
    inner, per_head = _parameters(config)
    body: list[str] = []
    if config.attention == "uniform":
        body += ['"""Every token attends to all tokens alike."""', 'v = x @ w["wv"]']
        if per_head:
            body += ["if per_head:", "    v = per_head(v.unflatten(-1, (n_heads, -1))).flatten(-2)"]
        body.append("mixed = v.mean(dim=1, keepdim=True).expand_as(v)")
    else:
        causal = config.attention == "causal"
        seen = "the tokens up to it" if causal else "all tokens"
        body += [
            f'"""Each token attends to {seen}, in n_heads heads."""',
            'q, k, v = x @ w["wq"], x @ w["wk"], x @ w["wv"]',
        ]
        if config.qk_norm:
            body.append(
                "q, k = (F.rms_norm(h, (d_model,), eps=eps) for h in (q, k))  # QK-norm, before the heads split"
            )
        body.append("q, k, v = (h.unflatten(-1, (n_heads, -1)).transpose(1, 2) for h in (q, k, v))")
        if per_head:
            body += ["if per_head:", "    q, k, v = per_head(q), per_head(k), per_head(v)"]
        body.append("scores = q / math.sqrt(q.shape[-1]) @ k.mT")
        if causal:
            body += [
                "future = torch.ones(seq_len, seq_len, dtype=torch.bool, device=device).triu(1)",
                "scores = scores.masked_fill(future, -math.inf)",
            ]
        body.append("mixed = (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(-2)")
    if inner:
        body += ["if inner:", "    mixed = inner(mixed)"]
    body.append('return mixed @ w["wo"]' if config.output_projection else "return mixed")
    return f"def attention(w, x{per_head}{inner}):\n" + indent("\n".join(body), "    ")


def _feed_forward(config: SweepConfig) -> str:
    inner, _ = _parameters(config)
    body = [f"h = {ACTIVATIONS[config.activation]}"]
    if inner:
        body += ["if inner:", "    h = inner(h)"]
    body.append('return h @ w["w2"]')
    return f"def feed_forward(w, x{inner}):\n" + indent("\n".join(body), "    ")


def _parameters(config: SweepConfig) -> tuple[str, str]:
    """What attention and the feed-forward sublayer take besides weights and input, for the chosen placements."""
    chosen = [PLACEMENTS[name] for name in config.placements]
    inner = ", inner=None" if any(placement.inner_norm for placement in chosen) else ""
    per_head = ", per_head=None" if any(placement.qkv_norm for placement in chosen) else ""
    return inner, per_head


def _layer(name: str) -> str:
    placement = PLACEMENTS[name]
    docstring = f'"""{placement.label} (arXiv:{placement.source}), layer number `layer` of `depth`."""'
    return f"def {name}(w, x, layer, depth):\n" + indent(f"{docstring}\n{LAYERS[name]}", "    ")


def matrices(config: SweepConfig) -> dict[str, str]:
    """The matrices of a layer and their sizes, in the order in which they are drawn."""
    found = dict.fromkeys(("wq", "wk", "wv", "wo"), "d_model, d_model")
    found |= {"w1": "d_model, d_ff", "w2": "d_ff, d_model", "wg": "d_model, d_ff"}
    if config.attention == "uniform":
        del found["wq"], found["wk"]
    if not config.output_projection:
        del found["wo"]
    if config.activation != "swiglu":
        del found["wg"]
    return found
