"""Is a path along a stream what the norms give batch by batch, and what does it show?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F  # noqa: N812  (torch's own convention)
from torch import nn

from normviz.errors import InputError
from normviz.streams import STREAMS, WARM, Stream, batch_at, power_path
from normviz.streams.stream import upstream_gradient, warm_batch

EPS = 1e-5
TRAINED = tuple(kind for kind in STREAMS if kind != "generation")


def stream_of(kind: str, **fields: Any) -> Stream:
    return Stream(**{"kind": kind, "tokens": 8, "momentum": 0.2, "drift": 0.3, "seed": 5, **fields})


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=1e-10, atol=1e-10)


def stepped(x: np.ndarray, upstream: np.ndarray, square: np.ndarray, nu: np.ndarray, alpha: float) -> tuple[Any, ...]:
    """One batch of PowerNorm by definition: the new square and nu, the output, the relative error of the gradient."""
    hat, psi_batch = x / np.sqrt(square + EPS), torch.sqrt((torch.tensor(x) ** 2).mean(dim=0) + EPS)
    g = upstream + 0.5 * x / psi_batch.numpy()
    v = torch.tensor(x, requires_grad=True)
    (v / torch.sqrt((v**2).mean(dim=0) + EPS)).backward(torch.tensor(g))
    assert v.grad is not None
    exact = v.grad.numpy()
    approximate = (g - nu * hat) / np.sqrt(square + EPS)
    return (
        alpha * square + (1 - alpha) * (x**2).mean(axis=0),
        nu * (1 - (1 - alpha) * (hat**2).mean(axis=0)) + (1 - alpha) * (g * hat).mean(axis=0),
        hat,
        np.linalg.norm(approximate - exact) / np.linalg.norm(exact),
    )


@pytest.mark.parametrize("kind", TRAINED)
@pytest.mark.parametrize("alpha", [0.0, 0.9])
def test_every_number_of_a_path_is_that_of_the_norms_batch_by_batch(kind: str, alpha: float) -> None:
    stream, steps = stream_of(kind), 12
    got = power_path(stream, steps, alpha=alpha)
    norm = nn.BatchNorm1d(4, momentum=stream.momentum, affine=False, dtype=torch.float64)
    square, nu = np.ones(4), np.zeros(4)
    for step in range(steps):
        close(got.running[step], np.sqrt(square))
        close(got.nu[step], nu)
        x = np.concatenate([got.probe[None], batch_at(stream, step)[1:]])
        close(got.outputs["running"][step], norm.eval()(torch.tensor(x))[0, 0])
        close(got.outputs["batch_norm"][step], norm.train()(torch.tensor(x))[0, 0])
        square, nu, output, error = stepped(x, upstream_gradient(stream, step), square, nu, alpha)
        close(got.outputs["power_norm"][step], output[0, 0])
        close(got.batch[step], np.sqrt((x**2).mean(axis=0)))
        close(got.error[step], error)
    close(got.running[steps], np.sqrt(square))
    close(got.nu[steps], nu)
    close(got.outputs["layer_norm"], np.full(steps, float(F.layer_norm(torch.tensor(got.probe.copy()), [4])[0])))


def test_generation_keeps_what_its_training_left() -> None:
    stream = stream_of("generation")
    got = power_path(stream, 5)
    norm = nn.BatchNorm1d(4, momentum=stream.momentum, affine=False, dtype=torch.float64)
    square, nu = np.ones(4), np.zeros(4)
    for step in range(WARM):
        x = warm_batch(stream, step)
        norm(torch.tensor(x.copy()))
        square, nu, _, _ = stepped(x, upstream_gradient(stream, step), square, nu, 0.9)
    close(got.running, np.broadcast_to(np.sqrt(square), (6, 4)))
    close(got.nu, np.broadcast_to(nu, (6, 4)))
    close(got.outputs["running"], np.full(5, float(norm.eval()(torch.tensor(got.probe[None].copy()))[0, 0])))
    close(got.outputs["power_norm"], np.full(5, got.probe[0] / np.sqrt(square[0] + EPS)))
    close(got.batch, [np.abs(batch_at(stream, step)[0]) for step in range(5)])
    assert np.isnan(got.error).all()
    assert np.isnan(got.outputs["batch_norm"]).all()


def test_on_a_steady_stream_the_gradient_becomes_nearly_exact() -> None:
    path = power_path(stream_of("steady", tokens=1024), 100)
    assert path.error[80:].max() < 0.1 * path.error[0]
    # The upstream gradient leans on the token by half of its normalized value, which is what nu is to find.
    np.testing.assert_allclose(path.nu[80:], 0.5, atol=0.05)
    np.testing.assert_allclose(path.running[80:] / path.batch.mean(axis=0), 1, atol=0.05)


def test_the_output_of_a_token_is_steadier_by_power_norm_than_by_batch_norm_in_training() -> None:
    path = power_path(stream_of("steady"), 200)
    spread = {name: float(values[50:].std()) for name, values in path.outputs.items()}
    assert spread["layer_norm"] == pytest.approx(0, abs=1e-12)
    assert 0 < spread["power_norm"] < spread["batch_norm"] / 2


def test_no_step_is_a_path_too() -> None:
    for kind in STREAMS:
        path = power_path(stream_of(kind), 0)
        assert path.running.shape == path.nu.shape == (1, 4)
        assert path.batch.shape == (0, 4)
        assert {name: values.shape for name, values in path.outputs.items()} == dict.fromkeys(
            ("power_norm", "batch_norm", "running", "layer_norm"), (0,)
        )


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({"steps": 201}, "steps is a whole number from 0 to 200; got 201"),
        ({"alpha": 2}, "alpha is a number from 0 to 1; got 2."),
        ({"alpha": "slow"}, "alpha is one finite number; got 'slow'"),
    ],
)
def test_every_refusal_names_the_field(more: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as caught:
        power_path(**{"stream": stream_of("steady"), "steps": 1, **more})
    assert sentence in str(caught.value)
