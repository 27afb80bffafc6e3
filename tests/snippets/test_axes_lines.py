"""Does the quoted line of PyTorch normalize as the page does?"""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import assume, given
from hypothesis import strategies as st
from torch import nn

from normviz.errors import InputError
from normviz.grid import AXES, normalize_grid, pad_mask, sample_grid
from normviz.snippets import torch_line
from tests.snippets.axes_scripts import torch_as_it_is

WITHOUT_MASK = ("layer_norm", "rms_norm")


def ran(line: str, x: np.ndarray, real: np.ndarray) -> np.ndarray:
    names = {"torch": torch, "nn": nn, "F": F, "x": torch.tensor(x), "real": torch.tensor(real)}
    with torch_as_it_is(), torch.no_grad():
        torch.set_default_dtype(torch.float64)
        exec(line, names)
    return names["y"].numpy()


@given(data=st.data(), norm=st.sampled_from(AXES), masked=st.booleans(), eps=st.sampled_from([1e-5, 0.0, 0.25]))
def test_the_line_normalizes_as_the_page(data: st.DataObject, norm: str, masked: bool, eps: float) -> None:
    batch, tokens, d = shape = data.draw(st.tuples(st.integers(1, 3), st.integers(1, 4), st.integers(1, 6)))
    groups = data.draw(st.sampled_from([n for n in range(1, d + 1) if d % n == 0]))
    lengths = (
        data.draw(st.lists(st.integers(1, tokens), min_size=batch, max_size=batch)) if masked else [tokens] * batch
    )
    real, x = pad_mask(batch, tokens, lengths), sample_grid(*shape, seed=data.draw(st.integers(0, 50)))
    try:
        expected = normalize_grid(x, norm, groups=groups, eps=eps, mask=real if masked else None).output
    except InputError:
        assume(False)  # 0/0, or a batch of one token
    line = torch_line(norm, shape, groups=groups, eps=eps, masked=masked)
    assert max(map(len, line.splitlines())) <= 110
    found = ran(line, x, real)
    kept = real if masked and norm in WITHOUT_MASK else np.ones_like(real)
    np.testing.assert_allclose(found[kept], expected[kept], rtol=0, atol=1e-12)


@pytest.mark.parametrize("norm", WITHOUT_MASK)
def test_a_norm_of_single_tokens_needs_no_mask(norm: str) -> None:
    assert torch_line(norm, (2, 3, 4), masked=True) == torch_line(norm, (2, 3, 4))


@pytest.mark.parametrize(
    ("norm", "written"),
    [
        ("layer_norm", "F.layer_norm(x, (4,))"),
        ("rms_norm", "F.rms_norm(x, (4,), eps=1e-05)"),
        ("batch_norm", "nn.BatchNorm1d(4)(x.transpose(1, 2)).transpose(1, 2)"),
        ("instance_norm", "nn.InstanceNorm1d(4)(x.transpose(1, 2)).transpose(1, 2)"),
        ("group_norm", "nn.GroupNorm(2, 4)(x.transpose(1, 2)).transpose(1, 2)"),
        ("everything", "F.layer_norm(x, x.shape)"),
    ],
)
def test_the_line_is_the_one_that_people_write(norm: str, written: str) -> None:
    assert torch_line(norm, (2, 3, 4), groups=2) == f"y = {written}"


def test_what_pytorch_refuses_is_written_otherwise_and_said() -> None:
    assert "refuses" in torch_line("instance_norm", (2, 1, 4))
    assert "refuses" in torch_line("group_norm", (2, 1, 4), groups=4)
    assert "refuses" in torch_line("batch_norm", (2, 3, 4), eps=0.0)
    with torch.no_grad():
        for refused in (
            lambda: nn.InstanceNorm1d(4)(torch.zeros(2, 4, 1)),
            lambda: nn.GroupNorm(4, 4)(torch.zeros(1, 4, 1)),
            lambda: nn.BatchNorm1d(4, eps=0.0)(torch.zeros(2, 4, 3)),
        ):
            with pytest.raises(ValueError, match=r"more than 1|eps must be positive"):
                refused()


def test_an_unknown_norm_is_refused() -> None:
    with pytest.raises(InputError, match=r"axis is one of layer_norm, .*; got 'weight_norm'"):
        torch_line("weight_norm", (2, 3, 4))
