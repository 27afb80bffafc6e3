"""Which boxes does a wiring have, what does each read, and which of them lie on the identity path?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from normviz.placements import Node, Trace, identity_nodes, ordered

STREAM, BRANCH, SECOND = "stream", "branch", "second"


@dataclass(frozen=True, kw_only=True)
class Part:
    """One box of a diagram.

    Attributes
    ----------
    id
        Unique in the diagram: "norm0", "attention", "feed_forward", "add1", "embedding_norm", ...
    kind
        "end" (the embedding or the head), "point" (where a stream enters or leaves the layer), "norm", "sublayer",
        "scale", "gate" or "add".
    role
        Of a norm: attention_in, attention_out, mlp_in, mlp_out, shared_in, post_attention, post_mlp, embedding or
        final; else empty.
    inputs
        Ids of the parts that it reads.
    node
        The traced node, or None outside the layer.
    track
        The line it stands on: `STREAM`, `SECOND`, or `BRANCH`.
    identity
        Whether the stream passes it on its way to the top, outside every branch.
    only_way
        Whether no other way without a sublayer leads around it.
    outside
        Whether it stands once, below or above the layers.
    """

    id: str
    kind: str
    role: str = ""
    inputs: tuple[str, ...]
    node: Node | None = None
    track: str = STREAM
    identity: bool = True
    only_way: bool = False
    outside: bool = False


def parts(found: Trace, *, embedding_norm: bool, final_norm: bool) -> tuple[Part, ...]:
    """The boxes of a traced layer and of what stands below and above all layers, each after what it reads."""
    two = len(found.output) == 2
    below = [Part(id="embedding", kind="end", inputs=(), outside=True)]
    if embedding_norm:
        below.append(_outside("embedding_norm", "norm", "embedding", role="embedding"))
    layer = _layer(found, below[-1].id)
    ids = {part.node: part.id for part in layer if part.node}
    layer.append(Part(id="out", kind="point", inputs=(ids[found.output[0]],)))
    above = []
    if two:
        layer.append(Part(id="second_out", kind="point", inputs=(ids[found.output[1]],), track=SECOND))
        above.append(_outside("final_norm", "norm", "second_out", role="final", track=SECOND))
        above.append(_outside("final_add", "add", "out", "final_norm"))
    elif final_norm:
        above.append(_outside("final_norm", "norm", "out", role="final"))
    above.append(_outside("head", "end", above[-1].id if above else "out"))
    return (*below, *layer, *above)


def _outside(name: str, kind: str, *inputs: str, role: str = "", track: str = STREAM) -> Part:
    return Part(id=name, kind=kind, role=role, inputs=inputs, track=track, outside=True)


def _layer(found: Trace, below: str) -> list[Part]:
    nodes = ordered(found.output)
    tracks = dict.fromkeys(nodes, BRANCH)
    for track, output in zip((STREAM, SECOND), found.output, strict=False):
        for node in _straight(output, nodes):
            if tracks[node] == BRANCH:
                tracks[node] = track
    on_path = {node for node, track in tracks.items() if track != BRANCH}
    ids: dict[Node, str] = {}
    made = []
    for node in nodes:
        ids[node] = _named(node, sum(other.kind == node.kind for other in ids))
        start = node.kind in ("x", "second")
        made.append(
            Part(
                id=ids[node],
                kind="point" if start else node.kind,
                role=_role(node, found, on_path) if node.kind == "norm" else "",
                inputs=(below,) if start else tuple(ids[child] for child in node.inputs),
                node=node,
                track=tracks[node],
                identity=node in on_path,
                only_way=node in on_path and not _way_around(node, found.output),
            )
        )
    return made


def _named(node: Node, count: int) -> str:
    if node.kind == "sublayer":
        return "feed_forward" if node.index else "attention"
    return node.kind if node.kind in ("x", "second") else f"{node.kind}{count if node.index is None else node.index}"


def _straight(output: Node, nodes: Sequence[Node]) -> list[Node]:
    """The identity path that is drawn as a straight line: the one to which most is added on its way."""
    most: dict[Node, tuple[int, int]] = {}
    for step in nodes:
        adds, length = max((most[child] for child in step.inputs if child in most), default=(0, 0))
        if step.kind != "sublayer":
            most[step] = (adds + (step.kind == "add"), length + 1)
    on_path, path = set(identity_nodes(output)), []
    node = output if output in on_path else None
    while node:
        path.append(node)
        node = max((child for child in node.inputs if child in on_path), key=most.__getitem__, default=None)
    return path


def _way_around(node: Node, outputs: Sequence[Node]) -> bool:
    """Whether an identity path reaches an output without this node."""

    def free(one: Node) -> bool:
        if one is node or one.kind == "sublayer":
            return False
        return one.kind in ("x", "second") or any(free(child) for child in one.inputs)

    return any(free(output) for output in outputs)


def _role(node: Node, found: Trace, on_path: set[Node]) -> str:
    own = 0 if node.index is not None and node.index < found.norms[0] else 1
    read = [_source(one) is node for one in found.reads]
    if all(read):
        return "shared_in"
    # Post-Norm's first norm is also what the feed-forward sublayer reads, but it belongs to attention.
    reader = own if node in on_path else read.index(True) if any(read) else own
    name = ("attention", "mlp")[reader]
    return f"{name}_in" if read[reader] else f"post_{name}" if node in on_path else f"{name}_out"


def _source(read: Node) -> Node:
    """What a sublayer reads, before a factor."""
    while read.kind in ("scale", "gate"):
        (read,) = read.inputs
    return read
