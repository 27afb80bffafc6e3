"""Do the figures about pads show which tokens move, how far, and what the closed form says?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import bias_picture, moved_picture
from normviz.figures.words import number, token_text
from normviz.grid import (
    PADS,
    Batch,
    batch,
    moved,
    normalize_grid,
    padding_bias,
    resized,
    sentences_batch,
    synthetic_batch,
)
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")
SENTENCES = "the cat sat on the mat\na dog barks\nbirds sing"


def sentences(pads: str = "zero") -> Batch:
    return sentences_batch(SENTENCES, 6, seed=3, pads=pads)


@pytest.mark.parametrize("change", [2, -1])
def test_a_longer_or_shorter_sentence_moves_the_others_under_batchnorm_alone(change: int, t: Text, mode: str) -> None:
    before = sentences()
    picture = moved_picture(moved(before, 0, change), t=t, mode=mode)
    check(picture, t, mode)
    after = resized(before, 0, change)
    for name, axis, masked in (
        ("BatchNorm", "batch_norm", False),
        (t("masked BatchNorm"), "batch_norm", True),
        ("LayerNorm", "layer_norm", False),
    ):
        outputs = [
            normalize_grid(one.x, axis, mask=one.mask if masked else None).output[1:, :3] for one in (before, after)
        ]
        expected = np.abs(outputs[1] - outputs[0]).max(axis=-1)[before.mask[1:, :3]]
        drawn = trace_named(picture, name)
        np.testing.assert_allclose(drawn["y"], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(picture.table[name], drawn["y"])
        assert (drawn["y"].max() == 0) == (axis == "layer_norm")
    assert str(abs(change)) in picture.title


def test_words_name_the_tokens_and_numbers_their_places(t: Text) -> None:
    picture = moved_picture(moved(sentences(), 2, 1), t=t, mode="light")
    ticks = picture.spec["layout"]["xaxis"]["ticktext"]
    for word, label in zip(["the", "cat", "sat", "on", "the", "mat", "a", "dog", "barks"], ticks, strict=True):
        assert word in label
    assert list(picture.table[t("word")])[:2] == ["the", "cat"]
    assert "cat" in trace_named(picture, "BatchNorm")["text"][1]
    assert t("s{b} t{token}", b=1, token=2) in trace_named(picture, "BatchNorm")["text"][1]
    plain = moved_picture(moved(synthetic_batch("independent", 2, 3, 4), 0, 1), t=t, mode="light")
    assert plain.spec["layout"]["xaxis"]["ticktext"] == [token_text(place) for place in "123"]
    assert t("word") not in plain.table


def test_each_other_sentence_is_named_above_its_tokens() -> None:
    layout = moved_picture(moved(sentences(), 1, 1), t=ENGLISH, mode="light").spec["layout"]
    x = layout["xaxis"]["tickvals"]
    places = {note["text"]: note["x"] for note in layout["annotations"]}
    assert places == {"s1": pytest.approx(x[:6].mean()), "s3": pytest.approx(x[6:].mean())}
    assert x[6] - x[5] > x[5] - x[4]


@pytest.mark.parametrize("word", ["<b>bo</b>", "$x^2$", "a&b", "%{y}", "مرحبا"])
def test_a_typed_word_is_neither_markup_nor_mathematics(word: str) -> None:
    given = sentences_batch(f"{word} b\nc d", 4)
    picture = moved_picture(moved(given, 1, 1), t=ENGLISH, mode="light")
    for label in (picture.spec["layout"]["xaxis"]["ticktext"][0], trace_named(picture, "BatchNorm")["text"][0]):
        assert token_text(word, 10) in label
    assert picture.table["word"][0] == word


def test_a_sentence_that_keeps_its_length_moves_nothing(t: Text, mode: str) -> None:
    picture = moved_picture(moved(sentences(), 0, 0), t=t, mode=mode)
    check(picture, t, mode)
    assert all(not trace["y"].any() for trace in picture.spec["data"])
    low, high = picture.spec["layout"]["yaxis"]["range"]
    assert low < 0 < 0.5 < high


def test_a_sentence_without_others_gives_an_empty_drawing_that_says_so(t: Text, mode: str) -> None:
    picture = moved_picture(moved(sentences_batch("one two", 4), 0, 1), t=t, mode=mode)
    check(picture, t, mode)
    assert picture.table.empty
    (note,) = picture.spec["layout"]["annotations"]
    words = t("There is no other sentence whose tokens could move.")
    assert note["text"].replace("<br>", " " if t.lang == "en" else "") == words


@pytest.mark.parametrize("sizes", [(2, 1), (3, 32), (8, 32)])
def test_few_and_many_tokens_keep_marks_within_their_place(sizes: tuple[int, int]) -> None:
    rows, tokens = sizes
    picture = moved_picture(moved(synthetic_batch("independent", rows, tokens, 4), 0, 3), t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert len(picture.table) == (rows - 1) * tokens
    for trace in picture.spec["data"]:
        assert np.abs(trace["x"] - picture.spec["layout"]["xaxis"]["tickvals"]).max() < 0.5
        assert ("error_y" in trace) == ((rows - 1) * tokens <= 64)
    labels = picture.spec["layout"]["xaxis"]["ticktext"]
    assert sum(bool(label) for label in labels) <= 20


@pytest.mark.parametrize("pads", PADS)
def test_the_closed_form_is_dashed_over_the_measured_bias(pads: str, t: Text, mode: str) -> None:
    bias = padding_bias(sentences(pads), 2)
    picture = bias_picture(bias, pads, t=t, mode=mode)
    check(picture, t, mode)
    for name, measured, law in (
        (t("std of the real tokens"), bias.stretch, bias.stretch_law),
        (t("mean of the real tokens"), bias.shift, bias.shift_law),
    ):
        solid, dashed = trace_named(picture, name), trace_named(picture, t("{name}, theory", name=name))
        np.testing.assert_array_equal(solid["y"], measured)
        np.testing.assert_array_equal(dashed["y"], law)
        assert (solid["line"]["dash"], dashed["line"]["dash"]) == ("solid", "dash")
        assert solid["line"]["color"] == theme.NORM_COLORS[mode]["batch_norm"]
        assert solid["line"]["color"] != dashed["line"]["color"]
    assert number(float(bias.stretch[-1])) in picture.alt
    assert len(picture.table) == len(bias.share)


def test_the_batchs_own_share_of_pads_is_marked() -> None:
    given = sentences()
    layout = bias_picture(padding_bias(given, 0), "zero", t=ENGLISH, mode="light").spec["layout"]
    (line,), (words,) = layout["shapes"], layout["annotations"]
    assert line["x0"] == line["x1"] == words["x"] == pytest.approx(given.pad_share)
    assert f"{100 * given.pad_share:.0f} %" in words["text"]


def test_the_share_after_a_change_is_marked_too(t: Text, mode: str) -> None:
    given = sentences()
    then = resized(given, 0, 4).pad_share
    picture = bias_picture(padding_bias(given, 0), "zero", then=then, t=t, mode=mode)
    check(picture, t, mode)
    layout = picture.spec["layout"]
    assert [line["x0"] for line in layout["shapes"]] == [pytest.approx(given.pad_share), then]
    assert len({line["line"]["dash"] for line in layout["shapes"]}) == 2
    before, after = layout["annotations"]
    assert before["text"] == t("before: p = {share}", share=f"{100 * given.pad_share:.0f} %")
    assert after["text"] == t("after: p = {share}", share=f"{100 * then:.0f} %")
    # One above the other: however near the shares are, the words do not meet.
    assert before["yshift"] - after["yshift"] >= theme.FONT_SIZE + 3
    assert layout["margin"]["t"] >= before["yshift"] + theme.FONT_SIZE
    assert f"{100 * then:.0f} %" in picture.alt


def test_a_length_that_stays_gives_one_mark() -> None:
    given = sentences()
    bias = padding_bias(given, 0)
    pictures = [bias_picture(bias, "zero", then=then, t=ENGLISH, mode="light") for then in (None, given.pad_share)]
    for picture in pictures:
        (words,) = picture.spec["layout"]["annotations"]
        assert words["text"].startswith("this batch")
    assert pictures[0].alt == pictures[1].alt


def test_a_share_beyond_the_measured_ones_has_a_place() -> None:
    layout = bias_picture(padding_bias(sentences(), 0), "zero", then=0.97, t=ENGLISH, mode="light").spec["layout"]
    assert layout["xaxis"]["range"][1] > 0.97


def test_masked_batchnorm_is_a_level_where_the_channel_varies() -> None:
    given = batch([np.array([[1.0, 2.0, 1e-3], [1.0, 5.0, -1e-3]]), np.array([[1.0, 3.0, 0.0]])])
    for channel in range(3):
        picture = bias_picture(padding_bias(given, channel), "zero", t=ENGLISH, mode="light")
        check(picture, ENGLISH, "light")
        levels = [trace["y"][0] for trace in picture.spec["data"] if trace["name"].startswith("masked BatchNorm")]
        output = normalize_grid(given.x, "batch_norm", mask=given.mask).output[given.mask][:, channel]
        assert levels == ([] if channel == 0 else [pytest.approx(output.std()), 0.0])


def test_rounding_errors_do_not_move_a_token() -> None:
    found = moved(sentences(), 0, 0)
    noisy = dataclasses.replace(found, shift={norm: shift + 1e-16 for norm, shift in found.shift.items()})
    picture = moved_picture(noisy, t=ENGLISH, mode="light")
    low, high = picture.spec["layout"]["yaxis"]["range"]
    assert high - low > 0.5
    assert picture.alt.count(": no token moves.") == 4  # the title and each norm


def test_two_sentences_of_one_word_are_drawn(t: Text, mode: str) -> None:
    given = sentences_batch("yes\nno", 3)
    check(moved_picture(moved(given, 0, 1), t=t, mode=mode), t, mode)
    check(bias_picture(padding_bias(given, 0), "zero", t=t, mode=mode), t, mode)


def test_zeros_that_never_vary_are_drawn() -> None:
    given = batch([np.zeros((3, 2)), np.zeros((1, 2))])
    check(bias_picture(padding_bias(given, 1), "zero", t=ENGLISH, mode="light"), ENGLISH, "light")
    check(moved_picture(moved(given, 1, 1), t=ENGLISH, mode="light"), ENGLISH, "light")
