"""What does a wiring do? Its function is run with recording stand-ins, so that no picture of it is drawn by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from normviz.placements.record import Function, Placement
from normviz.placements.wirings import At, enter, leave


@dataclass(frozen=True, eq=False)
class Node:
    """A recording stand-in: what a wiring did, as an expression.

    `kind` is "x" (the stream that came in), "second" (the second stream, where there are two), "sublayer" (its output;
    `inputs` holds what it read), "norm", "scale" (by `factor`), "gate" or "add". `index` counts the sublayers and the
    norms of the layer.
    """

    kind: str
    inputs: tuple[Node, ...] = ()
    index: int | None = None
    factor: float | None = None

    def __add__(self, other: Node) -> Node:
        return Node("add", (self, other))

    def __rmul__(self, factor: float) -> Node:
        return Node("scale", (self,), factor=factor)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """What one layer's wiring does, recorded while it ran.

    Attributes
    ----------
    output
        What leaves the layer, as an expression of `Node`; with two streams both, the first one first.
    between
        What the wiring of attention hands to that of the feed-forward sublayer, the residual stream first.
    reads
        What attention and the feed-forward sublayer read; each the only input of a node of kind "sublayer".
    norms
        How many norms the wiring of attention has, and that of the feed-forward sublayer. Those inside a sublayer are
        not the wiring's.
    identity_norms
        Which of a layer's norms, counted from 0 in call order, sit on the identity path: the stream reaches the output
        through them without passing a sublayer.
    """

    output: tuple[Node, ...]
    between: tuple[Node, ...]
    reads: tuple[Node, Node]
    norms: tuple[int, int]
    identity_norms: tuple[int, ...]


def trace(placement: Placement, *, layer: int = 1, depth: int = 1) -> Trace:
    """Run a placement's functions for one layer with recording stand-ins and read off the wiring.

    Raises
    ------
    ValueError
        If a function does not yield exactly once.
    """
    return trace_wirings(
        placement.attention, placement.feed_forward, two_streams=placement.two_streams, layer=layer, depth=depth
    )


def trace_wirings(
    attention: Function, feed_forward: Function, *, two_streams: bool = False, layer: int = 1, depth: int = 1
) -> Trace:
    """`trace` of any two wiring functions; with `two_streams` they start from a pair.

    Raises
    ------
    ValueError
        If a function does not yield exactly once.
    """
    norms: list[Node] = []
    reads: list[Node] = []
    counts = []
    between: tuple[Node, ...] = ()

    def norm(x: Node) -> Node:
        norms.append(Node("norm", (x,), len(norms)))
        return norms[-1]

    at = At(norm=norm, gate=lambda x: Node("gate", (x,)), layer=layer, depth=depth)
    state: Any = (Node("x"), Node("second")) if two_streams else Node("x")
    for wiring in (attention, feed_forward):
        before = len(norms)
        steps, read = enter(wiring, state, at)
        state = leave(steps, Node("sublayer", (read,), len(reads)))
        reads.append(read)
        counts.append(len(norms) - before)
        between = between or (state if isinstance(state, tuple) else (state,))
    output = state if two_streams else (state,)
    on_path = {node.index for node in identity_nodes(output[0]) if node.kind == "norm"}
    return Trace(
        output=output,
        between=between,
        reads=(reads[0], reads[1]),
        norms=(counts[0], counts[1]),
        identity_norms=tuple(sorted(index for index in on_path if index is not None)),
    )


def ordered(output: tuple[Node, ...]) -> tuple[Node, ...]:
    """Every node that `output` is made of, once, each after its inputs."""
    found: dict[Node, None] = {}

    def add(node: Node) -> None:
        if node not in found:
            for child in node.inputs:
                add(child)
            found[node] = None

    for node in output:
        add(node)
    return tuple(found)


def identity_nodes(node: Node) -> list[Node]:
    """The nodes between a stream that came in and `node`, not looking into a sublayer; empty where there is none."""
    if node.kind in ("x", "second"):
        return [node]
    if node.kind == "sublayer":
        return []
    below = [found for child in node.inputs for found in identity_nodes(child)]
    return [node, *below] if below else []
