"""Does a diagram show what its wiring does: the norms, those on the identity path, what each sublayer reads?"""

from __future__ import annotations

from collections.abc import Callable, Generator
from itertools import combinations
from typing import Any

import pytest

from normviz.families import FAMILIES
from normviz.figures import theme
from normviz.figures.placements.boxes import on
from normviz.figures.placements.described import PRIME
from normviz.figures.placements.diagram import Box, Diagram, diagram
from normviz.figures.placements.variants import family_diagrams, placement_diagrams
from normviz.placements import PLACEMENTS, At
from normviz.placements.wirings import no_norm
from normviz.text import Text

EN = Text("en")
WIDEST = 410  # CSS pixels: on a phone of 390 the words of such a drawing are still as large as a caption

# What attention reads and gives, what the feed-forward sublayer reads, and what leaves the layer, by hand from the
# papers, with a and m for what attention and the feed-forward sublayer write; norms in the layer, of those on the
# identity path, inside the sublayers, and outside the layers.
EXPECTED = {
    "post_norm": ("Att(x)", "N(x + a)", "FF(h)", "N(h + m)", (2, 2, 0, 1)),
    "pre_norm": ("Att(N(x))", "x + a", "FF(N(h))", "h + m", (2, 0, 0, 1)),
    "sandwich_norm": ("Att(N(x))", "x + N(a)", "FF(N(h))", "h + N(m)", (4, 0, 0, 1)),
    "output_norm": ("Att(x)", "x + N(a)", "FF(h)", "h + N(m)", (2, 0, 0, 1)),
    "no_norm": ("Att(x)", "x + a", "FF(h)", "h + m", (0, 0, 0, 0)),
    "deep_norm": ("Att(x)", "N(2.21 · x + a)", "FF(h)", "N(2.21 · h + m)", (2, 2, 0, 1)),
    "layer_norm_scaling": ("Att(0.289 · N(x))", "x + a", "FF(0.289 · N(h))", "h + m", (2, 0, 0, 1)),
    "sub_ln": ("Att(N(x))", "x + a", "FF(N(h))", "h + m", (2, 0, 2, 1)),
    "rezero": ("Att(x)", "x + α · a", "FF(h)", "h + α · m", (0, 0, 0, 0)),
    "b2t": ("Att(x)", "N(x + a)", "FF(h)", "N(x + h + m)", (2, 2, 0, 1)),
    "resi_dual": ("Att(p)", "N(p + a)", "FF(p₁)", "N(p₁ + m)", (2, 2, 0, 2)),
    "hybrid_norm": ("Att(x)", "x + a", "FF(N(h))", "N(h) + m", (1, 1, 3, 1)),
    "keel": ("Att(N(x))", "N(24 · x + a)", "FF(N(h))", "N(24 · h + m)", (4, 2, 0, 1)),
    "peri_ln": ("Att(N(x))", "x + N(a)", "FF(N(h))", "h + N(m)", (4, 0, 0, 2)),
    "parallel": ("Att(N(x))", None, "FF(N(x))", "x + a + m", (1, 0, 0, 1)),
}
ROLES = {
    "post_norm": ["embedding", "post_attention", "post_mlp"],
    "pre_norm": ["attention_in", "mlp_in", "final"],
    "sandwich_norm": ["attention_in", "attention_out", "mlp_in", "mlp_out", "final"],
    "output_norm": ["attention_out", "mlp_out", "final"],
    "layer_norm_scaling": ["attention_in", "mlp_in", "final"],
    "sub_ln": ["attention_in", "inner_attention", "mlp_in", "inner_mlp", "final"],
    "hybrid_norm": ["q", "k", "v", "mlp_in", "final"],
    "keel": ["embedding", "attention_in", "post_attention", "mlp_in", "post_mlp"],
    "parallel": ["shared_in", "final"],
}


def one(name: str, t: Text = EN, mode: str = "light") -> Diagram:
    (drawn,) = placement_diagrams(PLACEMENTS[name], t=t, mode=mode)
    return drawn


def family(name: str) -> Diagram:
    (drawn,) = family_diagrams(FAMILIES[name], t=EN, mode="light")
    return drawn


def everything(t: Text = EN) -> list[Diagram]:
    placed = [one for placement in PLACEMENTS.values() for one in placement_diagrams(placement, t=t, mode="light")]
    return placed + [one for known in FAMILIES.values() for one in family_diagrams(known, t=t, mode="light")]


def norms(drawn: Diagram) -> list[Box]:
    return [box for box in drawn.boxes if box.kind == "norm"]


def box(drawn: Diagram, name: str) -> Box:
    (found,) = [box for box in drawn.boxes if box.id == name]
    return found


def read_by(drawn: Diagram, name: str) -> list[str]:
    return [wire.start for wire in drawn.wires if wire.end == name]


def readers(drawn: Diagram, name: str) -> list[str]:
    return [wire.end for wire in drawn.wires if wire.start == name]


def test_every_placement_is_checked() -> None:
    assert set(EXPECTED) == set(PLACEMENTS) - {"mix_ln"}


@pytest.mark.parametrize("name", EXPECTED)
def test_boxes_compute_the_paper_s_formula(name: str) -> None:
    drawn = one(name)
    attention, between, feed_forward, top, counts = EXPECTED[name]
    formulas = {box.formula for box in drawn.boxes}
    after, last = ("p₁", f"p{PRIME}") if name == "resi_dual" else ("h", f"x{PRIME}")
    assert {f"a = {attention}", f"m = {feed_forward}", f"{last} = {top}"} <= formulas
    assert between is None or f"{after} = {between}" in formulas
    found = drawn.counts
    assert (found.layer, found.on_path, found.inside, found.outside) == counts
    for formula in (f"a = {attention}", f"m = {feed_forward}", f"{last} = {top}"):
        assert formula in drawn.alt


@pytest.mark.parametrize("name", EXPECTED)
def test_norms_stand_where_the_counts_say(name: str) -> None:
    drawn = one(name)
    found = norms(drawn)
    layer = [norm for norm in found if not norm.outside and not norm.inside]
    marked = [norm for norm in layer if norm.on_identity_path]
    assert (len(layer), len(marked)) == EXPECTED[name][4][:2]
    (straight,) = {x for norm in drawn.boxes if norm.id in ("embedding", "x", "out", "head") for x in [middle(norm)[0]]}
    assert all(middle(norm)[0] == straight for norm in marked)
    assert all(middle(norm)[0] > straight for norm in layer if norm not in marked)
    if name in ROLES:
        assert [norm.role for norm in found] == ROLES[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_identity_path_is_one_line_from_the_embedding_to_the_head(name: str) -> None:
    drawn = one(name)
    at, passed = "embedding", ["embedding"]
    while at != "head":
        straight = [
            wire.end
            for wire in drawn.wires
            if wire.start == at and wire.identity and len({x for x, _ in wire.points}) == 1
        ]
        (at,) = straight
        passed.append(at)
    assert not {"attention", "feed_forward"} & set(passed)
    assert {norm.id for norm in norms(drawn) if norm.on_identity_path and middle(norm)[0] == middle_of(drawn, "x")} == {
        name for name in passed if name in {norm.id for norm in norms(drawn)}
    }


def middle(box: Box) -> tuple[float, float]:
    return round(box.x + box.w / 2, 6), round(box.y + box.h / 2, 6)


def middle_of(drawn: Diagram, name: str) -> float:
    return middle(box(drawn, name))[0]


def test_resi_dual_has_two_streams_that_both_get_what_each_sublayer_writes() -> None:
    drawn = one("resi_dual")
    for sublayer in ("attention", "feed_forward"):
        first, second = (middle_of(drawn, end) for end in readers(drawn, sublayer))
        assert {first, second} == {middle_of(drawn, "x"), middle_of(drawn, "second")}
    assert read_by(drawn, "final_add") == ["out", "final_norm"]
    assert read_by(drawn, "final_norm") == ["second_out"]
    assert box(drawn, "final_add").formula == f"p{PRIME} + N(d{PRIME})"
    assert [box(drawn, name).lines for name in ("x", "second", "out", "second_out")] == [
        ("p",),
        ("d",),
        (f"p{PRIME}",),
        (f"d{PRIME}",),
    ]
    assert not any(norm.only_way for norm in norms(drawn))


def test_b2t_leads_around_the_first_norm_but_not_the_second() -> None:
    drawn = one("b2t")
    first, second = (norm for norm in norms(drawn) if not norm.outside)
    assert (first.only_way, second.only_way) == (False, True)
    (long,) = [wire for wire in drawn.wires if wire.identity and len({x for x, _ in wire.points}) > 1]
    assert (long.start, box(drawn, long.end).kind) == ("x", "add")
    assert min(x for x, _ in long.points) < min(first.x, second.x)


def test_both_sublayers_of_the_parallel_block_read_one_norm() -> None:
    drawn = one("parallel")
    assert read_by(drawn, "attention") == read_by(drawn, "feed_forward") == ["norm0"]
    assert box(drawn, "attention").row == box(drawn, "feed_forward").row
    neox = family("gpt_neox")
    assert read_by(neox, "attention") != read_by(neox, "feed_forward")
    assert {read_by(neox, name)[0] for name in ("norm0", "norm1")} == {"x"}


def test_mix_ln_has_a_diagram_for_each_of_its_two_wirings() -> None:
    low, high = placement_diagrams(PLACEMENTS["mix_ln"], t=EN, mode="light")
    assert (low.title, high.title) == ("Mix-LN, layers 1 to 3 of 12", "Mix-LN, layers 4 to 12 of 12")
    assert (low.counts.on_path, high.counts.on_path) == (2, 0)
    assert (low.counts.outside, high.counts.outside) == (0, 1)
    assert (low.note, high.note) == ("× 3", "× 9")
    assert box(low, "head").lines == ("layers 4 to 12",)
    assert box(high, "embedding").lines == ("layers 1 to 3",)


def test_inner_norms_stand_inside_their_sublayer() -> None:
    for name in ("sub_ln", "hybrid_norm"):
        drawn = one(name)
        inner = [norm for norm in norms(drawn) if norm.inside]
        assert len(inner) == drawn.counts.inside
        for norm in inner:
            outer = box(drawn, norm.inside)
            assert outer.x < norm.x
            assert norm.x + norm.w < outer.x + outer.w
            assert outer.y < norm.y
            assert norm.y + norm.h < outer.y + outer.h
    # Before the last matrix of the sublayer stands above its middle, norms of queries and keys below it.
    sub, hybrid = one("sub_ln"), one("hybrid_norm")
    assert middle(box(sub, "inner_mlp"))[1] < middle(box(sub, "feed_forward"))[1]
    assert middle(box(hybrid, "q"))[1] > middle(box(hybrid, "attention"))[1]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_s_diagram_wears_its_names(name: str) -> None:
    known = FAMILIES[name]
    drawn = family_diagrams(known, t=EN, mode="light")
    found = {norm.role: norm.module for one in drawn for norm in norms(one)}
    expected = {role: module for role, module in known.names.items() if role not in ("cross_in", "prediction")}
    assert found == expected


def test_names_that_mislead_stand_where_the_norm_is() -> None:
    def role(family_name: str, ending: str) -> str:
        (found,) = [norm.role for norm in norms(family(family_name)) if norm.module.endswith(ending)]
        return found

    assert role("llama", "post_attention_layernorm") == "mlp_in"
    assert role("gemma2", "post_attention_layernorm") == "attention_out"
    assert role("gpt2", "ln_f") == "final"
    assert role("opt", "}.final_layer_norm") == "mlp_in"
    assert role("opt_350m", "}.final_layer_norm") == "post_mlp"
    assert family("opt_350m").counts.on_path == 2
    first, others = family_diagrams(FAMILIES["modernbert"], t=EN, mode="light")
    assert (first.counts.layer, others.counts.layer) == (1, 2)
    assert read_by(first, "attention") == ["x"]


def test_a_side_path_is_a_branch() -> None:
    drawn = family("gemma3n")
    assert drawn.counts.on_path == 0
    assert [box.lines for box in drawn.boxes if box.kind == "gate"] == [("LAuReL",)]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_nothing_covers_anything(lang: str) -> None:
    for drawn in everything(Text(lang)):
        solid = [box for box in drawn.boxes if not box.inside]
        for a, b in combinations(solid, 2):
            apart = a.x + a.w < b.x or b.x + b.w < a.x or a.y + a.h < b.y or b.y + b.h < a.y
            assert apart, (drawn.title, a.id, b.id)
        for wire in drawn.wires:
            for (ax, ay), (bx, by) in zip(wire.points, wire.points[1:], strict=False):
                assert ax == bx or ay == by, (drawn.title, wire)
                for box in solid:
                    over = min(ax, bx) < box.x + box.w - 1 and max(ax, bx) > box.x + 1
                    over &= min(ay, by) < box.y + box.h - 1 and max(ay, by) > box.y + 1
                    assert not over, (drawn.title, wire, box.id)
        wide, high = drawn.size
        assert all(b.x >= 0 and b.x + b.w <= wide and b.y >= 0 and b.y + b.h <= high for b in drawn.boxes)
        assert wide <= WIDEST, drawn.title


def test_wires_lead_from_box_to_box_and_upward() -> None:
    for drawn in everything():
        boxes = {box.id: box for box in drawn.boxes}
        for wire in drawn.wires:
            start, end = boxes[wire.start], boxes[wire.end]
            assert wire.points[0] == pytest.approx((middle(start)[0], start.y))
            x, y = middle(end)
            ends = [(x, end.y + end.h), (end.x, y), (end.x + end.w, y)]
            assert any(wire.points[-1] == pytest.approx(place) for place in ends)
            assert start.row < end.row
        order = [box.id for box in drawn.boxes]
        assert all(order.index(wire.start) < order.index(wire.end) for wire in drawn.wires)


def test_a_wiring_of_one_s_own_is_drawn() -> None:
    def twice(x: Any, at: At[Any]) -> Generator[Any, Any, Any]:
        h = at.norm(x)
        y = yield h
        return at.norm(h + y) + h

    drawn = diagram(twice, no_norm, title="Twice", t=EN, mode="light")
    assert drawn.counts.on_path == 2
    assert [norm.only_way for norm in norms(drawn)] == [True, False]
    assert "h = N(N(x) + a) + N(x)" in drawn.alt


def never(x: Any, at: At[Any]) -> Generator[Any, Any, Any]:
    return x
    yield


def test_a_wiring_that_does_not_yield_once_is_refused() -> None:
    wiring: Callable[..., Any] = never
    with pytest.raises(ValueError, match="never: a wiring yields the sublayer's input exactly once"):
        diagram(wiring, no_norm, title="Never", t=EN, mode="light")


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_path_has_the_placement_s_colour_and_words_on_it_are_legible(name: str, mode: str) -> None:
    drawn = placement_diagrams(PLACEMENTS[name], t=EN, mode=mode)[0]
    assert drawn.color == theme.PLACEMENT_COLORS[mode][name]
    assert drawn.on_color == on(drawn.color)
    assert contrast(drawn.color, drawn.on_color) >= 4.5


def contrast(one: str, other: str) -> float:
    def luminance(color: str) -> float:
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return sum(share * part for share, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_gradient_s_way_is_said_at_each_box() -> None:
    for drawn in everything():
        for box in drawn.boxes:
            assert box.gradient.endswith("."), (drawn.title, box.id)
            if box.kind == "norm" and not box.outside:
                assert ("sits on the identity path" in box.gradient) == box.on_identity_path
                assert ("in each layer" in box.gradient) == box.only_way
