"""Do the figures about a stream of batches show what was measured as solid, and what theory says as dashed?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import (
    gradient_picture,
    mismatch_picture,
    probe_picture,
    running_picture,
    square_picture,
    tokens_picture,
)
from normviz.figures.words import number
from normviz.streams import (
    STREAMS,
    History,
    PowerPath,
    Stream,
    history,
    power_path,
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


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("quantity", ["mean", "var"])
@pytest.mark.parametrize("steps", [0, 1, 12, 200])
def test_running_statistics_are_drawn_by_convention(kind: str, quantity: str, steps: int, t: Text) -> None:
    found = fed(kind, steps)
    picture = running_picture(found, quantity, 1, t=t, mode="dark")
    check(picture, t, "dark")
    names = {"pytorch": t("running, PyTorch"), "decay": t("α read as share of the old (Keras, Flax)")}
    names |= {} if quantity == "mean" else {"biased": t("biased variance")}
    for convention, name in names.items():
        line = trace_named(picture, name)
        np.testing.assert_array_equal(line["x"], np.arange(steps + 1))
        np.testing.assert_array_equal(line["y"], getattr(found.running[convention], quantity)[:, 1])
        assert line["line"]["dash"] == "solid"
    assert trace_named(picture, names["pytorch"])["line"]["color"] == theme.NORM_COLORS["dark"]["batch_norm"]
    assert len(picture.table) == steps + 1
    assert (t("biased variance") in picture.table) == (quantity == "var")
    low, high = picture.spec["layout"]["yaxis"]["range"]
    assert high - low >= 0.5 * (found.stream.stds[1] if quantity == "mean" else found.stream.stds[1] ** 2)
    for trace in picture.spec["data"]:
        if isinstance(trace["y"], np.ndarray) and trace["y"].size:
            assert low < trace["y"].min()
            assert trace["y"].max() < high


def test_the_two_running_means_that_agree_are_drawn_once() -> None:
    found = fed("steady", 5)
    np.testing.assert_array_equal(found.running["biased"].mean, found.running["pytorch"].mean)
    names = [trace.get("name") for trace in running_picture(found, "mean", 0, t=ENGLISH, mode="light").spec["data"]]
    assert "biased variance" not in names


@pytest.mark.parametrize("quantity", ["mean", "var"])
def test_what_follows_every_batch_lies_thin_and_faded_below_pytorchs_curve(quantity: str, mode: str) -> None:
    picture = running_picture(fed("mixture", 200), quantity, 0, t=ENGLISH, mode=mode)
    data = picture.spec["data"]
    restless = ["α read as share of the old (Keras, Flax)"] + ["population"] * (quantity == "mean")
    assert [trace["name"] for trace in data[: len(restless)]] == restless
    pytorch = trace_named(picture, "running, PyTorch")
    for trace in data[: len(restless)]:
        assert trace["mode"] == "lines"
        assert trace["line"]["width"] <= pytorch["line"]["width"] / 3
        assert trace["line"]["color"].startswith("rgba")
    assert pytorch["line"]["color"] == theme.NORM_COLORS[mode]["batch_norm"]


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
def test_both_modes_are_at_full_contrast_and_the_chosen_one_is_broad(
    kind: str, training: bool, t: Text, mode: str
) -> None:
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
    assert {which: drawn[which]["marker"]["symbol"] for which in drawn} == {True: "square", False: "triangle-down"}
    for which in drawn:
        assert drawn[which]["line"]["dash"] == "solid"
        assert drawn[which]["line"]["width"] >= 2
        assert contrast(drawn[which]["line"]["color"], theme.BACKGROUND[mode]) >= (3 if which else 4.5)
    layer = trace_named(picture, "LayerNorm")
    np.testing.assert_array_equal(layer["y"], found.layer_norm[order, 1])
    assert [int(label) - 1 for label in layer["text"]] == order.tolist()
    assert len(picture.table) == len(found.tokens)


@pytest.mark.parametrize("steps", [0, 1, 2])
@pytest.mark.parametrize("kind", STREAMS)
def test_few_points_are_not_magnified(kind: str, steps: int) -> None:
    found, path = fed(kind, steps), passed(kind, steps)
    pictures = [
        *(running_picture(found, quantity, 0, t=ENGLISH, mode="light") for quantity in ("mean", "var")),
        *(tokens_picture(found, 0, training, t=ENGLISH, mode="light") for training in (True, False)),
        square_picture(path, 0, t=ENGLISH, mode="light"),
        probe_picture(path, t=ENGLISH, mode="light"),
    ]
    for picture in pictures:
        low, high = picture.spec["layout"]["yaxis"]["range"]
        assert high - low >= 0.5, picture.title
    for picture in (
        *pictures,
        mismatch_picture(found, t=ENGLISH, mode="light"),
        gradient_picture(path, t=ENGLISH, mode="light"),
    ):
        low, high = picture.spec["layout"]["xaxis"]["range"]
        assert high - low >= 1, picture.title
        drawn = [trace for trace in picture.spec["data"] if np.size(trace["x"]) and trace["x"][0] is not None]
        # Something is drawn, or the frame says why not.
        assert drawn or picture.spec["layout"]["annotations"], picture.title


def contrast(color: str, other: str) -> float:
    """As WCAG defines it, from relative luminances."""

    def luminance(hexadecimal: str) -> float:
        channels = np.array([int(hexadecimal[place : place + 2], 16) / 255 for place in (1, 3, 5)])
        linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
        return float(linear @ (0.2126, 0.7152, 0.0722))

    dark, light = sorted((luminance(color), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


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


@pytest.mark.parametrize(("tokens", "momentum"), [(64, 0.0), (7, 0.1), (2, 1.0)])
def test_the_law_of_the_distance_is_left_out_where_it_does_not_hold(tokens: int, momentum: float, t: Text) -> None:
    found = history(Stream(kind="steady", tokens=tokens, momentum=momentum), 5)
    picture = mismatch_picture(found, t=t, mode="light")
    check(picture, t, "light")
    assert [trace["name"] for trace in picture.spec["data"]] == ["BatchNorm"]
    assert t("Theory for steady data: {value}.", value=number(found.mismatch_law)) not in picture.alt
    assert t("theory for steady data") not in picture.table


@pytest.mark.parametrize(("kind", "steps"), [("steady", 0), ("generation", 0), ("generation", 5)])
def test_without_an_output_in_training_the_drawing_says_why(kind: str, steps: int, t: Text, mode: str) -> None:
    picture = mismatch_picture(fed(kind, steps), t=t, mode=mode)
    check(picture, t, mode)
    assert not picture.spec["data"]
    generated = kind == "generation"
    message = "A token alone has no output in training." if generated else "No batch has been fed yet."
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
    if steps:
        np.testing.assert_array_equal(trace_named(square, batch)["y"], path.batch[:, 1])
    assert running["line"]["color"] == theme.NORM_COLORS["light"]["power_norm"]
    if empty := kind == "generation" or not steps:
        assert not gradient.spec["data"]
    else:
        np.testing.assert_array_equal(trace_named(gradient, "PowerNorm")["y"], path.error)
    assert bool(gradient.spec["layout"].get("annotations")) == empty
    assert bool(probe.spec["layout"].get("annotations")) == (not steps)


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_running_square_is_the_batchs_own_or_stays_at_its_start(alpha: float) -> None:
    path = power_path(stream("steady"), 5, alpha=alpha)
    picture = square_picture(path, 1, t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    running, batch = trace_named(picture, "running ψ")["y"], trace_named(picture, "ψ of a batch")["y"]
    np.testing.assert_allclose(running[1:], np.ones(5) if alpha else batch)


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


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_no_figure_of_a_generation_speaks_of_batches(steps: int, t: Text) -> None:
    found, path = fed("generation", steps), passed("generation", steps)
    pictures = [
        *(running_picture(found, quantity, 0, t=t, mode="light") for quantity in ("mean", "var")),
        mismatch_picture(found, t=t, mode="light"),
        square_picture(path, 0, t=t, mode="light"),
        gradient_picture(path, t=t, mode="light"),
        probe_picture(path, t=t, mode="light"),
    ]
    for picture in pictures:
        check(picture, t, "light")
        axis = picture.spec["layout"]["xaxis"]["title"]["text"]
        assert axis in {t("token"), t("tokens so far")}
        assert axis in picture.table
        assert t("batch") not in picture.table
        notes = " ".join(note["text"] for note in picture.spec["layout"].get("annotations", ()))
        assert t("batch") not in notes + picture.alt


def test_at_inference_training_has_no_line() -> None:
    names = {trace["name"] for trace in probe_picture(passed("generation", 4), t=ENGLISH, mode="light").spec["data"]}
    assert names == {"BatchNorm, inference", "LayerNorm", "PowerNorm"}


def test_an_error_of_zero_has_no_place_on_the_log_axis() -> None:
    path = passed("steady", 3)
    exact = dataclasses.replace(path, error=np.array([0.0, 0.5, 0.25]))
    np.testing.assert_array_equal(
        trace_named(gradient_picture(exact, t=ENGLISH, mode="light"), "PowerNorm")["x"], [2, 3]
    )
