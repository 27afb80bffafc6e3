"""Which share of a Transformer layer's operations, bytes and time belongs to its norms?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from normviz.cost.counts import norm_cost
from normviz.cost.roofline import Roof
from normviz.cost.sizes import DTYPES, LayerSizes
from normviz.text import N_

PARTS: Mapping[str, str] = MappingProxyType(
    {
        "norms": N_("norms"),
        "additions": N_("residual additions"),
        "projections": N_("query, key, value and output matrices"),
        "attention": N_("attention (scores and values)"),
        "mlp": N_("MLP matrices"),
        "activation": N_("activation function of the MLP"),
    }
)

_SOFTMAX = 5  # operations for a score: scale, subtract the largest, exponential, add, divide
_ACTIVATION = 5  # for an entry: a sigmoid's exponential, addition and division and two products, or an erf as GELU has


@dataclass(frozen=True, kw_only=True)
class Part:
    """One part of a layer: its id in `PARTS`, operations, bytes read and written, and which operations are products.

    `products` are the operations of matrix products; the others are done entry by entry.
    """

    id: str
    flops: int
    bytes: int
    products: int = 0


@dataclass(frozen=True, kw_only=True)
class LayerShare:
    """What each part of a layer costs.

    Attributes
    ----------
    sizes
        The layer.
    parts
        In the order of `PARTS`.
    """

    sizes: LayerSizes
    parts: tuple[Part, ...]

    def flops_share(self, part: str = "norms") -> float:
        """Share of the layer's operations."""
        return self._share({p.id: p.flops for p in self.parts}, part)

    def bytes_share(self, part: str = "norms") -> float:
        """Share of the bytes that move."""
        return self._share({p.id: p.bytes for p in self.parts}, part)

    def seconds(self, roof: Roof) -> Mapping[str, float]:
        """Least time of each part under a roof: that of its bytes or that of its products, whichever is longer.

        The rate of a matrix product says nothing of norms, additions, the softmax and the activation function: they are
        charged by their bytes alone.
        """
        return {p.id: max(p.bytes / roof.bandwidth, p.products / roof.rate) for p in self.parts}

    def time_share(self, roof: Roof, part: str = "norms") -> float:
        """Share of the layer's least time under a roof."""
        return self._share(self.seconds(roof), part)

    @staticmethod
    def _share(values: Mapping[str, float], part: str) -> float:
        return values[part] / sum(values.values())


def layer_share(sizes: LayerSizes) -> LayerShare:
    r"""Count a whole layer: its norms, attention, MLP and residual additions, forward.

    A product of [N, a] and [a, b] is 2Nab operations and moves its factors and its result once. Attention is one kernel
    that reads queries, keys and values and writes their means, without a matrix of scores in memory; every score is
    computed, also those that a causal mask throws away. Norms, additions and the activation function are one kernel
    each.

    Parameters
    ----------
    sizes
        The layer and the tokens.
    """
    n, s = sizes.batch * sizes.tokens, DTYPES[sizes.dtype]
    context = sizes.context or sizes.tokens
    d, inner = sizes.d_model, sizes.d_ff
    queries, keys = sizes.n_heads * sizes.head_dim, sizes.n_kv_heads * sizes.head_dim
    scores = n * context * sizes.n_heads
    norm = norm_cost(sizes.norm, n, d, sizes.dtype)
    products = ((d, queries + 2 * keys), (queries, d))
    mlp = ((d, (2 if sizes.gated else 1) * inner), (inner, d))
    found = {
        "norms": (sizes.norms * norm.flops, sizes.norms * norm.bytes),
        "additions": (2 * n * d, 2 * 3 * n * d * s),
        "projections": _products(n, products, s),
        "attention": (
            scores * (4 * sizes.head_dim + _SOFTMAX),
            (2 * n * queries + 2 * sizes.batch * context * keys) * s,
        ),
        "mlp": _products(n, mlp, s),
        "activation": (_ACTIVATION * n * inner, (3 if sizes.gated else 2) * n * inner * s),
    }
    by_product = {name: found[name][0] for name in ("projections", "mlp")}
    by_product["attention"] = scores * 4 * sizes.head_dim
    return LayerShare(
        sizes=sizes,
        parts=tuple(
            Part(id=name, flops=found[name][0], bytes=found[name][1], products=by_product.get(name, 0))
            for name in PARTS
        ),
    )


def _products(n: int, shapes: tuple[tuple[int, int], ...], s: int) -> tuple[int, int]:
    flops = sum(2 * n * a * b for a, b in shapes)
    return flops, sum((n * a + a * b + n * b) * s for a, b in shapes)
