"""Does every norm of the registry keep what its record says?"""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import torch
from torch import nn

from normviz.norms import NORMS, NormRecord
from normviz.norms.trace import NormTrace

WITH_REFERENCE = [record for record in NORMS.values() if record.reference is not None]


def test_the_registry_is_read_only_and_keyed_by_id() -> None:
    assert {"layer_norm", "rms_norm", "batch_norm", "dyt", "none"} <= set(NORMS)
    assert all(name == record.id for name, record in NORMS.items())
    with pytest.raises(TypeError):
        NORMS["mine"] = NORMS["none"]  # type: ignore[index]


@pytest.mark.parametrize("record", NORMS.values(), ids=NORMS)
def test_every_record_is_complete(record: NormRecord) -> None:
    assert record.label
    assert record.formula
    assert record.id == record.id.lower()
    assert bool(record.source) == (record.reference is not None)


@pytest.mark.parametrize("record", WITH_REFERENCE, ids=lambda record: record.id)
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_the_module_computes_the_reference(record: NormRecord, eps: float) -> None:
    assert record.reference is not None
    x = torch.randn(3, 4, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 3 + 1
    module = record.module(8, eps).double()
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            parameter.copy_(torch.linspace(-1, 2, parameter.numel(), dtype=torch.float64).view_as(parameter) + i + 0.5)
    values = {name: p.detach().numpy() if p.ndim else p.item() for name, p in module.named_parameters()}
    trace = record.reference(x.numpy(), eps=eps, **values)
    assert isinstance(trace, NormTrace)
    np.testing.assert_allclose(trace.output, module(x).detach(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("record", WITH_REFERENCE, ids=lambda record: record.id)
def test_the_record_says_which_steps_and_parameters_there_are(record: NormRecord) -> None:
    assert record.reference is not None
    trace = record.reference(np.arange(24.0).reshape(2, 3, 4) ** 2)
    assert (trace.mean is not None) == record.has_mean
    assert (trace.centered is not None) == record.has_mean
    assert ("bias" in inspect.signature(record.reference).parameters) == record.has_bias
    assert ("bias" in dict(record.module(4, 1e-5).named_parameters())) == record.has_bias


def test_none_passes_everything_through() -> None:
    x = torch.randn(2, 3, 4)
    module = NORMS["none"].module(4, 1e-5)
    assert module(x) is x
    assert not list(module.parameters())


def test_batch_norms_module_is_a_torch_batch_norm() -> None:
    module = NORMS["batch_norm"].module(4, 1e-5)
    assert isinstance(module, nn.BatchNorm1d)
    module(torch.randn(2, 3, 4))
    assert int(module.num_batches_tracked) == 1


def test_records_travel_between_processes() -> None:
    assert pickle.loads(pickle.dumps(tuple(NORMS.values()))) == tuple(NORMS.values())
