"""Do the figures about noisy statistics show each batch, and a law only where it holds?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import estimates_picture, outputs_picture
from normviz.figures.words import number
from normviz.streams import POPULATIONS, Population, estimates, token_outputs
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


@pytest.mark.parametrize("kind", POPULATIONS)
def test_spreads_are_solid_and_their_laws_dashed_on_two_log_axes(kind: str, t: Text, mode: str) -> None:
    found = estimates(Population(kind=kind, tokens=16, correlation=0.5), repeats=20)
    picture = estimates_picture(found, t=t, mode=mode)
    check(picture, t, mode)
    lines = {
        t("mean"): (found.mean_sd, found.mean_law),
        t("variance"): (found.var_sd, found.var_law),
        t("output of one token (z = {z})", z="1.5"): (found.output_sd, found.output_law),
    }
    for name, (measured, law) in lines.items():
        of_token = law is found.output_law
        theory = t("{name}, theory (large N)", name=name) if of_token else t("{name}, theory", name=name)
        solid, dashed = trace_named(picture, name), trace_named(picture, theory)
        np.testing.assert_array_equal(solid["x"], found.counts)
        np.testing.assert_array_equal(solid["y"], measured)
        # First order in the noise of the statistics: only for what is worth enough independent tokens.
        holds = found.effective >= (16 + 8 * 1.5**2 if of_token else 0)
        np.testing.assert_array_equal(dashed["x"], found.counts[holds])
        np.testing.assert_array_equal(dashed["y"], law[holds])
        assert (solid["mode"], solid["line"]["dash"]) == ("lines+markers", "solid")
        assert (dashed["mode"], dashed["line"]["dash"]) == ("lines", "dash")
        assert number(float(measured[-1])) in picture.alt
    assert len({trace_named(picture, name)["marker"]["symbol"] for name in lines}) == 3
    layout = picture.spec["layout"]
    assert layout["xaxis"]["type"] == layout["yaxis"]["type"] == "log"
    for values in (found.mean_sd, found.var_law, found.output_law):
        low, high = 10 ** np.array(layout["yaxis"]["range"])
        assert low < values.min()
        assert values.max() < high


def test_an_arrow_leads_to_as_many_independent_tokens_as_the_batch_is_worth() -> None:
    found = estimates(Population(kind="equal", tokens=64, correlation=0.9), repeats=10)
    picture = estimates_picture(found, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    (words,) = picture.spec["layout"]["annotations"]
    arrow = picture.spec["data"][0]  # below all markers
    assert arrow["x"] == [2048, pytest.approx(found.effective[-1])]
    # Its head lies on the line of independent tokens: 1 / sqrt(N).
    assert arrow["y"] == [pytest.approx(found.effective[-1] ** -0.5)] * 2
    # The words stand above the drawing, where no marker is.
    assert (words["yref"], words["y"], words["yanchor"]) == ("paper", 1, "bottom")
    assert (words["xref"], words["x"], words["xanchor"]) == ("paper", 1, "right")
    line = trace_named(picture, "mean of independent tokens")
    assert line["x"][0] <= found.effective[-1]
    np.testing.assert_allclose(line["y"], line["x"] ** -0.5)
    assert number(float(found.effective[-1])) in words["text"]


@pytest.mark.parametrize("kind", ["independent", "heavy"])
def test_independent_tokens_have_no_arrow(kind: str) -> None:
    picture = estimates_picture(estimates(Population(kind=kind, tokens=4), repeats=10), t=ENGLISH, mode="light")
    assert not picture.spec["layout"]["annotations"]


def test_the_law_of_a_token_is_left_out_where_no_batch_is_large_enough_for_it(t: Text) -> None:
    found = estimates(Population(kind="chain", tokens=128, correlation=0.9), z=10, repeats=20)
    picture = estimates_picture(found, t=t, mode="light")
    check(picture, t, "light")
    names = {trace.get("name") for trace in picture.spec["data"]}
    assert t("theory") in names
    assert t("theory (large N)") not in names
    name = t("output of one token (z = {z})", z="10")
    assert number(float(found.output_sd[-1])) in picture.alt
    assert number(float(found.output_law[-1])) not in picture.alt
    assert picture.table[t("{name}, theory (large N)", name=name)].isna().all()


@pytest.mark.parametrize("z", [0.0, 1.5, 4.0])
@pytest.mark.parametrize("kind", POPULATIONS)
def test_the_law_of_a_token_is_drawn_only_where_it_is_near_what_was_measured(kind: str, z: float) -> None:
    found = estimates(Population(kind=kind, tokens=8, correlation=0.5), z=z, repeats=400)
    picture = estimates_picture(found, t=ENGLISH, mode="light")
    dashed = trace_named(picture, f"output of one token (z = {number(z)}), theory (large N)")
    measured = found.output_sd[np.isin(found.counts, dashed["x"])]
    np.testing.assert_allclose(dashed["y"], measured, rtol=0.25)


def test_a_sequence_as_long_as_the_largest_batch_gives_one_point() -> None:
    found = estimates(Population(kind="independent", tokens=2048), repeats=10)
    picture = estimates_picture(found, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert picture.spec["layout"]["xaxis"]["ticktext"] == ["2048"]
    assert len(picture.table) == 1
    # A line through one point would not be seen.
    theory = trace_named(picture, "mean, theory")
    assert (theory["mode"], theory["marker"]["symbol"]) == ("markers", "line-ew")


@pytest.mark.parametrize("batch", [1, 16])
def test_each_output_is_counted_or_said_to_lie_further_out(batch: int, t: Text, mode: str) -> None:
    outputs = token_outputs(Population(kind="independent", tokens=4), batch)
    picture = outputs_picture(outputs, z=1.5, count=4 * batch, layer=-0.75, t=t, mode=mode)
    check(picture, t, mode)
    bars, layer, truth = picture.spec["data"]
    missing = outputs.size - int(bars["y"].sum())
    notes = [note["text"] for note in picture.spec["layout"]["annotations"]]
    assert notes == ([t("further out: {n}", n=missing)] if missing else [])
    assert missing <= 0.01 * outputs.size
    assert layer["x"] == [-0.75, -0.75]
    assert truth["x"] == [1.5, 1.5]
    assert (layer["line"]["dash"], truth["line"]["dash"]) == ("solid", "dash")
    assert layer["line"]["color"] == theme.NORM_COLORS[mode]["layer_norm"]
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert low < -0.75
    assert high > 1.5
    assert number(float(outputs.std())) in picture.alt


@pytest.mark.parametrize("batch", [1, 16])
def test_the_table_counts_every_batch_once(batch: int) -> None:
    outputs = token_outputs(Population(kind="heavy", tokens=4), batch)
    picture = outputs_picture(outputs, z=1.5, count=4 * batch, layer=0.0, t=ENGLISH, mode="light")
    start, end, count = (picture.table[name].to_numpy() for name in ("from", "to", "batches"))
    assert count.sum() == outputs.size
    assert len(count) > len(picture.spec["data"][0]["y"])
    np.testing.assert_array_equal(start[1:], end[:-1])
    assert start[0] <= outputs.min()
    assert end[-1] >= outputs.max()
    inside = [np.count_nonzero((outputs >= low) & (outputs < high)) for low, high in zip(start, end, strict=True)]
    np.testing.assert_allclose(count, inside, atol=1)  # an output at an edge


@pytest.mark.parametrize("layer", [-6.0, 1.5, 40.0])
def test_layernorms_value_lies_in_the_drawing_wherever_it_is(layer: float) -> None:
    outputs = token_outputs(Population(kind="independent", tokens=16), 4)
    picture = outputs_picture(outputs, z=1.5, count=64, layer=layer, t=ENGLISH, mode="light")
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert min(layer - low, high - layer) > 0.03 * (high - low)
    assert trace_named(picture, "LayerNorm, every batch")["x"] == [layer, layer]


@pytest.mark.parametrize("noise", [0.0, 1e-16])
def test_outputs_that_never_differ_are_drawn(noise: float) -> None:
    outputs = 1 + noise * np.arange(50)
    picture = outputs_picture(outputs, z=1.0, count=2, layer=1.0, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert high - low >= 1
    assert picture.table["batches"].sum() == 50


def test_a_batch_of_two_gives_one_of_two_outputs() -> None:
    outputs = token_outputs(Population(kind="independent", tokens=2), 1, z=10)
    picture = outputs_picture(outputs, z=10, count=2, layer=0.5, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert picture.table["batches"].sum() == outputs.size
