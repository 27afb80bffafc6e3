"""Is a large grid summarized and sliced as NumPy does it, and are pairs of tokens as far apart as they are?"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.grid import Batch, batch, pairs, sentences_batch, summary, synthetic_batch, window
from normviz.norms import layer_norm, rms_norm

X = np.random.default_rng(0).normal(2, 3, (3, 4, 6))
EDGES = st.integers(0, 9)


def test_a_summary_is_of_all_cells() -> None:
    found = summary(X)
    assert found.shape == (3, 4, 6)
    np.testing.assert_allclose([found.mean, found.std], [X.mean(), X.std()], rtol=1e-12)
    assert (found.smallest, found.largest) == (X.min(), X.max())


@pytest.mark.parametrize(("factor", "stands_out"), [(5.9, False), (6.1, True)])
def test_a_channel_stands_out_above_six_times_the_median(factor: float, stands_out: bool) -> None:
    x = np.ones((2, 3, 5))
    x[..., 3] = -factor
    assert summary(x).outliers == ((3,) if stands_out else ())


def test_a_grid_of_zeros_has_no_outlier() -> None:
    assert summary(np.zeros((1, 1, 1))).outliers == ()


@given(EDGES, EDGES, EDGES, st.tuples(*[st.integers(1, 9)] * 3))
def test_a_window_is_as_large_as_the_grid_allows(b: int, t: int, c: int, sizes: tuple[int, int, int]) -> None:
    part = window(X, b, t, c, sizes=sizes)
    shape = tuple(map(min, sizes, X.shape))
    assert part.shape == shape
    starts = [min(start, whole - size) for start, whole, size in zip((b, t, c), X.shape, shape, strict=True)]
    np.testing.assert_array_equal(part, X[tuple(slice(s, s + n) for s, n in zip(starts, shape, strict=True))])
    with pytest.raises(ValueError, match="read-only"):
        part[...] = 0


def test_only_the_shown_part_is_checked() -> None:
    x = np.zeros((20, 40, 80))
    x[0, 0, 0] = np.nan
    assert window(x, 12, 8, 16).shape == (8, 32, 64)
    with pytest.raises(InputError, match="NaN"):
        window(x, 0, 0, 0)


def places(state: Batch) -> list[tuple[int, int]]:
    return [(b, t) for b, length in enumerate(state.lengths) for t in range(length)]


@given(st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda lengths: sum(lengths) > 1), st.integers(1, 4))
def test_every_pair_of_real_tokens_is_there_once(lengths: list[int], d: int) -> None:
    rng = np.random.default_rng(d)
    state = batch([rng.normal(size=(length, d)) for length in lengths], pads="garbage")
    found = pairs(state)
    expected = list(combinations(places(state), 2))
    made = [tuple(map(tuple, pair)) for pair in zip(found.first.tolist(), found.second.tolist(), strict=True)]
    assert made == expected


def test_distances_are_those_of_the_norms() -> None:
    state = synthetic_batch("independent", 3, 4, 6, padded=True)
    weight, bias = np.random.default_rng(1).normal(size=(2, 6))
    found = pairs(state, weight=weight, bias=bias)
    outputs = (state.x, layer_norm(state.x, weight, bias).output, rms_norm(state.x, weight).output)
    for output, distances in zip(outputs, (found.before, found.layer_norm, found.rms_norm), strict=True):
        first, second = output[tuple(found.first.T)], output[tuple(found.second.T)]
        np.testing.assert_allclose(distances, np.sqrt(((first - second) ** 2).sum(1)), rtol=1e-10, atol=1e-12)


def test_what_a_norm_throws_away_is_no_distance_after_it() -> None:
    word = np.array([1.0, -2, 0.5, 3])
    found = pairs(batch([[word, 3 * word, word + 2]]), eps=0)
    np.testing.assert_allclose(found.layer_norm, 0, atol=1e-14)
    np.testing.assert_allclose(found.rms_norm[0], 0, atol=1e-15)
    assert (found.rms_norm[1:] > 0.1).all()
    assert (found.before > 1).all()


def test_the_same_word_twice_is_a_pair_at_distance_zero() -> None:
    found = pairs(sentences_batch("the cat\nthe", 4))
    assert found.first.tolist() == [[0, 0], [0, 0], [0, 1]]
    assert found.second.tolist() == [[0, 1], [1, 0], [1, 0]]
    assert found.before[1] == found.layer_norm[1] == found.rms_norm[1] == 0


def test_of_many_pairs_a_fixed_choice_is_taken() -> None:
    state = synthetic_batch("independent", 8, 32, 4)
    found, again = pairs(state, most=100), pairs(state, most=100)
    chosen = np.hstack([found.first, found.second])
    np.testing.assert_array_equal(chosen, np.hstack([again.first, again.second]))
    assert len(np.unique(chosen, axis=0)) == 100
    first, second = (32 * end[:, 0] + end[:, 1] for end in (found.first, found.second))
    assert (first < second).all()
    # 256 tokens: first and last thirds are both met, so that the choice is not only the beginning.
    assert first.min() < 85
    assert first.max() > 170


def test_pairs_of_a_million_tokens_are_chosen_without_listing_all() -> None:
    found = pairs(batch([np.random.default_rng(0).normal(size=(1_000_000, 1))]), eps=1, most=5)
    assert found.before.size == 5
    assert (found.first[:, 1] < found.second[:, 1]).all()
    assert found.second.max() < 1_000_000


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: summary(np.ones((2, 3))),
            "x is a grid of shape [B, T, d] with every size at least 1; got shape [2, 3]",
        ),
        (lambda: window(np.ones((2, 3)), 0, 0, 0), "x is a grid of shape [B, T, d]"),
        (lambda: window(np.ones((2, 0, 3)), 0, 0, 0), "got shape [2, 0, 3]"),
        (lambda: window(X, 0, -1, 0), "t is a whole number, 0 or more; got -1"),
        (lambda: window(X, 0, 0, 0, sizes=(1, 0, 1)), "sizes is a whole number, 1 or more; got 0"),
        (lambda: pairs(sentences_batch("one", 4)), "A pair is two real tokens; got 1"),
        (lambda: pairs(sentences_batch("one two", 4), most=0), "most is a whole number, 1 or more; got 0"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)


def test_a_token_without_a_value_leaves_its_pairs_out_and_the_others_stay() -> None:
    tokens = np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 3.0], [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]])
    found = pairs(batch([tokens]), eps=0)
    involved = {place: (found.first[:, 1] == place) | (found.second[:, 1] == place) for place in (1, 2)}
    np.testing.assert_array_equal(np.isnan(found.layer_norm), involved[1] | involved[2])
    np.testing.assert_array_equal(np.isnan(found.rms_norm), involved[2])
    rest = pairs(batch([tokens[[0, 3]]]), eps=0)
    np.testing.assert_array_equal(found.layer_norm[~np.isnan(found.layer_norm)], rest.layer_norm)
