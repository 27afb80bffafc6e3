"""What would a person type to see both norms of one vector with normviz?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from normviz.arrays import Floats
from normviz.geometry import LARGEST_SPECTRUM
from normviz.slips import SLIPS
from normviz.snippets.arrays_text import NUMPY
from normviz.snippets.given import NAMES, TITLES, Given, known_view, left_out, short


def vector_script(
    view: str,
    x: Floats,
    *,
    weight: Floats | None = None,
    bias: Floats | None = None,
    eps: float = 1e-5,
    offset: float = 0.0,
    origin: tuple[str, int, int] | None = None,
    scale: float = 1.0,
    shift: float = 0.0,
    factor: float = 3.0,
    gradient: Floats | None = None,
    cloud: Mapping[str, Any] | None = None,
) -> str:
    """One view of the vector lab as a script that uses normviz.

    Parameters
    ----------
    view
        One of `VIEWS`: the steps of both norms, where they take x, what they do not see, what they do to a gradient.
    x
        The vector, shape [d].
    weight, bias
        Gain and bias, shape [d], or None.
    eps
        Added to the variance or the mean square.
    offset
        1 where the gain is stored as 1 + w; `weight` is then that w.
    origin
        ("random" or "hidden", d, seed) where x comes from a seed: the script draws it again. None writes it out, or
        reads it from x.txt if it has more than `LISTED` numbers.
    scale, shift
        In the view "invariances", what x is multiplied by and what is added to it.
    factor
        In the same view, what the table multiplies weights and data by.
    gradient
        In the view "backward", the gradient of a loss by the output, shape [d]; None is a gradient of ones.
    cloud
        In the view "geometry", `mean`, `distribution`, `seed` and `n` of the random vectors; None leaves them out.

    Returns
    -------
    str
        Python that prints the view's numbers; what is undefined for `x` is left out, and a comment says why.

    Raises
    ------
    InputError
        If there is no such view.
    """
    given = Given(
        x=x, weight=weight, bias=bias, eps=eps, offset=offset, origin=origin, scale=scale, shift=shift,
        factor=factor, gradient=gradient, cloud=cloud,
    )  # fmt: skip
    parts = PARTS[known_view(view)]
    body = [left_out("x", given.refused, "")] if given.refused else [part(given) for part in parts]
    lines = given.inputs(NUMPY, _drawn(given))
    numpy = "import numpy as np\n\n" if "np." in lines + "".join(body) else ""
    return "\n".join([f'"""{TITLES[view]}."""\n\n{numpy}import normviz as nv\n', lines, *filter(None, body)])


def _drawn(given: Given) -> str:
    """The line that makes x from its seed again."""
    if given.origin is None:
        return ""
    source, d, seed = given.origin
    return f"x = nv.{'hidden_state' if source == 'hidden' else 'random_vector'}({d}, {seed})"


def _layer_norm(given: Given) -> str:
    return left_out("LayerNorm", given.undefined.get("layer_norm"), f"""\
layer = nv.layer_norm(x{_gain(given)}{_bias(given)}, eps=eps)
print("mean:", layer.mean)
print("x - mean:", layer.centered)
print("variance:", layer.var, "std:", layer.std)
print("divided by:", layer.denominator)
print("normalized:", layer.normalized)
print("LN(x):", layer.output)
""")  # fmt: skip


def _rms_norm(given: Given) -> str:
    return left_out("RMSNorm", given.undefined.get("rms_norm"), f"""\
root = nv.rms_norm(x{_gain(given)}, eps=eps)
print("RMS:", root.rms)
print("divided by:", root.denominator)
print("normalized:", root.normalized)
print("RMSNorm(x):", root.output)
""")  # fmt: skip


def _triangle(given: Given) -> str:
    return """\
# RMS^2 = variance + mean^2
triangle = nv.triangle(x)
print("RMS^2:", triangle.rms**2, "= variance + mean^2:", triangle.std**2, "+", triangle.mean**2)
"""


def _plane(given: Given) -> str:
    return left_out("The plane", given.too_small, """\
# Coordinates in the plane through (1, ..., 1) and x: along 1, and across it; None where undefined.
plane = nv.plane(x, eps=eps)
for name in ("x", "mean_part", "centered", "layer_norm", "rms_norm"):
    print(name, getattr(plane, name))
""")  # fmt: skip


def _slips(given: Given) -> str:
    norms = {name: "rms_norm" if name == "std_for_rms" else "layer_norm" for name in SLIPS}
    names = [f'"{name}"' for name, norm in norms.items() if norm in given.defined]
    if not names:
        return ""
    return f"""\
# Common slips: what each would divide by, and how far the normalized entries would be off.
slips = {{name: nv.slip(name, x, eps=eps) for name in [{", ".join(names)}]}}
for name, slip in slips.items():
    print(name, "divides by", slip.other_divisor, "and not by", slip.usual_divisor, "off by", slip.difference)
"""


def _space(given: Given) -> str:
    reason = given.too_small or ("a picture in space needs at least 3 numbers." if given.d < 3 else None)
    axes = (
        "The three entries are the three axes."
        if given.d == 3
        else "Along (1, ..., 1), along x - mean, and along what gain and bias add; what that misses is a share."
    )
    return left_out("The picture in space", reason, f"""\
# {axes}
space = nv.space(x{_gain(given)}{_bias(given)}, eps=eps)
for name in ("x", "mean_part", "centered", "layer_norm", "rms_norm", "layer_output", "rms_output"):
    print(name, getattr(space, name))
print("share of the squared length outside:", space.layer_outside, space.rms_outside)
""")  # fmt: skip


def _lengths(given: Given) -> str:
    return left_out("The lengths", given.too_small, """\
# The length of c * x for many c, and of what both norms make of it: sqrt(d), unless eps is felt.
lengths = nv.lengths(x, eps=eps)
before, layer, rms = lengths.current
print("length of x:", before, "of LN(x):", layer, "of RMSNorm(x):", rms, "sqrt(d):", lengths.radius)
""")  # fmt: skip


def _cloud(given: Given) -> str:
    if given.cloud is None:
        return ""
    asked = [f"{name}={given.cloud[name]!r}" for name in ("n", "mean", "seed")]
    asked.append(f'distribution="{given.cloud["distribution"]}"')
    return left_out("The cloud", given.no_cloud, f"""\
# Random vectors and where they land: each one's (sqrt(d) * mean, sqrt(d) * std), before and after.
cloud = nv.cloud({given.d}, {", ".join(asked)}, eps=eps)
for name in ("before", "layer_norm", "rms_norm"):
    points = getattr(cloud, name)
    print(name, "on average", points.mean(axis=0), "spread", points.std(axis=0))
""")  # fmt: skip


def _affine(given: Given) -> str:
    reason = given.too_small or given.moved.too_small
    return left_out("scale * x + shift", reason, f"""\
# Both norms of scale * x + shift: "same", "flipped" (another sign), "moved", or "undefined".
affine = nv.affine(x, {given.scale!r}, {given.shift!r}{_gain(given)}{_bias(given)}, eps=eps)
print("scale * x + shift:", affine.moved)
print("LayerNorm:", affine.layer_before, "becomes", affine.layer_after)
print("difference:", affine.layer_moved, affine.layer_verdict)
print("RMSNorm:", affine.rms_before, "becomes", affine.rms_after)
print("difference:", affine.rms_moved, affine.rms_verdict)
""")  # fmt: skip


def _table(given: Given) -> str:
    return f"""\
# Layers with random weights and data: by how much each change of them moves each layer's output.
table = nv.invariance_table(factor={given.factor!r})
for cell in table:
    print(f"{{cell.norm}}, {{cell.change}}: {{cell.difference:.2g}}", "(invariant)" if cell.invariant else "")
"""


def _jacobian(norm: str) -> Callable[[Given], str]:
    word = short(norm)

    def part(given: Given) -> str:
        if given.d > LARGEST_SPECTRUM:
            return ""
        asked = f'"{norm}", x{_gain(given)}, eps=eps'
        return left_out(f"The Jacobian of {NAMES[norm]}", given.undefined.get(norm), f"""\
{word}_jacobian = nv.jacobian({asked})
{word}_spectrum = nv.spectrum({asked})
print("{NAMES[norm]}: rank", {word}_spectrum.rank, "singular values", {word}_spectrum.values)
print("changes of x that it cannot see:", {word}_spectrum.unseen, sep="\\n")
print("gradients that it throws away:", {word}_spectrum.lost, sep="\\n")
""")  # fmt: skip

    return part


def _pullback(norm: str) -> Callable[[Given], str]:
    word = short(norm)

    def part(given: Given) -> str:
        return left_out(f"The gradient through {NAMES[norm]}", given.no_pullback(norm), f"""\
{word}_pullback = nv.pullback("{norm}", x, gradient{_gain(given)}, eps=eps)
print("gradient by x through {NAMES[norm]}:", {word}_pullback.image)
print("thrown away:", {word}_pullback.lost, "a share of", {word}_pullback.lost_share)
""")  # fmt: skip

    return part


def _gradient(given: Given) -> str:
    if not given.defined:
        return ""
    if given.gradient is None:
        return "# The gradient of a loss by the output: here of the sum of the output.\ngradient = np.ones(x.size)\n"
    return f"# The gradient of a loss by the output.\n{NUMPY.array('gradient', given.gradient)}\n"


def _gain(given: Given) -> str:
    return "" if given.weight is None else ", weight=weight"


def _bias(given: Given) -> str:
    return "" if given.bias is None else ", bias=bias"


PARTS: Mapping[str, tuple[Callable[[Given], str], ...]] = MappingProxyType(
    {
        "steps": (_layer_norm, _rms_norm, _triangle, _plane, _slips),
        "geometry": (_plane, _space, _lengths, _cloud),
        "invariances": (_affine, _table),
        "backward": (
            *map(_jacobian, NAMES),
            _gradient,
            *map(_pullback, NAMES),
        ),
    }
)
