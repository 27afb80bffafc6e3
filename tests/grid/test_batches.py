"""Do sequences and words become the grid that is announced, and do the example batches have their properties?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.grid import (
    PADS,
    SYNTHETIC,
    Batch,
    batch,
    embedding,
    pad_lengths,
    resized,
    sample_grid,
    sentences_batch,
    summary,
    synthetic_batch,
)

SEEDS = st.integers(0, 2**31 - 1)


def same(found: Batch, expected: Batch) -> None:
    np.testing.assert_array_equal(found.x, expected.x)
    np.testing.assert_array_equal(found.mask, expected.mask)
    assert (found.words, found.pads, found.seed) == (expected.words, expected.pads, expected.seed)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(1, 5), st.sampled_from(PADS), SEEDS)
def test_sequences_come_back_from_the_grid(lengths: list[int], d: int, pads: str, seed: int) -> None:
    given_ = [np.random.default_rng(row).normal(size=(length, d)) for row, length in enumerate(lengths)]
    made = batch(given_, pads=pads, seed=seed)
    assert made.x.shape == (len(lengths), max(lengths), d)
    assert made.lengths == tuple(lengths)
    np.testing.assert_allclose(made.pad_share, 1 - sum(lengths) / made.mask.size, atol=1e-15)
    for found, expected in zip(made.sequences, given_, strict=True):
        np.testing.assert_array_equal(found, expected)
    again = batch(made.sequences, pads=pads, seed=seed)
    same(again, made)


def test_what_stands_on_the_pads() -> None:
    sequences = [np.ones((40, 50)), np.ones((1, 50))]
    on_pads = {pads: (made := batch(sequences, pads=pads, seed=7)).x[~made.mask] for pads in PADS}
    assert not on_pads["zero"].any()
    np.testing.assert_array_equal(on_pads["embedding"], np.tile(embedding("<pad>", 50, 7), (39, 1)))
    garbage = on_pads["garbage"]
    np.testing.assert_array_equal(garbage, garbage.round(1))
    # 1950 numbers: the mean is off by 0.23, the standard deviation by 0.16, give or take.
    np.testing.assert_allclose(garbage.mean(), 0, atol=1)
    np.testing.assert_allclose(garbage.std(), 10, atol=0.7)
    assert (batch(sequences, pads="garbage", seed=8).x[1, 1:] != garbage).any()


def test_garbage_stays_when_another_sequence_gets_longer() -> None:
    before = batch([np.ones((3, 2)), np.ones((1, 2))], pads="garbage", seed=1)
    after = resized(before, 0, 4)
    np.testing.assert_array_equal(after.x[1, :3], before.x[1])
    assert after.x[1, 3:].all()


def test_garbage_does_not_repeat_the_numbers_of_the_example() -> None:
    x = sample_grid(4, 8, 16, seed=3)
    pads = batch([row[:1] for row in x] + [np.zeros((8, 16))], pads="garbage", seed=3)
    for garbage in pads.x[:4, 1:]:
        for row in x:
            assert not np.isclose(garbage, 10 * row[1:], atol=0.6).all()


def test_an_embedding_belongs_to_the_word_and_the_seed() -> None:
    expected = np.random.default_rng([4, *"naïve".encode()]).standard_normal(6).round(1)
    np.testing.assert_array_equal(embedding("naïve", 6, 4), expected)
    assert not np.signbit(embedding("the", 10_000, 0)[embedding("the", 10_000, 0) == 0]).any()
    for other in (embedding("Naïve", 6, 4), embedding("naïve", 6, 5)):
        assert (other != expected).any()


def test_a_text_becomes_a_batch() -> None:
    made = sentences_batch("the cat saw the dog\n\n猫看狗", 5, seed=2, pads="embedding")
    assert made.words == (("the", "cat", "saw", "the", "dog"), ("猫", "看", "狗"))
    assert made.lengths == (5, 3)
    for row, words in enumerate(made.words or ()):
        for at, word in enumerate(words):
            np.testing.assert_array_equal(made.x[row, at], embedding(word, 5, 2))
    np.testing.assert_array_equal(made.x[0, 0], made.x[0, 3])
    np.testing.assert_array_equal(made.x[1, 4], embedding("<pad>", 5, 2))


def test_a_sentence_gets_longer_from_its_start_and_shorter_from_its_end() -> None:
    made = sentences_batch("a b c\nd e", 3)
    longer = resized(made, 1, 4)
    assert longer.words == (("a", "b", "c"), ("d", "e", "d", "e", "d", "e"))
    same(longer, sentences_batch("a b c\nd e d e d e", 3))
    same(resized(made, 0, -2), sentences_batch("a\nd e", 3))
    same(resized(made, 0, 0), made)
    numbers = resized(synthetic_batch("independent", 2, 3, 2), 0, 2)
    assert numbers.words is None
    np.testing.assert_array_equal(numbers.x[0], numbers.x[0, [0, 1, 2, 0, 1]])


@pytest.mark.parametrize("kind", SYNTHETIC)
@pytest.mark.parametrize("padded", [False, True])
def test_an_example_batch_is_seeded_and_has_one_decimal(kind: str, padded: bool) -> None:
    made = synthetic_batch(kind, 4, 6, 5, seed=9, padded=padded, pads="garbage")
    same(synthetic_batch(kind, 4, 6, 5, seed=9, padded=padded, pads="garbage"), made)
    assert (synthetic_batch(kind, 4, 6, 5, seed=10).x != made.x).any()
    assert made.lengths == (pad_lengths(4, 6) if padded else (6,) * 4)
    assert made.words is None
    np.testing.assert_array_equal(made.x, made.x.round(1))
    assert not np.signbit(made.x[made.x == 0]).any()


def test_independent_tokens_are_the_sample_grid() -> None:
    np.testing.assert_array_equal(synthetic_batch("independent", 2, 3, 4, seed=5).x, sample_grid(2, 3, 4, seed=5))


@pytest.mark.parametrize("rho", [0, 0.3, 1])
def test_tokens_of_one_sequence_are_correlated_as_asked(rho: float) -> None:
    x = synthetic_batch("correlated", 400, 4, 50, rho=rho).x
    # 20,000 pairs: the correlation is off by 0.007, give or take.
    np.testing.assert_allclose(np.corrcoef(x[:, 0].ravel(), x[:, 3].ravel())[0, 1], rho, atol=0.03)
    np.testing.assert_allclose(np.corrcoef(x[:200, 0].ravel(), x[200:, 1].ravel())[0, 1], 0, atol=0.04)
    np.testing.assert_allclose(x.std(), 1, atol=0.02)


@pytest.mark.parametrize("d", [2, 6, 64])
def test_outlier_channels_are_found_by_the_summary(d: int) -> None:
    calm = summary(synthetic_batch("independent", 8, 32, d).x)
    loud = summary(synthetic_batch("outlier", 8, 32, d).x)
    assert calm.outliers == ()
    assert d < 3 or 1 <= len(loud.outliers) < d / 2
    assert loud.std > 2 * calm.std


def test_a_batch_cannot_be_changed() -> None:
    made = synthetic_batch("correlated", 2, 3, 4, padded=True)
    for array in [made.x, made.mask, made.sequences[0], embedding("a", 2, 0)]:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: batch([]), "A batch has at least one sequence; got none"),
        (lambda: batch([np.ones((2, 3)), np.zeros((0, 3))]), "sequences[1] has at least one token; got none"),
        (lambda: batch([[]]), "sequences[0] has at least one token; got none"),
        (lambda: batch([np.ones(3)]), "sequences[0] is one vector per token, shape [length, d] with d >= 1; got shape"),
        (lambda: batch([np.ones((2, 0))]), "sequences[0] is one vector per token"),
        (lambda: batch([1.0]), "sequences[0] is one vector per token"),
        (lambda: batch([np.ones((2, 3)), np.ones((2, 4))]), "3 as sequences[0]; sequences[1] has 4"),
        (lambda: batch([[[1.0, np.nan]]]), "sequences[0][0, 1] is NaN"),
        (lambda: batch([[[1e200]]]), "sequences[0] holds numbers up to 1e+150 in size"),
        (lambda: batch([np.ones((2, 3))], words=[["a"]]), "words has one word per token, [2] in all; got [1]"),
        (lambda: batch([np.ones((2, 3))], pads="mean"), "pads is one of zero, embedding, garbage; got 'mean'"),
        (lambda: batch([np.ones((2, 3))], seed=-1), "seed is a whole number from 0 to 2147483647; got -1"),
        (
            lambda: batch([np.ones((10**6, 1)), *[np.ones((1, 1))] * 10]),
            "batch x tokens x d multiply to at most 10000000 cells; got 11 x 1000000 x 1",
        ),
        (lambda: embedding("a", 0, 0), "d is a whole number from 1"),
        (lambda: sentences_batch("a b", 10**7), "multiply to at most 10000000 cells; got 1 x 2 x 10000000"),
        (lambda: synthetic_batch("heavy", 1, 1, 1), "kind is one of independent, correlated, outlier; got 'heavy'"),
        (lambda: synthetic_batch("correlated", 1, 1, 1, rho=1.5), "rho is a correlation from 0 to 1; got 1.5"),
        (lambda: synthetic_batch("outlier", 0, 1, 1), "batch is a whole number, 1 or more; got 0"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
