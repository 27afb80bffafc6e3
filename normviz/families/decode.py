"""Whose checkpoint is it, and what is each of its norms for? What the names do not tell is said, not guessed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod
from types import MappingProxyType
from typing import Any

from normviz.families.listing import Listing, aside
from normviz.families.match import WRAPPERS, Fit, fit
from normviz.families.names import Names
from normviz.families.record import Family
from normviz.families.signs import SIGNS
from normviz.families.table import FAMILIES
from normviz.text import N_

_SCANTY = 3
"""Names of norms: fewer, of one layer, are surely a part of a list."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """A sentence with its values: an English message for `normviz.text.Text`."""

    message: str
    values: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def __str__(self) -> str:
        return self.message.format(**self.values)


@dataclass(frozen=True, kw_only=True)
class FoundNorm:
    """A key that was understood: its role in the first candidate, its layer (None outside), its shape if given."""

    key: str
    role: str
    layer: int | None
    shape: tuple[int, ...] | None


@dataclass(frozen=True, kw_only=True)
class Decoded:
    """What the names of a checkpoint tell.

    Attributes
    ----------
    candidates
        Ids of `FAMILIES`, best first; none where no family of the table has such names, or where the names are too
        few to tell.
    possible
        Where they are too few: the families that have all of them, fewest other norms first.
    why
        What led to them.
    n_layers
        Layers, of each stack; 0 without a candidate.
    found
        The norms, in the order in which they were given; where there is no candidate, those that have the same role
        in all possible families.
    parameters
        Of all norms that were found; None where a shape is not known.
    missing
        Names that the first candidate should have.
    unexpected
        Keys of norms that the first candidate does not have, while others in the table do.
    ambiguous
        What the names do not tell, and why.
    unknown
        Keys that sound like a norm's and that no family of the table has.
    elsewhere
        Keys of norms in other parts of the model: vision, audio, extra heads.
    other
        Keys that are no norms.
    """

    candidates: tuple[str, ...]
    why: tuple[Said, ...]
    n_layers: int
    found: tuple[FoundNorm, ...]
    parameters: int | None
    missing: tuple[str, ...]
    unexpected: tuple[str, ...]
    ambiguous: tuple[Said, ...]
    unknown: tuple[str, ...]
    elsewhere: tuple[str, ...]
    other: int
    possible: tuple[str, ...] = ()


def decode(names: Names) -> Decoded:
    """Find the families whose norms have these names, and the role of each norm.

    Names are compared with every family of the table; what stands before them ("language_model.", "module.") does not
    matter. Where norms alone do not decide, the other keys do: those of biases, experts, fused matrices.

    Parameters
    ----------
    names
        What `read_names` read.

    Raises
    ------
    InputError
        If there are more different names of norms than a checkpoint can have.
    """
    listing = Listing(names)
    every = [one for family in FAMILIES.values() if (one := fit(family, listing))]
    fits = [one for one in every if one.cost < float("inf")]
    # Where a family has just these norms, other keys do not speak for one that should have more of them in each layer.
    given = any(one.complete for one in fits)
    pool = [one for one in fits if one.signed and not (given and one.absent)] or [one for one in fits if one.found]
    pool.sort(key=lambda one: one.cost)  # stable: the table's order where names do not tell
    few = _few(pool, every, listing)
    if len(few) > 1:
        return _too_few(few, listing)
    pool = few or [one for one in pool if not one.thin]
    if not pool:
        return _nothing(listing)
    best = pool[0]
    if best.otherwise_wired and listing.has_matrices:
        return _nothing(listing, best)
    chosen = [one for one in pool if one is best or one.cost - best.cost < 1e-9]
    if not best.missing and not best.unexpected:
        chosen += [one for one in pool[len(chosen) :] if _lacks_only_final(one)]
    alike = [one for one in fits if one.cost - best.cost < 1e-9]
    shapes = names.shapes
    found = tuple(
        FoundNorm(key=key, role=best.found[key][0].role, layer=best.found[key][1].layer, shape=shapes.get(key))
        for key in names.keys
        if key in best.found
    )
    counted = all(one.shape is not None for one in found)
    known = [key for key in best.unexpected if _leaf(key) in _LEAVES]
    return Decoded(
        candidates=tuple(one.family.id for one in chosen),
        why=tuple(_why(best, chosen, alike, listing)),
        n_layers=best.n_layers,
        found=found,
        parameters=sum(prod(one.shape) for one in found if one.shape is not None) if counted else None,
        missing=best.missing,
        unexpected=tuple(known),
        ambiguous=tuple(_ambiguous(best, chosen, listing)),
        unknown=tuple(key for key in best.unexpected if _leaf(key) not in _LEAVES),
        elsewhere=_elsewhere(listing, best.found),
        other=listing.other,
    )


def _few(pool: list[Fit], every: list[Fit], listing: Listing) -> list[Fit]:
    """The families that have all given norms, if these are too few to tell one; else none."""
    one_layer = len({key.layer for keys in listing.modules.values() for key in keys if key.layer is not None}) < 2
    scanty = one_layer and not listing.has_matrices and len(listing.modules) < _SCANTY
    if pool and not (pool[0].thin or scanty):
        return []
    whole = [one for one in every if one.found and not one.unexpected]
    whole = [one for one in whole if not one.foreign and not one.odd_widths] or whole
    return sorted(whole, key=lambda one: len(one.missing))


def _too_few(few: list[Fit], listing: Listing) -> Decoded:
    found = [
        FoundNorm(key=key, role=site.role, layer=read.layer, shape=listing.names.shapes.get(key))
        for key, (site, read) in few[0].found.items()
        if all(key in one.found and one.found[key][0].role == site.role for one in few)
    ]
    why = _said(
        N_("Too few names to tell: {n} families of the table have norms with these names: {families}."),
        n=len(few),
        families=_labels(few),
    )
    return Decoded(
        candidates=(),
        possible=tuple(one.family.id for one in few),
        why=(why, *_about_list(few[0], listing)),
        n_layers=few[0].n_layers,
        found=tuple(found),
        parameters=None,
        missing=(),
        unexpected=(),
        ambiguous=tuple(_stem(few[0])),
        unknown=(),
        elsewhere=_elsewhere(listing, few[0].found),
        other=listing.other,
    )


def _nothing(listing: Listing, closest: Fit | None = None) -> Decoded:
    norms = [key.key for keys in listing.modules.values() for key in keys]
    strange = [key for key in norms if not aside(key) and (closest is None or key not in closest.found)]
    if closest is not None:
        why = [
            _said(
                N_("{family} comes closest, but none of the layers has its {names}: it is a model with other norms."),
                family=closest.family.label,
                names=", ".join(_leaf(site.name) for site in closest.otherwise_wired),
            )
        ]
        why += [_not_understood(len(strange))] if strange else []
    elif strange:
        why = [_said(N_("No family of the table has norms with all these names.")), _not_understood(len(strange))]
    elif norms:
        why = [_said(N_("All norms are those of other parts of the model, such as vision or audio."))]
    else:
        why = [
            _said(N_("No key sounds like a norm's, and a family that stores no norms has other keys, or more of them."))
        ]
    return Decoded(
        candidates=(),
        why=tuple(why),
        n_layers=0,
        found=(),
        parameters=None,
        missing=(),
        unexpected=(),
        ambiguous=(),
        unknown=tuple(strange),
        elsewhere=_elsewhere(listing, closest.found if closest else {}),
        other=listing.other,
    )


def _not_understood(n: int) -> Said:
    return _said(N_("Names of norms that are not understood: {n}. It may be a model that is not in the table."), n=n)


def _why(best: Fit, chosen: list[Fit], alike: list[Fit], listing: Listing) -> Iterable[Said]:
    if best.unexpected:
        yield _not_understood(len(best.unexpected))
    if not best.found:
        yield _said(
            N_(
                "No key belongs to a norm: the norms of {families} have neither weight nor bias. If it is another "
                "model, its norms were left out of the list."
            ),
            families=_labels(chosen),
        )
    elif len(alike) > len(chosen):
        message = (
            N_("Norms with these names are in {alike}; other keys, such as {keys}, leave {left}.")
            if any(one.signs for one in alike)
            else N_("Norms with these names are in {alike}; the lengths of q_norm and k_norm leave {left}.")
        )
        keys = ", ".join(SIGNS[best.family.id][0])
        yield _said(message, alike=_labels(alike), left=_labels(chosen), keys=keys)
    elif best.thin or best.cost == float("inf"):
        yield _said(
            N_("Only {family} in the table has norms with these names; many of its names are missing."),
            family=best.family.label,
        )
    elif len(chosen) == 1 and best.complete:
        yield _said(N_("Only {family} in the table has norms with exactly these names."), family=best.family.label)
    elif len(chosen) == 1:
        yield _said(
            N_(
                "{family} comes closest; names of its norms that are missing: {missing}, others than its own: "
                "{unexpected}."
            ),
            family=best.family.label,
            missing=len(best.missing),
            unexpected=len(best.unexpected),
        )
    if best.missing and (len(chosen) > 1 or len(alike) > len(chosen)):
        yield _said(
            N_("Names that are missing: {n}. If only a part of the keys was given, other families may fit too."),
            n=len(best.missing),
        )
    yield from _about_list(best, listing)


def _about_list(best: Fit, listing: Listing) -> Iterable[Said]:
    if best.silent:
        yield _said(
            N_("Layers {layers} have no key at all: the list may be that of one file of several."),
            layers=_ranges(best.silent),
        )
    if listing.names.repeated:
        yield _said(N_("Names that were given more than once: {n}."), n=len(listing.names.repeated))


def _ambiguous(best: Fit, chosen: list[Fit], listing: Listing) -> Iterable[Said]:
    if not best.signed:
        yield _said(
            N_(
                "The norms are named as in {families}, but other keys or shapes do not fit, such as {keys}: it may be "
                "a model that is not in the table."
            ),
            families=_labels(chosen),
            keys=", ".join(sign.strip("|") for sign in (best.signs + best.odd_widths)[:3]),
        )
    if len(chosen) > 1:
        families = [one.family for one in chosen]
        yield _said(
            N_("{families} have the same names for these keys: the model_type of the config tells, not the names."),
            families=_labels(chosen),
        )
        yield from _differences(families)
        if not listing.other:
            yield _said(N_("Only norms were given: the names of the matrices could leave fewer families."))
    yield from _stem(best)
    if best.family.by_config:
        yield _said(best.family.by_config)


def _stem(best: Fit) -> Iterable[Said]:
    stem = [part for part in best.prefix.split(".") if part and part not in WRAPPERS]
    if stem:
        yield _said(
            N_('The names stand under "{stem}", which no family of the table has: it may be another model.'),
            stem=".".join(stem),
        )


def _differences(families: list[Family]) -> Iterable[Said]:
    """What goes wrong when one of the families is taken for another."""
    centred = [family.label for family in families if family.form == "1+w"]
    if centred and len(centred) < len(families):
        yield _said(
            N_("What multiplies is 1 + w in {centred} and w in the others: no name shows it."),
            centred=", ".join(centred),
        )
    if len({family.placement for family in families}) > 1:
        yield _said(N_("Their norms sit at different places, under the same names."))
    if len({family.qk_norm for family in families if family.qk_norm}) > 1:
        yield _said(N_("The shapes of q_norm and k_norm would tell: of one head, or of all heads together."))
    eps = {family.eps for family in families}
    if len(eps) > 1:
        yield _said(
            N_("Their configs have different eps: {values}."), values=", ".join(f"{value:g}" for value in sorted(eps))
        )


def _lacks_only_final(one: Fit) -> bool:
    finals = {site.name.rpartition(".")[2] for site in one.family.sites if site.role == "final"}
    return (
        bool(one.found)
        and not one.unexpected
        and all(_leaf(name) in finals and not any(part.isdecimal() for part in name.split(".")) for name in one.missing)
    )


def _elsewhere(listing: Listing, found: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        key.key for module, keys in listing.modules.items() if aside(module) for key in keys if key.key not in found
    )


def _said(message: str, **values: Any) -> Said:
    return Said(message=message, values=MappingProxyType(values))


def _labels(fits: Iterable[Fit]) -> str:
    return ", ".join(one.family.label for one in fits)


def _leaf(key: str) -> str:
    """The name of a key's module, without where it is."""
    parts = [part for part in key.split(".") if part not in ("weight", "bias", "gamma", "beta")]
    return parts[-1] if parts else key


_LEAVES = frozenset(_leaf(site.name) for family in FAMILIES.values() for site in family.sites)


def _ranges(layers: tuple[int, ...]) -> str:
    """Layers as ranges: 0-3, 7."""
    runs: list[list[int]] = []
    for layer in layers:
        if runs and layer == runs[-1][1] + 1:
            runs[-1][1] = layer
        else:
            runs.append([layer, layer])
    return ", ".join(str(a) if a == b else f"{a}\u2013{b}" for a, b in runs)
