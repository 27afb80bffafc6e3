"""Do blocks and table show who shares a statistic, cell by cell?"""

from __future__ import annotations

from itertools import product
from time import perf_counter

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import blocks_picture, table_picture
from normviz.figures.axes.mesh import blocks, edges
from normviz.figures.picture import Picture
from normviz.grid import AXES, GridTrace, cell, normalize_grid, pad_lengths, pad_mask, sample_grid
from normviz.text import Text
from tests.figures.checks import check

ENGLISH = Text("en")


def grid(axis: str, batch: int = 2, tokens: int = 3, d: int = 4, *, padded: bool = False) -> GridTrace:
    x = sample_grid(batch, tokens, d, seed=0)
    mask = pad_mask(batch, tokens, pad_lengths(batch, tokens)) if padded else None
    return normalize_grid(x, axis, groups=2 if axis == "group_norm" else 1, mask=mask)


def meshes(picture: Picture) -> list[dict[str, object]]:
    return [trace for trace in picture.spec["data"] if trace["type"] == "mesh3d"]


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("padded", [False, True])
def test_blocks_light_the_selected_cells_statistic(axis: str, padded: bool, t: Text, mode: str) -> None:
    trace = grid(axis, padded=padded)
    picture = blocks_picture(trace, selected=(1, 0, 2), t=t, mode=mode)
    check(picture, t, mode)
    glass, lit = meshes(picture)
    members = cell(trace, 1, 0, 2).members
    assert {tuple(place) for place in lit["customdata"].tolist()} == set(map(tuple, np.argwhere(members).tolist()))
    assert "opacity" not in lit
    assert glass["opacity"] < 0.5
    assert str(trace.n_statistics) in picture.title
    assert len(picture.table) == trace.x.size


def test_every_triangle_of_the_blocks_leads_to_the_cell_it_belongs_to() -> None:
    trace = grid("layer_norm")
    for mesh in meshes(blocks_picture(trace, selected=(0, 1, 2), t=ENGLISH, mode="light")):
        corners = np.stack([np.stack([mesh[axis][mesh[i]] for i in "ijk"]) for axis in "yzx"], axis=-1)
        assert len(mesh["customdata"]) == len(mesh["facecolor"]) == len(mesh["hovertext"]) == corners.shape[1]
        np.testing.assert_array_equal(np.rint(corners), np.broadcast_to(mesh["customdata"] + 1, corners.shape))


def test_cells_of_one_statistic_share_a_hue_and_neighbouring_statistics_do_not() -> None:
    trace = grid("layer_norm", 3, 4, 5)
    (mesh,) = meshes(blocks_picture(trace, t=ENGLISH, mode="light"))
    groups = trace.group[tuple(mesh["customdata"].T)]
    largest = trace.x.argmax()
    (full,) = set(np.array(mesh["facecolor"])[groups == trace.group.flat[largest]].tolist()) & set(theme.HUES)
    assert full == theme.HUES[(trace.group.flat[largest] % 4 + 3 * (trace.group.flat[largest] // 4)) % len(theme.HUES)]


def test_without_a_selection_every_block_is_lit_and_pads_are_grey(t: Text, mode: str) -> None:
    trace = grid("batch_norm", padded=True)
    picture = blocks_picture(trace, t=t, mode=mode)
    check(picture, t, mode)
    (mesh,) = meshes(picture)
    assert len(mesh["x"]) == 8 * trace.x.size
    assert len(mesh["i"]) == 12 * trace.x.size
    pads = trace.group[tuple(mesh["customdata"].T)] < 0
    colors = np.array(mesh["facecolor"])
    assert not set(colors[pads]) & set(colors[~pads])


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
    _, lit = meshes(blocks_picture(trace, selected=selected, t=ENGLISH, mode=mode))
    color = theme.NORM_COLORS[mode][axis]
    colors = np.array(lit["facecolor"])
    assert set(colors[(np.array(lit["customdata"]) == selected).all(axis=1)]) == {color}
    assert not set(colors) & set(theme.HUES)
    frames = table_picture(trace, selected=selected, t=ENGLISH, mode=mode).spec["layout"]["shapes"]
    assert color in {frame["line"]["color"] for frame in frames}


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
def test_the_largest_grid_stays_light(axis: str) -> None:
    picture = blocks_picture(grid(axis, 8, 32, 64), selected=(3, 10, 20), t=ENGLISH, mode="light")
    arrays = [value for mesh in meshes(picture) for value in mesh.values() if isinstance(value, np.ndarray)]
    words = sum(len(str(color)) for mesh in meshes(picture) for color in mesh["facecolor"])
    assert sum(array.nbytes for array in arrays) + words < 1.5 * 2**20
    assert "hovertext" not in meshes(picture)[0]


def test_only_open_faces_are_drawn_of_a_surface() -> None:
    full = np.ones((3, 4, 5), dtype=bool)
    assert len(blocks(full, half=0.5, outside_of=full).triangles) == 2 * 2 * (3 * 4 + 4 * 5 + 3 * 5)
    assert len(blocks(full, half=0.5).triangles) == 12 * 60
    assert {tuple(corner) for corner in edges((0, 0, 0), half=0.5).tolist()} == {
        (b, t, c) for b in (0.5, 1.5) for t in (0.5, 1.5) for c in (0.5, 1.5)
    }


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("padded", [False, True])
def test_the_outline_of_the_table_encloses_exactly_the_cells_of_the_statistic(axis: str, padded: bool) -> None:
    trace = grid(axis, 3, 4, 6, padded=padded)
    picture = table_picture(trace, selected=(1, 1, 4), t=ENGLISH, mode="light")
    color = theme.NORM_COLORS["light"][axis]
    inside = np.zeros((12, 6), dtype=bool)
    for shape in picture.spec["layout"]["shapes"]:
        if shape["type"] == "rect" and shape["line"]["color"] == color:
            rows = slice(round(shape["y0"] + 0.5), round(shape["y1"] + 0.5))
            inside[rows, round(shape["x0"] - 0.5) : round(shape["x1"] - 0.5)] = True
    np.testing.assert_array_equal(inside.reshape(3, 4, 6), cell(trace, 1, 1, 4).members)


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
        outline = table_picture(grid(axis), t=ENGLISH, mode="light").spec["layout"]["shapes"][1]
        sizes[axis] = (outline["y1"] - outline["y0"], outline["x1"] - outline["x0"])
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


def test_a_large_table_is_drawn_without_numbers_but_with_a_scale() -> None:
    (heatmap,) = table_picture(grid("layer_norm", 8, 32, 64), t=ENGLISH, mode="light").spec["data"]
    assert "texttemplate" not in heatmap
    assert heatmap["showscale"]


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
