"""How large is a box of a diagram, and what does it say?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from normviz.figures.placements.described import INNER, PRIME, place
from normviz.figures.placements.parts import Part
from normviz.figures.words import number
from normviz.text import Text

Size = tuple[float, float]

# CSS pixels at a width of 350.
_LETTER = 8.0  # of a module's name, 13 px in a fixed-width face
_LINE = 17.0
_NORM: Size = (60.0, 36.0)
_ON_PATH: Size = (84.0, 44.0)  # seen from the back of a hall
_SUBLAYER: Size = (140.0, 50.0)
_CHIP: Size = (40.0, 28.0)
_GAP = 6.0
_WIDEST = 170.0  # of norms side by side in a sublayer
_LONGEST, _ON_STREAM = 17, 13  # letters of a module's name in one line, beside the stream and on it
_WHITE, _BLACK = "#ffffff", "#000000"


@dataclass(frozen=True, kw_only=True)
class Chip:
    """A norm inside a sublayer: where it stands in its box."""

    role: str
    lines: tuple[str, ...]
    code: bool
    x: float
    y: float
    size: Size


@dataclass(frozen=True, kw_only=True)
class Look:
    """What a box says, whether that is a module's name, what a reader calls the box, its size and what is inside it.

    `aside` is how far the words stand below the middle of the box.
    """

    lines: tuple[str, ...]
    code: bool = False
    name: str
    size: Size
    aside: float = 0.0
    chips: tuple[Chip, ...] = ()


def look(
    part: Part,
    t: Text,
    *,
    inside: Sequence[str],
    names: Mapping[str, str],
    ends: tuple[str, str],
    gate: str,
    two_streams: bool,
) -> Look:
    """The look of a box.

    Parameters
    ----------
    part
        What it stands for.
    inside
        Roles of the norms inside a sublayer.
    names
        Role of a norm, "attention" or "feed_forward" -> the module's name.
    ends
        What stands in place of the embedding and the head, or "".
    gate
        What a gate is, up to the first comma its name; "" for a trained number that starts at 0.
    two_streams
        Whether the first stream is p, not x.
    """
    match part.kind:
        case "norm":
            least = _ON_PATH if part.identity and not part.outside else _NORM
            lines, code, size = _labelled(
                names.get(part.role, ""), "N", least, _ON_STREAM if part.identity else _LONGEST
            )
            return Look(lines=lines, code=code, name=place(part.role, t), size=size)
        case "sublayer":
            label = t("Feed-forward") if part.id == "feed_forward" else t("Attention")
            chips, (wide, high) = _chips(inside, names)
            size = max(_SUBLAYER[0], wide + 2 * _GAP), _SUBLAYER[1] + high
            above = any(role in INNER for role in inside)
            aside = (high if above else -high) / 2
            return Look(lines=(label,), name=label, size=size, aside=aside, chips=_put(chips, size, above=above))
        case "gate" if gate:
            lines, code, size = _labelled(gate_name(gate), "", (60.0, 32.0))
            return Look(lines=lines, code=code, name=gate, size=size)
        case "scale" | "gate":
            factor = part.node.factor if part.node else None
            line = "× α, α₀ = 0" if factor is None else f"× {number(factor)}"
            return Look(lines=(line,), name=line, size=(8.4 * len(line) + 22, 32.0))
        case "add":
            return Look(lines=("+",), name=t("addition"), size=(30.0, 30.0))
        case "point":
            up = part.id.endswith("out")
            name = {
                "x": t("the stream enters the layer"),
                "out": t("the stream leaves the layer"),
                "second": t("the second stream enters the layer"),
                "second_out": t("the second stream leaves the layer"),
            }[part.id]
            second = part.id.startswith("second")
            return Look(
                lines=(("d" if second else "p" if two_streams else "x") + PRIME * up,), name=name, size=(14.0, 14.0)
            )
    label = ends[bool(part.inputs)] or (t("head") if part.inputs else t("embedding"))
    wide = sum(16.0 if letter > "\u2e7f" else 8.4 for letter in label)
    return Look(lines=(label,), name=label, size=(wide + 8, 22.0))


def short(module: str) -> str:
    """A module's name as far as it says something beside its place: what follows the layer, or the last part."""
    inside = module.partition("{i}.")[2]
    return inside or module.rpartition(".")[2]


def gate_name(gate: str) -> str:
    """The name in a sentence about a gate."""
    return re.split("[,\uff0c]", gate)[0]


def on(color: str) -> str:
    """White or black: what is read more easily on a colour "#rrggbb"."""
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    ]
    luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
    return _WHITE if 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 else _BLACK


def _labelled(module: str, label: str, least: Size, most: int = _LONGEST) -> tuple[tuple[str, ...], bool, Size]:
    if not module:
        return (label,), False, least
    lines = _wrapped(short(module), most)
    wide, high = _LETTER * max(map(len, lines)) + 16, _LINE * len(lines) + 14
    return lines, True, (max(least[0], wide), max(least[1], high))


def _wrapped(name: str, most: int) -> tuple[str, ...]:
    """A module's name in lines that break after a dot or an underscore."""
    lines = [""]
    for word in re.findall(r"[^._]*[._]?", name):
        if lines[-1] and len(lines[-1]) + len(word) > most:
            lines.append("")
        lines[-1] += word
    return tuple(lines)


def _chips(roles: Sequence[str], names: Mapping[str, str]) -> tuple[list[Chip], Size]:
    """The norms inside a sublayer side by side, or below one another where that is too wide, and the room they take."""
    chips: list[Chip] = []
    x = y = below = _GAP
    for role in roles:
        label = {"q_latent": "c_q", "kv_latent": "c_kv"}.get(role, role)
        own = "N" if role in INNER else f"N({label})"
        module = short(names.get(role, ""))
        # Where it stands says already that it belongs to attention.
        module = module.partition(".")[2] or module
        lines, code, size = _labelled(module and "{i}." + module, own, (max(_CHIP[0], 9.0 * len(own) + 8), _CHIP[1]))
        if chips and x + size[0] > _WIDEST:
            x, y = _GAP, below
        chips.append(Chip(role=role, lines=lines, code=code, x=x, y=y, size=size))
        x += size[0] + _GAP
        below = max(below, y + size[1] + _GAP)
    wide = max((chip.x + chip.size[0] for chip in chips), default=0.0) + _GAP
    return chips, (wide, below - _GAP if chips else 0.0)


def _put(chips: Sequence[Chip], size: Size, *, above: bool) -> tuple[Chip, ...]:
    """Each row of chips in the middle of the box: at its lower edge, or at its upper one before the last matrix."""
    high = max((chip.y + chip.size[1] for chip in chips), default=0.0)
    low = 4.0 if above else size[1] - high - _GAP - 3
    rows: dict[float, list[Chip]] = {}
    for chip in chips:
        rows.setdefault(chip.y, []).append(chip)
    put = []
    for row in rows.values():
        shift = (size[0] - row[-1].x - row[-1].size[0] - row[0].x) / 2
        put += [Chip(role=c.role, lines=c.lines, code=c.code, x=c.x + shift, y=c.y + low, size=c.size) for c in row]
    return tuple(put)
