"""How does plain PyTorch show who shares a statistic, and one cell's share in it?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from normviz.snippets.axes.data import grid_lines
from normviz.snippets.axes.given import AxesGiven
from normviz.snippets.axes.lines import torch_line
from normviz.snippets.given import left_out


def grid_view(given: AxesGiven) -> str:
    """One norm by PyTorch and by hand, one cell of it, and the parameters of all norms."""
    line = torch_line(given.norm, given.made.x.shape, groups=given.groups, eps=given.eps, masked=given.hides)
    normalized = left_out("The norm", given.no_norm, f"""\
eps = {given.eps!r}
{line}
print("output:", y)

{_statistics(given)}
{_cell(given)}""")  # fmt: skip
    return f"{grid_lines(given)}\n{normalized}\n{_counts(given)}"


def _statistics(given: AxesGiven) -> str:
    """The statistics by hand."""
    cells, axes = (_REAL if given.hides else _ALL)[given.norm]
    cells = cells.format(groups=given.groups)
    if given.norm == "rms_norm":
        return f"""\
# The same by hand.
rms = {cells}.square().mean({axes}).sqrt()
print("RMS:", rms)
"""
    if given.hides and given.norm in ("instance_norm", "group_norm"):
        return f"""\
# The same by hand, sequence by sequence without its pads.
sequences = {cells}
mean = torch.stack([tokens.mean({axes}) for tokens in sequences])
variance = torch.stack([tokens.var({axes}, unbiased=False) for tokens in sequences])  # divided by the count
print("mean:", mean)
print("variance:", variance)
"""
    return f"""\
# The same by hand.
cells = {cells}
mean = cells.mean({axes})
variance = cells.var({axes}{", " if axes else ""}unbiased=False)  # divided by the count
print("mean:", mean)
print("variance:", variance)
"""


_ALL: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "layer_norm": ("x", "2"),
        "rms_norm": ("x", "2"),
        "batch_norm": ("x", "(0, 1)"),
        "instance_norm": ("x", "1"),
        "group_norm": ("x.unflatten(2, ({groups}, -1))", "(1, 3)"),
        "everything": ("x", ""),
    }
)
"""Norm -> the cells that its statistics are taken of, and the axes that they go over."""

_REAL: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "layer_norm": ("x[real]", "1"),
        "rms_norm": ("x[real]", "1"),
        "batch_norm": ("x[real]", "0"),
        "instance_norm": ("[x[b, kept] for b, kept in enumerate(real)]", "0"),
        "group_norm": ("[x[b, kept].unflatten(1, ({groups}, -1)) for b, kept in enumerate(real)]", "(0, 2)"),
        "everything": ("x[real]", ""),
    }
)
"""The same without the pads; of each sequence by itself where the lengths differ."""


def _cell(given: AxesGiven) -> str:
    """The arithmetic of the selected cell."""
    b, t, c = given.cell
    if given.hides and given.on_a_pad:
        return f"# Cell ({b}, {t}, {c}) is on a pad: it belongs to no statistic.\n"
    width = given.d // given.groups
    low = c // width * width
    members = (_SHARERS_REAL if given.hides else _SHARERS)[given.norm].format(low=low, high=low + width)
    where = f"b, t, c = {b}, {t}, {c}\nshared = {members}  # the cells that share its statistic\n"
    if given.norm == "rms_norm":
        return f"""\
{where}divisor = torch.sqrt(shared.square().mean() + eps)
chosen = x[b, t, c] / divisor
print(shared.numel(), "cells: RMS", shared.square().mean().sqrt().item())
print(x[b, t, c].item(), "over", divisor.item(), "is", chosen.item(), "as above:", y[b, t, c].item())
"""
    return f"""\
{where}divisor = torch.sqrt(shared.var(unbiased=False) + eps)
chosen = (x[b, t, c] - shared.mean()) / divisor
print(shared.numel(), "cells: mean", shared.mean().item(), "variance", shared.var(unbiased=False).item())
print(x[b, t, c].item(), "minus the mean, over", divisor.item(), "is", chosen.item(), "as above:", y[b, t, c].item())
"""


_SHARERS: Mapping[str, str] = MappingProxyType(
    {
        "layer_norm": "x[b, t]",
        "rms_norm": "x[b, t]",
        "batch_norm": "x[:, :, c]",
        "instance_norm": "x[b, :, c]",
        "group_norm": "x[b, :, {low}:{high}]",
        "everything": "x",
    }
)
"""Norm -> the cells that share the statistic of cell (b, t, c)."""

_SHARERS_REAL: Mapping[str, str] = MappingProxyType(
    {
        **_SHARERS,
        "batch_norm": "x[real][:, c]",
        "instance_norm": "x[b, real[b], c]",
        "group_norm": "x[b, real[b], {low}:{high}]",
        "everything": "x[real]",
    }
)
"""The same without the pads."""


def _counts(given: AxesGiven) -> str:
    """How many statistics every norm takes, and its parameters."""
    return f"""\
# How many statistics every norm takes of this grid, and what it learns.
B, T, d = x.shape
counts = {{
    nn.LayerNorm(d): B * T,
    nn.RMSNorm(d): B * T,
    nn.BatchNorm1d(d): d,
    nn.InstanceNorm1d(d, affine=True): B * d,
    nn.GroupNorm({given.groups}, d): B * {given.groups},
    nn.LayerNorm((B, T, d)): 1,  # everything
}}
for module, count in counts.items():
    shapes = {{name: tuple(parameter.shape) for name, parameter in module.named_parameters()}}
    print(module, count, "statistics, parameters:", shapes)
"""
