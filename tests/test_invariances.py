"""Do the norms ignore exactly what the published table says, and does each vector's verdict follow from the algebra?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from normviz.errors import InputError
from normviz.invariances import CHANGE_LABELS, CHANGES, NORM_LABELS, NORM_ROWS, VERDICTS, Cell, affine, invariance_table

# Y: the output stays. Rows and columns as in arXiv:1910.07467.
TABLE = {
    "batch_norm": "YnYYYn",
    "weight_norm": "YnYnnn",
    "layer_norm": "YYnYnY",
    "rms_norm": "YnnYnY",
    "p_rms_norm": "YnnYnY",
}
SCALINGS = {change for change in CHANGES if change.endswith("rescaled")}

ENTRIES = st.floats(-1e4, 1e4, allow_subnormal=False)
VECTORS = (
    st.integers(2, 12)
    .flatmap(lambda d: arrays(np.float64, d, elements=ENTRIES))
    .filter(lambda x: np.std(x) > 1e-2 * (1 + np.abs(x).max()))
)
SCALES = st.floats(-50, 50).filter(lambda a: abs(a) > 1e-2)
SHIFTS = st.floats(-50, 50)


def letters(cells: tuple[Cell, ...]) -> dict[str, str]:
    """Y where the output stays, s where signs flip, n where it moves."""
    rows = dict.fromkeys(NORM_ROWS, "")
    for cell in cells:
        rows[cell.norm] += "Y" if cell.invariant else "s" if cell.flipped else "n"
    return rows


@pytest.mark.parametrize("sizes", [(32, 24, 16), (3, 3, 3), (5, 40, 100), (200, 4, 7)])
@pytest.mark.parametrize(("factor", "shift"), [(3, 2), (0.01, -1), (1e6, 1e4), (1e-6, 0.1)])
@pytest.mark.parametrize("seed", [0, 1, 2**31 - 1])
def test_a_positive_factor_gives_the_published_table(
    sizes: tuple[int, int, int], factor: float, shift: float, seed: int
) -> None:
    cases, inputs, outputs = sizes
    cells = invariance_table(factor=factor, shift=shift, seed=seed, cases=cases, inputs=inputs, outputs=outputs)
    assert [(cell.norm, cell.change) for cell in cells] == [(norm, change) for norm in NORM_ROWS for change in CHANGES]
    assert letters(cells) == TABLE
    assert all(cell.published == cell.invariant for cell in cells)


def test_the_default_table_is_the_published_one() -> None:
    assert letters(invariance_table()) == TABLE


@pytest.mark.parametrize("factor", [-3.0, -0.1])
def test_a_negative_factor_flips_signs_where_a_positive_one_does_nothing(factor: float) -> None:
    for cell in invariance_table(factor=factor):
        assert cell.flipped == (cell.published and cell.change in SCALINGS)
        assert cell.invariant == (cell.published and cell.change not in SCALINGS)


@pytest.mark.parametrize("factor", [3.0, 0.5])
@pytest.mark.parametrize("eps", [1e-5, 1e-3])
def test_eps_makes_every_scaling_approximate(factor: float, eps: float) -> None:
    for cell in invariance_table(factor=factor, eps=eps):
        if cell.published and cell.change in SCALINGS and cell.norm != "weight_norm":
            assert 1e-9 < cell.difference < 100 * eps
            assert not cell.invariant
        elif cell.published:
            assert cell.invariant
        else:
            assert cell.difference > 0.1


def test_more_eps_is_more_difference() -> None:
    tables = [invariance_table(eps=eps) for eps in (1e-6, 1e-4, 1e-2)]
    for small, middle, large in zip(*tables, strict=True):
        if small.published and small.change in SCALINGS and small.norm != "weight_norm":
            assert small.difference < middle.difference < large.difference


def torch_layers(weights: torch.Tensor, data: torch.Tensor, eps: float) -> dict[str, torch.Tensor]:
    """The five layers as torch computes them."""
    sums = data @ weights.T
    part = sums[:, : max(2, -(-sums.shape[1] // 16))]
    return {
        "batch_norm": F.batch_norm(sums, None, None, training=True, eps=eps),
        "weight_norm": F.linear(data, F.normalize(weights, dim=1)),
        "layer_norm": F.layer_norm(sums, sums.shape[1:], eps=eps),
        "rms_norm": F.rms_norm(sums, sums.shape[1:], eps=eps),
        "p_rms_norm": sums / (part.square().mean(1, keepdim=True) + eps).sqrt(),
    }


@pytest.mark.parametrize("outputs", [16, 40])
def test_every_difference_is_torchs(outputs: int) -> None:
    rng = np.random.default_rng(5)
    weights, data = (torch.tensor(rng.standard_normal(shape)) for shape in ((outputs, 24), (32, 24)))
    row = -2 * torch.tensor(rng.standard_normal(24))
    changed = [weights * 3, weights + row, weights.clone(), weights, weights, weights]
    changed[2][0] *= 3
    cases = [data, data, data, data * 3, data + row, data.clone()]
    cases[5][0] *= 3
    before = torch_layers(weights, data, 1e-3)
    cells = iter(invariance_table(factor=3, shift=-2, eps=1e-3, seed=5, outputs=outputs))
    for norm in NORM_ROWS:
        for w, x in zip(changed, cases, strict=True):
            moved = (torch_layers(w, x, 1e-3)[norm] - before[norm]).abs().max() / before[norm].square().mean().sqrt()
            np.testing.assert_allclose(next(cells).difference, moved, rtol=1e-10, atol=1e-13)


def test_no_change_is_no_difference() -> None:
    assert all(cell.difference == 0 for cell in invariance_table(factor=1, shift=0))


def test_every_row_and_column_has_a_label() -> None:
    assert tuple(NORM_LABELS) == NORM_ROWS
    assert tuple(CHANGE_LABELS) == CHANGES


@given(VECTORS, SCALES, SHIFTS)
def test_layer_norm_sees_only_the_sign_of_a_scale(x: np.ndarray, a: float, b: float) -> None:
    found = affine(x, a, b)
    assert found.layer_verdict == ("same" if a > 0 else "flipped")
    np.testing.assert_allclose(found.layer_after, np.sign(a) * found.layer_before, rtol=1e-9, atol=1e-9)


@given(VECTORS, SCALES)
def test_rms_norm_sees_only_the_sign_of_a_scale(x: np.ndarray, a: float) -> None:
    found = affine(x, a, 0)
    assert found.rms_verdict == ("same" if a > 0 else "flipped")


@given(VECTORS, SCALES, SHIFTS, st.sampled_from([0.0, 1e-5, 0.5]), st.booleans())
def test_outputs_and_differences_are_torchs(x: np.ndarray, a: float, b: float, eps: float, weighted: bool) -> None:
    weight, bias = (np.linspace(-1, 2, x.size), np.linspace(3, 1, x.size)) if weighted else (None, None)
    w, c = (None if v is None else torch.tensor(v) for v in (weight, bias))
    found = affine(x, a, b, weight=weight, bias=bias, eps=eps)
    np.testing.assert_array_equal(found.moved, a * x + b)
    layer = [F.layer_norm(torch.tensor(v), [x.size], w, c, eps=eps).numpy() for v in (x, a * x + b)]
    np.testing.assert_allclose([found.layer_before, found.layer_after], layer, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.layer_moved, np.abs(layer[1] - layer[0]).max(), rtol=1e-9, atol=1e-9)
    if (a * x + b).any():
        rms = [F.rms_norm(torch.tensor(v), [x.size], w, eps=eps).numpy() for v in (x, a * x + b)]
        np.testing.assert_allclose([found.rms_before, found.rms_after], rms, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.rms_moved, np.abs(rms[1] - rms[0]).max(), rtol=1e-9, atol=1e-9)
    assert (found.scale, found.shift, found.eps) == (a, b, eps)


CHAPTER = [1.0, 2, 3, 4]


@pytest.mark.parametrize(
    ("x", "scale", "shift", "eps", "layer", "rms"),
    [
        (CHAPTER, 1, 0, 0, "same", "same"),
        (CHAPTER, 2, 0, 0, "same", "same"),
        (CHAPTER, 2, 5, 0, "same", "moved"),
        (CHAPTER, -2, 0, 0, "flipped", "flipped"),
        (CHAPTER, -2, 5, 0, "flipped", "moved"),
        (CHAPTER, -1, 5, 0, "flipped", "moved"),  # the same numbers the other way round
        (CHAPTER, 2, 0, 1e-5, "moved", "moved"),
        (CHAPTER, 1, 5, 1e-5, "same", "moved"),
        (CHAPTER, -1, 0, 1e-5, "flipped", "flipped"),
        (CHAPTER, 0, 5, 0, "undefined", "moved"),
        (CHAPTER, 0, 0, 0, "undefined", "undefined"),
        (CHAPTER, 0, 0, 1e-5, "moved", "moved"),
        ([3.0, 3], 2, 0, 0, "undefined", "same"),
        ([3.0, 3], -2, 1, 1e-5, "same", "moved"),
        ([3.0], 2, 1, 0, "undefined", "same"),
        ([3.0], 2, -9, 0, "undefined", "flipped"),
        ([0.0, 0], 2, 1, 0, "undefined", "undefined"),
        ([-1.0, 1], -1, 0, 0, "flipped", "flipped"),
    ],
)
def test_each_verdict(x: list[float], scale: float, shift: float, eps: float, layer: str, rms: str) -> None:
    found = affine(x, scale, shift, eps=eps)
    assert (found.layer_verdict, found.rms_verdict) == (layer, rms)
    assert {layer, rms} <= set(VERDICTS)
    assert (found.layer_moved is None) == (layer == "undefined")
    assert (found.rms_moved is None) == (rms == "undefined")


def test_the_difference_that_eps_makes_by_hand() -> None:
    # 0, 2 has variance 1, and 0, 4 has variance 4.
    found = affine([0, 2], 2, 0, eps=1)
    np.testing.assert_allclose(found.layer_moved, 2 / np.sqrt(5) - 1 / np.sqrt(2), rtol=1e-15)
    # mean squares 2 and 8
    np.testing.assert_allclose(found.rms_moved, 4 / np.sqrt(9) - 2 / np.sqrt(3), rtol=1e-15)


def test_a_flip_is_seen_through_weight_and_bias() -> None:
    found = affine(CHAPTER, -1, 0, weight=[1, 2, 3, 4], bias=[5, 6, 7, 8])
    assert (found.layer_verdict, found.rms_verdict) == ("flipped", "flipped")
    np.testing.assert_allclose(found.layer_moved, 2 * 4 * 1.5 / np.sqrt(1.25), rtol=1e-12)


def test_a_weight_of_zero_hides_every_change() -> None:
    found = affine(CHAPTER, -7, 5, weight=np.zeros(4), bias=np.ones(4))
    assert (found.layer_verdict, found.rms_verdict) == ("same", "same")
    assert (found.layer_moved, found.rms_moved) == (0, 0)


@given(st.integers(2, 8).flatmap(lambda d: arrays(np.float64, d, elements=st.floats(-1, 1))), st.floats(0.1, 10))
def test_rounding_beside_a_large_mean_is_not_taken_for_a_move(x: np.ndarray, a: float) -> None:
    x = 1e8 + x
    if np.ptp(x) > 1e-3:
        assert affine(x, a, 1).layer_verdict == "same"
        assert affine(x, -a, 1).layer_verdict == "flipped"


def test_what_is_measured_cannot_be_changed() -> None:
    found = affine(CHAPTER, 2, 1, weight=np.ones(4), bias=np.ones(4))
    for field in ("x", "moved", "layer_before", "layer_after", "rms_before", "rms_after"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(found, field)[0] = 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: affine([[1, 2]], 1, 0), "x is one vector"),
        (lambda: affine([1, 2], float("nan"), 0), "scale is one finite number"),
        (lambda: affine([1, 2], 1, float("inf")), "shift is one finite number"),
        (lambda: affine([1, 2], 1e200, 0), "scale * x + shift holds numbers up to 1e+150 in size"),
        (lambda: affine([1e100, 2], 1e300, 0), "scale * x + shift holds numbers up to 1e+150 in size"),
        (lambda: affine([1, 2], 1e-160, 0), "below which float64 loses digits"),
        (lambda: affine([1, 2], 1, 0, weight=[1]), "weight has one number per channel"),
        (lambda: affine([1, 2], 1, 0, bias=[1]), "bias has one number per channel"),
        (lambda: affine([1, 2], 1, 0, eps=-1), "eps is 0 or a positive number"),
        (lambda: invariance_table(factor=0), "factor is a number from 1e-06 to 1e+06 in size, with either sign; got 0"),
        (lambda: invariance_table(factor=1e7), "factor is a number from 1e-06 to 1e+06 in size"),
        (lambda: invariance_table(shift=2e4), "shift holds numbers up to 10000 in size"),
        (lambda: invariance_table(eps=-1), "eps is 0 or a positive number"),
        (lambda: invariance_table(seed=-1), "seed is a whole number from 0 to 2147483647"),
        (lambda: invariance_table(cases=2), "cases is a whole number from 3 to 512; got 2"),
        (lambda: invariance_table(inputs=513), "inputs is a whole number from 3 to 512; got 513"),
        (lambda: invariance_table(outputs=2), "outputs is a whole number from 3 to 512; got 2"),
    ],
)
def test_every_refusal_has_its_sentence(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
