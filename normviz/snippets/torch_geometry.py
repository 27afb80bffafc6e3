"""How are the vector lab's pictures computed in plain PyTorch?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from normviz.snippets.given import NAMES, Given, left_out
from normviz.snippets.torch_calls import BARE, CALLS


def plane(given: Given) -> str:
    """The coordinates in span{1, x}."""
    points = "".join(f'    "{norm}": {BARE[norm].format("x")},\n' for norm in given.defined)
    return left_out("The plane", given.too_small, f"""\
# Coordinates in the plane through (1, ..., 1) and x: along 1, and across it. Gain and bias would lead out of it.
along = torch.full_like(x, d**-0.5)
{_across(given)}
vectors = {{
    "x": x,
    "mean_part": x.mean() * torch.ones_like(x),
    "centered": x - x.mean(),
{points}}}
plane = {{name: torch.stack([along @ vector, across @ vector]) for name, vector in vectors.items()}}
for name, point in plane.items():
    print(name, point)
""")  # fmt: skip


def _across(given: Given) -> str:
    if not given.constant:
        return "across = (x - x.mean()) / (x - x.mean()).norm()"
    if given.d == 1:
        return "across = torch.zeros_like(x)  # a single number has nothing across"
    return "across = torch.zeros_like(x)\nacross[0], across[1] = 0.5**0.5, -(0.5**0.5)  # x is constant: any will do"


def space(given: Given) -> str:
    """The outputs along three axes, and what those miss."""
    if given.too_small is not None or not given.defined or given.d < 3:
        return ""
    outputs = f"outputs = torch.stack([{', '.join(CALLS[norm](given) for norm in given.defined)}])"
    names = ", ".join(f'"{norm}"' for norm in given.defined)
    if given.d == 3:
        return f"""\
# Three entries are three axes.
{outputs}
for name, point in zip([{names}], outputs):
    print(name, "after gain and bias:", point)
"""
    if given.weight is None and given.bias is None:
        return ""
    return f"""\
# A third axis for what gain and bias add outside that plane: where most of it lies. What it misses is a share.
{outputs}
frame = torch.stack([along, across])
rest = outputs - outputs @ frame.T @ frame
third = torch.linalg.svd(rest, full_matrices=False).Vh[0]
space = torch.cat([outputs @ frame.T, (rest @ third)[:, None]], dim=1)
missed = rest - torch.outer(rest @ third, third)
outside = missed.square().sum(dim=1) / outputs.square().sum(dim=1).clamp(min=1e-300)
for name, point, share in zip([{names}], space, outside):
    print(name, "after gain and bias:", point, "outside:", share.item())
"""


def lengths(given: Given) -> str:
    """The length of c * x against that of what the norms make of it."""
    after = "".join(f'        "{norm}": {BARE[norm].format("c * x")}.norm(),\n' for norm in given.defined)
    return left_out("The lengths", given.too_small, f"""\
# The length of c * x, and of what both norms make of it: sqrt(d) = {given.d**0.5:.6g}, unless eps is felt.
lengths = {{}}
for c in (0.01, 0.1, 1.0, 10.0, 100.0):
    lengths[c] = {{
        "before": (c * x).norm(),
{after}    }}
    print("c =", c, {{name: length.item() for name, length in lengths[c].items()}})
""")  # fmt: skip


def cloud(given: Given) -> str:
    """Random vectors, and where they land."""
    if given.cloud is None:
        return ""
    landed = "".join(f'    "{norm}": {BARE[norm].format("cloud")},\n' for norm in NAMES)
    noise = _NOISE[given.cloud["distribution"]]
    return left_out("The cloud", given.no_cloud, f"""\
# Random vectors, and where they land: (sqrt(d) * mean, sqrt(d) * std) of each, before and after.
rng = np.random.default_rng({given.cloud["seed"]})
shape = ({given.cloud["n"]}, d)
{noise}
cloud = torch.from_numpy({given.cloud["mean"]!r} + noise)
landed = {{
    "before": cloud,
{landed}}}
for name, vectors in landed.items():
    landed[name] = d**0.5 * torch.stack([vectors.mean(dim=1), vectors.std(dim=1, unbiased=False)], dim=1)
    print(name, "on average", landed[name].mean(dim=0))
""")  # fmt: skip


_NOISE: Mapping[str, str] = MappingProxyType(
    {
        "normal": "noise = rng.standard_normal(shape)",
        "uniform": "noise = rng.uniform(-np.sqrt(3), np.sqrt(3), shape)",
        "exponential": "noise = rng.standard_exponential(shape) - 1",
        "outlier": "noise = rng.standard_normal(shape)\nnoise[:, ::16] *= 20",
    }
)
"""Distribution -> noise of mean 0 and standard deviation 1, as `normviz.cloud` draws it."""
