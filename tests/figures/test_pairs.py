"""Does the figure of pairs show every distance before and after, and the pair that a person built?"""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from normviz.figures import theme
from normviz.figures.axes import pairs_picture
from normviz.figures.words import number
from normviz.grid import normalize_grid, pairs, sentences_batch, synthetic_batch
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")
BUILT = (3.25, 0.0, 1.125)


def test_each_pair_stands_at_its_distance_before_and_after(t: Text, mode: str) -> None:
    batch = sentences_batch("the cat sat\na dog", 5)
    picture = pairs_picture(pairs(batch), batch, BUILT, t=t, mode=mode)
    check(picture, t, mode)
    x = batch.x[batch.mask]
    upper = np.triu_indices(len(x), 1)
    before = np.linalg.norm(x[upper[0]] - x[upper[1]], axis=1)
    for norm in ("layer_norm", "rms_norm"):
        y = normalize_grid(batch.x, norm).output[batch.mask]
        drawn = trace_named(picture, theme.NORM_NAMES[norm])
        assert drawn["marker"]["color"] == theme.NORM_COLORS[mode][norm]
        assert drawn["marker"]["symbol"] == theme.SYMBOLS[norm]
        np.testing.assert_allclose(np.sort(drawn["x"]), np.sort(before), atol=1e-12)
        np.testing.assert_allclose(
            np.sort(drawn["y"]), np.sort(np.linalg.norm(y[upper[0]] - y[upper[1]], axis=1)), atol=1e-12
        )
    assert len(picture.table) == 10
    assert "cat" in " ".join(picture.table[t("token")])


def test_the_built_pair_is_ringed_and_told(t: Text, mode: str) -> None:
    batch = synthetic_batch("independent", 2, 3, 4)
    picture = pairs_picture(pairs(batch), batch, BUILT, t=t, mode=mode)
    ringed = [trace for trace in picture.spec["data"] if trace.get("name") == t("your two tokens")]
    assert {(trace["x"][0], trace["y"][0]) for trace in ringed} == {(3.25, 0.0), (3.25, 1.125)}
    assert sum(trace["showlegend"] for trace in ringed) == 1
    assert all(number(distance) in picture.alt for distance in BUILT)
    layout = picture.spec["layout"]
    for trace in picture.spec["data"]:
        for axis in "xy":
            low, high = layout[f"{axis}axis"]["range"]
            assert low < min(trace[axis])
            assert max(trace[axis]) < high or trace["mode"] == "lines"


def test_without_a_twin_nothing_is_marked(t: Text, mode: str) -> None:
    batch = sentences_batch("the cat sat\na dog", 5)
    picture = pairs_picture(pairs(batch), batch, None, t=t, mode=mode)
    check(picture, t, mode)
    names = {trace["name"] for trace in picture.spec["data"]}
    assert names == {t("as far as before"), "LayerNorm", "RMSNorm"}
    assert t("your two tokens") not in picture.alt


def test_pairs_without_a_value_are_left_out_and_counted(t: Text, mode: str) -> None:
    batch = sentences_batch("the cat sat\na dog", 5)
    found = pairs(batch)
    missing = np.arange(10) % 3 == 0
    some = dataclasses.replace(found, layer_norm=np.where(missing, np.nan, found.layer_norm))
    picture = pairs_picture(some, batch, BUILT, t=t, mode=mode)
    check(picture, t, mode)
    drawn = trace_named(picture, "LayerNorm")
    np.testing.assert_array_equal(drawn["x"], found.before[~missing])
    np.testing.assert_array_equal(drawn["y"], found.layer_norm[~missing])
    assert drawn["text"] == [trace_named(picture, "RMSNorm")["text"][place] for place in np.flatnonzero(~missing)]
    assert len(trace_named(picture, "RMSNorm")["x"]) == 10
    words = "{norm} gives one of the tokens no value in {n} of the pairs, which are left out."
    assert t(words, norm="LayerNorm", n=4) in picture.alt
    assert t(words, norm="RMSNorm", n=0) not in picture.alt
    assert picture.table[t("distance after {norm}", norm="LayerNorm")].isna().sum() == 4


def test_tokens_without_any_value_give_an_empty_drawing_that_says_so(t: Text, mode: str) -> None:
    batch = sentences_batch("the cat sat\na dog", 5)
    nothing = np.full(10, np.nan)
    found = dataclasses.replace(pairs(batch), layer_norm=nothing, rms_norm=nothing)
    picture = pairs_picture(found, batch, None, t=t, mode=mode)
    check(picture, t, mode)
    assert not picture.spec["data"]
    (note,) = picture.spec["layout"]["annotations"]
    assert note["text"] == t("No norm gives these tokens a value.")
    assert note["text"] in picture.alt


def test_hover_texts_name_both_words_as_text() -> None:
    batch = sentences_batch("<i>x</i> $y$", 3)
    (text,) = trace_named(pairs_picture(pairs(batch), batch, BUILT, t=ENGLISH, mode="light"), "RMSNorm")["text"]
    assert "&lt;i&gt;" in text
    assert "$" not in text
    assert "s1 t2" in text


@pytest.mark.parametrize("sizes", [(2, 1, 2), (8, 32, 3)])
def test_one_pair_and_very_many_are_drawn(sizes: tuple[int, int, int]) -> None:
    batch = synthetic_batch("independent", *sizes)
    found = pairs(batch)
    picture = pairs_picture(found, batch, (0.0, 0.0, 0.0), t=ENGLISH, mode="light")
    check(picture, ENGLISH, "light")
    assert len(picture.table) == len(found.before)
