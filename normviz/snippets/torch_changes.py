"""How does plain PyTorch show what both norms do not see, and what they do to a gradient?"""

from __future__ import annotations

from collections.abc import Callable
from math import log10

from normviz.geometry import LARGEST_SPECTRUM, spectrum
from normviz.snippets.arrays_text import TORCH
from normviz.snippets.given import NAMES, Given, left_out, short
from normviz.snippets.torch_calls import CALLS

DECADES = 290
"""So many powers of ten are between 1 and what leaves float64, with room for a sum."""


def moved(given: Given) -> str:
    """scale * x + shift."""
    return f"""\
# What both norms make of scale * x + shift.
scale, shift = {given.scale!r}, {given.shift!r}
moved = scale * x + shift
print("scale * x + shift:", moved)
"""


def answer(norm: str) -> Callable[[Given], str]:
    """By how much a norm's output moves."""
    word = short(norm)

    def part(given: Given) -> str:
        reason = given.undefined.get(norm) or given.moved.undefined.get(norm)
        return left_out(NAMES[norm], reason, f"""\
{word}_before = {CALLS[norm](given)}
{word}_after = {CALLS[norm](given, "moved")}
{word}_moved = ({word}_after - {word}_before).abs().max()
print("{NAMES[norm]}:", {word}_before, "becomes", {word}_after, "moved by", {word}_moved.item())
""")  # fmt: skip

    return part


def table(given: Given) -> str:
    """The invariances of five norms on random weights and data."""
    return f"factor = {given.factor!r}\n" + _TABLE


_TABLE = """\
# Layers with random weights and data: by how much each change of them moves each layer's output, at eps = 0.
rng = np.random.default_rng(0)
weights, data, row = (torch.from_numpy(rng.standard_normal(shape)) for shape in ((16, 24), (32, 24), 24))
rescaled = [torch.cat([factor * matrix[:1], matrix[1:]]) for matrix in (weights, data)]  # the first row only
changes = {
    "weights_rescaled": (factor * weights, data),
    "weights_recentered": (weights + 2 * row, data),
    "one_weight_vector_rescaled": (rescaled[0], data),
    "dataset_rescaled": (weights, factor * data),
    "dataset_recentered": (weights, data + 2 * row),
    "one_case_rescaled": (weights, rescaled[1]),
}


def batch_norm(sums):  # by hand: F.batch_norm refuses an eps of 0
    return (sums - sums.mean(dim=0)) / sums.std(dim=0, unbiased=False)


layers = {
    "batch_norm": lambda w, x: batch_norm(x @ w.T),
    "weight_norm": lambda w, x: x @ (w / w.norm(dim=1, keepdim=True)).T,
    "layer_norm": lambda w, x: F.layer_norm(x @ w.T, (16,), eps=0.0),
    "rms_norm": lambda w, x: F.rms_norm(x @ w.T, (16,), eps=0.0),
    "p_rms_norm": lambda w, x: (x @ w.T) / (x @ w[:2].T).square().mean(dim=1, keepdim=True).sqrt(),
}
table = {}
for norm, layer in layers.items():
    before = layer(weights, data)
    for change, changed in changes.items():
        difference = (layer(*changed) - before).abs().max() / before.square().mean().sqrt()
        table[norm, change] = difference.item()
        print(f"{norm}, {change}: {difference.item():.2g}", "(invariant)" if difference < 1e-9 else "")
"""


def jacobian(norm: str) -> Callable[[Given], str]:
    """A norm's Jacobian by autograd, and what it has no answer to."""
    word = short(norm)

    def part(given: Given) -> str:
        if given.d > LARGEST_SPECTRUM:
            return ""
        reason = _no_autograd(norm, given)
        if reason is not None:
            return left_out(f"The Jacobian of {NAMES[norm]}", reason, "")
        tolerance = spectrum(norm, given.x, weight=given.gain, eps=given.eps).tolerance
        return f"""\
{word}_jacobian = torch.autograd.functional.jacobian(lambda x: {CALLS[norm](given)}, x)
left, {word}_values, right = torch.linalg.svd({word}_jacobian)
# Below the tolerance, a singular value is rounding.
{word}_rank = int(torch.linalg.matrix_rank({word}_jacobian, atol={tolerance:.3g}, rtol=0.0))
{word}_unseen, {word}_lost = right[{word}_rank:], left[:, {word}_rank:].T
print("{NAMES[norm]}: rank", {word}_rank, "singular values", {word}_values)
print("changes of x that it cannot see:", {word}_unseen, sep="\\n")
print("gradients that it throws away:", {word}_lost, sep="\\n")
"""

    return part


def gradient(given: Given) -> str:
    """The gradient that comes from above."""
    if not given.defined:
        return ""
    if given.gradient is None:
        return "# The gradient of a loss by the output: here of the sum of the output.\ngradient = torch.ones_like(x)\n"
    return f"# The gradient of a loss by the output.\n{TORCH.array('gradient', given.gradient)}\n"


def pullback(norm: str) -> Callable[[Given], str]:
    """What autograd passes back of it."""
    word = short(norm)

    def part(given: Given) -> str:
        return left_out(f"The gradient through {NAMES[norm]}", _no_autograd(norm, given), f"""\
leaf = x.clone().requires_grad_()
{CALLS[norm](given, "leaf")}.backward(gradient)
{word}_image = leaf.grad
print("gradient by x through {NAMES[norm]}:", {word}_image)
{_away(norm, given)}""")  # fmt: skip

    return part


def _away(norm: str, given: Given) -> str:
    """The part of the gradient that passes nothing back."""
    word, unseen = short(norm), _unseen(norm, given.eps)
    if given.gain is not None and not given.gain.all():
        # No quotient by the gain; the null space of the matrix, where there is one, serves as well.
        if given.d > LARGEST_SPECTRUM:
            return "# Some gain is 0: all of the gradient there is thrown away; the rest takes the d x d Jacobian.\n"
        basis = f"basis = {word}_lost.T\n"
    elif not unseen:
        return f'{word}_away = torch.zeros_like(gradient)\nprint("thrown away: nothing, because eps is not 0")\n'
    else:
        over, why = (" / weight[:, None]", " over the gain") if given.gain is not None else ("", "")
        basis = f"""\
# What passes nothing back: each change of x that cannot be seen{why}. Their span has an orthonormal basis.
basis = torch.linalg.qr(torch.stack([{", ".join(unseen)}], dim=1){over}).Q
"""
    return f"""\
{basis}{word}_away = basis @ (basis.T @ gradient)
print("thrown away:", {word}_away, "length", {word}_away.norm().item(), "of", gradient.norm().item())
"""


def _no_autograd(norm: str, given: Given) -> str | None:
    """Why PyTorch's derivative of a norm has no digits, or None."""
    if norm in given.undefined:
        return given.undefined[norm]
    divisor = given.divisor(norm)
    if 3 * abs(log10(divisor)) + log10(given.steepest) < DECADES:
        return None
    return f"PyTorch's derivative takes the cube of the divisor, {divisor:.3g}, and that leaves float64 here."


def _unseen(norm: str, eps: float) -> list[str]:
    """The changes of x that a norm cannot see."""
    if norm == "rms_norm":
        return ["x"] if eps == 0 else []
    return ["torch.ones_like(x)", "x - x.mean()"] if eps == 0 else ["torch.ones_like(x)"]
