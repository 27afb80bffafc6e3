"""How does plain PyTorch show what BatchNorm measures in a batch, and carries from one to the next?"""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import indent
from types import MappingProxyType

from normviz.snippets.axes.given import AxesGiven
from normviz.snippets.axes.stream_lines import stream_lines, true_mean_lines
from normviz.snippets.given import left_out
from normviz.streams import WARM


def batches_view(given: AxesGiven) -> str:
    """The spread of mean, variance and one token's output over many batches, and their laws."""
    outputs = left_out("That token in batches of one size", given.no_outputs, f"""\
# The token's output in each of many batches of {given.batch} x {given.seq} tokens.
batches = x[:, :{given.batch}].reshape(repeats, -1).copy()
batches[:, 0] = z
outputs = (z - batches.mean(axis=1)) / batches.std(axis=1)
print("outputs:", outputs)
print("mean:", outputs.mean(), "standard deviation:", outputs.std())
""")  # fmt: skip
    return f"""\
T, repeats, z = {given.seq}, 1000, {given.z!r}
rng = np.random.default_rng({given.seed})
most = 2048 // T  # sequences of the largest batch
{_draw(given)}

# Each batch looked at in parts: its first B sequences are a batch of their own.
sizes = [2**k for k in range(12) if 2 <= 2**k * T <= 2048]
spread = {{}}
for B in sizes:
    part = x[:, :B].reshape(repeats, B * T)
    with_token = part.copy()
    with_token[:, 0] = z  # in training a token counts among those that it is compared with
    output = (z - with_token.mean(axis=1)) / with_token.std(axis=1)
    spread[B] = part.mean(axis=1).std(ddof=1), part.var(axis=1).std(ddof=1), output.std(ddof=1)
    print(B * T, "tokens: mean, variance and output scatter by", *spread[B])

# What theory says, from the correlations of the tokens of a sequence.
N = T * np.array(sizes)
{_CORRELATIONS[given.population].format(r=repr(given.correlation))}
rows, kurtosis = correlations.sum(axis=1), {6 if given.population == "heavy" else 3}
factor, square_factor = rows.mean(), (correlations**2).sum(axis=1).mean()
mean_law = np.sqrt(factor / N)
var_law = np.sqrt(
    2 / N * (square_factor - 2 / N * (rows**2).mean() + factor**2 / N) + (kurtosis - 3) * (N - 1) ** 2 / N**3
)
output_law = np.sqrt((factor + z**2 / 4 * (kurtosis - 1) * square_factor) / N)
print("the same by theory:", mean_law, var_law, output_law)
print("so many independent tokens is the batch worth:", N / factor)

{outputs}
# A batch of one token has no variance, and PyTorch refuses it.
try:
    nn.BatchNorm1d(4)(torch.zeros(1, 4))
except ValueError as error:
    print(error)
"""


def _draw(given: AxesGiven) -> str:
    """The lines that draw x [repeats, most, T] as `normviz.streams` does."""
    if given.population == "independent":
        return "x = rng.standard_normal((repeats, most, T))"
    if given.population == "heavy":
        return "x = rng.laplace(scale=np.sqrt(0.5), size=(repeats, most, T))  # variance 1"
    return f"""\


def draw(count):
    \"\"\"So many sequences of T tokens that know of each other, [count, T].\"\"\"
{indent(_DEPENDENT[given.population].format(r=repr(given.correlation)), "    ")}


blocks = [draw(min(128, repeats - start) * most) for start in range(0, repeats, 128)]
x = np.concatenate(blocks).reshape(repeats, most, T)"""


_DEPENDENT: Mapping[str, str] = MappingProxyType(
    {
        "equal": """\
own = rng.standard_normal((count, T))
return np.sqrt(1 - {r}) * own + np.sqrt({r}) * rng.standard_normal((count, 1))""",
        "chain": """\
x = rng.standard_normal((T, count))
for t in range(1, T):
    x[t] = {r} * x[t - 1] + np.sqrt(1 - {r}**2) * x[t]
return x.T""",
    }
)
"""Population -> how its sequences are drawn."""

_CORRELATIONS: Mapping[str, str] = MappingProxyType(
    {
        "independent": "correlations = np.eye(T)",
        "heavy": "correlations = np.eye(T)",
        "equal": "correlations = np.where(np.eye(T), 1.0, {r})",
        "chain": "correlations = {r} ** np.abs(np.subtract.outer(np.arange(T), np.arange(T)))",
    }
)
"""Population -> the correlation matrix of a sequence's tokens."""


def running_view(given: AxesGiven) -> str:
    """nn.BatchNorm1d fed batch by batch beside the other conventions, and the next batch by the chosen mode."""
    generation = given.stream == "generation"
    return f"""\
{stream_lines(given)}{true_mean_lines(given)}

momentum = {given.momentum!r}
module = nn.BatchNorm1d(4, momentum=momentum)  # the share of the new batch
decay = nn.BatchNorm1d(4, momentum=1 - momentum)  # the same number as the share of the old, as Keras and Flax read it
biased = torch.ones(4)  # PyTorch's share, but the variance divided by N, not by N - 1


def feed(x):
    decay.train()(x)
    biased.mul_(1 - momentum).add_(momentum * x.var(0, unbiased=False))
    return module.train()(x)


def state():
    return torch.stack([module.running_mean, module.running_var, decay.running_mean, decay.running_var, biased])


{_GENERATED if generation else _TRAINED}
for name, values in zip(("mean", "variance", "decay mean", "decay variance", "biased variance"), path.unbind(1)):
    print("running", name, values)

{_theory(given)}
{_next_batch(given)}"""


_TRAINED = """\
path, batch_mean, batch_var, mismatch = [state()], [], [], []
for step in range(steps):
    x = batch_at(step)
    batch_mean.append(x.mean(0))
    batch_var.append(x.var(0, unbiased=False))
    inference = module.eval()(x)  # with the running statistics before this batch
    mismatch.append((feed(x) - inference).square().mean().sqrt())
    path.append(state())
    print("mean", batch_mean[-1], "variance", batch_var[-1], "training against inference", mismatch[-1].item())
path = torch.stack(path)"""

_GENERATED = f"""\
for step in range({WARM}):
    feed(warm_batch(step))
path = torch.stack([state()] * (steps + 1))  # generating leaves it as training did"""


def _theory(given: AxesGiven) -> str:
    """What the running mean should be."""
    expected = """\
expected = [torch.zeros(4)]
for step in range(steps):
    expected.append((1 - momentum) * expected[-1] + momentum * true_mean(step))
"""
    if given.stream == "generation":
        expected = f"expected = [torch.from_numpy(means * (1 - (1 - momentum) ** {WARM}))] * (steps + 1)\n"
    lines = [f"# In theory; the start at 0 wears off.\n{expected}", 'print("expected:", torch.stack(expected))\n']
    if given.stream != "mixture":
        lines += [
            "spread = np.sqrt(momentum / (2 - momentum) / N) * stds\n",
            'print("the running mean scatters by", spread)\n',
        ]
    if given.stream == "drift" and given.momentum:
        lines += [
            f"lag = {given.drift!r} * (1 - momentum) / momentum\n",
            'print("and stays behind by", lag)\n',
        ]
    lines += [
        "level = np.sqrt(3 / (N * (2 - momentum)))\n",
        'print("training against inference, in a steady stream:", level)\n',
    ]
    return "".join(lines)


def _next_batch(given: AxesGiven) -> str:
    """The outputs of what comes next."""
    if given.stream == "generation":
        made = "x = torch.cat([batch_at(step) for step in range(max(0, steps - 63), steps + 1)])  # the last 64 tokens"
    else:
        made = "x = batch_at(steps)  # the next batch"
    refused = given.training and given.stream == "generation" and given.fed == 0
    mode = "train()(x)  # by its own statistics" if given.training else "eval()(x)  # by the running statistics"
    outputs = f"""\
outputs = module.{mode}
print("outputs of BatchNorm:", outputs)
"""
    return f"""\
{made}
print("tokens:", x)
{"# BatchNorm in training refuses a single token." + chr(10) if refused else outputs}\
layer = F.layer_norm(x, (4,))
print("outputs of LayerNorm:", layer)
"""
