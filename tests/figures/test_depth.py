"""Do the depth figures show the sweep's numbers, partial and diverged ones included?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthSweep
from normviz.figures import theme
from normviz.figures.depth import gradient_picture, profile_picture, residual_picture
from normviz.figures.ticks import MOST
from normviz.text import Text
from tests.figures.checks import check, measured

ENGLISH = Text("en")
PAIR = SweepConfig(depths=(2, 4, 8), seeds=(0, 1, 2))
ALL = SweepConfig(
    placements=("post_norm", "pre_norm", "sandwich_norm", "output_norm", "no_norm"), depths=(2, 4, 8), seeds=(0, 1)
)


def gradient(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    """Post-Norm is flat, everything else falls with the layer; seeds differ by a factor of two."""
    layer = np.arange(1.0, key.depth + 1)
    value = np.full(key.depth, 0.64) if key.placement == "post_norm" else 0.8 / np.sqrt(layer)
    return layer, value * 2.0**key.seed


def stream(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    layer = np.arange(key.depth + 1.0)
    return layer, np.ones_like(layer) if key.placement == "post_norm" else 1 + 2 * layer


LAWS = {"grad_w2": gradient, "residual_mean_square": stream}


def lines(picture: object, placement: str) -> list[dict[str, object]]:
    """The lines of a placement, last layer first."""
    return [
        trace
        for trace in picture.spec["data"]  # type: ignore[attr-defined]
        if trace["legendgroup"] == placement and "lines+markers" in trace["mode"] and "fill" not in trace
    ]


def test_gradients_are_geometric_means_of_the_last_and_the_first_layer(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    picture = gradient_picture(make_sweep(PAIR, LAWS), t=t, mode=mode)
    check(picture, t, mode)
    last, first = lines(picture, "pre_norm")
    np.testing.assert_allclose(last["x"], [2, 4, 8])
    np.testing.assert_allclose(last["y"], 2 * 0.8 / np.sqrt([2, 4, 8]))  # seeds 1, 2 and 4 times: geometric mean 2
    np.testing.assert_allclose(first["y"], [1.6, 1.6, 1.6])
    np.testing.assert_allclose(last["y"] + last["error_y"]["array"], 4 * 0.8 / np.sqrt([2, 4, 8]))
    np.testing.assert_allclose(last["y"] - last["error_y"]["arrayminus"], 0.8 / np.sqrt([2, 4, 8]))
    layout = picture.spec["layout"]
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "log"
    assert layout["xaxis"]["tickvals"] == [2, 4, 8]
    assert t("L2 norm of dLoss/dW2") in picture.title
    assert t("L2 norm of dLoss/dW2") == layout["yaxis"]["title"]["text"]


def test_alt_text_tells_the_course_of_each_line(make_sweep: Callable[..., DepthSweep]) -> None:
    alt = gradient_picture(make_sweep(PAIR, LAWS), where=("last",), t=ENGLISH, mode="light").alt
    assert "Post-Norm (last layer) stays near 1.28 at 2–8 layers." in alt
    assert "Pre-Norm (last layer) falls from 1.13 at 2 layers to 0.566 at 8 layers." in alt
    rising = residual_picture(make_sweep(PAIR, LAWS), depth=8, t=ENGLISH, mode="light").alt
    assert "Pre-Norm rises from 1 at layer 0 to 4.12 at layer 8." in rising


def test_titles_name_the_layer_exactly(make_sweep: Callable[..., DepthSweep]) -> None:
    sweep = make_sweep(PAIR, LAWS)
    title = gradient_picture(sweep, where=("last",), t=ENGLISH, mode="light").title
    assert title == "L2 norm of dLoss/dW2 of the last layer against depth"
    assert "first layer" in gradient_picture(sweep, where=("first",), t=ENGLISH, mode="light").title


def test_the_same_placement_looks_the_same_in_every_depth_figure(
    make_sweep: Callable[..., DepthSweep], mode: str
) -> None:
    sweep = make_sweep(ALL, LAWS)
    pictures = (
        gradient_picture(sweep, t=ENGLISH, mode=mode),
        profile_picture(sweep, quantity="grad_w2", depth=8, t=ENGLISH, mode=mode),
        residual_picture(sweep, depth=8, t=ENGLISH, mode=mode),
    )
    for picture in pictures:
        for placement in ALL.placements:
            for line in lines(picture, placement):
                assert line["line"]["color"] == theme.PLACEMENT_COLORS[mode][placement]
                assert line["line"]["dash"] == "solid"
                assert line["marker"]["symbol"].removesuffix("-open") == theme.SYMBOLS[placement]


def test_the_first_layer_differs_from_the_last_by_more_than_colour(make_sweep: Callable[..., DepthSweep]) -> None:
    last, first = lines(gradient_picture(make_sweep(PAIR, LAWS), t=ENGLISH, mode="light"), "post_norm")
    assert first["marker"]["symbol"] == last["marker"]["symbol"] + "-open"
    assert first["line"]["width"] <= last["line"]["width"] / 2
    assert first["marker"]["size"] >= last["marker"]["size"] + 2 * first["marker"]["line"]["width"]


def test_open_markers_lie_on_top_and_a_legend_says_what_they_are(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    sweep = make_sweep(PAIR, LAWS)
    picture = gradient_picture(sweep, t=t, mode=mode)
    opened = [trace["marker"]["symbol"].endswith("-open") for trace in measured(picture)]
    assert opened == [False, False, True, True]
    keys = {trace["name"]: trace for trace in picture.spec["data"] if trace.get("legend") == "legend2"}
    assert list(keys) == [t("last layer"), t("first layer"), t("theory")]
    assert keys[t("theory")]["line"]["dash"] == "dash"
    assert keys[t("first layer")]["marker"]["symbol"].endswith("-open")
    assert not picture.spec["layout"]["legend2"]["itemclick"]
    alone = gradient_picture(sweep, where=("first",), theory=False, t=t, mode=mode)
    assert "legend2" not in alone.spec["layout"]
    assert all(trace["showlegend"] for trace in alone.spec["data"])


def test_every_value_and_edge_lies_within_the_axis_of_values(make_sweep: Callable[..., DepthSweep]) -> None:
    picture = gradient_picture(make_sweep(ALL, {"grad_w2": exploding}), t=ENGLISH, mode="light")
    low, high = picture.spec["layout"]["yaxis"]["range"]
    drawn = [y for trace in picture.spec["data"] for y in trace["y"] if y is not None]
    assert low < np.log10(min(drawn)) < np.log10(max(drawn)) < high
    ticks = picture.spec["layout"]["yaxis"]["tickvals"]
    assert 2 <= len(ticks) == len(picture.spec["layout"]["yaxis"]["ticktext"]) <= MOST


def test_chinese_titles_part_latin_from_chinese(make_sweep: Callable[..., DepthSweep]) -> None:
    title = gradient_picture(make_sweep(PAIR, LAWS), where=("last",), t=Text("zh"), mode="light").title
    assert "的 dLoss/dW2 的 L2" in title


def test_profile_shows_every_layer_of_one_depth_with_its_spread(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    picture = profile_picture(make_sweep(PAIR, LAWS), quantity="grad_w2", depth=4, t=t, mode=mode)
    check(picture, t, mode)
    (line,) = lines(picture, "pre_norm")
    np.testing.assert_array_equal(line["x"], [1, 2, 3, 4])
    np.testing.assert_allclose(line["y"], 2 * 0.8 / np.sqrt([1, 2, 3, 4]))
    (band,) = [trace for trace in picture.spec["data"] if "fill" in trace and trace["legendgroup"] == "pre_norm"]
    assert band["y"].max() == pytest.approx(3.2)
    assert band["y"].min() == pytest.approx(0.4)


def test_residual_rms_is_the_root_of_the_mean_square(make_sweep: Callable[..., DepthSweep], t: Text, mode: str) -> None:
    picture = residual_picture(make_sweep(PAIR, LAWS), depth=8, t=t, mode=mode)
    check(picture, t, mode)
    (line,) = lines(picture, "pre_norm")
    np.testing.assert_allclose(line["y"], np.sqrt(1 + 2 * np.arange(9)))


@pytest.mark.parametrize("arrived", [0, 1, 3, 7])
def test_partial_sweeps_give_shorter_lines_and_say_so(
    make_sweep: Callable[..., DepthSweep], arrived: int, t: Text, mode: str
) -> None:
    sweep = make_sweep(PAIR, LAWS, arrived=arrived)
    whole = gradient_picture(make_sweep(PAIR, LAWS), t=t, mode=mode)
    picture = gradient_picture(sweep, t=t, mode=mode)
    check(picture, t, mode)
    assert t("So far {done} of {total} models have been measured.", done=arrived, total=18) in picture.alt
    assert picture.spec["layout"]["xaxis"]["range"] == whole.spec["layout"]["xaxis"]["range"]
    assert ("annotations" in picture.spec["layout"]) == (arrived == 0)
    for quantity in ("grad_w2", "residual_mean_square"):
        check(profile_picture(sweep, quantity=quantity, depth=8, t=t, mode=mode), t, mode)


def exploding(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    layer, value = gradient(key)
    if key.placement == "no_norm" and key.depth >= 4:
        value = np.where(layer > 2, np.nan, np.inf) if key.seed or key.depth == 8 else value
    if key.placement == "pre_norm" and key.depth == 8:
        value = np.zeros(8)
    return layer, value


def test_divergence_and_zeros_stand_at_the_edges_and_are_said(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    picture = gradient_picture(make_sweep(ALL, {"grad_w2": exploding}), t=t, mode=mode)
    check(picture, t, mode)
    marks = {
        (trace["legendgroup"], trace["marker"]["symbol"]): trace
        for trace in picture.spec["data"]
        if trace["mode"] == "markers"
    }
    top = marks["no_norm", "triangle-up"]
    np.testing.assert_array_equal(top["x"], [4, 8])
    np.testing.assert_array_equal(top["customdata"], [[1, 2], [2, 2]])
    bottom = marks["pre_norm", "triangle-down"]
    np.testing.assert_array_equal(bottom["x"], [8])
    drawn = [y for placement in ALL.placements for line in lines(picture, placement) for y in line["y"]]
    assert bottom["y"][0] < min(drawn) <= max(drawn) < top["y"][0]
    last, _ = lines(picture, "no_norm")
    np.testing.assert_array_equal(last["x"], [2, 4])
    if t.lang == "en":
        assert "No norm (last layer) diverged (inf or nan) at 4–8 layers." in picture.alt
        assert "Pre-Norm (last layer) is exactly zero at 8 layers." in picture.alt


def test_a_sweep_in_which_everything_diverged_is_drawn(make_sweep: Callable[..., DepthSweep]) -> None:
    config = SweepConfig(placements=("no_norm",), depths=(8,), seeds=(0,))
    picture = gradient_picture(make_sweep(config, {"grad_w2": exploding}), theory=False, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert [trace["mode"] for trace in picture.spec["data"]] == ["markers", "markers"]


def test_extreme_values_keep_their_place(make_sweep: Callable[..., DepthSweep]) -> None:
    def law(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(1.0, key.depth + 1), np.geomspace(1e-300, 1e300, key.depth)

    picture = profile_picture(make_sweep(PAIR, {"grad_w2": law}), quantity="grad_w2", depth=8, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")


def test_one_depth_and_one_seed_need_no_spread(make_sweep: Callable[..., DepthSweep]) -> None:
    config = SweepConfig(depths=(4,), seeds=(0,))
    picture = gradient_picture(make_sweep(config, LAWS), t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert not any("error_y" in trace for trace in picture.spec["data"])
    profile = profile_picture(make_sweep(config, LAWS), quantity="grad_w2", depth=4, t=ENGLISH, mode="light")
    assert not any("fill" in trace for trace in profile.spec["data"])


def test_the_middle_layer_is_half_way_up(make_sweep: Callable[..., DepthSweep], t: Text, mode: str) -> None:
    config = SweepConfig(placements=("pre_norm",), depths=(1, 4, 7), seeds=(0,))
    picture = gradient_picture(make_sweep(config, LAWS), where=("middle",), t=t, mode=mode)
    check(picture, t, mode)
    (line,) = lines(picture, "pre_norm")
    np.testing.assert_allclose(line["y"], 0.8 / np.sqrt([1, 2, 4]))
    assert t("the middle layer") in picture.title


def test_a_quantity_of_the_stream_starts_with_the_input(make_sweep: Callable[..., DepthSweep], t: Text) -> None:
    picture = gradient_picture(make_sweep(PAIR, LAWS), quantity="residual_mean_square", t=t, mode="light")
    assert t("the input x_0") in picture.title
    last, first = lines(picture, "pre_norm")
    np.testing.assert_allclose(first["y"], [1, 1, 1])
    np.testing.assert_allclose(last["y"], [5, 9, 17])


def test_all_weights_together_have_one_line(make_sweep: Callable[..., DepthSweep], t: Text, mode: str) -> None:
    def whole(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
        return np.zeros(1), np.full(1, float(key.depth))

    picture = gradient_picture(make_sweep(PAIR, {"grad_all": whole}), quantity="grad_all", t=t, mode=mode)
    check(picture, t, mode)
    (line,) = lines(picture, "pre_norm")
    np.testing.assert_allclose(line["y"], [2, 4, 8])
    assert line["showlegend"]
    assert t("where") not in picture.table


def test_a_quantity_that_was_not_measured_is_named(make_sweep: Callable[..., DepthSweep]) -> None:
    picture = gradient_picture(make_sweep(PAIR, LAWS), quantity="grad_wq", t=ENGLISH, mode="light")
    (words,) = picture.spec["layout"]["annotations"]
    assert words["text"].replace("<br>", " ") == "This sweep has not measured: L2 norm of dLoss/dWQ."


def test_a_thousand_layers_are_drawn_with_few_marks(make_sweep: Callable[..., DepthSweep]) -> None:
    config = SweepConfig(depths=(1024,), seeds=(0, 1))
    picture = residual_picture(make_sweep(config, LAWS), depth=1024, t=ENGLISH, mode="light")
    for placement in config.placements:
        (line,) = lines(picture, placement)
        assert len(line["x"]) == 1025
        assert line["marker"]["maxdisplayed"] <= 16
    for band in (trace for trace in picture.spec["data"] if "fill" in trace):
        assert len(band["x"]) <= 600
        assert {0.0, 1024.0} <= set(band["x"].tolist())
    assert picture.spec["layout"]["xaxis"]["dtick"] == 256


def test_profiles_are_linked_and_gradients_are_not(make_sweep: Callable[..., DepthSweep]) -> None:
    sweep = make_sweep(PAIR, LAWS)
    for picture in (
        profile_picture(sweep, quantity="grad_w2", depth=8, t=ENGLISH, mode="light"),
        residual_picture(sweep, depth=8, t=ENGLISH, mode="light"),
    ):
        assert picture.spec["layout"]["meta"]["link"] == "layer"
    assert gradient_picture(sweep, t=ENGLISH, mode="light").spec["layout"]["meta"]["link"] is None


def test_many_depths_keep_a_tick_each_and_labels_where_there_is_room(make_sweep: Callable[..., DepthSweep]) -> None:
    config = SweepConfig(placements=("pre_norm",), depths=tuple(range(2, 33)), seeds=(0,))
    axis = gradient_picture(make_sweep(config, LAWS), t=ENGLISH, mode="light").spec["layout"]["xaxis"]
    assert axis["tickvals"] == list(range(2, 33))
    shown = [int(text) for text in axis["ticktext"] if text]
    assert shown[-1] == 32
    assert 2 in shown
    assert len(shown) <= 13


def test_the_table_holds_the_drawn_numbers(make_sweep: Callable[..., DepthSweep], t: Text) -> None:
    picture = gradient_picture(make_sweep(PAIR, LAWS), t=t, mode="light")
    assert len(picture.table) == 2 * 2 * 3
    (row,) = picture.table[
        (picture.table[t("placement")] == t("Pre-Norm"))
        & (picture.table[t("where")] == t("last layer"))
        & (picture.table[t("layers L")] == 8)
    ].itertuples(index=False)
    assert row[3] == pytest.approx(1.6 / np.sqrt(8))
