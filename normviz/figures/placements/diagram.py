"""How is a layer wired? Its boxes and wires, read off the functions that run in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from normviz.figures import theme
from normviz.figures.placements.boxes import Look, gate_name, look, on
from normviz.figures.placements.described import INSIDE, PRIME, formulas, gradient, place
from normviz.figures.placements.layout import Point, Wire, places
from normviz.figures.placements.parts import SECOND, Part, parts
from normviz.figures.words import paragraph
from normviz.placements import trace_wirings
from normviz.placements.record import Function
from normviz.text import Text

DEPTH = 12
"""Layers of the model whose layer is drawn, where nothing else is asked for."""


@dataclass(frozen=True, kw_only=True)
class Box:
    """One box of a diagram; lengths in CSS pixels from the upper left corner of the drawing.

    Attributes
    ----------
    id, kind, role
        As in `normviz.figures.placements.parts.Part`.
    lines
        What stands in it, line by line; `code` says whether that is a module's name.
    name
        What a reader calls it.
    formula
        What it computes, in the names of the streams.
    module
        The module's full name in the chosen family, or "".
    gradient
        A sentence on the gradient's way.
    on_identity_path, only_way, outside
        As `identity`, `only_way` and `outside` of a part.
    row
        Boxes with the same number are reached at the same time.
    x, y, w, h
        Its upper left corner and its size.
    words
        Where the middle of its lines stands, from the upper edge of the drawing.
    inside
        Id of the sublayer that it is a part of, or "".
    """

    id: str
    kind: str
    role: str = ""
    lines: tuple[str, ...]
    code: bool = False
    name: str
    formula: str
    module: str = ""
    gradient: str
    on_identity_path: bool
    only_way: bool
    outside: bool
    row: int
    x: float
    y: float
    w: float
    h: float
    words: float
    inside: str = ""


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Norms: of a layer's wiring, inside its sublayers, outside the layers, and of the wiring's those on the path."""

    layer: int
    inside: int
    outside: int
    on_path: int


@dataclass(frozen=True, kw_only=True)
class Diagram:
    """A layer as boxes and wires.

    Attributes
    ----------
    name
        Lower-case identifier, the same in every language; the stem of an exported file.
    title, alt
        A line and a text alternative in the reader's language.
    boxes, wires
        Each box after what it reads; those inside a sublayer follow it.
    counts
        How many norms there are, and where.
    frame, note, note_at
        The rectangle around the layer (x, y, width, height), what it says in its upper right corner, and the right end
        of that.
    size
        Width and height of the drawing in CSS pixels.
    color, on_color
        Of the identity path, and of words on it.
    """

    name: str
    title: str
    alt: str
    boxes: tuple[Box, ...]
    wires: tuple[Wire, ...]
    counts: Counts
    frame: tuple[float, float, float, float]
    note: str
    note_at: tuple[float, float]
    size: tuple[float, float]
    color: str
    on_color: str


def diagram(
    attention: Function,
    feed_forward: Function,
    *,
    two_streams: bool = False,
    embedding_norm: bool = False,
    final_norm: bool = False,
    inner_norm: bool = False,
    qkv_norm: Sequence[str] = (),
    names: Mapping[str, str] | None = None,
    gate: str = "",
    placement: str = "no_norm",
    name: str = "normviz-wiring",
    title: str,
    note: str = "× L",
    ends: tuple[str, str] = ("", ""),
    layer: int = DEPTH,
    depth: int = DEPTH,
    t: Text,
    mode: str,
) -> Diagram:
    """Draw one layer of any two wiring functions, with what stands below and above all layers.

    Parameters
    ----------
    attention, feed_forward, two_streams, embedding_norm, final_norm, inner_norm
        As in `normviz.placements.Placement`.
    qkv_norm
        What attention normalizes inside: any of "q", "k", "v", "q_latent" and "kv_latent".
    names
        Role of a norm (as in `normviz.families.ROLES`) or "attention" and "feed_forward" -> the module's name, with
        "{i}" for the layer.
    gate
        What the wirings' gate is, in the reader's language, up to the first comma its name; "" for a trained number
        that starts at 0.
    placement
        Whose colour the identity path has.
    name, title, note
        As in `Diagram`.
    ends
        What stands below and above the layer in place of the embedding and the head, where that is not empty.
    layer, depth
        The layer that is drawn, from 1, and the number of layers: they set the factors, and what Mix-LN does.
    t, mode
        The reader's language, and "light" or "dark".

    Raises
    ------
    ValueError
        If a wiring does not yield exactly once.
    """
    found = trace_wirings(attention, feed_forward, two_streams=two_streams, layer=layer, depth=depth)
    drawn = parts(found, embedding_norm=embedding_norm, final_norm=final_norm)
    names = names or {}
    inside = {
        "attention": (*qkv_norm, *(["inner_attention"] if inner_norm else [])),
        "feed_forward": ("inner_mlp",) if inner_norm else (),
    }
    looks = {
        part.id: look(
            part,
            t,
            inside=inside.get(part.id, ()),
            names=names,
            ends=ends,
            gate=gate,
            two_streams=two_streams,
        )
        for part in drawn
    }
    laid = places(drawn, {one: seen.size for one, seen in looks.items()})
    worked = formulas(found, gate_name(gate))
    boxes: list[Box] = []
    for part in drawn:
        seen, (x, y) = looks[part.id], laid.middles[part.id]
        wide, high = seen.size
        box = Box(
            id=part.id,
            kind=part.kind,
            role=part.role,
            lines=seen.lines,
            code=seen.code,
            name=seen.name,
            formula=worked[part.node] if part.node else _outside(part, two_streams),
            module=names.get(part.role or part.id, ""),
            gradient=gradient(part, drawn, t, ends=ends, gate=gate),
            on_identity_path=part.identity,
            only_way=part.only_way,
            outside=part.outside,
            row=laid.rows[part.id],
            x=x - wide / 2,
            y=y - high / 2,
            w=wide,
            h=high,
            words=y + seen.aside,
        )
        boxes += [box, *_inner(box, seen, names, t)]
    counts = Counts(
        layer=sum(found.norms),
        inside=sum(box.kind == "norm" and bool(box.inside) for box in boxes),
        outside=sum(box.kind == "norm" and box.outside for box in boxes),
        on_path=sum(part.kind == "norm" and part.identity and not part.outside for part in drawn),
    )
    color = theme.PLACEMENT_COLORS[mode][placement]
    return Diagram(
        name=name,
        title=title,
        alt=_alt(title, counts, boxes, t),
        boxes=tuple(boxes),
        wires=laid.wires,
        counts=counts,
        frame=laid.frame,
        note=note,
        note_at=(_right(laid.frame, drawn, laid.middles), laid.frame[1] + 22),
        size=laid.size,
        color=color,
        on_color=on(color),
    )


def _outside(part: Part, two_streams: bool) -> str:
    """What a part outside the layer, or at its upper end, computes."""
    after = (f"p{PRIME}", f"d{PRIME}") if two_streams else (f"x{PRIME}", "")
    return {
        "embedding_norm": "N(e)",
        "final_norm": f"N({after[two_streams]})",
        "final_add": f"{after[0]} + N({after[1]})",
        "out": after[0],
        "second_out": after[1],
    }.get(part.id, "")


def _inner(outer: Box, seen: Look, names: Mapping[str, str], t: Text) -> list[Box]:
    """The norms inside a sublayer, as boxes of their own."""
    return [
        Box(
            id=chip.role,
            kind="norm",
            role=chip.role,
            lines=chip.lines,
            code=chip.code,
            name=place(chip.role, t),
            formula=INSIDE[chip.role],
            module=names.get(chip.role, ""),
            gradient=t("It sits in a branch: the gradient on the identity path goes around it."),
            on_identity_path=False,
            only_way=False,
            outside=False,
            row=outer.row,
            x=outer.x + chip.x,
            y=outer.y + chip.y,
            w=chip.size[0],
            h=chip.size[1],
            words=outer.y + chip.y + chip.size[1] / 2,
            inside=outer.id,
        )
        for chip in seen.chips
    ]


def _right(frame: tuple[float, float, float, float], parts: Sequence[Part], middles: Mapping[str, Point]) -> float:
    """Where a word in the frame's upper right corner ends: left of the second stream, if there is one."""
    return min([frame[0] + frame[2] - 12, *(middles[part.id][0] - 22 for part in parts if part.track == SECOND)])


def _alt(title: str, counts: Counts, boxes: Sequence[Box], t: Text) -> str:
    reads = {box.id: box.formula for box in boxes}
    return paragraph(
        t,
        [
            t("{title}.", title=title),
            t(
                "Norms in each layer: {layer}, of them on the identity path: {on_path}.",
                layer=counts.layer,
                on_path=counts.on_path,
            ),
            t("Norms inside the sublayers of a layer: {inside}.", inside=counts.inside) if counts.inside else "",
            t("Norms outside the layers: {outside}.", outside=counts.outside),
            t("The layer computes {steps}.", steps=_joined(t, _steps(reads))),
        ],
    )


def _steps(formulas: Mapping[str, str]) -> list[str]:
    return [formula for formula in formulas.values() if " = " in formula]


def _joined(t: Text, parts: Sequence[str]) -> str:
    return ("，" if t.lang == "zh" else ", ").join(parts)
