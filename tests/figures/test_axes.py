"""Do blocks and table show who shares a statistic, cell by cell?"""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from normviz.figures import theme
from normviz.figures.axes import blocks_picture, table_picture
from normviz.figures.axes.mesh import blocks, edges
from normviz.figures.picture import Picture
from normviz.figures.words import token_text
from normviz.grid import AXES, GridTrace, cell, normalize_grid, pad_lengths, pad_mask, sample_grid
from normviz.text import Text
from tests.figures.checks import check

ENGLISH = Text("en")


def grid(axis: str, batch: int = 2, tokens: int = 3, d: int = 4, *, padded: bool = False) -> GridTrace:
    x = sample_grid(batch, tokens, d, seed=0)
    mask = pad_mask(batch, tokens, pad_lengths(batch, tokens)) if padded else None
    return normalize_grid(x, axis, groups=2 if axis == "group_norm" else 1, mask=mask)


def meshes(picture: Picture) -> list[dict[str, Any]]:
    return [trace for trace in picture.spec["data"] if trace["type"] == "mesh3d"]


def colors(mesh: dict[str, Any]) -> npt.NDArray[Any]:
    """The colour of each triangle, as plotly.js reads it off the scale."""
    place = (mesh["intensity"] - mesh["cmin"]) / (mesh["cmax"] - mesh["cmin"])
    ends, names = zip(*mesh["colorscale"], strict=True)
    below = np.searchsorted(ends, place, side="right") - 1
    above = np.searchsorted(ends, place, side="left")
    table = np.array(names, dtype=object)
    np.testing.assert_array_equal(table[below], table[above])  # nothing lies between two colours
    return table[below]


def covered(picture: Picture, axis: str, mode: str) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """How often each cell of the table lies in a frame of the norm's colour, and under a veil, int [rows, d]."""
    rows, d = picture.spec["data"][0]["z"].shape
    framed, veiled = np.zeros((2, rows, d), dtype=int)
    for shape in picture.spec["layout"]["shapes"]:
        color = shape["line"].get("color")
        if shape["type"] != "rect" or color == theme.INK[mode]:
            continue
        where = (
            slice(round(shape["y0"] + 0.5), round(shape["y1"] + 0.5)),
            slice(round(shape["x0"] - 0.5), round(shape["x1"] - 0.5)),
        )
        (framed if color == theme.NORM_COLORS[mode][axis] else veiled)[where] += 1
    return framed, veiled


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("padded", [False, True])
def test_blocks_light_the_selected_cells_statistic(axis: str, padded: bool, t: Text, mode: str) -> None:
    trace = grid(axis, padded=padded)
    picture = blocks_picture(trace, selected=(1, 0, 2), t=t, mode=mode)
    check(picture, t, mode)
    *glass, lit = meshes(picture)
    members = cell(trace, 1, 0, 2).members
    assert {tuple(place) for place in lit["customdata"].tolist()} == set(map(tuple, np.argwhere(members).tolist()))
    assert "opacity" not in lit
    assert all(mesh["opacity"] < 0.5 for mesh in glass)
    assert len(glass) == (not members.all())
    assert str(trace.n_statistics) in picture.title
    assert len(picture.table) == trace.x.size


def test_every_triangle_of_the_blocks_leads_to_the_cell_it_belongs_to() -> None:
    trace = grid("layer_norm")
    for mesh in meshes(blocks_picture(trace, selected=(0, 1, 2), t=ENGLISH, mode="light")):
        corners = np.stack([np.stack([mesh[axis][mesh[i]] for i in "ijk"]) for axis in "yzx"], axis=-1)
        assert len(mesh["customdata"]) == len(mesh["intensity"]) == len(mesh["hovertext"]) == corners.shape[1]
        np.testing.assert_array_equal(np.rint(corners), np.broadcast_to(mesh["customdata"] + 1, corners.shape))


def test_cells_of_one_statistic_share_a_hue_and_neighbouring_statistics_do_not() -> None:
    trace = grid("layer_norm", 3, 4, 5)
    (mesh,) = meshes(blocks_picture(trace, t=ENGLISH, mode="light"))
    groups = trace.group[tuple(mesh["customdata"].T)]
    largest = trace.x.argmax()
    (full,) = set(colors(mesh)[groups == trace.group.flat[largest]].tolist()) & set(theme.HUES)
    assert full == theme.HUES[(trace.group.flat[largest] % 4 + 3 * (trace.group.flat[largest] // 4)) % len(theme.HUES)]


def test_without_a_selection_every_block_is_lit_and_pads_are_grey(t: Text, mode: str) -> None:
    trace = grid("batch_norm", padded=True)
    picture = blocks_picture(trace, t=t, mode=mode)
    check(picture, t, mode)
    (mesh,) = meshes(picture)
    assert len(mesh["x"]) == 8 * trace.x.size
    assert len(mesh["i"]) == 12 * trace.x.size
    pads = trace.group[tuple(mesh["customdata"].T)] < 0
    drawn = colors(mesh)
    assert not set(drawn[pads]) & set(drawn[~pads])


def test_a_selected_pad_belongs_to_nothing() -> None:
    trace = grid("batch_norm", padded=True)
    picture = blocks_picture(trace, selected=(1, 2, 0), t=ENGLISH, mode="light")
    assert len(meshes(picture)) == 1
    assert "a pad, which belongs to no statistic" in picture.alt
    table = table_picture(trace, selected=(1, 2, 0), t=ENGLISH, mode="light")
    assert [shape["line"]["color"] for shape in table.spec["layout"]["shapes"][1:]] == [theme.INK["light"]]


def test_camera_and_revision_never_change() -> None:
    layouts = [
        blocks_picture(grid(axis, d=d), selected=(0, 0, d - 1), t=ENGLISH, mode="light").spec["layout"]
        for axis in ("layer_norm", "batch_norm")
        for d in (4, 7)
    ]
    assert all(layout["scene"]["camera"] == layouts[0]["scene"]["camera"] for layout in layouts)
    assert len({layout["uirevision"] for layout in layouts}) == 1
    assert all("uirevision" not in layout["scene"] for layout in layouts)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("mode", theme.MODES)
def test_the_lit_statistic_has_the_colour_of_its_norm_as_in_the_table(axis: str, mode: str) -> None:
    trace = grid(axis)
    # The largest value is drawn in the full colour.
    b, token, c = (int(place) for place in np.unravel_index(trace.x.argmax(), trace.x.shape))
    selected = (b, token, c)
    lit = meshes(blocks_picture(trace, selected=selected, t=ENGLISH, mode=mode))[-1]
    color = theme.NORM_COLORS[mode][axis]
    drawn = colors(lit)
    assert set(drawn[(np.array(lit["customdata"]) == selected).all(axis=1)]) == {color}
    assert not set(drawn) & set(theme.HUES)
    frames = table_picture(trace, selected=selected, t=ENGLISH, mode=mode).spec["layout"]["shapes"]
    assert color in {frame["line"].get("color") for frame in frames}


@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 1, 64), (8, 1, 1), (1, 32, 1), (8, 32, 64)])
def test_blocks_leave_room_for_the_names_of_the_axes(sizes: tuple[int, int, int]) -> None:
    layout = blocks_picture(grid("layer_norm", *sizes), t=ENGLISH, mode="light").spec["layout"]
    sides = np.array([layout["scene"]["aspectratio"][axis] for axis in "xyz"])
    eye, center = (np.array([layout["scene"]["camera"][name][axis] for axis in "xyz"]) for name in ("eye", "center"))
    corners = np.array(list(product((-0.5, 0.5), repeat=3))) * sides - eye
    depth = corners @ (center - eye) / np.linalg.norm(center - eye)
    right = np.cross(center - eye, (0, 0, 1))
    across = corners @ right / np.linalg.norm(right) / depth / np.tan(np.pi / 8)  # in halves of the figure's height
    edge = 1 / layout["meta"]["tallest"]
    assert -edge + 0.3 < across.min()
    assert across.max() < edge - 0.3
    assert np.ptp(across) > 0.1


@pytest.mark.parametrize("axis", AXES)
def test_a_click_on_the_largest_grid_changes_little(axis: str) -> None:
    trace = grid(axis, 8, 32, 64)
    first, second = (
        [
            picture(trace, selected=place, t=ENGLISH, mode="light").spec["data"]
            for picture in (blocks_picture, table_picture)
        ]
        for place in ((3, 10, 20), (5, 31, 0))
    )
    for before, after in zip(first, second, strict=True):
        moving = [mesh for mesh in after if mesh.get("meta") != theme.STILL]
        assert len(moving) < len(after)
        assert "hovertext" not in set().union(*moving)
        # A group of channels under GroupNorm is the largest statistic that does not take in every cell.
        assert sum(v.nbytes for mesh in moving for v in mesh.values() if isinstance(v, np.ndarray)) < 250_000
        for one, other in zip(before, after, strict=True):
            if other.get("meta") == theme.STILL:
                np.testing.assert_equal(one, other)


def test_only_open_faces_are_drawn_of_a_surface() -> None:
    full = np.ones((3, 4, 5), dtype=bool)
    assert len(blocks(full, half=0.5, outside_of=full).triangles) == 2 * 2 * (3 * 4 + 4 * 5 + 3 * 5)
    assert len(blocks(full, half=0.5).triangles) == 12 * 60
    assert {tuple(corner) for corner in edges((0, 0, 0), half=0.5).tolist()} == {
        (b, t, c) for b in (0.5, 1.5) for t in (0.5, 1.5) for c in (0.5, 1.5)
    }


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("mode", theme.MODES)
def test_the_table_frames_the_cells_of_the_statistic_and_fades_all_others(axis: str, padded: bool, mode: str) -> None:
    trace = grid(axis, 3, 4, 6, padded=padded)
    members = cell(trace, 1, 1, 4).members.reshape(12, 6)
    framed, veiled = covered(table_picture(trace, selected=(1, 1, 4), t=ENGLISH, mode=mode), axis, mode)
    np.testing.assert_array_equal(framed, members)
    np.testing.assert_array_equal(veiled, ~members)


def test_table_has_a_row_for_each_token_and_its_cells_lead_back(t: Text, mode: str) -> None:
    trace = grid("batch_norm")
    picture = table_picture(trace, selected=(1, 2, 3), t=t, mode=mode)
    check(picture, t, mode)
    (heatmap,) = picture.spec["data"]
    np.testing.assert_array_equal(heatmap["z"], trace.x.reshape(6, 4))
    np.testing.assert_array_equal(heatmap["text"], trace.normalized.reshape(6, 4))
    assert heatmap["customdata"].shape == (6, 4, 3)
    np.testing.assert_array_equal(trace.x[tuple(heatmap["customdata"][4, 2])], trace.x.reshape(6, 4)[4, 2])
    assert picture.spec["layout"]["yaxis"]["ticktext"][4] == t("s{b} t{token}", b=2, token=2)
    assert picture.title != blocks_picture(trace, t=t, mode=mode).title
    assert heatmap["texttemplate"] == "%{z:.1f}"
    assert heatmap["zmin"] == -heatmap["zmax"]


def test_a_table_before_any_click_outlines_a_row_for_layernorm_and_a_column_for_batchnorm() -> None:
    sizes = {}
    for axis in ("layer_norm", "batch_norm"):
        framed, _ = covered(table_picture(grid(axis), t=ENGLISH, mode="light"), axis, "light")
        sizes[axis] = (np.count_nonzero(framed.any(axis=1)), np.count_nonzero(framed.any(axis=0)))
    assert sizes == {"layer_norm": (1, 4), "batch_norm": (6, 1)}


@pytest.mark.parametrize("masked", [True, False])
def test_pads_are_hatched_and_named_whether_or_not_they_count(masked: bool, t: Text, mode: str) -> None:
    real = pad_mask(2, 3, [3, 1])
    trace = normalize_grid(sample_grid(2, 3, 4, seed=0) * real[..., None], "layer_norm", mask=real if masked else None)
    picture = table_picture(trace, selected=(0, 0, 0), mask=None if masked else real, t=t, mode=mode)
    check(picture, t, mode)
    (hatch,) = picture.spec["data"][1:]
    assert (min(hatch["y"]), max(hatch["y"])) == (3.5, 5.5)
    # The numbers lie beneath.
    veil, stroke = (float(hatch["fillpattern"][part][:-1].split(",")[-1]) for part in ("bgcolor", "fgcolor"))
    assert veil <= 0.2
    assert stroke <= 0.5
    assert hatch["fillpattern"]["solidity"] <= 0.15
    assert picture.spec["layout"]["yaxis"]["ticktext"][5] == t("{row} (pad)", row=t("s{b} t{token}", b=2, token=3))
    assert "2" in picture.alt


def test_a_large_table_is_drawn_without_numbers_but_with_a_scale_and_arrows_at_the_cell() -> None:
    picture = table_picture(grid("layer_norm", 8, 32, 64), selected=(2, 5, 7), t=ENGLISH, mode="light")
    (heatmap,) = picture.spec["data"]
    assert "texttemplate" not in heatmap
    assert heatmap["showscale"]
    # Plotly clips shapes at the end of an axis, but no arrow, so that the first row has a whole one too.
    beside, below = picture.spec["layout"]["annotations"]
    assert (beside["y"], below["x"]) == (2 * 32 + 5, 8)
    assert (beside["xref"], below["yref"]) == ("paper", "paper")
    assert not any(shape["type"] == "path" for shape in picture.spec["layout"]["shapes"])
    # Three labels have room along the scale of a phone.
    low, zero, high = heatmap["colorbar"]["tickvals"]
    assert zero == 0
    assert -low == high
    assert 0.4 * heatmap["zmax"] <= high <= heatmap["zmax"]


@pytest.mark.parametrize("axis", AXES)
def test_both_views_show_the_input_or_the_output_and_say_which(axis: str, t: Text, mode: str) -> None:
    trace = grid(axis, padded=True)
    titles, scales = set(), []
    for values, shown in (("before", trace.x), ("after", trace.output)):
        blocks_now = blocks_picture(trace, values=values, t=t, mode=mode)
        table = table_picture(trace, values=values, t=t, mode=mode)
        for picture in (blocks_now, table):
            check(picture, t, mode)
            titles.add(picture.title)
        np.testing.assert_array_equal(table.spec["data"][0]["z"], shown.reshape(6, 4))
        (mesh,) = meshes(blocks_now)
        # Within one hue a stronger shade is a larger value.
        value, shade = shown[tuple(mesh["customdata"].T)], mesh["intensity"]
        group = trace.group[tuple(mesh["customdata"].T)]
        for each in np.unique(group):
            order = np.argsort(value[group == each], kind="stable")
            assert (np.diff(shade[group == each][order].astype(int)) >= 0).all()
        scales.append(mesh["intensity"])
    assert len(titles) == 4
    assert (scales[0] != scales[1]).any()


def test_everything_is_one_statistic_in_the_readers_language(t: Text) -> None:
    trace = grid("everything")
    for picture in (
        blocks_picture(trace, selected=(0, 0, 0), t=t, mode="light"),
        table_picture(trace, selected=(0, 0, 0), t=t, mode="light"),
    ):
        assert picture.title.startswith({"en": "Everything on", "zh": "全部"}[t.lang])
        assert "24" in picture.alt
    (mesh,) = meshes(blocks_picture(trace, t=t, mode="light"))
    assert set(colors(mesh)) <= {theme.mix(theme.HUES[0], theme.BACKGROUND["light"], 0.72 * i / 11) for i in range(12)}


WORDS = (("the", "cat", "the"), ("<b>$x$",))


def test_rows_are_named_by_their_words(t: Text, mode: str) -> None:
    real = pad_mask(2, 3, [3, 1])
    trace = normalize_grid(sample_grid(2, 3, 4, seed=0) * real[..., None], "batch_norm", mask=real)
    picture = table_picture(trace, selected=(0, 0, 0), words=WORDS, t=t, mode=mode)
    check(picture, t, mode)
    the, cat, again, odd, *pads = picture.spec["layout"]["yaxis"]["ticktext"]
    # A word that stands twice is told apart by its place.
    assert the != again
    assert t("s{b} t{token}", b=1, token=3) in again
    assert cat == token_text("cat")
    assert odd == token_text("<b>$x$")
    assert "$" not in odd
    assert pads == [t("(pad)")] * 2
    hover = picture.spec["data"][0]["hovertext"]
    assert [row[0].split()[0] for row in hover[:2]] == [token_text("the"), token_text("cat")]
    assert t("(pad)") in hover[5][3]
    assert len(picture.spec["data"]) == 2  # the words say which tokens are pads


def test_hovering_over_a_block_says_its_word() -> None:
    trace = grid("layer_norm")
    mesh = meshes(blocks_picture(trace, words=WORDS, t=ENGLISH, mode="light"))[0]
    texts = dict(zip(map(tuple, mesh["customdata"].tolist()), mesh["hovertext"], strict=True))
    assert texts[0, 1, 2].startswith(f"{token_text('cat')}<br>sequence 1, token 2, channel 3")
    assert texts[1, 2, 0].startswith("(pad)<br>")


@pytest.mark.parametrize("sizes", [(1, 1, 2), (1, 2, 1), (8, 1, 1), (2, 5, 64)])
def test_thin_grids_are_drawn(sizes: tuple[int, int, int]) -> None:
    trace = normalize_grid(sample_grid(*sizes, seed=0), "layer_norm")
    for picture in (
        blocks_picture(trace, selected=(0, 0, 0), t=ENGLISH, mode="light"),
        table_picture(trace, t=ENGLISH, mode="light"),
    ):
        check(picture, ENGLISH, "light")


def test_a_grid_of_zeros_is_drawn() -> None:
    trace = normalize_grid(np.zeros((2, 2, 2)), "layer_norm")
    check(blocks_picture(trace, t=ENGLISH, mode="light"), ENGLISH, "light")
    check(table_picture(trace, t=ENGLISH, mode="light"), ENGLISH, "light")


def test_a_click_costs_little() -> None:
    trace = grid("batch_norm")
    seconds = []
    for _ in range(20):
        start = perf_counter()
        trace.x.copy(), normalize_grid(trace.x, "batch_norm")
        reference = perf_counter() - start
        start = perf_counter()
        blocks_picture(trace, selected=(0, 1, 2), t=ENGLISH, mode="light")
        table_picture(trace, selected=(0, 1, 2), t=ENGLISH, mode="light")
        seconds.append((perf_counter() - start) / reference)
    assert np.median(seconds) < 60
