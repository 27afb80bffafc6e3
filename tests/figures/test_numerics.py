"""Do the figures of the numerics lab show what a format holds, what it loses and where it ends?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.numerics import (
    decay_picture,
    differing_picture,
    held,
    neighbours_picture,
    running_sum_picture,
    steps_picture,
)
from normviz.figures.picture import Picture
from normviz.floats import (
    ACCUMULATIONS,
    FORMATS,
    FORMS,
    INCIDENTS,
    MARKS,
    FloatTrace,
    difference,
    neighbours,
    norm_steps,
    weight_decay,
)
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


def traced(
    format: str, accumulate: str = "own", norm: str = "rms_norm", scale: float = 40.0, d: int = 50
) -> FloatTrace:
    x = np.random.default_rng(0).standard_normal(d) * scale
    return norm_steps(x, norm, format, eps=1e-6, accumulate=accumulate, weight=np.ones(d))


def drawn(picture: Picture) -> list[str]:
    return [trace["name"] for trace in picture.spec["data"] if trace.get("showlegend", True)]


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("accumulate", ACCUMULATIONS)
def test_steps_stand_on_the_scale_of_the_format(format: str, accumulate: str, t: Text, mode: str) -> None:
    for norm in ("rms_norm", "layer_norm"):
        trace = traced(format, accumulate, norm)
        picture = steps_picture(trace, t=t, mode=mode)
        check(picture, t, mode)
        assert len(picture.table) == len(trace.steps)
        axis = picture.spec["layout"]["yaxis"]
        assert len(axis["ticktext"]) == len(trace.steps)
        low, high = 10.0 ** np.array(picture.spec["layout"]["xaxis"]["range"])
        for points in picture.spec["data"]:
            assert ((points["x"] >= low) & (points["x"] <= high)).all()
            assert len(points["text"]) == len(points["x"]) == len(points["y"])


@pytest.mark.parametrize("name", INCIDENTS)
def test_every_incident_can_be_drawn(name: str, t: Text, mode: str) -> None:
    trace = INCIDENTS[name].setting.trace()
    check(steps_picture(trace, t=t, mode=mode), t, mode)
    check(running_sum_picture(trace, t=t, mode=mode), t, mode)
    if "sum_x" in trace:
        check(running_sum_picture(trace, "sum_x", t=t, mode=mode), t, mode)


def test_what_leaves_the_format_is_at_the_edge() -> None:
    trace = INCIDENTS["sum"].setting.trace()
    picture = steps_picture(trace, t=ENGLISH, mode="light")
    rows = [step.id for step in trace.steps]
    large = trace_named(picture, MARKS["overflow"])
    assert [rows[int(y)] for y in large["y"]] == ["sum"]
    assert set(large["text"]) == {"∞"}
    carried = trace_named(picture, MARKS["carried"])
    places = dict(zip((rows[int(y)] for y in carried["y"]), carried["x"], strict=True))
    assert list(places) == ["mean_square", "plus_eps", "root", "reciprocal", "normalized"]
    assert carried["text"] == ["∞", "∞", "∞", "0", "0"]
    assert {places["mean_square"], places["plus_eps"], places["root"]} == set(large["x"])
    assert places["normalized"] < FORMATS["float16"].smallest < FORMATS["float16"].largest < large["x"].min()
    assert rows[int(trace_named(picture, MARKS["subnormal"])["y"][0])] == "eps"
    assert not trace_named(picture, MARKS["underflow"])["showlegend"]
    assert "out of range from term 7 on" in picture.alt
    assert "65504" in picture.alt
    notes = [note["text"] for note in picture.spec["layout"]["annotations"]]
    assert notes == ["6.1e−5", "65504"]


def test_rounded_and_exact_have_other_marks() -> None:
    picture = steps_picture(norm_steps([1.0, 0.1], "rms_norm", "bfloat16", eps=0.0), t=ENGLISH, mode="light")
    symbols = {trace["name"]: trace["marker"]["symbol"] for trace in picture.spec["data"]}
    assert len(set(symbols.values())) == len(symbols)
    first_row = {name: trace_named(picture, name)["y"].tolist().count(0) for name in ("rounded", "exact")}
    assert first_row == {"rounded": 1, "exact": 1}


def test_a_limit_far_off_is_named_at_the_edge() -> None:
    picture = steps_picture(traced("bfloat16"), t=ENGLISH, mode="light")
    notes = [note["text"] for note in picture.spec["layout"]["annotations"]]
    assert notes == ["← 1.18e−38", "3.39e38 →"]


def test_a_long_vector_is_thinned_but_keeps_what_became_special() -> None:
    x = np.ones(4096)
    x[1234] = 300.0
    picture = steps_picture(norm_steps(x, "rms_norm", "float16", eps=1e-6, accumulate="own"), t=ENGLISH, mode="light")
    assert max(len(trace["x"]) for trace in picture.spec["data"]) < 400
    assert 1 in trace_named(picture, MARKS["overflow"])["y"]


@pytest.mark.parametrize("x", [[1e150, -1e150], [1e-140, 1e-141], [0.0, 0.0, 1.0], [-7.0], [1e-8, 1e8]])
@pytest.mark.parametrize("format", FORMATS)
def test_extreme_vectors_can_be_drawn(x: list[float], format: str, t: Text, mode: str) -> None:
    for norm in ("rms_norm", "layer_norm"):
        trace = norm_steps(x, norm, format, eps=1e-5, accumulate="own")
        check(steps_picture(trace, t=t, mode=mode), t, mode)
        for step in {"sum", "sum_x"} & {step.id for step in trace.steps}:
            check(running_sum_picture(trace, step, t=t, mode=mode), t, mode)
        check(neighbours_picture(float(trace["square"].exact[0]), list(FORMATS), t=t, mode=mode), t, mode)


def test_the_running_sum_ends_where_it_leaves_the_format() -> None:
    trace = INCIDENTS["sum"].setting.trace()
    picture = running_sum_picture(trace, t=ENGLISH, mode="light")
    line = trace_named(picture, "running sum in float16")
    assert line["x"].tolist() == [1, 2, 3, 4, 5, 6]
    assert line["line"]["dash"] == theme.DASHES["measured"]
    exact = trace_named(picture, "without rounding")
    assert exact["line"]["dash"] == theme.DASHES["theory"]
    np.testing.assert_allclose(exact["y"], 1e4 * exact["x"])
    assert trace_named(picture, "out of range from term 7 on")["x"] == [7.0]
    assert picture.spec["layout"]["shapes"][0]["y0"] == 65_504
    assert len(picture.table) == 4096


def test_a_sum_that_stalls_is_marked() -> None:
    trace = norm_steps(np.ones(600), "rms_norm", "bfloat16", eps=1e-6, accumulate="own")
    picture = running_sum_picture(trace, t=ENGLISH, mode="light")
    mark = trace_named(picture, "term 257 changes nothing")
    assert (mark["x"], mark["y"]) == ([257.0], [256.0])
    assert trace_named(picture, "running sum in bfloat16")["y"].max() == 256
    assert "Term 257 is the first that leaves the sum as it was." in picture.alt
    assert not picture.spec["layout"]["shapes"]


@pytest.mark.parametrize("value", [1.003, -0.3, 0.0, 256.5, 66_246.4, 1e6, 1e-12, -500.0, 3e38])
@pytest.mark.parametrize("first", FORMATS)
def test_the_number_line_has_the_numbers_of_the_format(value: float, first: str, t: Text, mode: str) -> None:
    formats = (first, *(name for name in FORMATS if name != first))
    picture = neighbours_picture(value, formats, t=t, mode=mode)
    check(picture, t, mode)
    low, high = picture.spec["layout"]["xaxis"]["range"]
    ticks = trace_named(picture, t("numbers of the format"))
    for place, row in zip(ticks["x"], ticks["y"], strict=True):
        assert low <= place <= high
        assert neighbours(place, formats[int(row)]).at == place
    near = neighbours(value, first)
    if np.isfinite(near.at):
        row = ticks["x"][ticks["y"] == 0]
        assert near.at in row
        assert {near.below, near.above} & set(row) or not np.isfinite(near.above)
        assert trace_named(picture, t("held instead"))["x"][0] == near.at
    # Each row says something: numbers, a band or a note.
    said = {int(row) for row in ticks["y"]}
    said |= {
        int(trace["y"][0])
        for trace in picture.spec["data"]
        if trace["mode"] == "lines" and trace["line"]["width"] == 14
    }
    said |= {note["y"] for note in picture.spec["layout"]["annotations"] if note["text"]}
    assert said == set(range(len(formats)))


@pytest.mark.parametrize("sign", [1, -1])
def test_no_format_has_numbers_beyond_its_largest(sign: int) -> None:
    picture = neighbours_picture(sign * 65_536.0, ("bfloat16", "float16"), t=ENGLISH, mode="light")
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert low < sign * 65_504 < high
    (band,) = [trace for trace in picture.spec["data"] if trace["name"].startswith("float16")]
    assert max(sign * np.array(band["x"])) == 65_504


def test_a_comparison_without_a_weight_says_so() -> None:
    for second, said in (("no_weight", True), ("gemma", False)):
        picture = differing_picture(difference("cast_then_multiply", second, d=32, rows=4), t=ENGLISH, mode="light")
        assert ("given a weight of 1" in picture.alt) == said


def test_labels_of_the_number_line_differ() -> None:
    picture = neighbours_picture(0.1, ("float32",), t=ENGLISH, mode="light")
    labels = [label for label in picture.spec["layout"]["xaxis"]["ticktext"] if label]
    assert len(labels) == len(set(labels)) >= 2


@pytest.mark.parametrize("format", ["bfloat16", "float16", "float32"])
def test_errors_of_two_arithmetics_are_shares(format: str, t: Text, mode: str) -> None:
    found = difference("cast_then_multiply", "multiply_then_cast", format=format, d=128, rows=8)
    picture = differing_picture(found, t=t, mode=mode)
    check(picture, t, mode)
    for line, error in zip(picture.spec["data"], found.errors, strict=True):
        inside = (np.abs(error) <= 2.2 * found.unit).mean()
        assert line["y"].sum() == pytest.approx(inside)
    assert len(drawn(picture)) == 2
    assert len({trace["marker"]["symbol"] for trace in picture.spec["data"]}) == 2


def test_the_same_arithmetic_twice_can_be_drawn() -> None:
    picture = differing_picture(difference("t5", "t5", d=16, rows=4), t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert "0\N{NARROW NO-BREAK SPACE}% of the elements differ." in picture.alt


@pytest.mark.parametrize("steps", [0, 1, 50, 5000])
def test_decay_is_drawn_with_both_goals(steps: int, t: Text, mode: str) -> None:
    paths = {form: weight_decay(form, start=1.5, lr=0.1, decay=0.1, steps=steps) for form in FORMS}
    picture = decay_picture(paths, step=steps // 2, t=t, mode=mode)
    check(picture, t, mode)
    first, second = picture.spec["data"][:2]
    for line, path in ((first, paths["w"]), (second, paths["1+w"])):
        np.testing.assert_array_equal(line["y"], path[line["x"].astype(int)])
        assert (line["x"][0], line["x"][-1]) == (0, steps)
    assert picture.spec["layout"]["shapes"][0]["x0"] == steps // 2
    assert len(picture.table) == steps + 1
    assert not decay_picture(paths, t=t, mode=mode).spec["layout"]["shapes"]


def test_numbers_that_are_none_have_signs() -> None:
    assert [held(value) for value in (np.inf, -np.inf, np.nan, -0.0, 255.875)] == ["∞", "−∞", "NaN", "0", "255.9"]
