"""Does the picture of a port show its error, where it starts, and where nothing differs?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.families import FAMILIES
from normviz.families.porting import MISTAKES, Ported, PortingConfig, applicable, port
from normviz.figures import theme
from normviz.figures.placements.porting import porting_picture
from normviz.figures.words import number
from normviz.floats import FORMATS
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


def ported(family: str = "gemma", *mistakes: str, **more: object) -> Ported:
    return port(PortingConfig(**{"family": family, "n_layers": 3, "d_model": 16, "mistakes": mistakes, **more}))


@pytest.mark.parametrize("family", ["llama", "gemma2", "bert", "gpt_neox", "modernbert"])
def test_every_mistake_is_drawn_in_the_colour_of_the_placement(family: str, t: Text, mode: str) -> None:
    for mistake in applicable(family):
        found = ported(family, mistake, dtype="bfloat16")
        picture = porting_picture(found, t=t, mode=mode)
        check(picture, t, mode)
        assert t(MISTAKES[mistake]) in picture.alt
        placement = FAMILIES[family].placement.replace("parallel_two", "parallel")
        drawn = [trace for trace in picture.spec["data"] if "marker" in trace]
        assert {trace["marker"]["color"] for trace in drawn} == {theme.PLACEMENT_COLORS[mode][placement]}
        np.testing.assert_array_equal(picture.table.iloc[:, 1], [*found.layers, found.output])


def test_the_errors_stand_at_their_layers_and_a_line_at_the_first() -> None:
    found = ported("gemma", "scale_for_w")
    picture = porting_picture(found, t=ENGLISH, mode="light")
    line, output = trace_named(picture, "residual stream"), trace_named(picture, "output")
    np.testing.assert_array_equal(line["x"], found.passed[1:] / 2)
    np.testing.assert_array_equal(line["y"], found.layers[1:])
    assert output["y"] == [found.output]
    assert output["marker"]["symbol"] == "star"
    same = trace_named(picture, "every bit agrees")
    assert same["x"] == [0]
    assert same["marker"]["symbol"].endswith("-open")
    (shape,) = picture.spec["layout"]["shapes"]
    assert (found.first, shape["x0"]) == (1, 0.5)
    (words,) = picture.spec["layout"]["annotations"]
    assert words["text"] == "first difference: layer 1, after attention"
    assert number(found.layers[1]) in picture.alt
    low, high = 10 ** np.array(picture.spec["layout"]["yaxis"]["range"])
    for trace in picture.spec["data"]:
        assert np.all((low < np.array(trace["y"])) & (np.array(trace["y"]) < high))
    assert picture.table.iloc[:, 0].tolist()[:3] == [
        "embedding",
        "layer 1, after attention",
        "layer 1, after feed-forward",
    ]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_dotted_line_stands_at_half_the_spacing_of_the_format(dtype: str) -> None:
    picture = porting_picture(ported("llama", "eps", dtype=dtype), t=ENGLISH, mode="dark")
    line = trace_named(picture, f"rounding once in {dtype}")
    assert set(line["y"]) == {FORMATS[dtype].epsilon / 2}
    assert line["line"]["dash"] == "dot"


def test_a_parallel_block_has_one_point_a_layer() -> None:
    picture = porting_picture(ported("phi", "no_bias"), t=ENGLISH, mode="light")
    assert trace_named(picture, "residual stream")["x"].tolist() == [1, 2, 3]
    assert picture.spec["layout"]["annotations"][0]["text"] == "first difference: layer 1"


def test_a_forgotten_final_norm_shows_in_the_output_alone() -> None:
    picture = porting_picture(ported("llama", "no_final_norm"), t=ENGLISH, mode="light")
    names = [trace["name"] for trace in picture.spec["data"]]
    assert "residual stream" not in names
    assert picture.spec["layout"]["annotations"][0]["text"] == "first difference: output"
    assert picture.spec["layout"]["shapes"][0]["x0"] == trace_named(picture, "output")["x"]


@pytest.mark.parametrize("mistakes", [(), ("cast_order",)])
def test_without_a_difference_the_drawing_says_so(mistakes: tuple[str, ...], t: Text, mode: str) -> None:
    picture = porting_picture(ported("llama", *mistakes), t=t, mode=mode)
    check(picture, t, mode)
    assert "shapes" not in picture.spec["layout"]
    assert t("No bit differs from the original.") in picture.alt


@pytest.mark.parametrize("n_layers", [1, 4, 7, 24])
def test_few_enough_layers_have_a_label(n_layers: int, t: Text) -> None:
    picture = porting_picture(ported("gemma", "eps", n_layers=n_layers), t=t, mode="light")
    xaxis = picture.spec["layout"]["xaxis"]
    assert len(xaxis["ticktext"]) <= 8
    assert xaxis["ticktext"][-1] == t("output")
    assert xaxis["tickvals"][-1] > n_layers
    assert np.all(np.diff(xaxis["tickvals"]) > 0)
