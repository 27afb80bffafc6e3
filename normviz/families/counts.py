"""How many parameters do all the norms of a model have?"""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from reprlib import repr as shown
from typing import Any

from normviz.errors import InputError
from normviz.families.record import Family, NormSite

MOST_LAYERS, WIDEST = 10_000, 10_000_000
"""Ten times and more beyond any published model."""

_WIDTHS = {
    "d": ("d_model",),
    "head": ("head_dim",),
    "heads": ("n_heads", "head_dim"),
    "kv_heads": ("n_kv_heads", "head_dim"),
    "q_rank": ("q_rank",),
    "kv_rank": ("kv_rank",),
    "value_head": ("value_head",),
    "per_layer_input": ("per_layer_input",),
}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The sizes of a model that its norms depend on; 0 where the family has no such thing.

    Attributes
    ----------
    n_layers
        Layers, at least 1; of each stack where there are two.
    d_model
        Width of the stream, at least 1.
    n_heads, n_kv_heads, head_dim
        Query heads, key heads, entries of a head.
    q_rank, kv_rank
        Entries of the compressed queries, and of the compressed keys and values.
    value_head
        Entries of a value head of linear attention.
    per_layer_input
        Entries of the extra embedding that each layer of Gemma 3n and 4 gets.
    attention_layers
        Layers with softmax attention in a family that has linear attention too; 0 for one in four.
    shared_key_layers
        Layers that take over the keys of a lower one.

    Raises
    ------
    InputError
        If a size is no whole number, negative, 0 where there must be something, or beyond any model.
    """

    n_layers: int
    d_model: int
    n_heads: int = 0
    n_kv_heads: int = 0
    head_dim: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    value_head: int = 0
    per_layer_input: int = 0
    attention_layers: int = 0
    shared_key_layers: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            name = field.name
            least = 1 if name in ("n_layers", "d_model") else 0
            most = self.n_layers if name in ("attention_layers", "shared_key_layers") else WIDEST
            _whole(getattr(self, name), name, least, MOST_LAYERS if name == "n_layers" else most)


@dataclass(frozen=True, kw_only=True)
class Count:
    """The parameters of all norms of a model.

    Attributes
    ----------
    total, per_layer, outside
        Parameters of all norms, of those in one layer (one that has them all; the two layers of a pair where there are
        two stacks), and of those outside the layers.
    norms
        How many norms there are, with or without parameters.
    formula
        LaTeX: the sum with its numbers.
    """

    total: int
    per_layer: int
    outside: int
    norms: int
    formula: str


def sizes_needed(family: Family) -> tuple[str, ...]:
    """The fields of `Sizes` that the family's count depends on, in their order."""
    needed = {"n_layers", "d_model"}
    for site in _counted(family):
        needed |= {*_WIDTHS[site.width]} if site.has_weight else set()
        needed |= {"attention_layers"} if site.layers in ("attention", "linear") else set()
        needed |= {"shared_key_layers"} if site.layers == "own_keys" else set()
    return tuple(field.name for field in fields(Sizes) if field.name in needed)


def norm_parameters(family: Family, sizes: Sizes) -> Count:
    r"""Parameters of all norms that the family's default config has.

    $\sum_s n_s\,w_s\,(1+b_s)$ over the sites s with $n_s$ occurrences, width $w_s$ and a bias ($b_s=1$) or none; for a
    family with two LayerNorms a layer and a final one $(2L+1)\cdot d\cdot2$. All heads are taken as equally wide; those
    of Gemma 4 are wider in its layers with full attention.

    Raises
    ------
    InputError
        If a size that the family needs is 0, with its name.
    """
    for name in sizes_needed(family):
        optional = name in ("attention_layers", "shared_key_layers") or (
            name == "per_layer_input" and all(s.layers in ("per_layer_input", "once") for s in _extra(family))
        )
        if not optional:
            _whole(getattr(sizes, name), name, 1, WIDEST)
    total = per_layer = outside = norms = 0
    terms: dict[tuple[int, int], list[tuple[NormSite, int]]] = {}
    for site in _counted(family):
        times = occurrences(site, sizes)
        size = site_parameters(site, sizes)
        norms += times
        total += times * size
        if site.layers == "once":
            outside += times * size
        elif times and site.layers != "linear":
            per_layer += size
        if times and size:
            width = prod(getattr(sizes, name) for name in _WIDTHS[site.width])
            terms.setdefault((width, 1 + site.bias), []).append((site, times))
    return Count(total=total, per_layer=per_layer, outside=outside, norms=norms, formula=_formula(terms, sizes, total))


def occurrences(site: NormSite, sizes: Sizes) -> int:
    """How often a norm occurs in a model of these sizes; norms that stand for each head count once a layer."""
    layers = sizes.n_layers
    attention = sizes.attention_layers or layers // 4
    extra = site.width == "per_layer_input" and not sizes.per_layer_input
    return {
        "once": 0 if extra else 1,
        "all": layers,
        "not_first": layers - 1,
        "attention": attention,
        "linear": layers - attention,
        "rope": layers - layers // 4,
        "own_keys": layers - sizes.shared_key_layers,
        "per_layer_input": layers if sizes.per_layer_input else 0,
    }[site.layers]


def site_parameters(site: NormSite, sizes: Sizes) -> int:
    """Parameters of one occurrence of a norm."""
    width = prod(getattr(sizes, name) for name in _WIDTHS[site.width])
    return width * (1 + site.bias) if site.has_weight else 0


def _counted(family: Family) -> list[NormSite]:
    return [site for site in family.sites if not site.optional]


def _extra(family: Family) -> list[NormSite]:
    return [site for site in family.sites if "per_layer_input" in (site.width, site.layers)]


def _formula(terms: dict[tuple[int, int], list[tuple[NormSite, int]]], sizes: Sizes, total: int) -> str:
    parts = []
    for (width, factor), sites in terms.items():
        counts: dict[int, int] = {}
        single = 0
        for site, times in sites:
            if site.layers == "once":
                single += times
            else:
                counts[times] = counts.get(times, 0) + 1
        inner = [rf"{many}\cdot{times}" if many > 1 else str(times) for times, many in counts.items()]
        inner += [str(single)] if single else []
        number = inner[0] if len(inner) == 1 else f"({'+'.join(inner)})"
        parts.append(rf"{number}\cdot{width}" + (r"\cdot2" if factor == 2 else ""))
    return f"{'+'.join(parts)}={total:,}".replace(",", "{,}") if parts else "0"


def _whole(value: Any, field: str, least: int, most: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InputError(
            "{field} is a whole number from {low} to {high}; got {got}",
            field=field,
            low=least,
            high=most,
            got=shown(value),
        )
