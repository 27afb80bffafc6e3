"""Do the counts say what PyTorch's own operations read, write and compute?"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from normviz.cost import DTYPES, KINDS, WAYS, norm_cost
from normviz.cost.ways import eager, functional
from normviz.errors import InputError

N, D = 6, 32
ELEMENTWISE = {"add", "sub", "mul", "pow", "rsqrt"}
DTYPES_HERE = ("float32", "bfloat16", "float16", "float64")


class Meter(TorchDispatchMode):
    """Adds up what every operation under it reads and writes, and its operations on numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.read = self.written = self.flops = self.kernels = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        name = func.overloadpacket.__name__
        assert name in {*ELEMENTWISE, "mean", "_to_copy"}, name
        self.kernels += 1
        self.read += sum(t.numel() * t.element_size() for t in tensors)
        self.written += result.numel() * result.element_size()
        # A mean over d numbers is d - 1 additions and a division.
        self.flops += result.numel() if name in ELEMENTWISE else tensors[0].numel() if name == "mean" else 0
        return result


def tensors(dtype: str) -> list[torch.Tensor]:
    torch.manual_seed(0)
    return [torch.randn(*shape).to(getattr(torch, dtype)) for shape in ((N, D), (N, D), (D,), (D,))]


@pytest.mark.parametrize("dtype", DTYPES_HERE)
@pytest.mark.parametrize("kind", KINDS)
def test_operation_by_operation_is_what_torch_dispatches(kind: str, dtype: str) -> None:
    given = tensors(dtype)
    with Meter() as meter:
        eager(kind, *given)
    cost = norm_cost(kind, N, D, dtype, way="eager")
    assert (cost.bytes_read, cost.bytes_written, cost.flops) == (meter.read, meter.written, meter.flops)
    assert len(cost.kernels) == meter.kernels


@pytest.mark.parametrize("kind", KINDS)
def test_every_way_takes_the_same_operations_and_parameters(kind: str) -> None:
    costs = [norm_cost(kind, N, D, way=way) for way in WAYS]
    assert len({cost.flops for cost in costs}) == len({cost.parameters for cost in costs}) == 1
    eager_bytes, functional_bytes, compiled_bytes = (cost.bytes for cost in costs)
    assert eager_bytes > functional_bytes >= compiled_bytes


@pytest.mark.parametrize("kind", KINDS)
def test_one_kernel_reads_what_is_given_and_writes_what_comes_out(kind: str) -> None:
    x, f, weight, bias = tensors("float32")
    given = [x, *([f] if kind.startswith("add_") else []), weight, *([bias] if "layer" in kind else [])]
    cost = norm_cost(kind, N, D)
    assert cost.bytes_read == sum(t.nbytes for t in given)
    assert cost.bytes_written == sum(t.nbytes for t in functional(kind, x, f, weight, bias))


def test_parameters_are_those_of_torchs_modules() -> None:
    for kind, module in (("layer_norm", torch.nn.LayerNorm(D)), ("rms_norm", torch.nn.RMSNorm(D))):
        assert norm_cost(kind, N, D).parameters == sum(p.numel() for p in module.parameters())
    without = torch.nn.LayerNorm(D, bias=False)
    cost = norm_cost("layer_norm", N, D, bias=False)
    assert cost.parameters == sum(p.numel() for p in without.parameters())
    assert cost.flops == norm_cost("layer_norm", N, D).flops - N * D


def test_closed_forms() -> None:
    layer, rms = norm_cost("layer_norm", N, D), norm_cost("rms_norm", N, D)
    assert (layer.flops, rms.flops) == (N * (7 * D + 2), N * (4 * D + 2))
    assert rms.bytes == 4 * (2 * N * D + D)
    # x + f is read once more by a second kernel, and that is all.
    pair, fused = norm_cost("add_rms_norm", N, D, way="functional"), norm_cost("add_rms_norm", N, D)
    assert pair.bytes - fused.bytes == 4 * N * D
    big = norm_cost("add_rms_norm", 2**20, 4096, way="functional").bytes / norm_cost("add_rms_norm", 2**20, 4096).bytes
    assert big == pytest.approx(5 / 4, rel=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_formulas_give_the_numbers(kind: str, dtype: str, way: str) -> None:
    cost = norm_cost(kind, N, D, dtype, way=way)
    values = {"N": N, "d": D, "s": DTYPES[dtype], "u": max(4, DTYPES[dtype])}
    for name, formula in cost.formulas.items():
        factors = formula.replace("\\,", "")
        factors = re.sub(r"(?<=[0-9A-Za-z)])(?=[A-Za-z(])", "*", factors)
        assert eval(factors, {}, values) == getattr(cost, name)


def test_a_norm_waits_for_memory_and_layer_norm_does_more_for_each_byte() -> None:
    layer, rms = norm_cost("layer_norm", 4096, 4096), norm_cost("rms_norm", 4096, 4096)
    assert rms.intensity == pytest.approx(0.5, rel=1e-3)
    assert layer.intensity / rms.intensity == pytest.approx(7 / 4, rel=1e-3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES_HERE)
def test_every_way_computes_the_same(kind: str, dtype: str) -> None:
    given = tensors(dtype)
    tolerance = {"float64": 1e-12, "float32": 1e-5, "float16": 1e-2, "bfloat16": 8e-2}[dtype]  # some roundings
    for own, other in zip(eager(kind, *given), functional(kind, *given), strict=True):
        assert own.dtype == other.dtype == getattr(torch, dtype)
        torch.testing.assert_close(own, other, rtol=tolerance, atol=tolerance)
    x, f, weight, bias = (t.double().numpy() for t in given)
    x = x + f if kind.startswith("add_") else x
    if "layer" in kind:
        x = x - x.mean(-1, keepdims=True)
    y = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6) * weight + (bias if "layer" in kind else 0)
    np.testing.assert_allclose(eager(kind, *given)[-1].double().numpy(), y, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"tokens": 0}, "tokens is a whole number from 1 to"),
        ({"d": -4}, "d is a whole number from 1 to"),
        ({"d": 2.5}, "d is a whole number from 1 to"),
        ({"tokens": True}, "tokens is a whole number from 1 to"),
        ({"tokens": 2**32, "d": 2**24}, "These sizes make a tensor of"),
        ({"kind": "batch_norm"}, "kind can be layer_norm, rms_norm"),
        ({"dtype": "int8"}, "dtype can be float32"),
        ({"way": "magic"}, "way can be eager"),
    ],
)
def test_what_cannot_be_counted_is_said(changes: dict[str, Any], sentence: str) -> None:
    arguments = {"kind": "rms_norm", "tokens": 4, "d": 4, **changes}
    with pytest.raises(InputError, match=re.escape(sentence)):
        norm_cost(**arguments)
