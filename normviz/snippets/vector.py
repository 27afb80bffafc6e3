"""What would a person type to see both norms of one vector, step by step?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from textwrap import indent, wrap

import numpy as np
import numpy.typing as npt

from normviz.errors import InputError
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
