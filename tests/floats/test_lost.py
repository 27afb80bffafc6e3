"""Are streams and scales rounded as PyTorch rounds them?"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from normviz.errors import InputError
from normviz.floats import difference, landing, residual_path, rms_norm_as
from tests.floats.oracles import array


@pytest.mark.parametrize(("format", "start", "update"), [("bfloat16", 250.0, 1.0), ("float16", 2040.0, 1.5)])
def test_a_stream_is_rounded_after_every_branch(format: str, start: float, update: float) -> None:
    stream = torch.tensor(start, dtype=getattr(torch, format))
    expected = [stream.item()]
    for _ in range(20):
        stream = stream + update
        expected.append(stream.item())
    np.testing.assert_array_equal(residual_path(start, update, 20, format=format), expected)


def test_a_stream_without_branches_or_of_no_format() -> None:
    assert residual_path(1.0, 1.0, 0).tolist() == [1.0]
    with pytest.raises(InputError, match="format can be"):
        residual_path(1.0, 1.0, 1, format="int8")
    with pytest.raises(InputError, match="format can be"):
        landing(np.zeros(1), format="int8")


def test_scales_land_where_pytorch_rounds_them() -> None:
    w = np.random.default_rng(0).standard_normal(200) * 0.02
    found = landing(w)
    # float64 to bfloat16 goes by float32 in PyTorch, which these numbers do not show.
    np.testing.assert_array_equal(1 + found.as_scale, array(torch.from_numpy(1 + w).bfloat16()))
    np.testing.assert_array_equal(found.as_w, array(torch.from_numpy(w).bfloat16()))
    assert not found.as_w.flags.writeable
    w[0] = 7
    assert found.w[0] != 7


@pytest.mark.parametrize("pair", [("no_weight", "gemma"), ("t5", "no_weight"), ("t5", "gemma")])
def test_beside_no_weight_the_scale_is_1(pair: tuple[str, str]) -> None:
    found = difference(*pair, d=64, rows=8, spread=0.5)
    without = "no_weight" in pair
    assert found.without_weight == without
    assert found.spread == (0.0 if without else 0.5)
    if without:
        x = np.random.default_rng(0).standard_normal((8, 64)).astype(np.float32)
        first, second = (
            rms_norm_as(name, x, np.zeros(64) if name == "gemma" else np.ones(64), eps=1e-6, dtype="bfloat16")
            for name in pair
        )
        assert found.share == (first != second).mean()
