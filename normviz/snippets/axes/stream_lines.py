"""How does a script without normviz draw the batches of a stream?"""

from __future__ import annotations

from normviz.snippets.axes.given import AxesGiven
from normviz.streams import stream as drawn

CHANNELS = len(drawn.MEANS)


def stream_lines(given: AxesGiven) -> str:
    """The functions that give the batch of a step, [N, 4], and the mean of its population."""
    count = 1 if given.stream == "generation" else "N"
    moved = f" + {given.drift!r} * step" if given.stream == "drift" else ""
    parts = [
        f"""\
N, steps, seed = {given.n}, {given.fed}, {given.seed}
means, stds = np.array({list(drawn.MEANS)}), np.array({list(drawn.STDS)})  # of the channels
""",
        _SHARE if given.stream == "mixture" else "",
        f"""

def batch_at(step):
    rng = np.random.default_rng([seed, 1, step])
    tokens = means{moved} + stds * rng.standard_normal(({count}, {CHANNELS}))
{_DOMAINS if given.stream == "mixture" else ""}    return torch.from_numpy(tokens)
""",
        _WARM if given.stream == "generation" else "",
    ]
    return "".join(parts)


def true_mean_lines(given: AxesGiven) -> str:
    """The function that gives the mean of the population behind a step."""
    moved = {
        "drift": f" + {given.drift!r} * step",
        "mixture": f" + {drawn.DOMAIN!r} * (2 * second_share(step) - 1)",
    }.get(given.stream, "")
    return f"""

def true_mean(step):
    return torch.from_numpy(means{moved})
"""


_SHARE = '''

def second_share(step):
    """How much of a batch comes from the second of two domains, on average."""
    return np.random.default_rng([seed, 3, step]).random()
'''

_DOMAINS = f"""\
    tokens += np.where(rng.random((N, 1)) < second_share(step), {drawn.DOMAIN!r}, {-drawn.DOMAIN!r})
"""

_WARM = f'''

def warm_batch(step):
    """A batch of the training that lies behind."""
    rng = np.random.default_rng([seed, 2, step])
    return torch.from_numpy(means + stds * rng.standard_normal((N, {CHANNELS})))
'''
