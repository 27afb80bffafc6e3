"""What would a person write in PyTorch, without normviz, to see both norms of one vector?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from normviz.arrays import Floats
from normviz.snippets import torch_changes, torch_geometry
from normviz.snippets.arrays_text import TORCH
from normviz.snippets.given import NAMES, TITLES, Given, known_view, left_out
from normviz.snippets.torch_calls import CALLS
from normviz.vectors import MASSIVE


def torch_script(
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
    """One view of the vector lab as a script that needs nothing but PyTorch and NumPy.

    The outputs are PyTorch's own, the steps are written out beside them, and autograd does the derivatives.

    Parameters
    ----------
    view, x, weight, bias, eps, offset, origin, scale, shift, factor, gradient, cloud
        As for `vector_script`.

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
    lines = given.inputs(TORCH, _drawn(given)) + "d = x.numel()\n"
    text = "\n".join([lines, *filter(None, body)])
    numpy = "import numpy as np\n" if "np." in text else ""
    functional = "import torch.nn.functional as F\n" if "F." in text else ""
    return (
        f'"""{TITLES[view]}.\n\nIn plain PyTorch, 2.4 or newer.\n"""\n\n{numpy}import torch\n{functional}\n'
        f"torch.set_printoptions(precision=8)\n{text}"
    )


def _layer_norm(given: Given) -> str:
    return left_out("LayerNorm", given.undefined.get("layer_norm"), f"""\
mean = x.mean()
centered = x - mean
variance = x.var(unbiased=False)  # divided by d, not by d - 1
divisor = torch.sqrt(variance + eps)  # eps is inside the root
layer = {CALLS["layer_norm"](given)}
print("mean:", mean.item())
print("x - mean:", centered)
print("variance:", variance.item(), "std:", variance.sqrt().item())
print("divided by:", divisor.item())
print("normalized:", centered / divisor)
print("LN(x):", layer)
""")  # fmt: skip


def _rms_norm(given: Given) -> str:
    return left_out("RMSNorm", given.undefined.get("rms_norm"), f"""\
mean_square = x.square().mean()  # no mean is subtracted
rms_divisor = torch.sqrt(mean_square + eps)
root = {CALLS["rms_norm"](given)}
print("RMS:", mean_square.sqrt().item())
print("divided by:", rms_divisor.item())
print("normalized:", x / rms_divisor)
print("RMSNorm(x):", root)
""")  # fmt: skip


def _triangle(given: Given) -> str:
    return """\
# RMS^2 = variance + mean^2
squares = x.square().mean(), x.var(unbiased=False), x.mean().square()
print("RMS^2: {} = variance + mean^2: {} + {}".format(*map(float, squares)))
"""


def _slips(given: Given) -> str:
    if "layer_norm" in given.undefined:
        return ""
    unbiased = '    "unbiased": torch.sqrt(x.var(unbiased=True) + eps),\n' if given.d > 1 else ""
    return f"""\
# What common slips would divide by.
single = x.float()
slips = {{
{unbiased}    "eps_outside": x.std(unbiased=False) + eps,
    "one_pass": torch.sqrt(single.square().mean() - single.mean().square() + eps),  # E[x^2] - E[x]^2 in float32
    "std_for_rms": torch.sqrt(x.var(unbiased=False) + eps),  # x over this is no RMSNorm
}}
for name, divisor in slips.items():
    print(name, "divides by", divisor.item())
"""


def _drawn(given: Given) -> str:
    """The lines that draw x from its seed again."""
    if given.origin is None:
        return ""
    source, d, seed = given.origin
    lines = [f"numbers = np.random.default_rng({seed}).standard_normal({d})"]
    if source == "hidden":
        channels = ", ".join(f"({int(place * d)}, {size!r})" for place, size in MASSIVE)
        lines += [
            f"for channel, size in ({channels}):",
            "    numbers[channel] = size  # made up, as massive activations are",
        ]
    return "\n".join([*lines, "x = torch.from_numpy(numbers)"])


PARTS: Mapping[str, tuple[Callable[[Given], str], ...]] = MappingProxyType(
    {
        "steps": (_layer_norm, _rms_norm, _triangle, torch_geometry.plane, _slips),
        "geometry": (torch_geometry.plane, torch_geometry.space, torch_geometry.lengths, torch_geometry.cloud),
        "invariances": (torch_changes.moved, *map(torch_changes.answer, NAMES), torch_changes.table),
        "backward": (
            *map(torch_changes.jacobian, NAMES),
            torch_changes.gradient,
            *map(torch_changes.pullback, NAMES),
        ),
    }
)
