"""How is each placement written by hand, as plain lines of a script?

The lines say again what `normviz.placements` says, for readers who have no normviz; the tests hold the two together.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def _alike(line: str) -> str:
    """A line for attention, and the same for the feed-forward sublayer; `f` stands for the sublayer."""
    return f"x = {line.replace('f(', 'attention(w, ')}\nreturn {line.replace('f(', 'feed_forward(w, ')}"


_POST, _PRE, _SANDWICH = _alike("norm(x + f(x))"), _alike("x + f(norm(x))"), _alike("x + norm(f(norm(x)))")

LAYERS: Mapping[str, str] = MappingProxyType(
    {
        "post_norm": _POST,
        "pre_norm": _PRE,
        "sandwich_norm": _SANDWICH,
        "output_norm": _alike("x + norm(f(x))"),
        "no_norm": _alike("x + f(x)"),
        "deep_norm": "alpha = (2 * depth) ** 0.25\n" + _alike("norm(alpha * x + f(x))"),
        "layer_norm_scaling": "scale = 1 / math.sqrt(layer)\n" + _alike("x + f(scale * norm(x))"),
        "sub_ln": _alike("x + f(norm(x), inner=norm)"),
        "rezero": _alike('x + w["alpha"] * f(x)'),
        "mix_ln": "if layer <= depth // 4:\n" + "".join(f"    {line}\n" for line in _POST.splitlines()) + _PRE,
        "b2t": "h = norm(x + attention(w, x))\nreturn norm(x + h + feed_forward(w, h))",
        "resi_dual": "p, d = x\n"
        "y = attention(w, p)\n"
        "p, d = norm(p + y), d + y\n"
        "y = feed_forward(w, p)\n"
        "return norm(p + y), d + y",
        "hybrid_norm": "x = norm(x + attention(w, x, per_head=norm))\nreturn x + feed_forward(w, x)",
        "keel": "alpha = 2 * depth\n" + _alike("norm(alpha * x + f(norm(x)))"),
        "peri_ln": _SANDWICH,
        "parallel": "h = norm(x)\nreturn x + attention(w, h) + feed_forward(w, h)",
    }
)
"""Placement -> the body of `layer(w, x, layer, depth)`: one layer with the weights w."""

INIT_SCALES: Mapping[str, str] = MappingProxyType(
    {"deep_norm": "(8 * depth) ** -0.25", "sub_ln": "math.sqrt(math.log(2 * depth))"}
)
"""Placement -> what W_V, W_O, W_1, W_2 and W_G are multiplied with at initialization."""

NORMS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "layer_norm": ("LayerNorm", "F.layer_norm(x, x.shape[-1:], eps=eps)"),
        "rms_norm": ("RMSNorm", "F.rms_norm(x, x.shape[-1:], eps=eps)"),
        "dyt": ("Dynamic Tanh", "torch.tanh(0.5 * x)"),
        "none": ("No norm", "x"),
    }
)
"""Norm -> its name and its expression."""

ACTIVATIONS: Mapping[str, str] = MappingProxyType(
    {
        "relu": 'F.relu(x @ w["w1"])',
        "gelu": 'F.gelu(x @ w["w1"])',
        "swiglu": 'F.silu(x @ w["wg"]) * (x @ w["w1"])',
    }
)
"""Activation -> what is between the feed-forward sublayer's matrices."""
