"""How do BatchNorm's running statistics follow a stream of batches, and how far is inference from training?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.norms import RunningStats, batch_norm, layer_norm
from normviz.streams.stream import MOST_STEPS, WARM, Stream, batch_at, true_mean, warm_batch

CONVENTIONS: tuple[str, ...] = ("pytorch", "decay", "biased")
"""Ids of the ways to keep running statistics, in the order in which a page shows them."""

MOST_SHOWN = 64
"""Tokens of "generation" that are shown together."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RunningPath:
    """The running statistics before the first batch and after each, `mean` and `var`, shape [steps + 1, d]."""

    mean: Floats
    var: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class History:
    r"""What BatchNorm carried along a stream, by each convention, beside what theory says.

    Attributes
    ----------
    stream, steps
        What was fed, and how many batches of it.
    batch_mean, batch_var
        Statistics of each batch, the variance biased, shape [steps, d]; the token itself and 0 for "generation".
    truth
        Mean of the population behind each batch and behind the next one, shape [steps + 1, d].
    running
        The path by each of `CONVENTIONS`.
    expected_mean
        Exact expectation of PyTorch's running mean given `truth`, the start at 0 included, shape [steps + 1, d].
    spread
        Standard deviation of PyTorch's running mean once the start has worn off,
        $\sqrt{\frac\alpha{2-\alpha}}$ times that of one batch's mean, shape [d]; None for "mixture".
    lag
        How far PyTorch's running mean stays behind the population of the batch that it has just taken in,
        $v\frac{1-\alpha}\alpha$, in units of the data; behind that of the next batch it is v more. None for the streams
        without a drift, and at $\alpha=0$, where the running mean is left behind without end.
    mismatch
        Root mean square over tokens and channels of the training output minus the output at inference of each batch,
        the latter with the running statistics before it, shape [steps]; NaN for "generation", where training has no
        output.
    mismatch_law
        Root of the mean square of that for a steady stream whose start has worn off.
    tokens
        The next batch, shape [N, d]; for "generation" the tokens made so far, the next one among them, at most 64.
    train, eval, layer_norm
        Outputs of `tokens` by BatchNorm in training (as one batch; None for fewer than two tokens), by BatchNorm at
        inference, and by LayerNorm, shape [N, d].
    """

    stream: Stream
    steps: int
    batch_mean: Floats
    batch_var: Floats
    truth: Floats
    running: Mapping[str, RunningPath]
    expected_mean: Floats
    spread: Floats | None
    lag: float | None
    mismatch: Floats
    mismatch_law: float
    tokens: Floats
    train: Floats | None
    eval: Floats
    layer_norm: Floats


def history(stream: Stream, steps: int) -> History:
    r"""Feed the first batches of a stream to BatchNorm and keep everything that a person wants to see.

    The running mean and variance start at 0 and 1. Three conventions see the same batches and differ in one thing each:

    - "pytorch": $m\leftarrow(1-\alpha)m+\alpha\hat\mu$ and $v\leftarrow(1-\alpha)v+\alpha\hat\sigma^2$ with the
      unbiased variance;
    - "decay": the number $\alpha$ is taken for the share of the old, as Keras and Flax read theirs:
      $m\leftarrow\alpha m+(1-\alpha)\hat\mu$, and v likewise;
    - "biased": as "pytorch", but with the biased variance that the output uses, as Keras and Flax keep it.

    `mismatch_law` is $\sqrt{\frac{1+z^2/2}N\left(1+\frac\alpha{2-\alpha}\right)}$ averaged over normal z inside the
    root: $\sqrt{\frac3{N(2-\alpha)}}$. For "generation" the running statistics stay as the `WARM` batches left them.

    Parameters
    ----------
    stream
        What to feed.
    steps
        How many batches, 0 to 200.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Ioffe & Szegedy 2015, arXiv:1502.03167.
    """
    steps = whole_number(steps, "steps", 0, MOST_STEPS)
    at_inference = stream.kind == "generation"
    batches = [batch_at(stream, step) for step in range(steps + 1)]
    truth = np.stack([true_mean(stream, step) for step in range(steps + 1)])
    alpha = stream.momentum

    states = _start(stream) if at_inference else {name: RunningStats.start(stream.d) for name in CONVENTIONS}
    expected = stream.means * (1 - (1 - alpha) ** WARM) if at_inference else np.zeros(stream.d)
    path, expectations = [states], [expected]
    means, variances, mismatch = [], [], np.full(steps, np.nan)
    for step, x in enumerate(batches[:-1]):
        if at_inference:
            mean, var = x[0], np.zeros(stream.d)
        else:
            inference = batch_norm(x, running=states["pytorch"], training=False).output
            states, mean, var, output = _fed(states, x, alpha)
            expected = (1 - alpha) * expected + alpha * truth[step]
            mismatch[step] = np.sqrt(((output - inference) ** 2).mean())
        path.append(states)
        expectations.append(expected)
        means.append(mean)
        variances.append(var)

    tokens = np.concatenate(batches[-MOST_SHOWN:]) if at_inference else batches[-1]
    return History(
        stream=stream,
        steps=steps,
        batch_mean=_rows(means, stream.d),
        batch_var=_rows(variances, stream.d),
        truth=frozen(truth),
        running=MappingProxyType(
            {
                name: RunningPath(
                    mean=_rows([state[name].mean for state in path], stream.d),
                    var=_rows([state[name].var for state in path], stream.d),
                )
                for name in CONVENTIONS
            }
        ),
        expected_mean=_rows(expectations, stream.d),
        spread=None if stream.kind == "mixture" else frozen(np.sqrt(alpha / (2 - alpha) / stream.tokens) * stream.stds),
        lag=stream.drift * (1 - alpha) / alpha if stream.kind == "drift" and alpha else None,
        mismatch=frozen(mismatch),
        mismatch_law=float(np.sqrt(3 / (stream.tokens * (2 - alpha)))),
        tokens=frozen(tokens),
        train=batch_norm(tokens).output if len(tokens) > 1 else None,
        eval=batch_norm(tokens, running=states["pytorch"], training=False).output,
        layer_norm=layer_norm(tokens).output,
    )


def _start(stream: Stream) -> dict[str, RunningStats]:
    """The running statistics by each convention after the `WARM` batches of training."""
    states = {name: RunningStats.start(stream.d) for name in CONVENTIONS}
    for step in range(WARM):
        states = _fed(states, warm_batch(stream, step), stream.momentum)[0]
    return states


def _fed(
    states: dict[str, RunningStats], x: Floats, alpha: float
) -> tuple[dict[str, RunningStats], Floats, Floats, Floats]:
    """The states after one more batch, with its mean, biased variance and training output."""
    trace = batch_norm(x, running=states["pytorch"], momentum=alpha)
    decay = batch_norm(x, running=states["decay"], momentum=1 - alpha)
    assert trace.running is not None
    assert trace.mean is not None
    assert trace.var is not None
    assert decay.running is not None
    # The mean moves as PyTorch's; the variance is what only this convention keeps.
    biased = RunningStats(
        mean=trace.running.mean,
        var=(1 - alpha) * states["biased"].var + alpha * trace.var,
        steps=trace.running.steps,
    )
    return {"pytorch": trace.running, "decay": decay.running, "biased": biased}, trace.mean, trace.var, trace.output


def _rows(rows: list[Floats], d: int) -> Floats:
    """One row per step, [n, d], also where there is none yet."""
    return frozen(np.array(rows).reshape(len(rows), d))
