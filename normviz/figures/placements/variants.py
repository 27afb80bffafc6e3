"""Which diagrams does a placement or a family have, where its layers are not all wired alike?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from normviz.families import Family
from normviz.figures.placements.diagram import DEPTH, Diagram, diagram
from normviz.figures.words import spaced
from normviz.placements import PLACEMENTS, Placement, ordered, trace_wirings
from normviz.placements.record import Function
from normviz.text import Text

_INSIDE = ("q_latent", "q", "kv_latent", "k", "v")
"""Roles of norms inside attention."""


def placement_diagrams(
    placement: Placement, *, names: Mapping[str, str] | None = None, depth: int = DEPTH, t: Text, mode: str
) -> tuple[Diagram, ...]:
    """The diagrams of a placement: one for each stretch of its layers that are wired alike (Mix-LN has two).

    Parameters
    ----------
    placement
        One of `normviz.placements.PLACEMENTS`, or another.
    names, t, mode
        As in `normviz.figures.placements.diagram.diagram`.
    depth
        Number of layers of the model; of each stretch the highest layer is drawn.

    Raises
    ------
    ValueError
        If a wiring does not yield exactly once.
    """
    return _drawn(
        (placement.attention, placement.feed_forward),
        label=t(placement.label),
        name=placement.id,
        knows_depth=placement.knows_depth,
        embedding_norm=placement.embedding_norm,
        final_norm=placement.final_norm,
        depth=depth,
        two_streams=placement.two_streams,
        inner_norm=placement.inner_norm,
        qkv_norm=("q", "k", "v") if placement.qkv_norm else (),
        names=names,
        placement=placement.id,
        t=t,
        mode=mode,
    )


def family_diagrams(family: Family, *, depth: int = DEPTH, t: Text, mode: str) -> tuple[Diagram, ...]:
    """The diagrams of a family, with the names of its modules: one for each stretch of layers that are wired alike.

    Cross-attention, and norms on paths beside the two sublayers (role "other"), are left out. The colour is that of the
    family's placement.
    """
    return _drawn(
        (family.attention, family.feed_forward),
        label=family.label,
        name=family.id,
        embedding_norm=family.embedding_norm,
        final_norm=family.final_norm,
        depth=depth,
        qkv_norm=tuple(role for role in _INSIDE if role in family.names),
        names=family.names,
        gate=t(family.gate) if family.gate else "",
        placement=family.placement if family.placement in PLACEMENTS else "parallel",
        t=t,
        mode=mode,
    )


def _drawn(
    wirings: tuple[Function, Function],
    *,
    label: str,
    name: str,
    knows_depth: bool = False,
    embedding_norm: bool,
    final_norm: bool,
    depth: int,
    two_streams: bool = False,
    t: Text,
    **more: Any,
) -> tuple[Diagram, ...]:
    layers = [_wiring(wirings, two_streams, layer, depth) for layer in range(1, depth + 1)]
    stretches = _stretches(layers)
    made = []
    for first, last in stretches:
        words = {"name": label, "first": first, "last": last, "depth": depth}
        whole = (first, last) == (1, depth)
        if first == last != depth:
            title = t("{name}, layer {last} of {depth}", **words)
        elif not whole:
            title = t("{name}, layers {first} to {last} of {depth}", **words)
        elif layers[0] != layers[-1]:
            title = t("{name}, layer {last} of {depth}", **words)
        else:
            title = t("{name}, {depth} layers", **words) if knows_depth else label
        made.append(
            diagram(
                *wirings,
                two_streams=two_streams,
                embedding_norm=embedding_norm and first == 1,
                final_norm=final_norm and last == depth,
                name=f"normviz-wiring-{name}".replace("_", "-") + ("" if whole else f"-{first}"),
                title=spaced(title),
                note="× L" if whole else f"× {last - first + 1}",
                ends=(_others(1, first - 1, t), _others(last + 1, depth, t)),
                layer=last,
                depth=depth,
                t=t,
                **more,
            )
        )
    return tuple(made)


def _others(first: int, last: int, t: Text) -> str:
    """What the layers below or above are called, if there are any."""
    if first > last:
        return ""
    return spaced(
        t("layer {last}", last=last) if first == last else t("layers {first} to {last}", first=first, last=last)
    )


_Step = tuple[str, tuple[int, ...], float | None]


def _stretches(layers: list[list[_Step]]) -> list[tuple[int, int]]:
    """First and last of the layers, from 1, that are wired alike, whatever their factors."""
    wired = [[(kind, inputs) for kind, inputs, _ in steps] for steps in layers]
    starts = [layer for layer in range(1, len(wired) + 1) if layer == 1 or wired[layer - 1] != wired[layer - 2]]
    return list(zip(starts, [*(start - 1 for start in starts[1:]), len(wired)], strict=True))


def _wiring(wirings: tuple[Function, Function], two_streams: bool, layer: int, depth: int) -> list[_Step]:
    """What a layer does, step by step: what kind of step, on which earlier ones, with which factor."""
    nodes = ordered(trace_wirings(*wirings, two_streams=two_streams, layer=layer, depth=depth).output)
    return [(node.kind, tuple(nodes.index(child) for child in node.inputs), node.factor) for node in nodes]
