"""Do the ranks and null spaces follow the table of the closed forms, whatever the weight?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st

from normviz.errors import InputError
from normviz.geometry import LARGEST_SPECTRUM, spectra, spectrum
from normviz.norms import layer_norm, rms_norm

SEEDS = st.integers(0, 2**32 - 1)
NORMS = st.sampled_from(["layer_norm", "rms_norm"])
EPS = st.sampled_from([0.0, 1e-10, 1e-5, 0.1, 10.0])
FUNCTIONS = {"layer_norm": F.layer_norm, "rms_norm": F.rms_norm}


def drawn(seed: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """x, and a weight that is never near 0."""
    generator = np.random.default_rng(seed)
    x = generator.normal(generator.normal(), 2, d)
    return x, np.asarray(generator.uniform(0.2, 3, d) * generator.choice([-1, 1], d))


def autograd(norm: str, x: np.ndarray, weight: np.ndarray | None, eps: float) -> np.ndarray:
    gain = None if weight is None else torch.tensor(weight)
    return np.asarray(
        torch.autograd.functional.jacobian(lambda v: FUNCTIONS[norm](v, [x.size], gain, eps=eps), torch.tensor(x))
    )


def divisor(norm: str, x: np.ndarray, eps: float) -> float:
    return float(np.sqrt((x.var() if norm == "layer_norm" else (x**2).mean()) + eps))


def missing(norm: str, eps: float) -> int:
    """How far the rank falls short of d."""
    return (norm == "layer_norm") + (eps == 0)


def spans_the_same(basis: np.ndarray, directions: np.ndarray, atol: float) -> None:
    """The rows of `basis` are orthonormal and span what the rows of `directions` span."""
    np.testing.assert_allclose(basis @ basis.T, np.eye(len(basis)), atol=1e-12)
    frame = np.linalg.qr(directions.T)[0].T
    np.testing.assert_allclose(basis.T @ basis, frame.T @ frame, atol=atol)


@given(NORMS, SEEDS, st.integers(3, 48), EPS, st.booleans())
def test_ranks_and_null_spaces_are_those_of_the_table(norm: str, seed: int, d: int, eps: float, plain: bool) -> None:
    x, weight = drawn(seed, d)
    s = spectrum(norm, x, weight=None if plain else weight, eps=eps)
    gain = np.ones(d) if plain else weight
    assert s.rank == d - missing(norm, eps)
    assert (np.diff(s.values) <= 0).all()
    assert s.values[s.rank - 1] > s.tolerance > (s.values[s.rank] if s.rank < d else 0)
    along = [x - x.mean()] if norm == "layer_norm" else [x]
    unseen = ([np.ones(d)] if norm == "layer_norm" else []) + (along if eps == 0 else [])
    assert s.unseen.shape == s.lost.shape == (len(unseen), d)
    if unseen:
        # Rounding mixes in the direction of the smallest value that is not 0, the more the smaller that is.
        atol = 1e-12 + 1e-14 * s.values[0] / s.values[s.rank - 1]
        spans_the_same(s.unseen, np.array(unseen), atol)
        spans_the_same(s.lost, np.array(unseen) / gain, atol)
    assert (s.norm, s.eps) == (norm, eps)


@given(NORMS, SEEDS, st.integers(3, 48), EPS, st.booleans())
def test_values_are_those_of_autograds_jacobian(norm: str, seed: int, d: int, eps: float, plain: bool) -> None:
    x, weight = drawn(seed, d)
    gain = None if plain else weight
    theirs = np.linalg.svd(autograd(norm, x, gain, eps), compute_uv=False)
    ours = spectrum(norm, x, weight=gain, eps=eps).values
    np.testing.assert_allclose(ours, theirs, atol=1e-12 * 3 / divisor(norm, x, eps))
    np.testing.assert_array_equal(spectra(norm, x, [eps, 1.0], weight=gain)[0].round(12), ours.round(12))


@given(NORMS, SEEDS, st.integers(3, 48), st.sampled_from([1e-5, 0.1, 1.0]))
def test_without_weight_one_value_appears_and_all_others_are_equal(norm: str, seed: int, d: int, eps: float) -> None:
    x, _ = drawn(seed, d)
    values, size = spectrum(norm, x, eps=eps).values, divisor(norm, x, eps)
    rank = d - missing(norm, eps)
    np.testing.assert_allclose(values[: rank - 1], 1 / size, rtol=1e-12)
    np.testing.assert_allclose(values[rank - 1], eps / size**3, rtol=1e-9)
    np.testing.assert_allclose(values[rank:], 0, atol=1e-14 / size)


@given(NORMS, SEEDS, st.integers(3, 24), EPS, st.data())
def test_a_change_that_is_not_seen_leaves_the_output(
    norm: str, seed: int, d: int, eps: float, data: st.DataObject
) -> None:
    x, weight = drawn(seed, d)
    weight[data.draw(st.lists(st.integers(0, d - 1), max_size=d))] = 0
    s = spectrum(norm, x, weight=weight, eps=eps)
    matrix = autograd(norm, x, weight, eps)
    np.testing.assert_allclose(s.unseen @ matrix.T, 0, atol=1e-9 / divisor(norm, x, eps))
    np.testing.assert_allclose(s.lost @ matrix, 0, atol=1e-9 / divisor(norm, x, eps))
    # The rows that a weight of 0 wipes out are lost, and nothing can be left but what the other weights pass.
    open_ = int((weight != 0).sum())
    assert open_ - missing(norm, eps) <= s.rank <= open_
    np.testing.assert_allclose((s.lost**2).sum(axis=0)[weight == 0], 1, atol=1e-9)


@pytest.mark.parametrize(
    ("norm", "x", "weight", "eps", "rank"),
    [
        ("layer_norm", [1, 2], None, 0, 0),
        ("layer_norm", [1, 2], [3, 0.5], 0, 0),
        ("layer_norm", [1, 2], None, 1e-5, 1),
        ("layer_norm", [7], None, 1e-5, 0),
        ("rms_norm", [1, 2], None, 0, 1),
        ("rms_norm", [1, 2], [3, 0.5], 1e-5, 2),
        ("rms_norm", [7], None, 0, 0),
        ("rms_norm", [7], None, 1e-5, 1),
        ("layer_norm", [2, 2, 2, 2], None, 1e-5, 3),
        ("layer_norm", [0.1] * 7, [1, 2, 3, 4, 5, 6, 7], 0.5, 6),
        ("rms_norm", [0, 0, 0], None, 1e-5, 3),
        ("rms_norm", [1, 2, 3], [0, 0, 0], 1e-5, 0),
        ("layer_norm", [1, 2, 3], [0, 0, 0], 0, 0),
        ("rms_norm", [1, 2, 3], [1, 0, 1], 1e-5, 2),
        ("rms_norm", [1000, 2000, 3000], None, 1e-5, 3),
        ("layer_norm", [1000, 2000, 3000], None, 1e-5, 2),
        ("layer_norm", [1000, 2000, 3000], [1, 1e-3, 1], 1e-5, 2),
        ("layer_norm", [1e150, -1e150, 0, 3e149], [1, 2, 3, 4], 0, 2),
        ("rms_norm", [1e150, -1e150, 0, 3e149], [1e150, 2e150 / 3, 1e150, 1e150], 0, 3),
        ("layer_norm", [1e-140, -1e-140, 0, 3e-141], [1, 2, 3, 4], 0, 2),
        ("rms_norm", [1e-140, -1e-140, 0, 3e-141], [1e150, 2e149, 1e150, 1e150], 0, 3),
        ("rms_norm", [1e-140, 1e-140], None, 1e-281, 2),
    ],
)
def test_the_rank_at_the_edges(norm: str, x: list[float], weight: list[float] | None, eps: float, rank: int) -> None:
    s = spectrum(norm, x, weight=weight, eps=eps)
    d = len(x)
    assert s.rank == rank
    assert s.values.shape == (d,)
    for basis in (s.unseen, s.lost):
        assert basis.shape == (d - rank, d)
        np.testing.assert_allclose(basis @ basis.T, np.eye(d - rank), atol=1e-12)


def test_a_constant_vector_has_a_steep_layer_norm() -> None:
    s = spectrum("layer_norm", np.full(8, 0.1), eps=1e-5)
    np.testing.assert_allclose(s.values[:7], 1e-5**-0.5, rtol=1e-12)
    np.testing.assert_allclose(np.abs(s.unseen), 8**-0.5, rtol=1e-12)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_the_widest_spectrum_still_counts_right(norm: str) -> None:
    x, weight = drawn(0, LARGEST_SPECTRUM)
    for eps in (0.0, 1e-5):
        assert spectrum(norm, x, weight=weight, eps=eps).rank == LARGEST_SPECTRUM - missing(norm, eps)


@pytest.mark.parametrize("norm", ["layer_norm", "rms_norm"])
def test_spectra_are_the_values_at_each_eps(norm: str) -> None:
    x, weight = drawn(1, 12)
    steps = [0.0, 1e-5, 1e-2, 10.0]
    rows = spectra(norm, x, steps, weight=weight)
    assert rows.shape == (4, 12)
    for row, eps in zip(rows, steps, strict=True):
        np.testing.assert_allclose(row, spectrum(norm, x, weight=weight, eps=eps).values, atol=1e-14)
    output = (layer_norm(x, weight, eps=10.0) if norm == "layer_norm" else rms_norm(x, weight, eps=10.0)).output
    nudged = x + 1e-6 * np.linalg.svd(autograd(norm, x, weight, 10.0))[2][0]
    moved = (
        layer_norm(nudged, weight, eps=10.0) if norm == "layer_norm" else rms_norm(nudged, weight, eps=10.0)
    ).output
    np.testing.assert_allclose(np.linalg.norm(moved - output) / 1e-6, rows[3, 0], rtol=1e-5)


def test_spectra_cannot_be_changed() -> None:
    s = spectrum("layer_norm", [1, 2, 4], eps=0)
    for array in (s.values, s.unseen, s.lost, spectra("layer_norm", [1, 2, 4], [0])):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: spectrum("rms_norm", np.ones(257), eps=0), "so x has up to 256 numbers; got 257"),
        (lambda: spectra("rms_norm", np.ones(257), [0]), "so x has up to 256 numbers; got 257"),
        (lambda: spectrum("batch_norm", [1, 2], eps=0), "norm is layer_norm or rms_norm; got 'batch_norm'"),
        (lambda: spectrum("layer_norm", [2, 2], eps=0), "constant vector"),
        (lambda: spectra("rms_norm", [0, 0], [1, 0]), "vector of zeros"),
        (lambda: spectra("rms_norm", [1, 2], [1, -1]), "eps is 0 or a positive number"),
        (lambda: spectra("rms_norm", [1, 2], [[1]]), "eps_values is a list of numbers, shape [k]; got shape [1, 1]"),
        (lambda: spectrum("rms_norm", [1, 2], weight=[1], eps=0), "weight has one number per channel"),
        (lambda: spectrum("rms_norm", [1e-170], eps=0), "below which float64 loses digits"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
