"""Does each incident have figures that show it?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.errors import InputError
from normviz.figures import theme
from normviz.figures.numerics import incident_pictures, landing_picture, residual_picture, variance_picture
from normviz.figures.picture import Picture
from normviz.floats import FORMATS, INCIDENTS, landing, neighbours, residual_path, variance_errors
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


def of(incident: str) -> tuple[Picture, ...]:
    return incident_pictures(incident, t=ENGLISH, mode="light")


def numbers(incident: str) -> dict[str, float]:
    return {name: value for claim in INCIDENTS[incident].claims() for name, value in claim.values.items()}


@pytest.mark.parametrize("name", INCIDENTS)
def test_every_incident_has_one_or_two_figures(name: str, t: Text, mode: str) -> None:
    pictures = incident_pictures(name, t=t, mode=mode)
    assert 1 <= len(pictures) <= 2
    assert len({picture.name for picture in pictures}) == len(pictures)
    for picture in pictures:
        check(picture, t, mode)


def test_an_unknown_incident_is_refused() -> None:
    with pytest.raises(InputError, match="incident can be sum, square, t5"):
        of("gpt")


def test_the_stream_ends_as_the_claim_says() -> None:
    picture, line = of("residual")
    claim = numbers("residual")
    held, exact = trace_named(picture, "stream in bfloat16"), trace_named(picture, "without rounding")
    assert (held["y"][-1], exact["y"][-1]) == (claim["stream"], claim["exact"])
    assert held["x"][-1] == exact["x"][-1] == claim["steps"]
    assert exact["line"]["dash"] == theme.DASHES["theory"]
    assert "After 100 branches bfloat16 holds 256; without rounding it would be 356." in picture.alt
    row = trace_named(line, "numbers of the format")
    above = row["x"][(row["y"] == 0) & (row["x"] >= 256)]
    assert set(np.diff(above)) == {claim["ulp"]}


def test_the_error_of_the_variance_meets_the_claims() -> None:
    (picture,) = of("one_pass")
    claim = numbers("one_pass")
    once = trace_named(picture, "one pass: E[x²] − E[x]²")
    twice = trace_named(picture, "two passes: x − E[x], squared")
    at = {float(x): (float(a), float(b)) for x, a, b in zip(once["x"], once["y"], twice["y"], strict=True)}
    assert [at[ratio][0] for ratio in (100.0, 1000.0, 10_000.0)] == [claim[k] for k in ("hundred", "thousand", "more")]
    assert at[1000.0][1] == claim["two_pass"]
    layout = picture.spec["layout"]
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "log"
    # In one pass the error grows with the square of the ratio, in two it stays.
    slope = np.polyfit(np.log10(once["x"][2:]), np.log10(once["y"][2:]), 1)[0]
    assert slope == pytest.approx(2, abs=0.1)
    assert max(twice["y"]) < 1e-6


@pytest.mark.parametrize("name", ["one_plus_w", "stored"])
def test_scales_land_on_the_numbers_of_the_format(name: str) -> None:
    (picture,) = of(name)
    upper, lower = [trace for trace in picture.spec["data"] if trace["name"] == "where they land"]
    weights = trace_named(picture, "the weights")
    np.testing.assert_array_equal(1 + upper["x"], [neighbours(1 + float(w), "bfloat16").at for w in weights["x"]])
    np.testing.assert_array_equal(lower["x"], [neighbours(float(w), "bfloat16").at for w in weights["x"]])
    ticks = {place for place in trace_named(picture, "numbers around 1")["x"] if place is not None}
    assert set(upper["x"]) <= ticks
    assert all(neighbours(1 + place, "bfloat16").at == 1 + place for place in ticks)
    assert sum(upper["x"] == 0) > 1
    assert trace_named(picture, "became 1")["x"][0] == 0
    near_zero = {place for place in trace_named(picture, "numbers around 0")["x"] if place is not None}
    assert len(near_zero) > 20 * len(ticks)
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert low <= min(near_zero) < max(near_zero) <= high


def test_both_scale_figures_name_their_rows() -> None:
    notes = [[note["text"] for note in of(name)[0].spec["layout"]["annotations"]] for name in ("one_plus_w", "stored")]
    assert notes == [
        ["1 + w, added in bfloat16", "w as it is stored, in bfloat16"],
        ["stored: the scale, in bfloat16", "stored: w, in bfloat16"],
    ]
    # What is stored in bfloat16 is there already.
    assert "w as it is stored, in bfloat16: the largest error is 0." in of("one_plus_w")[0].alt


@pytest.mark.parametrize("format", FORMATS)
def test_any_format_and_size_can_be_drawn(format: str, t: Text, mode: str) -> None:
    for w in (np.zeros(3), np.array([1e-30, -1.0, 5.0]), np.array([100.0])):
        check(landing_picture(landing(w, format=format), ("a", "b"), t=t, mode=mode), t, mode)
    for steps in (0, 1, 300):
        path = residual_path(1.0, 0.01, steps, format=format)
        check(residual_picture(path, 0.01, format, t=t, mode=mode), t, mode)


def test_one_ratio_can_be_drawn(t: Text, mode: str) -> None:
    check(variance_picture({10.0: variance_errors(10.0, d=16, rows=4)}, t=t, mode=mode), t, mode)


def test_the_rest_shows_where_it_left_the_format() -> None:
    assert "out of range from term 7 on" in of("sum")[0].alt
    assert "float16 ends at 65504 and holds ∞" in of("square")[0].alt
    assert "float16 ends at 65504 and holds ∞" in of("t5")[0].alt
    assert "float16 holds 0," in of("eps")[1].alt
    assert [picture.name for picture in of("orders")] == ["normviz-arithmetics"]
