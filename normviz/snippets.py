"""What would a person type to get the numbers of this page without the page?"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import indent, wrap
from typing import Any

import numpy as np
import numpy.typing as npt

from normviz.depth.config import SweepConfig
from normviz.errors import InputError
from normviz.grid import pad_lengths
from normviz.norms import layer_norm, rms_norm
from normviz.vectors import format_vector

Array = npt.NDArray[np.float64]

# A longer vector is read from a file, so that the script stays something to read.
LISTED = 1000


def vector_script(x: Array, *, weight: Array | None = None, bias: Array | None = None, eps: float = 1e-5) -> str:
    """The vector lab as a script: both norms of `x` with their steps, the triangle and the plane.

    Parameters
    ----------
    x
        The vector, shape [d].
    weight, bias
        Gain and bias, shape [d], or None.
    eps
        Added to the variance or the mean square.

    Returns
    -------
    str
        Python that prints the page's numbers; a norm that is undefined for `x` is left out, and a comment says why.
    """
    given = {"weight": weight, "bias": bias}
    known = [_array(name, value) for name, value in given.items() if value is not None]
    parts = ['"""LayerNorm and RMSNorm of one vector, step by step."""\n\nimport numpy as np\n\nimport normviz as nv\n']
    parts.append("\n".join([_array("x", x), *known, f"eps = {eps!r}"]) + "\n")
    gain = "" if weight is None else ", weight=weight"
    shift = "" if bias is None else ", bias=bias"
    parts.append(
        _norm_lines(
            "LayerNorm",
            lambda: layer_norm(x, weight=weight, bias=bias, eps=eps),
            f"layer = nv.layer_norm(x{gain}{shift}, eps=eps)",
            {"mean": "layer.mean", "variance": "layer.var", "std": "layer.std", "LN(x)": "layer.output"},
        )
    )
    parts.append(
        _norm_lines(
            "RMSNorm",
            lambda: rms_norm(x, weight=weight, eps=eps),
            f"root = nv.rms_norm(x{gain}, eps=eps)",
            {"RMS": "root.rms", "RMSNorm(x)": "root.output"},
        )
    )
    parts.append(_VECTOR_GEOMETRY)
    return "\n".join(parts)


_VECTOR_GEOMETRY = """\
# RMS^2 = variance + mean^2
triangle = nv.triangle(x)
print("RMS^2:", triangle.rms**2, "= variance + mean^2:", triangle.std**2, "+", triangle.mean**2)

# Coordinates in the plane through (1, ..., 1) and x: along 1, and across it; None where undefined.
plane = nv.plane(x, eps=eps)
for name in ("x", "mean_part", "centered", "layer_norm", "rms_norm"):
    print(name, getattr(plane, name))
"""


def axes_script(
    norm: str,
    batch: int,
    tokens: int,
    d: int,
    *,
    seed: int = 0,
    groups: int = 1,
    pad: bool = False,
    masked: bool = False,
    cell: Sequence[int] = (0, 0, 0),
    eps: float = 1e-5,
) -> str:
    """The axes lab as a script: the grid, its statistics, one cell, and what pads do.

    Parameters
    ----------
    norm
        One of `normviz.grid.AXES`.
    batch, tokens, d, seed
        Sizes of the grid, and the seed of its values.
    groups
        Groups of channels, for "group_norm".
    pad, masked
        Whether the later sequences end in pads, and whether those are left out of the statistics.
    cell
        (sequence, token, channel) of the selected cell, from 0.
    eps
        Added to the variance or the mean square.
    """
    asked = [f'x, "{norm}"', f"eps={eps!r}"]
    if norm == "group_norm":
        asked.insert(1, f"groups={groups}")
    if pad and masked:
        asked.append("mask=real")
    lines = [
        '"""Which cells of [B, T, d] share a statistic, and what are those statistics?"""\n\nimport normviz as nv\n',
        f"x = nv.sample_grid({batch}, {tokens}, {d}, seed={seed})",
    ]
    if pad:
        lines += [
            f"real = nv.pad_mask({batch}, {tokens}, {list(pad_lengths(batch, tokens))})",
            "x = x * real[..., None]  # pads are zeros",
        ]
    lines += [
        f"trace = nv.normalize_grid({', '.join(asked)})",
        'print("statistics:", trace.n_statistics)',
        'print("mean:", trace.mean)',
        'print("variance:", trace.var)',
        'print("RMS:", trace.rms)',
        'print("output:", trace.output, sep="\\n")',
        'print("shape of weight:", trace.parameter_shape, "of bias:", trace.bias_shape)\n',
        f"chosen = nv.cell(trace, {', '.join(str(int(index)) for index in cell)})",
        'print("cells that share its statistic:", chosen.count)',
        'print("mean:", chosen.mean, "variance:", chosen.var, "RMS:", chosen.rms)',
        'print(chosen.value, "becomes", chosen.normalized)',
    ]
    if pad:
        lines += [
            "\n# Largest change of each real token's output when pads are counted; nan on pads.",
            "shifts = {}",
            'for axis in ("layer_norm", "batch_norm"):',
            f"    shifts[axis] = nv.padding_shift(x, real, axis, eps={eps!r})",
            "    print(axis, shifts[axis])",
        ]
    return "\n".join(lines) + "\n"


def depth_script(config: SweepConfig, *, quantity: str = "grad_w2") -> str:
    """The depth lab as a script: the sweep itself, and the numbers of its figures.

    Parameters
    ----------
    config
        The sweep.
    quantity
        Whose norm at the last and the first layer is printed.
    """
    fields = "".join(f"    {name}={_literal(value)},\n" for name, value in config.to_dict().items())
    return _DEPTH.format(fields=fields, quantity=quantity)


_DEPTH = '''\
"""A depth sweep: gradients and the residual stream of models at initialization, against depth."""

import numpy as np

import normviz as nv

config = nv.SweepConfig(
{fields})
points = []
for point in nv.sweep(config):
    print(f"{{point.placement}}, {{point.depth}} layers, seed {{point.seed}}: {{point.seconds:.2f}} s")
    points.append(point)
result = nv.collect(config, points)
frame = result.to_frame()  # placement, depth, seed, quantity, layer, value


def over_seeds(rows):
    """Geometric mean over the seeds whose value is finite and not zero."""
    usable = rows[np.isfinite(rows.value) & (rows.value > 0)]
    return np.exp(np.log(usable.value).groupby([usable.placement, usable.depth, usable.layer]).mean())


gradient = frame[frame.quantity == "{quantity}"]
last = over_seeds(gradient[gradient.layer == gradient.depth])
first = over_seeds(gradient[gradient.layer == gradient.groupby("depth").layer.transform("min")])
residual = np.sqrt(over_seeds(frame[frame.quantity == "residual_mean_square"]))
print("{quantity} of the last layer:", last, sep="\\n")
print("{quantity} of the first layer:", first, sep="\\n")
print("RMS of the residual stream:", residual, sep="\\n")

# To keep the result: result.save("sweep.npz"); nv.load("sweep.npz") reads it again.
'''


def _norm_lines(name: str, attempt: Callable[[], object], call: str, shown: Mapping[str, str]) -> str:
    """A call and the printing of its results, or the reason why there are none."""
    try:
        attempt()
    except InputError as error:
        return indent("\n".join(wrap(f"{name}: {error}", 110)), "# ") + "\n"
    return "\n".join([call, *(f'print("{label}:", {value})' for label, value in shown.items())]) + "\n"


def _array(name: str, values: Array) -> str:
    """An assignment that gives back these values, bit for bit."""
    if values.size > 1 and (values == values[0]).all():
        return f"{name} = np.full({values.size}, {format_vector(values[:1])})"
    if values.size > LISTED:
        return f'{name} = np.loadtxt("{name}.txt").ravel()  # save its {values.size} numbers as {name}.txt'
    text = format_vector(values)
    if len(text) < 90:
        return f"{name} = np.array([{text}])"
    return f"{name} = np.array([\n" + indent("\n".join(wrap(text, 110)), "    ") + "\n])"


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(map(_literal, value)) + ("," if len(value) == 1 else "") + ")"
    return f'"{value}"' if isinstance(value, str) else repr(value)
