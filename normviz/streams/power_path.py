"""How does PowerNorm fare along a stream of batches, beside BatchNorm and LayerNorm?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, frozen, whole_number
from normviz.norms import NormTrace, RunningStats, batch_norm, layer_norm
from normviz.streams.limits import number_within
from normviz.streams.power import PowerState, PowerTrace, power_norm
from normviz.streams.power_gradient import power_norm_backward, power_norm_v
from normviz.streams.stream import MOST_STEPS, WARM, Stream, batch_at, upstream_gradient, warm_batch

EPS = 1e-5
OUTPUTS = ("power_norm", "batch_norm", "running", "layer_norm")
"""Ids of the norms whose output of one token is followed."""
PULL = 0.5
"""Slope of the upstream gradient along the normalized token, so that nu has a value other than 0 to find."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PowerPath:
    r"""What PowerNorm carried along a stream, how good its gradient was, and what each norm made of one token.

    Attributes
    ----------
    stream, steps, alpha
        What was fed, how many batches of it, and PowerNorm's share of the old.
    batch
        $\psi_B$ of each batch, shape [steps, d]; the token's size for "generation".
    running
        $\psi$ before the first batch and after each, shape [steps + 1, d].
    nu
        $\nu$ before the first batch and after each, shape [steps + 1, d].
    error
        L2 norm of the approximate gradient minus the exact one of PN-V over that of the exact one, for each batch,
        shape [steps]; NaN for "generation", where nothing is passed back.
    probe
        The token that stands first in every batch, shape [d]: one standard deviation above the mean of each channel.
    outputs
        Channel 0 of the probe's output, shape [steps], by "power_norm", "batch_norm" (in training; NaN for
        "generation"), "running" (BatchNorm at inference, with the running statistics before the batch) and
        "layer_norm".
    """

    stream: Stream
    steps: int
    alpha: float
    batch: Floats
    running: Floats
    nu: Floats
    error: Floats
    probe: Floats
    outputs: Mapping[str, Floats]


def power_path(stream: Stream, steps: int, *, alpha: float = 0.9) -> PowerPath:
    r"""Feed the first batches of a stream to PowerNorm, forward and backward, and to BatchNorm and LayerNorm beside it.

    The gradient that comes from above is the same for the approximate and the exact backward pass: standard normal
    numbers, drawn anew for each batch, plus half of the token over $\psi_B$, as if the loss also pulled the outputs
    towards 0. The running statistics of BatchNorm move by the stream's momentum. For "generation" everything stays as
    the `WARM` batches of training left it.

    Parameters
    ----------
    stream
        What to feed.
    steps
        How many batches, 0 to 200.
    alpha
        $\alpha$ of PowerNorm in [0, 1], the share of the old, forward and backward.

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Shen et al. 2020, arXiv:2003.07845.
    """
    steps, alpha = whole_number(steps, "steps", 0, MOST_STEPS), number_within(alpha, "alpha", 0, 1)
    probe = frozen(stream.means + stream.stds)
    power, running = PowerState.start(stream.d), RunningStats.start(stream.d)
    at_inference = stream.kind == "generation"
    if at_inference:
        for step in range(WARM):
            x = warm_batch(stream, step)
            power = _passed(x, upstream_gradient(stream, step), power, alpha)[1]
            running = _updated(batch_norm(x, running=running, momentum=stream.momentum, eps=EPS))

    states, batch, error = [power], np.zeros((steps, stream.d)), np.full(steps, np.nan)
    outputs = {name: np.full(steps, np.nan) for name in OUTPUTS}
    outputs["layer_norm"][:] = layer_norm(probe, eps=EPS).output[0]
    for step in range(steps):
        x = batch_at(stream, step)
        outputs["running"][step] = batch_norm(probe[None], running=running, training=False, eps=EPS).output[0, 0]
        if at_inference:
            outputs["power_norm"][step] = power_norm(probe, state=power, eps=EPS).output[0]
            batch[step] = np.abs(x[0])
        else:
            x = np.concatenate([probe[None], x[1:]])
            trained = batch_norm(x, running=running, momentum=stream.momentum, eps=EPS)
            trace, power, error[step] = _passed(x, upstream_gradient(stream, step), power, alpha)
            running, batch[step] = _updated(trained), np.sqrt(trace.batch_square)
            outputs["power_norm"][step], outputs["batch_norm"][step] = trace.output[0, 0], trained.output[0, 0]
        states.append(power)
    return PowerPath(
        stream=stream,
        steps=steps,
        alpha=alpha,
        batch=frozen(batch),
        running=frozen(np.sqrt([state.square for state in states])),
        nu=frozen(np.array([state.nu for state in states])),
        error=frozen(error),
        probe=probe,
        outputs=MappingProxyType({name: frozen(values) for name, values in outputs.items()}),
    )


def _passed(x: Floats, upstream: Floats, state: PowerState, alpha: float) -> tuple[PowerTrace, PowerState, float]:
    """One batch forward and back: the trace, the state after both, and the relative error of the gradient."""
    trace = power_norm(x, state=state, alpha=alpha, eps=EPS)
    gradient = upstream + PULL * x / np.sqrt(trace.batch_square + EPS)
    approximate = power_norm_backward(trace, gradient, state.nu, alpha=alpha)
    exact = power_norm_v(x, gradient, eps=EPS)[1]
    error = np.linalg.norm(approximate.x - exact) / np.linalg.norm(exact)
    return trace, replace(trace.state, nu=approximate.nu), float(error)


def _updated(trace: NormTrace) -> RunningStats:
    assert trace.running is not None
    return trace.running
