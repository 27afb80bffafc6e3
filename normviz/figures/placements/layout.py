"""Where does each box of a diagram stand, and along which corners do its wires run?

The stream is a straight line upward; what a sublayer reads and writes stands to its right, a second stream to the right
of all, and a wire of the stream that skips a box runs at its left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from normviz.figures.placements.parts import BRANCH, SECOND, STREAM, Part

Point = tuple[float, float]
Size = tuple[float, float]

# CSS pixels at a width of 350.
MARGIN = 8.0
_AIR = 12.0  # between boxes side by side, and between a box and a wire
_STEP = 20.0  # between rows
_FORK = 34.0  # between rows with a wire that leaves the stream
_LANE = 24.0  # from a box to the wire that goes around it
_FRAME = 16.0  # above and below the points where a layer starts and ends


@dataclass(frozen=True, kw_only=True)
class Wire:
    """From one box to another: its corners, and whether it is a piece of the identity path."""

    start: str
    end: str
    points: tuple[Point, ...]
    identity: bool


@dataclass(frozen=True, kw_only=True)
class Places:
    """Middles of the boxes, rows from below, wires, the frame of the layer (x, y, width, height) and the whole size."""

    middles: Mapping[str, Point]
    rows: Mapping[str, int]
    wires: tuple[Wire, ...]
    frame: tuple[float, float, float, float]
    size: Size


def places(parts: Sequence[Part], sizes: Mapping[str, Size]) -> Places:
    """Lay the boxes out in rows: each above what it reads."""
    rows = _rows(parts)
    columns = _columns(parts, rows)
    lanes = {edge: lane for edge in _edges(parts) if (lane := _lane(edge, parts, rows, columns))}
    across = _across(parts, sizes, rows, columns, lanes)
    height, bottoms = _upward(parts, sizes, rows, columns, lanes)
    middles = {
        part.id: (across[columns[part.id]], height - bottoms[rows[part.id]] - _tallest(parts, sizes, rows, part) / 2)
        for part in parts
    }
    wires = tuple(_wire(edge, parts, sizes, middles, lanes) for edge in _edges(parts))
    right = max(
        max(middles[part.id][0] + sizes[part.id][0] / 2 for part in parts),
        max(x for wire in wires for x, _ in wire.points) + _AIR / 2,
    )
    width = right + _AIR + MARGIN
    ends = [middles[part.id][1] for part in parts if part.kind == "point"]
    top, bottom = min(ends) - _FRAME, max(ends) + _FRAME
    frame = (MARGIN, top, width - 2 * MARGIN, bottom - top)
    return Places(middles=middles, rows=rows, wires=wires, frame=frame, size=(width, height))


def _edges(parts: Sequence[Part]) -> list[tuple[str, str]]:
    return [(source, part.id) for part in parts for source in part.inputs]


def _rows(parts: Sequence[Part]) -> dict[str, int]:
    rows: dict[str, int] = {}
    for part in parts:
        rows[part.id] = max((rows[source] + 1 for source in part.inputs), default=0)
        if part.id == "second_out":  # both streams leave the layer at one height
            rows["out"] = rows["second_out"] = max(rows["out"], rows["second_out"])
    return rows


def _columns(parts: Sequence[Part], rows: Mapping[str, int]) -> dict[str, int]:
    """0 is the stream, 1 and up the branches, the last one the second stream."""
    named = {part.id: part for part in parts}
    columns = {part.id: 0 for part in parts if part.track == STREAM}
    taken: set[tuple[int, int]] = set()
    for part in sorted(parts, key=lambda one: rows[one.id]):
        if part.track != BRANCH:
            continue
        readers = [other for other in parts if part.id in other.inputs]
        # Its wire to a stream runs through its column up to the row of the addition.
        last = max((rows[other.id] - (other.track == BRANCH) for other in readers), default=rows[part.id])
        own = range(rows[part.id], last + 1)
        below = [columns[source] for source in part.inputs if named[source].track == BRANCH]
        column = below[0] if below else 1
        while any((column, row) in taken for row in own):
            column += 1
        columns[part.id] = column
        taken |= {(column, row) for row in own}
    last = 1 + max(columns.values())
    return columns | {part.id: last for part in parts if part.track == SECOND}


def _lane(edge: tuple[str, str], parts: Sequence[Part], rows: Mapping[str, int], columns: Mapping[str, int]) -> int:
    """-1 or 1 for a wire that goes around boxes at their left or right, 0 for one that does not."""
    start, end = edge
    between = [
        part.id
        for part in parts
        if columns[part.id] == columns[end] and rows[start] < rows[part.id] < rows[end] and part.id != start
    ]
    around = bool(between) and (columns[start] == columns[end] or columns[start] < columns[end])
    return 0 if not around else -1 if columns[end] == 0 else 1


def _across(
    parts: Sequence[Part],
    sizes: Mapping[str, Size],
    rows: Mapping[str, int],
    columns: Mapping[str, int],
    lanes: Mapping[tuple[str, str], int],
) -> list[float]:
    """The middle of each column: clear of boxes in the same row, of wires beside it and of those that go around."""
    half = {part.id: sizes[part.id][0] / 2 for part in parts}
    held: dict[int, list[str]] = {}
    for part in parts:
        held.setdefault(columns[part.id], []).append(part.id)
    around = {(columns[end], lane) for (_, end), lane in lanes.items()}
    widest = {column: max(half[one] for one in ids) for column, ids in held.items()}
    middles = [MARGIN + _AIR + widest[0] + (_LANE if (0, -1) in around else 0)]
    for column in range(1, max(held) + 1):
        left = middles[column - 1]
        lane = _LANE if (column - 1, 1) in around else 0
        beside = [
            half[one] + half[other] + _AIR
            for one in held[column - 1]
            for other in held[column]
            if rows[one] == rows[other]
        ]
        inside = max(half[one] for one in held[column - 1] if one not in ("embedding", "head"))
        middles.append(left + lane + max(*beside, inside + _AIR, widest[column] + _AIR + 6))
    return middles


def _upward(
    parts: Sequence[Part],
    sizes: Mapping[str, Size],
    rows: Mapping[str, int],
    columns: Mapping[str, int],
    lanes: Mapping[tuple[str, str], int],
) -> tuple[float, list[float]]:
    """The height of the whole, and how far above its lower edge each row starts."""
    forks = {rows[start] for start, end in _edges(parts) if columns[start] < columns[end] or lanes.get((start, end))}
    ends = {rows[part.id] for part in parts if part.kind == "point"}
    y, bottoms = MARGIN, []
    for row in range(max(rows.values()) + 1):
        bottoms.append(y)
        y += max(sizes[part.id][1] for part in parts if rows[part.id] == row)
        y += _FORK if row in forks else _STEP
        y += _FRAME if row in (min(ends) - 1, max(ends)) else 0
    return y - _STEP + MARGIN, bottoms


def _tallest(parts: Sequence[Part], sizes: Mapping[str, Size], rows: Mapping[str, int], part: Part) -> float:
    return max(sizes[other.id][1] for other in parts if rows[other.id] == rows[part.id])


def _wire(
    edge: tuple[str, str],
    parts: Sequence[Part],
    sizes: Mapping[str, Size],
    middles: Mapping[str, Point],
    lanes: Mapping[tuple[str, str], int],
) -> Wire:
    start, end = edge
    named = {part.id: part for part in parts}
    (x, y), (to_x, to_y) = middles[start], middles[end]
    (_, high), (to_wide, to_high) = sizes[start], sizes[end]
    out = y - high / 2
    fork = out - 0.5 * _FORK
    lane = lanes.get(edge, 0)
    if lane:
        boxes = [sizes[part.id][0] / 2 for part in parts if middles[part.id][0] == to_x and not part.outside]
        aside = to_x + lane * (max(boxes) + _LANE - 6)
        points = [(x, out), (x, fork), (aside, fork), (aside, to_y), (to_x + lane * to_wide / 2, to_y)]
    elif x == to_x:
        points = [(x, out), (x, to_y + to_high / 2)]
    elif x < to_x and named[end].kind != "add":
        points = [(x, out), (x, fork), (to_x, fork), (to_x, to_y + to_high / 2)]
    else:
        side = to_wide / 2 if x > to_x else -to_wide / 2
        points = [(x, out), (x, to_y), (to_x + side, to_y)]
    both = named[start].identity and named[end].identity
    return Wire(start=start, end=end, points=tuple(points), identity=both)
