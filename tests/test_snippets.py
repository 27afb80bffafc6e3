"""Does an exported script give the numbers of the page that exported it?"""

from __future__ import annotations

from typing import Any

import numpy as np

from normviz.depth.config import SweepConfig
from normviz.figures.depth import gradient_picture, residual_picture
from normviz.snippets import depth_script
from normviz.text import Text

ENGLISH = Text("en")


def run(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script, "exported.py", "exec"), names)
    return names


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
