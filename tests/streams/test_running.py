"""Do running statistics equal torch's after any batches, and do lag, spread and mismatch follow their laws?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from normviz.errors import InputError
from normviz.norms import RunningStats, batch_norm
from normviz.streams import CONVENTIONS, STREAMS, WARM, History, Stream, batch_at, history, true_mean
from normviz.streams.stream import DOMAIN, MEANS, STDS, warm_batch

TRAINED = tuple(kind for kind in STREAMS if kind != "generation")
MOMENTA = st.one_of(st.sampled_from([0.0, 1.0, 0.1]), st.floats(0, 1))


def stream_of(kind: str, **fields: Any) -> Stream:
    return Stream(**{"kind": kind, "tokens": 6, "momentum": 0.1, "drift": 0.3, "seed": 5, **fields})


def torch_norm(d: int, momentum: float | None) -> nn.BatchNorm1d:
    return nn.BatchNorm1d(d, momentum=momentum, affine=False, dtype=torch.float64)


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-11, atol=1e-11)


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 5)).filter(lambda size: size[0] * size[1] > 1), max_size=8),
    st.integers(1, 5),
    st.one_of(st.none(), MOMENTA),
    st.integers(0, 2**31 - 1),
)
@settings(deadline=None)
def test_batch_norm_is_torchs_after_any_sequence_of_batches(
    sizes: list[tuple[int, int]], d: int, momentum: float | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    module, running = torch_norm(d, momentum), RunningStats.start(d)
    for batch, tokens in sizes:
        x = rng.normal(rng.normal(size=d), 3, (batch, tokens, d))
        trained = batch_norm(x, running=running, momentum=momentum)
        assert trained.running is not None
        running = trained.running
        # torch pools batch and tokens of [B, d, T].
        close(trained.output, module(torch.tensor(x).transpose(1, 2)).transpose(1, 2))
        close(running.mean, module.running_mean)
        close(running.var, module.running_var)
    x = rng.normal(size=(1, 1, d))
    expected = module.eval()(torch.tensor(x).transpose(1, 2)).transpose(1, 2)
    close(batch_norm(x, running=running, training=False).output, expected)


@given(st.sampled_from(TRAINED), st.integers(2, 9), MOMENTA, st.integers(1, 6), st.integers(0, 12), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_a_history_is_torchs_module_fed_with_the_stream(
    kind: str, tokens: int, momentum: float, d: int, steps: int, seed: int
) -> None:
    stream = stream_of(kind, tokens=tokens, momentum=momentum, d=d, seed=seed)
    got, module = history(stream, steps), torch_norm(d, momentum)
    path = got.running["pytorch"]
    assert path.mean.shape == path.var.shape == got.truth.shape == got.expected_mean.shape == (steps + 1, d)
    assert got.batch_mean.shape == got.batch_var.shape == (steps, d)
    for step in range(steps):
        x = torch.tensor(batch_at(stream, step).copy())
        close(path.mean[step], module.running_mean)
        close(path.var[step], module.running_var)
        inference = module.eval()(x)
        difference = module.train()(x) - inference
        close(got.mismatch[step], (difference**2).mean().sqrt())
        close(got.batch_mean[step], x.mean(dim=0))
        close(got.batch_var[step], x.var(dim=0, correction=0))
    close(path.mean[steps], module.running_mean)
    close(path.var[steps], module.running_var)
    x = torch.tensor(got.tokens.copy())
    np.testing.assert_array_equal(got.tokens, batch_at(stream, steps))
    close(got.eval, module.eval()(x))
    close(got.train, module.train()(x))
    close(got.layer_norm, F.layer_norm(x, [d]))


def test_generation_keeps_what_its_training_left() -> None:
    stream, module = stream_of("generation"), torch_norm(4, 0.1)
    for step in range(WARM):
        module(torch.tensor(warm_batch(stream, step).copy()))
    module.eval()
    got = history(stream, 3)
    for name in CONVENTIONS:
        assert (got.running[name].mean == got.running[name].mean[0]).all()
        assert (got.running[name].var == got.running[name].var[0]).all()
    close(got.running["pytorch"].mean, module.running_mean.expand(4, 4))
    close(got.running["pytorch"].var, module.running_var.expand(4, 4))
    close(got.eval, module(torch.tensor(got.tokens.copy())))
    np.testing.assert_array_equal(got.tokens, np.concatenate([batch_at(stream, step) for step in range(4)]))
    np.testing.assert_array_equal(got.batch_mean, got.tokens[:3])
    assert not got.batch_var.any()
    assert np.isnan(got.mismatch).all()
    close(got.expected_mean, np.broadcast_to(got.truth[0] * (1 - 0.9**WARM), (4, 4)))


def test_tokens_of_a_generation_are_one_batch_in_training_from_the_second_on() -> None:
    stream = stream_of("generation")
    assert history(stream, 0).train is None
    close(history(stream, 1).train, torch_norm(4, 0.1)(torch.tensor(history(stream, 1).tokens.copy())))
    long = history(stream, 100)
    np.testing.assert_array_equal(long.tokens, np.concatenate([batch_at(stream, step) for step in range(37, 101)]))


@pytest.mark.parametrize("momentum", [0.0, 0.1, 0.99, 1.0])
@pytest.mark.parametrize("kind", TRAINED)
def test_the_conventions_are_those_of_their_definitions(kind: str, momentum: float) -> None:
    stream = stream_of(kind, momentum=momentum)
    got = history(stream, 9)
    state = {name: (np.zeros(4), np.ones(4)) for name in CONVENTIONS}
    for step in range(9):
        x = batch_at(stream, step)
        mean, biased, unbiased = x.mean(axis=0), x.var(axis=0), x.var(axis=0, ddof=1)
        for name, old, new, var in (
            ("pytorch", 1 - momentum, momentum, unbiased),
            ("decay", momentum, 1 - momentum, unbiased),
            ("biased", 1 - momentum, momentum, biased),
        ):
            close(got.running[name].mean[step], state[name][0])
            close(got.running[name].var[step], state[name][1])
            state[name] = (old * state[name][0] + new * mean, old * state[name][1] + new * var)
    for name in CONVENTIONS:
        close(got.running[name].mean[9], state[name][0])
        close(got.running[name].var[9], state[name][1])


@given(st.sampled_from(TRAINED), MOMENTA, st.integers(0, 15))
@settings(max_examples=30, deadline=None)
def test_the_expected_mean_is_the_weighted_sum_of_all_true_means(kind: str, momentum: float, steps: int) -> None:
    got = history(stream_of(kind, momentum=momentum), steps)
    for t in range(steps + 1):
        weights = [momentum * (1 - momentum) ** (t - 1 - k) for k in range(t)]
        close(got.expected_mean[t], sum((w * m for w, m in zip(weights, got.truth, strict=False)), np.zeros(4)))


@pytest.mark.parametrize("kind", TRAINED)
def test_the_running_mean_is_the_expected_one_on_average(kind: str) -> None:
    got = [history(stream_of(kind, seed=seed, tokens=4), 15) for seed in range(100)]
    errors = np.array([h.running["pytorch"].mean - h.expected_mean for h in got])
    standard_error = errors.std(axis=0)[1:] / np.sqrt(len(got))
    assert (np.abs(errors.mean(axis=0))[1:] < 4.5 * standard_error).all()
    assert not errors[:, 0].any()


def test_a_drift_is_followed_with_the_lag_of_facts() -> None:
    stream = Stream(kind="drift", tokens=1000, momentum=0.1, drift=0.5)
    got = history(stream, 200)
    assert got.lag == pytest.approx(0.5 * 9)
    behind = got.truth[:-1] - got.running["pytorch"].mean[1:]
    np.testing.assert_allclose(behind[100:].mean(axis=0), got.lag, rtol=0.05)
    behind_next = got.truth - got.running["pytorch"].mean
    np.testing.assert_allclose(behind_next[100:].mean(axis=0), got.lag + 0.5, rtol=0.05)


def steady(alpha: float, tokens: int, seeds: int) -> list[History]:
    return [history(Stream(kind="steady", tokens=tokens, momentum=alpha, d=64, seed=s), 200) for s in range(seeds)]


@pytest.mark.parametrize(("alpha", "seeds"), [(0.1, 12), (0.5, 3)])
def test_the_running_mean_spreads_as_facts_say(alpha: float, seeds: int) -> None:
    got = steady(alpha, 16, seeds)
    spread = got[0].spread
    assert spread is not None
    np.testing.assert_allclose((spread / (np.resize(STDS, 64) / 4)) ** 2, alpha / (2 - alpha))
    late = np.concatenate([(h.running["pytorch"].mean - h.expected_mean)[60:] / spread for h in got])
    assert late.var() == pytest.approx(1, rel=0.05)


@pytest.mark.parametrize(("alpha", "tokens", "seeds"), [(0.1, 64, 3), (0.5, 64, 2), (0.1, 256, 3), (1.0, 256, 2)])
def test_the_mismatch_of_a_steady_stream_is_within_5_percent_of_its_law(alpha: float, tokens: int, seeds: int) -> None:
    got = steady(alpha, tokens, seeds)
    # FACTS 4.3, the variance per token averaged over z^2 = 1.
    assert got[0].mismatch_law == pytest.approx(np.sqrt((1 + 1 / 2) / tokens * (1 + alpha / (2 - alpha))))
    late = np.concatenate([h.mismatch[80:] for h in got])
    assert np.sqrt((late**2).mean()) == pytest.approx(got[0].mismatch_law, rel=0.05)


def test_lag_and_spread_are_given_where_they_exist() -> None:
    assert [history(stream_of(kind), 0).lag for kind in STREAMS] == [None, pytest.approx(2.7), None, None]
    assert history(stream_of("drift", momentum=0), 0).lag is None
    assert [kind for kind in STREAMS if history(stream_of(kind), 0).spread is None] == ["mixture"]


@pytest.mark.parametrize("kind", STREAMS)
def test_batches_come_from_the_population_that_truth_names(kind: str) -> None:
    stream = stream_of(kind, tokens=4096, d=6)
    for step in (0, 1, 40):
        x, mean = batch_at(stream, step), true_mean(stream, step)
        np.testing.assert_array_equal(x, batch_at(stream, step))
        if kind == "generation":
            assert x.shape == (1, 6)
            continue
        assert x.shape == (4096, 6)
        assert (np.abs(x.mean(axis=0) - mean) < 5 * x.std(axis=0) / 64).all()
        if kind != "mixture":
            np.testing.assert_allclose(x.std(axis=0), np.resize(STDS, 6), rtol=0.06)
    drift = 0.3 * 40 if kind == "drift" else 0.0
    if kind == "mixture":
        jumps = np.array([true_mean(stream, step) - np.resize(MEANS, 6) for step in range(400)])
        assert np.ptp(jumps, axis=1).max() < 1e-12
        assert np.abs(jumps).max() <= DOMAIN
        # A share that is uniform from 0 to 1 has variance 1/12, and the mean moves by 4 for a share of 1.
        assert jumps.std() == pytest.approx(4 / np.sqrt(12), rel=0.1)
    else:
        close(true_mean(stream, 40), np.resize(MEANS, 6) + drift)


def test_everything_is_read_only() -> None:
    got = history(stream_of("steady"), 2)
    arrays = [value for value in vars(got).values() if isinstance(value, np.ndarray)]
    for array in [*arrays, *(a for path in got.running.values() for a in (path.mean, path.var))]:
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        got.running["pytorch"] = got.running["decay"]  # type: ignore[index]


STEADY = stream_of("steady")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: stream_of("still"), "kind is one of steady, drift, mixture, generation; got 'still'."),
        (lambda: stream_of("steady", tokens=1), "tokens is a whole number from 2 to 4096; got 1"),
        (lambda: stream_of("steady", momentum=1.5), "momentum is a number from 0 to 1; got 1.5."),
        (lambda: stream_of("steady", momentum=None), "momentum is one finite number; got None"),
        (lambda: stream_of("steady", drift=-11), "drift is a number from -10 to 10; got -11."),
        (lambda: stream_of("steady", d=0), "d is a whole number from 1 to 64; got 0"),
        (lambda: stream_of("steady", seed=-1), "seed is a whole number from 0 to 2147483647; got -1"),
        (lambda: batch_at(STEADY, -1), "step is a whole number, 0 or more; got -1"),
        (lambda: true_mean(STEADY, 1.5), "step is a whole number, 0 or more; got 1.5"),  # type: ignore[arg-type]
        (lambda: history(STEADY, 201), "steps is a whole number from 0 to 200; got 201"),
    ],
)
def test_every_refusal_names_the_field(call: Any, sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert sentence in str(caught.value)
