"""What does each box of a diagram compute, and how does the gradient get through it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from normviz.families import ROLES
from normviz.figures.placements.parts import SECOND, Part
from normviz.figures.words import number, spaced
from normviz.placements import Node, Trace, ordered
from normviz.text import N_, Text

PRIME = "\N{PRIME}"
"""Marks what leaves the layer."""

INNER: Mapping[str, str] = {
    "inner_attention": N_("inside attention, before its last matrix"),
    "inner_mlp": N_("inside the feed-forward sublayer, before its last matrix"),
}
"""Role of a norm that no family has -> its description (English messages), as in `normviz.families.ROLES`."""

INSIDE: Mapping[str, str] = {
    "q": "N(q)",
    "k": "N(k)",
    "v": "N(v)",
    "q_latent": "N(c_q)",
    "kv_latent": "N(c_kv)",
    "inner_attention": "N(z)",
    "inner_mlp": "N(z)",
}
"""What a norm inside a sublayer is applied to."""


def place(role: str, t: Text) -> str:
    """What a norm with this role is called."""
    return spaced(t("Norm: {where}", where=t(INNER.get(role) or ROLES[role])))


def formulas(found: Trace, gate: str = "") -> dict[Node, str]:
    """What each node computes, in the names of the streams and of the sublayers' outputs; `gate` is a gate's name.

    x is what enters the layer, a what attention writes, h the stream after attention, m what the feed-forward sublayer
    writes and x with a prime what leaves; with two streams p and d, p₁ and d₁, and both with a prime.
    """
    two = len(found.output) == 2
    nodes = ordered(found.output)
    names: dict[Node, str] = {}
    for node in nodes:
        if node.kind == "x":
            names[node] = "p" if two else "x"
        elif node.kind == "second":
            names[node] = "d"
        elif node.kind == "sublayer":
            names[node] = "m" if node.index else "a"
    for ends, words in (
        (found.between if two else found.between[:1], ("p₁", "d₁") if two else ("h",)),
        (found.output, (f"p{PRIME}", f"d{PRIME}") if two else (f"x{PRIME}",)),
    ):
        for node, word in zip(ends, words, strict=False):
            names.setdefault(node, word)

    def named(node: Node) -> str:
        return names.get(node) or worked(node)

    def worked(node: Node) -> str:
        inputs = [named(child) for child in node.inputs]
        match node.kind:
            case "norm":
                return f"N({inputs[0]})"
            case "sublayer":
                return f"{'FF' if node.index else 'Att'}({inputs[0]})"
            case "add":
                return " + ".join(inputs)
            case "gate" if gate:
                return f"{gate}({inputs[0]})"
            case "scale" | "gate":
                factor = "α" if node.factor is None else number(node.factor)
                return f"{factor} · " + (f"({inputs[0]})" if " + " in inputs[0] else inputs[0])
        return names[node]

    return {
        node: f"{names[node]} = {worked(node)}" if node in names and node.inputs else worked(node) for node in nodes
    }


def gradient(part: Part, parts: Sequence[Part], t: Text, *, ends: tuple[str, str], gate: str) -> str:
    """A sentence on how the gradient gets through a box; `ends` and `gate` as in `diagram`."""
    match part.kind:
        case "norm" if part.outside:
            return t("It stands outside the layers: the gradient passes it once, however deep the model.")
        case "norm" if part.only_way:
            return t("It sits on the identity path: every gradient on its way down passes it, in each layer.")
        case "norm" if part.identity:
            return t("It sits on the identity path, but another way leads around it without a norm or a sublayer.")
        case "norm":
            return t("It sits in a branch: the gradient on the identity path goes around it.")
        case "sublayer":
            return t("It is a branch: the gradient goes through it and also past it, on the identity path.")
        case "scale" | "gate" if part.identity:
            return t("It sits on the identity path and multiplies its gradient by the same factor.")
        case "scale" | "gate" if part.kind == "scale" or gate:
            return t("It sits in a branch: the gradient on the identity path goes around it.")
        case "gate":
            return t("α is a trained number that starts at 0: at first the branch gets no gradient, only α does.")
        case "add":
            return t("Backward, the same gradient goes into each wire that meets here.")
    if part.kind == "end":
        if ends[bool(part.inputs)]:
            return t("The gradient goes on through the other layers.")
        return t("The gradient starts here.") if part.inputs else t("The gradient ends here.")
    if part.track == SECOND:
        return t("The second stream is only added to: its gradient passes no norm inside the layers.")
    if any(other.kind == "norm" and other.only_way for other in parts):
        return t("No way between the two ends of the layer is free of norms.")
    return t("Between the two ends of the layer the identity path has a way without norms.")
