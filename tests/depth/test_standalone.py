"""Does the script without normviz give normviz's numbers, whatever was chosen?"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import normviz as nv
from normviz.depth.config import CHOICES, SweepConfig
from normviz.depth.presets import PRESETS, preset
from normviz.errors import InputError
from normviz.placements import PLACEMENTS
from normviz.snippets import standalone_script
from normviz.snippets.standalone import PRINTABLE
from normviz.snippets.wirings import ACTIVATIONS, INIT_SCALES, LAYERS, NORMS

SMALL: dict[str, Any] = {
    "placements": tuple(PLACEMENTS), "depths": (1, 5), "seeds": (0, 7), "d_model": 12, "n_heads": 2, "d_ff": 20,
    "batch": 2, "seq_len": 5, "vocab_size": 30, "device": "cpu",
}  # fmt: skip

# Every norm, attention, activation, initialization and loss, with and without QK-norm and W_O.
COVERING: list[tuple[str, dict[str, Any]]] = [
    ("grad_w2", {}),
    ("grad_w1", {"norm": "rms_norm", "attention": "bidirectional", "activation": "gelu", "qk_norm": True}),
    ("grad_wv", {"norm": "dyt", "attention": "uniform", "init": "gpt2", "output_projection": False}),
    ("grad_wg", {"activation": "swiglu", "init": "std02", "loss": "one", "eps": 1e-3}),
    ("grad_wq", {"norm": "none", "init": "std02", "qk_norm": True, "output_projection": False}),
    ("grad_wk", {"norm": "rms_norm", "activation": "swiglu", "init": "gpt2", "eps": 0.0, "attention": "causal"}),
    ("grad_wo", {"attention": "uniform", "activation": "gelu", "loss": "one"}),
    ("grad_all", {"norm": "rms_norm", "init": "gpt2", "activation": "swiglu", "qk_norm": True}),
    ("grad_residual", {"attention": "bidirectional", "loss": "one"}),
    ("residual_mean_square", {"norm": "dyt", "activation": "gelu", "init": "std02"}),
    ("cosine_next", {"norm": "rms_norm", "qk_norm": True}),
    ("loss", {"attention": "uniform", "output_projection": False}),
    ("grad_alpha", {"activation": "gelu", "loss": "one"}),
]


def run(script: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script, "exported.py", "exec"), names)
    measured: dict[str, Any] = names["measured"]
    return measured


def compare(config: SweepConfig, quantity: str, tolerance: float) -> None:
    measured = run(standalone_script(config, quantity=quantity))
    points = {tuple(point.key): point for point in nv.sweep(config) if quantity in point.profiles}
    assert measured.keys() == points.keys()
    for key, values in measured.items():
        expected = points[key].profiles[quantity].value
        scale = np.abs(expected).max()
        np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * scale, err_msg=str(key))


@pytest.mark.parametrize(("quantity", "fields"), COVERING, ids=[quantity for quantity, _ in COVERING])
def test_the_script_gives_the_numbers_of_the_sweep(quantity: str, fields: dict[str, Any]) -> None:
    config = SweepConfig(**{**SMALL, **fields})
    # Keel's heavy stream saturates DyT: the slope 1 - tanh(5)^2 = 2e-4 has three digits in float32.
    compare(config, quantity, 1e-3 if config.norm == "dyt" else 1e-4)


def test_the_covering_set_covers_everything() -> None:
    configs = [SweepConfig(**{**SMALL, **fields}) for _, fields in COVERING]
    for field in ("norm", "attention", "activation", "init", "loss"):
        assert {getattr(config, field) for config in configs} == set(CHOICES[field])
    assert {quantity for quantity, _ in COVERING} == set(PRINTABLE)
    assert set(LAYERS) == set(PLACEMENTS)
    assert set(INIT_SCALES) == {name for name, placement in PLACEMENTS.items() if placement.init_scale}
    assert (set(NORMS), set(ACTIVATIONS)) == (set(CHOICES["norm"]), set(CHOICES["activation"]))


@pytest.mark.parametrize("name", PRESETS)
def test_a_presets_script_gives_its_numbers(name: str) -> None:
    config = preset(
        name, depths=(3,), seeds=(5,), d_model=16, n_heads=1, batch=1, seq_len=4, vocab_size=20, device="cpu"
    )
    compare(config, "grad_w2", 1e-4)


@pytest.mark.parametrize(("dtype", "tolerance"), [("bfloat16", 0.05), ("float16", 0.01), ("mixed", 0.05)])
def test_half_precision_differs_by_its_rounding(dtype: str, tolerance: float) -> None:
    config = SweepConfig(**{**SMALL, "placements": ("post_norm", "pre_norm", "resi_dual"), "dtype": dtype})
    script = standalone_script(config)
    assert f"dtype = torch.{dtype if dtype != 'mixed' else 'float32'}" in script
    assert ("rounded the factors of matrix products to bfloat16" in script) == (dtype == "mixed")
    compare(config, "grad_w2", tolerance)


@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_script_has_only_what_was_chosen(name: str) -> None:
    config = SweepConfig(**{**SMALL, "placements": (name,)})
    script = standalone_script(config)
    functions = [node.name for node in ast.walk(ast.parse(script)) if isinstance(node, ast.FunctionDef)]
    assert functions == ["norm", "attention", "feed_forward", name, "measure", "normal", "matrix"]
    assert "if placement" not in script
    assert ("alpha" in script) == (name in ("rezero", "deep_norm", "keel"))
    assert ("inner" in script) == (name == "sub_ln")
    assert ("per_head" in script) == (name == "hybrid_norm")
    compare(config, "grad_w1", 1e-4)


def test_the_script_can_be_read_in_a_lecture() -> None:
    lines = standalone_script(SweepConfig()).splitlines()
    assert len(lines) < 100
    everything = standalone_script(SweepConfig(placements=tuple(PLACEMENTS), seeds=range(16)))  # type: ignore[arg-type]
    assert "seeds = range(16)\n" in everything
    assert max(map(len, [*lines, *everything.splitlines()])) <= 120
    many = standalone_script(SweepConfig(depths=tuple(range(1, 400, 2)), seeds=(3, 4, 5)))
    assert "seeds = range(3, 6)\n" in many
    assert max(map(len, many.splitlines())) <= 120
    for script in ("\n".join(lines), everything, many):
        imported = [node for node in ast.walk(ast.parse(script)) if isinstance(node, (ast.Import, ast.ImportFrom))]
        assert {ast.unparse(node) for node in imported} <= {
            "import math", "import torch", "import torch.nn.functional as F",
        }  # fmt: skip


@pytest.mark.parametrize("init", CHOICES["init"])
@pytest.mark.parametrize("attention", CHOICES["attention"])
def test_math_is_imported_where_it_is_used(init: str, attention: str) -> None:
    script = standalone_script(SweepConfig(init=init, attention=attention))
    assert script.count("math.") > 0 or "import math" not in script
    assert ("import math" in script) == ("math." in script)


def test_the_script_runs_by_itself(tmp_path: Path) -> None:
    config = SweepConfig(**{**SMALL, "depths": (2,), "seeds": (1,), "placements": ("pre_norm",)})
    file = tmp_path / "exported.py"
    file.write_text(standalone_script(config), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(file)], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True
    )
    (point,) = nv.sweep(config)
    first, last = point.profiles["grad_w2"].value
    line = re.fullmatch("pre_norm, 2 layers, seed 1: grad_w2 of the last layer (.*), of the first (.*)\n", done.stdout)
    assert line is not None
    np.testing.assert_allclose([float(number) for number in line.groups()], [last, first], rtol=1e-4)


def test_the_device_is_the_chosen_one() -> None:
    assert 'device = "cuda" if torch.cuda.is_available() else "cpu"\n' in standalone_script(SweepConfig())
    assert 'device = "mps"\n' in standalone_script(SweepConfig(device="mps"))
    assert torch.get_default_dtype() == torch.float32


@pytest.mark.parametrize(
    ("quantity", "fields", "sentence"),
    [
        ("logit_scale", {}, "quantity can be grad_wq, .*; got 'logit_scale'"),
        ("grad", {}, "quantity can be"),
        ("grad_wg", {}, "No model of this sweep has the quantity grad_wg"),
        ("grad_wo", {"output_projection": False}, "No model of this sweep has the quantity grad_wo"),
        ("grad_wq", {"attention": "uniform"}, "No model of this sweep has the quantity grad_wq"),
        ("grad_alpha", {}, "No model of this sweep has the quantity grad_alpha"),
    ],
)
def test_what_the_script_cannot_print_is_said(quantity: str, fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        standalone_script(SweepConfig(**fields), quantity=quantity)
