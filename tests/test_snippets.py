"""Does an exported script give the numbers of the page that exported it?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import normviz as nv
from normviz.depth.config import SweepConfig
from normviz.figures.depth import gradient_picture, residual_picture
from normviz.grid import AXES, pad_lengths
from normviz.snippets import axes_script, depth_script
from normviz.text import Text

ENGLISH = Text("en")


def run(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script, "exported.py", "exec"), names)
    return names


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize(("pad", "masked"), [(False, False), (True, False), (True, True)])
def test_axes_script_gives_the_pages_statistics(axis: str, pad: bool, masked: bool) -> None:
    names = run(axes_script(axis, 3, 4, 6, seed=7, groups=3, pad=pad, masked=masked, cell=(1, 0, 2)))
    x = nv.sample_grid(3, 4, 6, seed=7)
    real = nv.pad_mask(3, 4, pad_lengths(3, 4))
    if pad:
        x = x * real[..., None]
    groups = 3 if axis == "group_norm" else 1
    expected = nv.normalize_grid(x, axis, groups=groups, eps=1e-5, mask=real if masked else None)
    np.testing.assert_array_equal(names["trace"].output, expected.output)
    np.testing.assert_array_equal(names["trace"].rms, expected.rms)
    assert names["chosen"].normalized == expected.normalized[1, 0, 2]
    assert ("shifts" in names) == pad
    if pad:
        np.testing.assert_array_equal(names["shifts"]["batch_norm"], nv.padding_shift(x, real, "batch_norm", eps=1e-5))


def test_depth_script_prints_the_numbers_of_the_figures() -> None:
    config = SweepConfig(
        placements=("pre_norm",), depths=(1, 3), seeds=(0, 1), d_model=16, n_heads=2, d_ff=32, batch=2, seq_len=8,
        vocab_size=50, qk_norm=True, device="cpu",
    )  # fmt: skip
    names = run(depth_script(config))
    assert names["config"] == config
    assert names["result"].complete
    gradient = gradient_picture(names["result"], t=ENGLISH, mode="light")
    residual = residual_picture(names["result"], depth=3, t=ENGLISH, mode="light")
    last, first, line = (
        line["y"] for picture in (gradient, residual) for line in picture.spec["data"] if line.get("name") == "Pre-Norm"
    )
    np.testing.assert_allclose(names["last"].to_numpy(), last)
    np.testing.assert_allclose(names["first"].to_numpy(), first)
    np.testing.assert_allclose(names["residual"]["pre_norm", 3].to_numpy(), line)
