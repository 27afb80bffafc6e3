"""With which line of PyTorch does one normalize a [B, T, d] grid along each of its axes?"""

from __future__ import annotations

from normviz.errors import InputError
from normviz.grid import AXES


def torch_line(
    norm: str, shape: tuple[int, int, int], *, groups: int = 1, eps: float = 1e-5, masked: bool = False
) -> str:
    """The line of PyTorch (two, or a loop, with a mask) that makes y out of x, without gain and bias.

    It runs where `x` is a tensor of PyTorch's default dtype, `real` is the mask, and `from torch import nn` and `import
    torch.nn.functional as F` stand above it.

    Parameters
    ----------
    norm
        One of `normviz.grid.AXES`.
    shape
        (B, T, d) of x.
    groups
        Groups of channels, for "group_norm".
    eps
        Inside the root, in units of x squared; it is left out where it is PyTorch's own default.
    masked
        Whether pads are left out of the statistics. Where they never are in one, for "layer_norm" and "rms_norm", the
        line is the same with and without a mask; the others leave 0 on pads.

    Raises
    ------
    InputError
        If there is no such norm.
    """
    if norm not in AXES:
        raise InputError("axis is one of {allowed}; got {value!r}.", allowed=", ".join(AXES), value=norm)
    _, tokens, d = shape
    if norm == "group_norm" and groups == d and (masked or tokens == 1):
        norm = "instance_norm"  # one channel per group; nn.GroupNorm refuses a statistic over a single cell
    if norm == "batch_norm" and eps == 0:
        norm = "no_eps"
    if norm == "instance_norm" and tokens == 1 and not masked:
        norm = "one_token"
    line = _MASKED[norm] if masked and norm in _MASKED else _LINES[norm]
    return line.format(d=d, groups=groups, eps=repr(eps), near="" if eps == 1e-5 else f", eps={eps!r}")


_LINES = {
    "layer_norm": "y = F.layer_norm(x, ({d},){near})",
    "rms_norm": "y = F.rms_norm(x, ({d},), eps={eps})",  # its default eps is the dtype's own
    "batch_norm": "y = nn.BatchNorm1d({d}{near})(x.transpose(1, 2)).transpose(1, 2)",
    "instance_norm": "y = nn.InstanceNorm1d({d}{near})(x.transpose(1, 2)).transpose(1, 2)",
    "group_norm": "y = nn.GroupNorm({groups}, {d}{near})(x.transpose(1, 2)).transpose(1, 2)",
    "everything": "y = F.layer_norm(x, x.shape{near})",
    "one_token": "y = torch.zeros_like(x)  # each cell minus itself; nn.InstanceNorm1d refuses a single token",
    "no_eps": "y = (x - x.mean((0, 1))) / x.std((0, 1), unbiased=False)  # nn.BatchNorm1d refuses an eps of 0",
}
"""Norm -> its line; BatchNorm1d, InstanceNorm1d and GroupNorm want the channels before the tokens."""

_MASKED = {
    "batch_norm": """\
y = torch.zeros_like(x)
y[real] = nn.BatchNorm1d({d}{near})(x[real])  # [real tokens, d]""",
    "no_eps": """\
y = torch.zeros_like(x)
y[real] = (x[real] - x[real].mean(0)) / x[real].std(0, unbiased=False)  # nn.BatchNorm1d refuses an eps of 0""",
    "instance_norm": """\
y = torch.zeros_like(x)
for b, kept in enumerate(real):
    y[b, kept] = F.layer_norm(x[b, kept].T, (int(kept.sum()),){near}).T  # per channel""",
    "group_norm": """\
y = torch.zeros_like(x)
for b, kept in enumerate(real):
    y[b, kept] = nn.GroupNorm({groups}, {d}{near})(x[b, kept].T[None])[0].T""",
    "everything": """\
y = torch.zeros_like(x)
y[real] = F.layer_norm(x[real], x[real].shape{near})""",
}
