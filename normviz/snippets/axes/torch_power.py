"""How is PowerNorm written in plain PyTorch, with its own backward pass?"""

from __future__ import annotations

from normviz.snippets.axes.given import AxesGiven
from normviz.snippets.axes.stream_lines import stream_lines
from normviz.streams import WARM
from normviz.streams.power_path import EPS, PULL


def power_view(given: AxesGiven) -> str:
    """PowerNorm forward and back along a stream, beside BatchNorm and LayerNorm."""
    return f"""\
{stream_lines(given)}

alpha, momentum, eps = {given.alpha!r}, {given.momentum!r}, {EPS!r}
{_POWER_NORM}
{_GENERATED if given.stream == "generation" else _TRAINED}
for name, values in outputs.items():
    print("the first token under", name, values)
"""


_POWER_NORM = f'''

class PowerNorm(torch.autograd.Function):
    """Shen et al. 2020, arXiv:2003.07845: x over the running psi. The buffers square (psi^2) and nu move in place."""

    @staticmethod
    def forward(ctx, x, square, nu):
        psi = torch.sqrt(square + eps)
        ctx.save_for_backward(x / psi, psi)
        ctx.nu = nu
        square += (1 - alpha) * (x.square().mean(0) - square)
        return x / psi

    @staticmethod
    def backward(ctx, gradient):
        normalized, psi = ctx.saved_tensors
        # Approximate: the statistics are those before the batch. (The released code divides by the batch's psi here.)
        back = (gradient - ctx.nu * normalized) / psi
        ctx.nu += (1 - alpha) * ((gradient * normalized).mean(0) - ctx.nu * normalized.square().mean(0))
        return back, None, None


def forward_and_back(x, step):
    """The output, and how far its gradient is from that of the norm with the batch's own psi."""
    x = x.requires_grad_()
    exact_output = x / torch.sqrt(x.square().mean(0) + eps)
    # The gradient of a loss by the output: noise, and a pull towards 0.
    gradient = torch.from_numpy(np.random.default_rng([seed, 4, step]).standard_normal((N, 4)))
    gradient = gradient + {PULL!r} * exact_output.detach()
    output = PowerNorm.apply(x, square, nu)
    (approximate,) = torch.autograd.grad(output, x, gradient)
    (exact,) = torch.autograd.grad(exact_output, x, gradient)
    return output.detach(), ((approximate - exact).norm() / exact.norm()).item()


square, nu = torch.ones(4), torch.zeros(4)
module = nn.BatchNorm1d(4, eps=eps, momentum=momentum, affine=False)
probe = torch.from_numpy(means + stds)[None]  # one token that is followed along the stream
layer = F.layer_norm(probe, (4,), eps=eps)[0, 0].item()
outputs = {{"power_norm": [], "batch_norm": [], "running": [], "layer_norm": []}}
running, nus, errors = [square.sqrt()], [nu.clone()], []
'''

_TRAINED = """\
batch = []
for step in range(steps):
    x = torch.cat([probe, batch_at(step)[1:]])
    batch.append(x.square().mean(0).sqrt())
    outputs["running"].append(module.eval()(probe)[0, 0].item())
    outputs["batch_norm"].append(module.train()(x)[0, 0].item())
    outputs["layer_norm"].append(layer)
    output, error = forward_and_back(x, step)
    outputs["power_norm"].append(output[0, 0].item())
    errors.append(error)
    running.append(square.sqrt())
    nus.append(nu.clone())
    print("psi of the batch", batch[-1], "running psi", running[-1], "nu", nu, "error of the gradient", error)"""

_GENERATED = f"""\
for step in range({WARM}):
    module(warm_batch(step))
    forward_and_back(warm_batch(step), step)
# Generating leaves everything as training did.
batch = [batch_at(step)[0].abs() for step in range(steps)]
running, nus = [square.sqrt()] * (steps + 1), [nu] * (steps + 1)
outputs["power_norm"] = [(probe / torch.sqrt(square + eps))[0, 0].item()] * steps
outputs["running"] = [module.eval()(probe)[0, 0].item()] * steps
outputs["layer_norm"] = [layer] * steps
print("psi of the tokens", batch, "running psi", running[0], "nu", nu)"""
