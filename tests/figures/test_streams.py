"""Do the figures about batches show what was measured as solid, what theory says as dashed, and nothing else?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import (
    estimates_picture,
    gradient_picture,
    mismatch_picture,
    outputs_picture,
    probe_picture,
    running_picture,
    square_picture,
    tokens_picture,
)
from normviz.figures.words import number
from normviz.streams import (
    POPULATIONS,
    STREAMS,
    History,
    Population,
    PowerPath,
    Stream,
    estimates,
    history,
    power_path,
    token_outputs,
)
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


def stream(kind: str, tokens: int = 8) -> Stream:
    return Stream(kind=kind, tokens=tokens, momentum=0.1, drift=0.05 if kind == "drift" else 0.0)


def fed(kind: str, steps: int, tokens: int = 8) -> History:
    return history(stream(kind, tokens), steps)


def passed(kind: str, steps: int, tokens: int = 8) -> PowerPath:
    return power_path(stream(kind, tokens), steps)


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
        solid, dashed = trace_named(picture, name), trace_named(picture, t("{name}, theory", name=name))
        np.testing.assert_array_equal(solid["x"], found.counts)
        np.testing.assert_array_equal(solid["y"], measured)
        np.testing.assert_array_equal(dashed["y"], law)
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
    arrow, words = picture.spec["layout"]["annotations"]
    assert 10 ** arrow["ax"] == pytest.approx(2048)
    assert 10 ** arrow["x"] == pytest.approx(found.effective[-1])
    # Its head lies on the line of independent tokens: 1 / sqrt(N).
    assert 10 ** arrow["y"] == pytest.approx(found.effective[-1] ** -0.5)
    line = trace_named(picture, "mean of independent tokens")
    assert line["x"][0] <= found.effective[-1]
    np.testing.assert_allclose(line["y"], line["x"] ** -0.5)
    assert number(float(found.effective[-1])) in words["text"]


@pytest.mark.parametrize("kind", ["independent", "heavy"])
def test_independent_tokens_have_no_arrow(kind: str) -> None:
    picture = estimates_picture(estimates(Population(kind=kind, tokens=4), repeats=10), t=ENGLISH, mode="light")
    assert not picture.spec["layout"]["annotations"]


def test_a_sequence_as_long_as_the_largest_batch_gives_one_point() -> None:
    found = estimates(Population(kind="independent", tokens=2048), repeats=10)
    picture = estimates_picture(found, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert picture.spec["layout"]["xaxis"]["ticktext"] == ["2048"]
    assert len(picture.table) == 1


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


def test_outputs_that_never_differ_are_drawn() -> None:
    check(outputs_picture(np.ones(50), z=1.0, count=2, layer=1.0, t=ENGLISH, mode="light"), ENGLISH, "light")


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("quantity", ["mean", "var"])
@pytest.mark.parametrize("steps", [0, 1, 12, 200])
def test_running_statistics_are_drawn_by_convention(kind: str, quantity: str, steps: int, t: Text) -> None:
    found = fed(kind, steps)
    picture = running_picture(found, quantity, 1, t=t, mode="dark")
    check(picture, t, "dark")
    names = {"pytorch": t("running, PyTorch"), "decay": t("as share of the old")}
    names |= {} if quantity == "mean" else {"biased": t("biased variance")}
    for convention, name in names.items():
        line = trace_named(picture, name)
        np.testing.assert_array_equal(line["x"], np.arange(steps + 1))
        np.testing.assert_array_equal(line["y"], getattr(found.running[convention], quantity)[:, 1])
        assert line["line"]["dash"] == "solid"
    assert trace_named(picture, names["pytorch"])["line"]["color"] == theme.NORM_COLORS["dark"]["batch_norm"]
    assert len(picture.table) == steps + 1
    low, high = picture.spec["layout"]["yaxis"]["range"]
    for trace in picture.spec["data"]:
        if isinstance(trace["y"], np.ndarray) and trace["y"].size:
            assert low < trace["y"].min()
            assert trace["y"].max() < high


def test_the_two_running_means_that_agree_are_drawn_once() -> None:
    found = fed("steady", 5)
    np.testing.assert_array_equal(found.running["biased"].mean, found.running["pytorch"].mean)
    names = [trace.get("name") for trace in running_picture(found, "mean", 0, t=ENGLISH, mode="light").spec["data"]]
    assert "biased variance" not in names


def test_the_expected_running_mean_is_dashed_with_its_spread_around_it(mode: str) -> None:
    found = fed("drift", 30)
    picture = running_picture(found, "mean", 2, t=ENGLISH, mode=mode)
    dashed = trace_named(picture, "expected, PyTorch")
    np.testing.assert_array_equal(dashed["y"], found.expected_mean[:, 2])
    assert dashed["line"]["dash"] == "dash"
    band = trace_named(picture, "expected ± 2 std")
    assert found.spread is not None
    upper, lower = band["y"][:31], band["y"][:30:-1]
    np.testing.assert_allclose(upper - lower, 4 * found.spread[2])
    np.testing.assert_allclose((upper + lower) / 2, found.expected_mean[:, 2])
    # The truth behind a batch stands where the batch does.
    truth, batches = trace_named(picture, "population"), trace_named(picture, "each batch")
    np.testing.assert_array_equal(truth["x"][1:], batches["x"])
    np.testing.assert_array_equal(truth["y"][1:], found.truth[:30, 2])
    (note,) = picture.spec["layout"]["annotations"]
    assert number(0.05 * 9) in note["text"]
    assert "9 batches" in note["text"]


def test_a_mixture_has_neither_spread_nor_lag() -> None:
    picture = running_picture(fed("mixture", 10), "mean", 0, t=ENGLISH, mode="light")
    assert "expected ± 2 std" not in {trace.get("name") for trace in picture.spec["data"]}
    assert not picture.spec["layout"]["annotations"]


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("kind", STREAMS)
def test_the_chosen_mode_is_strong_and_the_other_faint(kind: str, training: bool, t: Text, mode: str) -> None:
    found = fed(kind, 6)
    picture = tokens_picture(found, 1, training, t=t, mode=mode)
    check(picture, t, mode)
    drawn = {
        True: trace_named(picture, t("BatchNorm, training")),
        False: trace_named(picture, t("BatchNorm, inference")),
    }
    order = np.argsort(found.tokens[:, 1])
    for which, y in ((True, found.train), (False, found.eval)):
        assert y is not None
        np.testing.assert_array_equal(drawn[which]["x"], found.tokens[order, 1])
        np.testing.assert_array_equal(drawn[which]["y"], y[order, 1])
    assert drawn[training]["line"]["width"] > drawn[not training]["line"]["width"]
    assert drawn[training]["marker"]["symbol"] == "square"
    assert drawn[not training]["marker"]["symbol"] == "square-open"
    layer = trace_named(picture, "LayerNorm")
    np.testing.assert_array_equal(layer["y"], found.layer_norm[order, 1])
    assert [int(label) - 1 for label in layer["text"]] == order.tolist()
    assert len(picture.table) == len(found.tokens)


def test_the_switch_moves_nothing_but_says_which_mode_is_on(t: Text) -> None:
    found = fed("steady", 3)
    pictures = [tokens_picture(found, 0, training, t=t, mode="light") for training in (True, False)]
    ranges = [[picture.spec["layout"][f"{axis}axis"]["range"] for axis in "xy"] for picture in pictures]
    assert ranges[0] == ranges[1]
    assert pictures[0].title != pictures[1].title
    assert pictures[0].name == pictures[1].name


@pytest.mark.parametrize("training", [True, False])
def test_a_token_alone_has_no_output_in_training(training: bool, t: Text, mode: str) -> None:
    found = fed("generation", 0)
    assert found.train is None
    picture = tokens_picture(found, 0, training, t=t, mode=mode)
    check(picture, t, mode)
    assert (t("In training, BatchNorm needs two tokens.") in picture.alt) == training
    assert bool(picture.spec["layout"].get("annotations")) == training


@pytest.mark.parametrize("steps", [1, 2, 40])
def test_the_distance_of_training_and_inference_stands_beside_its_law(steps: int, t: Text, mode: str) -> None:
    found = fed("steady", steps)
    picture = mismatch_picture(found, t=t, mode=mode)
    check(picture, t, mode)
    line = trace_named(picture, "BatchNorm")
    np.testing.assert_array_equal(line["x"], np.arange(1, steps + 1))
    np.testing.assert_array_equal(line["y"], found.mismatch)
    dashed = trace_named(picture, t("theory for steady data"))
    assert set(dashed["y"]) == {found.mismatch_law}
    assert dashed["line"]["dash"] == "dash"
    assert number(found.mismatch_law) in picture.alt


@pytest.mark.parametrize(("kind", "steps"), [("steady", 0), ("generation", 0), ("generation", 5)])
def test_without_an_output_in_training_the_drawing_says_why(kind: str, steps: int, t: Text, mode: str) -> None:
    picture = mismatch_picture(fed(kind, steps), t=t, mode=mode)
    check(picture, t, mode)
    assert not picture.spec["data"]
    message = "A token alone has no output in training." if steps else "No batch has been fed yet."
    assert t(message) in picture.alt
    assert len(picture.spec["layout"]["annotations"]) == 1


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("steps", [0, 1, 12, 200])
def test_powernorm_is_drawn_along_every_stream(kind: str, steps: int, t: Text) -> None:
    path = passed(kind, steps)
    square, gradient, probe = pictures = (
        square_picture(path, 1, t=t, mode="light"),
        gradient_picture(path, t=t, mode="light"),
        probe_picture(path, t=t, mode="light"),
    )
    for picture in pictures:
        check(picture, t, "light")
    assert [len(picture.table) for picture in pictures] == [steps + 1, steps, steps]
    running = trace_named(square, t("running ψ"))
    np.testing.assert_array_equal(running["y"], path.running[:, 1])
    batch = t("|x| of a token") if kind == "generation" else t("ψ of a batch")
    np.testing.assert_array_equal(trace_named(square, batch)["y"], path.batch[:, 1])
    assert running["line"]["color"] == theme.NORM_COLORS["light"]["power_norm"]
    measured = trace_named(gradient, "PowerNorm")["y"]
    np.testing.assert_array_equal(measured, [] if kind == "generation" else path.error)
    assert bool(gradient.spec["layout"].get("annotations")) == (not measured.size)
    assert bool(probe.spec["layout"].get("annotations")) == (not steps)


def test_one_token_is_followed_under_each_norm_in_its_colour(t: Text, mode: str) -> None:
    path = passed("mixture", 20)
    picture = probe_picture(path, t=t, mode=mode)
    check(picture, t, mode)
    names = {
        "batch_norm": t("BatchNorm, training"),
        "running": t("BatchNorm, inference"),
        "layer_norm": "LayerNorm",
        "power_norm": "PowerNorm",
    }
    for norm, name in names.items():
        line = trace_named(picture, name)
        np.testing.assert_array_equal(line["y"], path.outputs[norm])
        assert line["line"]["color"] == theme.NORM_COLORS[mode]["batch_norm" if norm == "running" else norm]
    assert len({trace_named(picture, name)["marker"]["symbol"] for name in names.values()}) == 4


def test_generation_counts_tokens_and_leaves_the_statistics_as_they_are(t: Text) -> None:
    pictures = (
        running_picture(fed("generation", 3), "mean", 0, t=t, mode="light"),
        square_picture(passed("generation", 3), 0, t=t, mode="light"),
    )
    for picture in pictures:
        assert picture.spec["layout"]["xaxis"]["title"]["text"] == t("tokens so far")
        assert t("tokens so far") in picture.table
        assert t("{name}: {value}, as training left it.", name="", value="").strip(" ,.:，。：") in picture.alt


def test_at_inference_training_has_no_line() -> None:
    names = {trace["name"] for trace in probe_picture(passed("generation", 4), t=ENGLISH, mode="light").spec["data"]}
    assert names == {"BatchNorm, inference", "LayerNorm", "PowerNorm"}


def test_an_error_of_zero_has_no_place_on_the_log_axis() -> None:
    path = passed("steady", 3)
    exact = dataclasses.replace(path, error=np.array([0.0, 0.5, 0.25]))
    np.testing.assert_array_equal(
        trace_named(gradient_picture(exact, t=ENGLISH, mode="light"), "PowerNorm")["x"], [2, 3]
    )
