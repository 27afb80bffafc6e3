"""What takes the place of a norm where there is none?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from normviz.norms.trace import NormRecord
from normviz.text import N_

if TYPE_CHECKING:
    from torch import nn


def identity_module(d_model: int, eps: float) -> nn.Module:
    """`torch.nn.Identity`; the arguments are those of every norm's module and have no effect here."""
    from torch import nn

    return nn.Identity(d_model, eps)


RECORD = NormRecord(
    id="none",
    label=N_("No norm"),
    formula="x",
    has_mean=False,
    has_bias=False,
    source="",
    reference=None,
    module=identity_module,
)
