"""Does each preset show what its sentence says, and are the drawn vectors the same every time?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from normviz.errors import InputError
from normviz.norms import layer_norm, rms_norm
from normviz.vectors import LARGEST_VECTOR, MASSIVE, VECTORS, hidden_state, parse_vector, random_vector

DRAW = {"random": random_vector, "hidden": hidden_state}


def outputs(name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The preset's x, LN(x) and RMSNorm(x)."""
    preset = VECTORS[name]
    x = DRAW[preset.source](preset.d, preset.seed) if preset.x is None else parse_vector(preset.x)
    assert x.size == preset.d
    eps = float(preset.eps or 0)
    return x, layer_norm(x, eps=eps).output, rms_norm(x, eps=eps).output


def test_the_presets_are_the_ones_that_a_link_may_name() -> None:
    assert list(VECTORS) == [
        "chapter", "zero_mean", "constant", "negative", "constant_negative", "outlier", "two", "one", "hidden",
        "random", "million",
    ]  # fmt: skip
    for name, preset in VECTORS.items():
        assert preset.id == name
        assert preset.sentence.endswith(".")
        assert (preset.x is None) == (preset.source != "typed")


def test_the_chapters_vector() -> None:
    x, _, rms = outputs("chapter")
    assert x.tolist() == [1, 2, 3, 4]
    assert x.mean() == 2.5
    assert rms.mean() > 0.9


def test_zero_mean_makes_both_norms_equal() -> None:
    x, layer, rms = outputs("zero_mean")
    assert x.mean() == 0
    np.testing.assert_allclose(layer, rms, rtol=1e-12)


@pytest.mark.parametrize(("name", "value"), [("constant", 1), ("constant_negative", -1)])
def test_a_constant_leaves_layer_norm_nothing(name: str, value: float) -> None:
    _, layer, rms = outputs(name)
    assert layer.tolist() == [0, 0, 0, 0]
    np.testing.assert_allclose(rms, value, rtol=1e-6)


def test_the_negative_flips_both_outputs() -> None:
    for first, second in zip(outputs("chapter"), outputs("negative"), strict=True):
        np.testing.assert_array_equal(first, -second)


def test_the_outlier_presses_the_others_together() -> None:
    x, layer, rms = outputs("outlier")
    others = np.delete(np.arange(x.size), np.abs(x).argmax())
    assert np.abs(x).argmax() == 3
    for output in (layer, rms):
        assert np.ptp(output[others]) < 0.06 * np.ptp(x[others])


def test_of_two_numbers_layer_norm_keeps_the_order() -> None:
    np.testing.assert_allclose(outputs("two")[1], [-1, 1], rtol=1e-12)


def test_of_one_number_rms_norm_keeps_the_sign() -> None:
    _, layer, rms = outputs("one")
    assert layer.tolist() == [0]
    np.testing.assert_allclose(rms, [-1], rtol=1e-6)


def test_massive_channels_take_all_the_length() -> None:
    x, layer, rms = outputs("hidden")
    massive = np.sort(np.abs(x).argsort()[-len(MASSIVE) :])
    assert massive.tolist() == [358, 634, 829]  # 0.35, 0.62 and 0.81 of 1024, rounded down
    others = np.delete(np.arange(x.size), massive)
    for output in (layer, rms):
        assert np.abs(output[others]).max() < 0.25
        assert (output[massive] ** 2).sum() > 0.99 * (output**2).sum()


@pytest.mark.parametrize(("name", "most"), [("random", 0.3), ("million", 0.01)])
def test_random_vectors_have_nearly_equal_norms(name: str, most: float) -> None:
    _, layer, rms = outputs(name)
    assert np.abs(layer - rms).max() < most


@pytest.mark.parametrize("draw", [random_vector, hidden_state])
def test_a_seed_draws_the_same_vector_again(draw: Any) -> None:
    first = draw(100, 3).tolist()
    for seed in range(10):  # more than are kept
        draw(100, 10 + seed)
    assert draw(100, 3).tolist() == first
    assert draw(100, 4).tolist() != first


def test_massive_channels_are_the_same_for_every_seed() -> None:
    for d in (5, 64, 4096):
        places = [int(share * d) for share, _ in MASSIVE]
        for seed in range(3):
            state = hidden_state(d, seed)
            assert state[places].tolist() == [size for _, size in MASSIVE]
            assert (np.delete(state, places) == np.delete(random_vector(d, seed), places)).all()


@pytest.mark.parametrize("draw", [random_vector, hidden_state])
def test_a_drawn_vector_cannot_be_changed(draw: Any) -> None:
    for d in (1, 7):
        x = draw(d, 0)
        assert x.shape == (d,)
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 1


@pytest.mark.parametrize("draw", [random_vector, hidden_state])
@pytest.mark.parametrize(
    ("d", "seed", "sentence"),
    [
        (0, 0, "d is a whole number from 1 to 1000000; got 0"),
        (LARGEST_VECTOR + 1, 0, "d is a whole number from 1 to 1000000; got 1000001"),
        (2.0, 0, "d is a whole number"),
        (4, -1, "seed is a whole number from 0 to 2147483647; got -1"),
        (4, [1], "seed is a whole number"),
    ],
)
def test_every_refusal_has_its_sentence(draw: Any, d: Any, seed: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        draw(d, seed)
    assert sentence in str(caught.value)
