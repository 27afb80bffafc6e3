"""How well do the names of a checkpoint fit one family?"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from normviz.families.listing import Key, Listing, aside
from normviz.families.record import Family, NormSite
from normviz.families.signs import SIGNS

_PAIR = {"q": "k", "k": "q"}
_BASES = ("model.", "transformer.", "bert.", "roberta.", "gpt_neox.")

WRAPPERS = frozenset(
    {"model", "module", "base_model", "language_model", "text_model", "llm", "_orig_mod", "_fsdp_wrapped_module"}
    | {"transformer", "bert", "roberta", "gpt_neox", "text_encoder", "backbone"}
)
"""What stands before the names of a model that is part of another one, or wrapped for training."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """A family beside a listing.

    Attributes
    ----------
    family
        The family.
    prefix
        What stands before its names in the listing, where they start otherwise ("language_model.").
    found
        Key -> its norm.
    missing
        Names that should be there.
    absent
        Norms of a layer that are in no layer.
    thin
        Whether at least half of the family's norms are not there at all.
    unexpected
        Keys of norms that this family does not have.
    silent
        Layers without any key, below the last one.
    n_layers
        Layers, the silent ones included.
    cost
        How much does not fit, in norms.
    signs
        Other keys that the family should have and that are not there, or the reverse.
    foreign
        Of these, the ones that are there.
    odd_widths
        Norms of queries and keys whose length is not the family's.
    """

    family: Family
    prefix: str
    found: Mapping[str, tuple[NormSite, Key]]
    missing: tuple[str, ...]
    absent: tuple[NormSite, ...]
    thin: bool
    unexpected: tuple[str, ...]
    silent: tuple[int, ...]
    n_layers: int
    cost: float
    signs: tuple[str, ...]
    foreign: tuple[str, ...]
    odd_widths: tuple[str, ...]

    @property
    def signed(self) -> bool:
        """Whether the other keys and the lengths fit; norms may be missing."""
        return not self.signs and not self.odd_widths

    @property
    def otherwise_wired(self) -> tuple[NormSite, ...]:
        """Norms that no layer of several has, though the family could not be wired without them."""
        several = self.n_layers - len(self.silent) > 1
        return tuple(site for site in self.absent if several and site.role not in _PAIR)

    @property
    def complete(self) -> bool:
        """Whether the norms are the family's, none more and none fewer."""
        return bool(self.found) and not self.missing and not self.unexpected


def fit(family: Family, listing: Listing) -> Fit | None:
    """The family beside the listing; None if nothing in it could be the family's."""
    base = next((name for name in _BASES if family.sites[0].name.startswith(name)), "")
    prefix = _prefix(family, base, listing)
    if prefix is None:
        return None
    matched: dict[NormSite, list[Key]] = {}
    strangers: list[Key] = []
    site_of = _finder(family, base, prefix)
    for module, keys in listing.modules.items():
        site = site_of(module)
        if site is not None:
            matched.setdefault(site, []).extend(keys)
        elif not aside(module):
            strangers += keys
    layers = {
        stack: listing.layers.get(prefix + container, {}) for stack, container in _containers(family, base).items()
    }
    return _judged(family, base, prefix, matched, strangers, layers, listing)


def _containers(family: Family, base: str) -> dict[str, str]:
    """Stack -> what stands before the layer's number, without the base."""
    return {
        site.stack: site.name.removeprefix(base).partition("{i}")[0] for site in family.sites if site.layers != "once"
    }


def _prefix(family: Family, base: str, listing: Listing) -> str | None:
    """What stands before the family's own names, the base included; None if nothing of it is there."""
    votes: Counter[str] = Counter()
    for container in _containers(family, base).values():
        for start, layers in listing.layers.items():
            prefix = start.removesuffix(container)
            if prefix != start and (not prefix or prefix.endswith(".")) and not aside(prefix):
                votes[prefix] += sum(map(len, layers.values()))
    if not votes:
        votes = _outside(family, base, listing)
    return max(votes, key=lambda prefix: (votes[prefix], prefix == base, -len(prefix)), default=None)


def _outside(family: Family, base: str, listing: Listing) -> Counter[str]:
    """What stands before the names of the family's norms outside the layers, where no layer is there."""
    votes: Counter[str] = Counter()
    for site in family.sites:
        if site.layers == "once" and site.has_weight and site.name.startswith(base):
            name = site.name.removeprefix(base)
            for module, keys in listing.modules.items():
                prefix = module.removesuffix(name)
                if prefix != module and all(part in WRAPPERS for part in prefix.split(".")[:-1]) and prefix[-1:] in ".":
                    votes[prefix] += len(keys)
    return votes


def _finder(family: Family, base: str, prefix: str) -> Callable[[str], NormSite | None]:
    """What tells which norm of the family a module is."""
    exact: dict[str, NormSite] = {}
    patterns: list[tuple[re.Pattern[str], NormSite]] = []
    for site in family.sites:
        if not site.has_weight:
            continue
        name = site.name.removeprefix(base)
        if name == site.name and base:  # outside the base model, under whatever the whole is called
            patterns.append((re.compile(r"(?:[\w-]+\.)*" + re.escape(name)), site))
        elif "{j}" in name:
            patterns.append((re.compile(re.escape(prefix + name).replace(r"\{j\}", r"\d+")), site))
        else:
            exact[prefix + name] = site

    def site_of(module: str) -> NormSite | None:
        found = exact.get(module)
        return found or next((site for pattern, site in patterns if pattern.fullmatch(module)), None)

    return site_of


def _judged(
    family: Family,
    base: str,
    prefix: str,
    matched: Mapping[NormSite, list[Key]],
    strangers: list[Key],
    layers: Mapping[str, dict[int, list[str]]],
    listing: Listing,
) -> Fit:
    n_layers = max((max(stack, default=-1) + 1 for stack in layers.values()), default=0)
    missing: list[str] = []
    absent: list[NormSite] = []
    cost = 0.0
    needed = lost = 0
    for site in family.sites:
        # Without any layer, one is what is missing at least.
        stack = layers.get(site.stack, {}) if n_layers else {0: []}
        if not site.has_weight or (site.optional and site.role not in _PAIR):
            continue
        if site.width == "per_layer_input" and "per_layer_model_projection." not in listing.others:
            continue
        if site.stack and not stack:
            continue  # An encoder alone is a whole checkpoint of T5.
        due = [None] if site.layers == "once" else _due(site, stack, matched)
        if site.optional:  # queries and keys are normalized together, or neither is
            due = [layer for layer in due if layer in _partner_layers(site, matched)]
        have = {(key.layer, key.parameter) for key in matched.get(site, ())}
        bare = any(not parameter for _, parameter in have)
        name = prefix + site.name.removeprefix(base) if site.name.startswith(base) else site.name
        lacking = []
        for parameter in ("weight", "bias") if site.bias else ("weight",):
            lacking += [
                name.replace("{i}", str(layer)).replace("{j}", "0") + f".{parameter}"
                for layer in due
                if (layer, parameter) not in have and not (bare and (layer, "") in have)
            ]
        missing += lacking
        if due:
            needed += 1
            if not have:
                lost += 1
                absent += [site] if site.layers != "once" else []
            cost += len(lacking) / (len(due) * (1 + site.bias))
    extra = [key for site, keys in matched.items() for key in keys if key.parameter == "bias" and not site.bias]
    unexpected = [*strangers, *extra]
    missed = cost
    strange = Counter((key.module, key.parameter == "bias") for key in unexpected)
    for (module, _), many in strange.items():
        cost += 2 * min(1.0, many / max(1, n_layers if "{i}" in module else 1))
    found = {
        key.key: (site, key) for site, keys in matched.items() for key in keys if site.bias or key.parameter != "bias"
    }
    if (needed and missed > needed / 2) or len({key.module for key in strangers}) >= max(2, len(matched)):
        cost = float("inf")
    if not needed and strangers:
        cost = float("inf")
    foreign = tuple(sign for sign in SIGNS[family.id][1] if sign in listing.others) if listing.has_matrices else ()
    return Fit(
        family=family,
        prefix=prefix,
        found=found,
        missing=tuple(missing),
        absent=tuple(absent),
        thin=bool(needed) and 2 * lost >= needed,
        unexpected=tuple(key.key for key in unexpected),
        silent=tuple(layer for layer in range(n_layers) if all(layer not in stack for stack in layers.values())),
        n_layers=n_layers,
        cost=cost,
        signs=(*_lacking_signs(family, listing), *foreign),
        foreign=foreign,
        odd_widths=_odd_widths(found, prefix, listing.names.shapes),
    )


def _due(site: NormSite, stack: Mapping[int, list[str]], matched: Mapping[NormSite, list[Key]]) -> list[int | None]:
    """The layers that should have this norm, of those that have any key."""
    due = [layer for layer in sorted(stack) if not (site.layers == "not_first" and layer == 0)]
    if site.unless:
        due = [layer for layer in due if not any(site.unless in rest for rest in stack[layer])]
    if site.layers == "per_layer_input":
        due = [
            layer for layer in due if site in matched or any("per_layer_input_gate." in rest for rest in stack[layer])
        ]
    if site.layers == "own_keys":
        # Upper layers may take over the keys of a lower one, but no layer between two that have their own.
        last = max((key.layer for key in matched.get(site, ()) if key.layer is not None), default=len(stack))
        due = [layer for layer in due if layer <= last or any("self_attn.k_proj." in rest for rest in stack[layer])]
    return [*due]


def _partner_layers(site: NormSite, matched: Mapping[NormSite, list[Key]]) -> set[int | None]:
    """The layers that have the queries' norm if this is the keys', and the reverse."""
    return {key.layer for other, keys in matched.items() if other.role == _PAIR[site.role] for key in keys}


def _lacking_signs(family: Family, listing: Listing) -> tuple[str, ...]:
    if not listing.has_matrices:
        return ()
    return tuple(sign for sign in SIGNS[family.id][0] if sign not in listing.others)


def _odd_widths(
    found: Mapping[str, tuple[NormSite, Key]], prefix: str, shapes: Mapping[str, tuple[int, ...]]
) -> tuple[str, ...]:
    """Keys of norms of queries and keys whose length is not the family's: of a head, or of all heads."""
    odd = []
    widths = {prod(shapes[key]) for key, (site, _) in found.items() if site.width == "d" and key in shapes}
    for key, (site, read) in found.items():
        if site.role not in ("q", "k") or key not in shapes or "{j}" in site.name:
            continue
        module = read.module.replace("{i}", str(read.layer))
        projection = shapes.get(module.rpartition(".")[0] + f".{site.role}_proj.weight")
        full = {projection[0]} if projection else widths if site.role == "q" else set()
        if full and (prod(shapes[key]) in full) != (site.width in ("heads", "kv_heads")):
            odd.append(key)
    return tuple(odd)
