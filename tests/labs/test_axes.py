"""Does the axes lab compute, count and explain what it is asked for, in every view?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from normviz.grid import AXES, sample_grid, sentences_batch
from normviz.link import knob
from normviz.streams import STREAMS, Stream, history
from tests.labs.conftest import said

VIEWS = tuple(knob("axes", "view").options)
NUMBERS = {"source": "synthetic", "d": "4"}


def counts(page):
    return page.table[0].value


def errors(page):
    return [error.value for error in page.error]


def test_layer_norm_has_a_statistic_per_token_and_batch_norm_one_per_channel(open_lab):
    table = counts(open_lab("axes", source="synthetic", batch="3", tokens="5", d="7"))
    assert table.loc["LayerNorm", "Statistics"] == "15 × (mean, std)"
    assert table.loc["BatchNorm", "Statistics"] == "7 × (mean, std)"
    assert table.loc["Everything", "Statistics"] == "1 × (mean, std)"
    assert table.loc["LayerNorm", "Weight and bias"] == "weight [7], bias [7]"
    assert table.loc["RMSNorm", "Weight and bias"] == "weight [7]"
    assert table.loc["Everything", "Weight and bias"] == "weight [3, 5, 7], bias [3, 5, 7]"
    assert table["Parameters"].tolist() == ["14", "7", "14", "14 †", "14", "210"]


@pytest.mark.parametrize(("norm", "axis"), [("layer_norm", 2), ("batch_norm", (0, 1)), ("everything", (0, 1, 2))])
def test_the_selected_cells_mean_is_that_of_the_cells_it_shares_with(open_lab, norm, axis):
    page = open_lab("axes", norm=norm, cell="1.2.0", **NUMBERS)
    mean = np.broadcast_to(sample_grid(2, 3, 4, seed=0).mean(axis=axis, keepdims=True), (2, 3, 4))[1, 2, 0]
    assert f"= {mean:.4f}" in said(page)


def test_a_cell_can_be_typed(open_lab):
    page = open_lab("axes", **NUMBERS)
    page.number_input(key="axes.cell.token").set_value(3).run()
    assert page.query_params["cell"] == "0.2.2"
    assert "Cell: sequence 1, token 3, channel 3" in said(page)


def test_a_grid_that_shrinks_below_the_cell_says_so(open_lab):
    page = open_lab("axes", cell="1.2.3", **NUMBERS)
    page.slider(key="axes.d").set_value(2).run()
    assert not page.exception
    assert "outside the grid" in said(page)


def test_groups_that_do_not_divide_the_channels_are_explained(open_lab):
    page = open_lab("axes", norm="group_norm", source="synthetic", d="7", groups="2")
    assert not page.exception
    (error,) = errors(page)
    assert "2" in error
    assert "7" in error


@pytest.mark.parametrize("sizes", [("1", "1", "1"), ("8", "32", "64")])
def test_the_smallest_and_the_largest_grid_open_under_every_norm(open_lab, sizes):
    batch, tokens, d = sizes
    page = open_lab("axes", source="synthetic", batch=batch, tokens=tokens, d=d, groups="1", pad="1")
    for norm in AXES:
        page.segmented_control(key="axes.norm").set_value(norm).run()
        assert not page.exception
        assert len(errors(page)) == (norm == "batch_norm" and sizes == ("1", "1", "1"))


def test_sentences_are_the_grid_and_a_shorter_one_is_padded(open_lab):
    page = open_lab("axes", norm="batch_norm", text="the cat sat\nit slept", cell="1.1.0", d="4")
    table = counts(page)
    assert table.loc["LayerNorm", "Statistics"] == "6 × (mean, std)"
    assert "“slept”" in said(page)
    made = sentences_batch("the cat sat\nit slept", 4)
    assert f"= {made.x[..., 0].mean():.4f}" in said(page)
    page.toggle(key="axes.masked").set_value(True).run()
    assert f"= {made.x[made.mask][:, 0].mean():.4f}" in said(page)


@pytest.mark.parametrize("cell", ["0.0.0", "1.2.0"])
def test_a_masked_pad_is_in_no_statistic(open_lab, cell):
    page = open_lab("axes", norm="batch_norm", text="a b c\nd e", masked="1", cell=cell)
    assert not page.exception
    assert ("it is in no statistic" in said(page)) == (cell == "1.2.0")


def test_text_that_is_no_sentence_is_explained_and_the_last_grid_stays(open_lab):
    page = open_lab("axes", text="the cat sat\nit slept")
    before = counts(page)
    page.text_area(key="axes.text").set_value("  \n ").run()
    assert not page.exception
    assert len(errors(page)) == 1
    assert counts(page).equals(before)


@pytest.mark.parametrize(
    ("text", "words"),
    [("猫坐在垫子上", "split by character"), ("word " * 10_000, "9,968 words"), ("a\n" * 20, "12 sentences")],
)
def test_what_is_done_to_unusual_text_is_said(open_lab, text, words):
    page = open_lab("axes")
    page.text_area(key="axes.text").set_value(text).run()
    assert not page.exception
    assert not errors(page)
    assert words in said(page)


@pytest.mark.parametrize("text", ["one", "قطة على السجادة\nنامت", "![x](http://example.org/x.png) $a$ <b>\n:red[x]"])
@pytest.mark.parametrize("view", ["grid", "padding", "tokens"])
def test_any_word_can_be_a_token(open_lab, text, view):
    page = open_lab("axes", view=view, norm="layer_norm", text=text, cell="0.0.0")
    assert not page.exception
    assert "![x](" not in said(page)
    # BatchNorm refuses a batch of one token.
    assert len(errors(page)) == (text == "one" and view == "padding")


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_and_is_offered_as_two_scripts(open_lab, view, lang):
    page = open_lab("axes", lang, view=view)
    assert not page.exception
    assert not errors(page)
    assert bool(re.search("[一-鿿]", said(page))) == (lang == "zh")


def test_a_view_offers_its_script_in_both_forms(open_lab):
    page = open_lab("axes")
    for view in VIEWS:
        page.segmented_control(key="axes.view").set_value(view).run()
        page.session_state["axes.scripts"] = True
        page.run()
        assert not page.exception
        mine, plain = (code.value for code in page.code[-2:])
        assert "normviz" in mine
        assert "import torch" in plain
        assert "normviz" not in plain


def test_the_changed_sentence_is_counted(open_lab):
    page = open_lab("axes", view="padding", text="a b c\nd", row="2", change="4")
    assert "Words in the sentence: 1, then 5" in said(page)
    assert "Share of pads: 33 %, then 20 %" in said(page)


def test_a_sentence_that_would_lose_all_its_words_keeps_one_and_says_so(open_lab):
    page = open_lab("axes", view="padding", text="a b c\nd e", row="2", change="-5")
    (error,) = errors(page)
    assert "at least one word" in error
    assert "Words in the sentence: 2, then 1" in said(page)


def test_a_single_sentence_has_no_other_to_move(open_lab):
    page = open_lab("axes", view="padding", text="a b c")
    assert not page.exception
    assert "no other sentence" in said(page)


def test_a_correlated_batch_says_what_it_is_worth(open_lab):
    page = open_lab("axes", view="batches", population="equal", corr="0.5", seq="8", size="2")
    # 16 tokens over 1 + 7 * 0.5
    assert "worth 3.56" in said(page)


def test_a_batch_of_one_token_is_quoted_in_pytorchs_words(open_lab):
    page = open_lab("axes", view="batches", seq="1", size="1")
    assert not page.exception
    assert any("Expected more than 1 value per channel" in code.value for code in page.code)


def test_the_running_mean_is_where_so_many_batches_leave_it(open_lab):
    page = open_lab("axes", view="running", fed="0")
    assert "nothing to compare" in said(page)
    page.number_input(key="axes.fed").set_value(11).run()
    assert page.query_params["fed"] == "11"
    behind = history(Stream(kind="steady", tokens=16, momentum=0.1, drift=0.05), 11)
    shown = behind.truth[-2, 0] - behind.running["pytorch"].mean[-1, 0]
    assert f"{abs(shown):.3g} from the mean" in said(page)


@pytest.mark.parametrize("view", ["running", "power"])
def test_every_stream_is_drawn_from_its_start_to_its_end_in_both_modes(open_lab, view):
    page = open_lab("axes", view=view)
    for stream in STREAMS:
        for fed in ("0", "1", "200"):
            page.segmented_control(key="axes.stream").set_value(stream)
            page.number_input(key="axes.fed").set_value(int(fed)).run()
            assert not page.exception
            assert not errors(page)


def test_generation_in_training_mode_meets_pytorchs_error_and_inference_does_not(open_lab):
    page = open_lab("axes", view="running", stream="generation", fed="1", mode="train")
    assert any("Expected more than 1 value per channel" in code.value for code in page.code)
    page.segmented_control(key="axes.mode").set_value("eval").run()
    assert not any("Expected more than 1 value per channel" in code.value for code in page.code)


def test_a_drift_says_how_far_the_running_mean_lags(open_lab):
    page = open_lab("axes", view="running", stream="drift", drift="0.1", momentum="0.1")
    assert "= 0.9 behind" in said(page)


def test_a_token_of_one_channel_is_undefined_under_layer_norm_and_its_pairs_are_still_drawn(open_lab):
    page = open_lab("axes", view="tokens", d="1")
    assert not page.exception
    assert not errors(page)


def test_what_a_view_says_holds_for_what_it_shows(open_lab):
    page = open_lab("axes", view="running")
    for changes, words in (
        ({"fed": 0}, "Before the first batch"),
        ({"fed": 5, "momentum": 0.0}, "never moves"),
        ({"momentum": 0.1, "stream": "mixture"}, "from the mean of the last batch"),
        ({"stream": "generation"}, "stands still"),
    ):
        for name, value in changes.items():
            kind = {"fed": page.number_input, "momentum": page.slider, "stream": page.segmented_control}[name]
            kind(key=f"axes.{name}").set_value(value)
        page.run()
        assert words in said(page)
        assert ("jitters" in said(page)) == (words == "Before the first batch")


def test_padding_that_changes_nothing_does_not_speak_of_movement(open_lab):
    page = open_lab("axes", view="padding", change="0")
    assert "nothing moves yet" in said(page)
    assert "too large" in said(page)
    page.segmented_control(key="axes.pads").set_value("garbage").run()
    assert "squeeze" in said(page)
    assert "too large" not in said(page)


def test_the_groups_that_are_counted_are_those_of_the_control(open_lab):
    page = open_lab("axes", source="synthetic", batch="2", d="6", groups="3")
    assert counts(page).loc["GroupNorm", "Statistics"] == "6 × (mean, std)"
    page.segmented_control(key="axes.norm").set_value("group_norm").run()
    assert counts(page).loc["GroupNorm", "Statistics"] == "6 × (mean, std)"
