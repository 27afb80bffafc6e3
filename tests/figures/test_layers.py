"""Do the figures over the layers and the heatmap show the sweep's numbers, and say what is missing?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthSweep
from normviz.figures import theme
from normviz.figures.depth import (
    cosine_picture,
    divergence_notes,
    entropy_picture,
    heatmap_picture,
    logit_picture,
    write_picture,
)
from normviz.figures.picture import Picture
from normviz.text import Text
from tests.figures.checks import check, measured

ENGLISH = Text("en")
PAIR = SweepConfig(depths=(2, 4, 8), seeds=(0, 1))


def halves(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    """What attention adds is twice what the feed-forward sublayer adds."""
    layer = np.arange(1, 2 * key.depth + 1) / 2
    return layer, np.where(layer == np.floor(layer), 0.1, 0.2) * 4.0**key.seed


def turning(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1.0, key.depth + 1), np.linspace(-0.02, 0.9, key.depth) + 0.01 * key.seed


def whole(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1.0, key.depth + 1), np.full(key.depth, 0.5 + 0.1 * key.seed)


def growing(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    layer = np.arange(1.0, key.depth + 1)
    value = layer * 4.0**key.seed
    if key.placement == "post_norm" and key.depth == 8:
        value = np.where(layer > 4, np.nan if key.seed else np.inf, value)
        value[0] = 0.0
    return layer, value


LAWS = {
    "write_share": halves,
    "cosine_next": turning,
    "logit_scale": whole,
    "attention_entropy": whole,
    "grad_w2": growing,
}
OVER_LAYERS = (write_picture, cosine_picture, logit_picture, entropy_picture)


@pytest.mark.parametrize("picture_of", OVER_LAYERS)
@pytest.mark.parametrize("arrived", [0, 5, 12])
def test_pictures_over_layers_are_whole_and_linked(
    make_sweep: Callable[..., DepthSweep], picture_of: Callable[..., Picture], arrived: int, t: Text, mode: str
) -> None:
    picture = picture_of(make_sweep(PAIR, LAWS, arrived=arrived), depth=8, t=t, mode=mode)
    check(picture, t, mode)
    assert picture.spec["layout"]["meta"]["link"] == "layer"
    assert ("annotations" in picture.spec["layout"]) == (arrived < 9)
    assert (len(picture.table) == 0) == (arrived < 9)


def test_attention_and_feed_forward_write_lines_of_their_own(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    picture = write_picture(make_sweep(PAIR, LAWS), depth=4, t=t, mode=mode)
    feed, _, attention, _ = measured(picture)
    np.testing.assert_array_equal(feed["x"], [1, 2, 3, 4])
    np.testing.assert_allclose(feed["y"], 0.2)
    np.testing.assert_array_equal(attention["x"], [0.5, 1.5, 2.5, 3.5])
    np.testing.assert_allclose(attention["y"], 0.4)
    assert attention["marker"]["symbol"] == feed["marker"]["symbol"] + "-open"
    keys = [trace["name"] for trace in picture.spec["data"] if trace.get("legend") == "legend2"]
    assert keys == [t("feed-forward"), t("attention")]
    assert picture.spec["layout"]["yaxis"]["type"] == "log"


def test_a_cosine_below_zero_keeps_its_place_on_a_linear_axis(make_sweep: Callable[..., DepthSweep]) -> None:
    picture = cosine_picture(make_sweep(PAIR, LAWS), depth=8, t=ENGLISH, mode="light")
    axis = picture.spec["layout"]["yaxis"]
    assert "type" not in axis
    assert axis["range"][0] < -0.02 < 1 < axis["range"][1]
    line = measured(picture)[0]
    np.testing.assert_allclose(line["y"], np.linspace(-0.02, 0.9, 8) + 0.005)
    assert "mean" in picture.table
    assert "Post-Norm rises from −0.015 at layer 1 to 0.905 at layer 8." in picture.alt


def test_entropy_is_drawn_from_zero_to_one(make_sweep: Callable[..., DepthSweep]) -> None:
    low, high = entropy_picture(make_sweep(PAIR, LAWS), depth=8, t=ENGLISH, mode="light").spec["layout"]["yaxis"][
        "range"
    ]
    assert low < 0 < 1 < high


@pytest.mark.parametrize("picture_of", [logit_picture, entropy_picture])
def test_uniform_attention_has_no_logits_and_says_so(
    make_sweep: Callable[..., DepthSweep], picture_of: Callable[..., Picture], t: Text, mode: str
) -> None:
    config = SweepConfig(depths=(2, 4), attention="uniform")
    picture = picture_of(make_sweep(config, {"grad_w2": growing}), depth=4, t=t, mode=mode)
    check(picture, t, mode)
    words = t("Uniform attention has neither queries nor keys: it takes the mean over all tokens.")
    assert words in picture.alt
    (note,) = picture.spec["layout"]["annotations"]
    assert note["text"].replace("<br>", "" if t.lang == "zh" else " ") == words


def test_a_column_of_the_heatmap_holds_the_layers_of_one_depth(
    make_sweep: Callable[..., DepthSweep], t: Text, mode: str
) -> None:
    picture = heatmap_picture(make_sweep(PAIR, LAWS), quantity="grad_w2", placement="pre_norm", t=t, mode=mode)
    check(picture, t, mode)
    columns = [trace for trace in picture.spec["data"] if trace["type"] == "heatmap"]
    for column, depth in zip(columns, PAIR.depths, strict=True):
        np.testing.assert_allclose(np.ravel(column["z"]), np.log10(2 * np.arange(1, depth + 1)))
        np.testing.assert_allclose(column["y"], np.linspace(0, 1, depth + 1))
        np.testing.assert_allclose(column["customdata"][:, 0, 0], np.arange(1, depth + 1))
    scale = picture.spec["layout"]["coloraxis"]
    assert (scale["cmin"], scale["cmax"]) == (pytest.approx(np.log10(2)), pytest.approx(np.log10(16)))
    assert [color for _, color in scale["colorscale"]] == list(theme.SEQUENTIAL)
    assert len(picture.table) == 14
    assert t("Pre-Norm") in picture.title


def test_lost_cells_of_the_heatmap_are_blank_and_marked(make_sweep: Callable[..., DepthSweep], t: Text) -> None:
    picture = heatmap_picture(make_sweep(PAIR, LAWS), quantity="grad_w2", placement="post_norm", t=t, mode="light")
    check(picture, t, "light")
    cells = np.ravel([trace["z"] for trace in picture.spec["data"] if trace["type"] == "heatmap"][-1]).tolist()
    assert [cell is None for cell in cells] == [True, False, False, False, True, True, True, True]
    marks = {trace["marker"]["symbol"]: trace for trace in picture.spec["data"] if trace["type"] == "scatter"}
    assert [entry[1] for entry in marks["triangle-up"]["customdata"]] == [5, 6, 7, 8]
    assert [entry[1:] for entry in marks["triangle-down"]["customdata"]] == [[1.0, 2, 2]]


@pytest.mark.parametrize("arrived", [0, 3, 7])
def test_a_partial_heatmap_leaves_room_for_what_will_come(
    make_sweep: Callable[..., DepthSweep], arrived: int, t: Text, mode: str
) -> None:
    sweep = make_sweep(PAIR, LAWS, arrived=arrived)
    picture = heatmap_picture(sweep, quantity="grad_w2", placement="post_norm", t=t, mode=mode)
    check(picture, t, mode)
    axis = picture.spec["layout"]["xaxis"]
    assert axis["ticktext"] == ["2", "4", "8"]
    np.testing.assert_allclose(axis["range"], [-0.55, 2.55])
    assert ("annotations" in picture.spec["layout"]) == (arrived == 0)


def test_a_note_says_where_divergence_begins(make_sweep: Callable[..., DepthSweep]) -> None:
    def lost(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
        layer = np.arange(1.0, key.depth + 1)
        bad = key.placement == "post_norm" and (key.depth == 8 or (key.depth == 4 and key.seed == 1))
        once = key.placement == "pre_norm" and key.depth == 4
        return layer, np.full(key.depth, np.inf if bad or once else 1.0)

    assert divergence_notes(make_sweep(PAIR, {"grad_w2": lost}), "grad_w2", ENGLISH) == [
        "Post-Norm: inf or nan from 4 layers on (1 of 2 seeds).",
        "Pre-Norm: inf or nan at 4 layers (2 of 2 seeds).",
    ]
    assert divergence_notes(make_sweep(PAIR, LAWS), "logit_scale", ENGLISH) == []
    assert divergence_notes(make_sweep(PAIR, LAWS, arrived=0), "grad_w2", ENGLISH) == []
