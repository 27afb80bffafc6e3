"""Does the cloud show where LayerNorm and RMSNorm put random vectors?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.geometry import DISTRIBUTIONS, LARGEST_CLOUD, cloud, cloud_size
from normviz.norms import layer_norm, rms_norm


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
@pytest.mark.parametrize("eps", [0.0, 0.5])
def test_points_and_half_planes_are_those_of_the_norms(distribution: str, eps: float) -> None:
    c = cloud(3, n=50, mean=0.7, distribution=distribution, eps=eps, seed=4)
    assert c.points is not None
    for points, vectors, flat in (
        (c.points, c.points, c.before),
        (c.layer_points, layer_norm(c.points, eps=eps).output, c.layer_norm),
        (c.rms_points, rms_norm(c.points, eps=eps).output, c.rms_norm),
    ):
        np.testing.assert_allclose(points, vectors, rtol=1e-14)
        np.testing.assert_allclose(
            flat, np.sqrt(3) * np.stack([vectors.mean(axis=1), vectors.std(axis=1)], axis=1), atol=1e-12
        )
    assert (c.n, c.d, c.eps, c.mean, c.distribution) == (50, 3, eps, 0.7, distribution)


@given(st.integers(2, 64), st.sampled_from(DISTRIBUTIONS), st.floats(-5, 5), st.integers(0, 2**31 - 1))
def test_layer_norm_lands_on_one_point_and_rms_norm_on_the_circle(
    d: int, distribution: str, mean: float, seed: int
) -> None:
    c = cloud(d, n=20, mean=mean, distribution=distribution, seed=seed)
    np.testing.assert_allclose(c.layer_norm, np.tile([0, np.sqrt(d)], (20, 1)), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(c.rms_norm, axis=1), np.sqrt(d), rtol=1e-12)
    # RMSNorm keeps the direction.
    np.testing.assert_allclose(c.rms_norm[:, 0] * c.before[:, 1], c.rms_norm[:, 1] * c.before[:, 0], atol=1e-10)
    assert (c.before[:, 1] > 0).all()


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_entries_have_the_mean_and_a_standard_deviation_of_1(distribution: str) -> None:
    c = cloud(3, n=200_000, mean=2.0, distribution=distribution)
    assert c.points is not None
    factor = [20, 1, 1] if distribution == "outlier" else [1, 1, 1]
    # Four standard errors; the exponential's kurtosis of 9 is the largest.
    np.testing.assert_allclose((c.points.mean(axis=0) - 2) / factor, 0, atol=4 / np.sqrt(200_000))
    np.testing.assert_allclose(c.points.std(axis=0) / factor, 1, atol=4 * np.sqrt(2 / 200_000))


def test_each_distribution_has_its_shape() -> None:
    def entries(distribution: str) -> np.ndarray:
        return np.asarray(cloud(3, n=50_000, distribution=distribution).points)[:, 1]

    assert np.abs(entries("uniform")).max() <= np.sqrt(3)
    assert entries("exponential").min() >= -1
    np.testing.assert_allclose((entries("exponential") ** 3).mean(), 2, atol=0.3)
    np.testing.assert_allclose((entries("normal") ** 4).mean(), 3, atol=0.2)


def test_one_channel_in_sixteen_is_the_outlier() -> None:
    c = cloud(64, n=2000, distribution="outlier")
    # The mean square of an entry is (4 * 400 + 60) / 64.
    np.testing.assert_allclose((c.before**2).sum(axis=1).mean(), 4 * 400 + 60, rtol=0.05)


def test_eps_pulls_small_vectors_inside() -> None:
    c = cloud(16, eps=4.0)
    assert c.layer_norm[:, 1].max() < 4
    assert np.linalg.norm(c.rms_norm, axis=1).max() < 4
    assert c.points is c.layer_points is c.rms_points is None


def test_a_seed_draws_the_same_vectors() -> None:
    first, again, other = cloud(5, seed=1), cloud(5, seed=1), cloud(5, seed=2)
    np.testing.assert_array_equal(first.before, again.before)
    assert (first.before != other.before).all()


def test_one_number_has_a_cloud_at_eps_above_0() -> None:
    c = cloud(1, n=10, eps=0.5)
    np.testing.assert_array_equal(c.layer_norm, 0)
    np.testing.assert_array_equal(c.before[:, 1], 0)


def test_a_cloud_cannot_be_changed() -> None:
    c = cloud(3, n=2)
    for array in (c.before, c.layer_norm, c.rms_norm, c.points, c.layer_points, c.rms_points):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: cloud(1), "LayerNorm of the single number"),
        (lambda: cloud(0), "d is a whole number, 1 or more; got 0"),
        (lambda: cloud(3, n=0), "n is a whole number, 1 or more; got 0"),
        (lambda: cloud(LARGEST_CLOUD // 2, n=3), "a cloud holds up to 2000000 numbers, n vectors of d numbers each"),
        (lambda: cloud(3, distribution="cauchy"), "one of normal, uniform, exponential, outlier; got 'cauchy'"),
        (lambda: cloud(3, mean=float("nan")), "mean is one finite number"),
        (lambda: cloud(3, mean=1e151), "mean holds numbers up to 1e+150 in size"),
        (lambda: cloud(3, mean=1e140), "LayerNorm of a constant vector"),
        (lambda: cloud(3, eps=-1), "eps is 0 or a positive number"),
        (lambda: cloud(3, seed=2**31), "seed is a whole number from 0 to 2147483647"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)


@pytest.mark.parametrize(("d", "n"), [(3, 300), (6666, 300), (20_000, 100), (1_000_000, 2)])
def test_a_cloud_of_wide_vectors_has_fewer_of_them(d: int, n: int) -> None:
    assert cloud_size(d) == n
    assert cloud(d, eps=1e-5).before.shape == (n, 2)
