"""Do both scripts draw the page's batches, and find what their norms measure and carry?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz import streams
from normviz.snippets import AxesGiven, axes_script, axes_torch_script
from normviz.streams.stream import MEANS, upstream_gradient
from tests.snippets.axes_scripts import alike, both
from tests.snippets.scripts import close


@pytest.mark.parametrize("population", streams.POPULATIONS)
@pytest.mark.parametrize(("seq", "batch", "z"), [(1, 2, 1.5), (7, 3, -2.0), (512, 4, 0.0)])
def test_the_spread_of_what_batches_measure(population: str, seq: int, batch: int, z: float) -> None:
    given = AxesGiven(view="batches", population=population, seq=seq, batch=batch, z=z, correlation=0.4, seed=3)
    names, plain = both(given)
    drawn = streams.Population(kind=population, tokens=seq, correlation=0.4)
    estimates = streams.estimates(drawn, z=z, seed=3)
    outputs = streams.token_outputs(drawn, batch, z=z, seed=3)
    alike(names["estimates"], estimates)
    alike(names["outputs"], outputs)

    assert plain["sizes"] == estimates.batches.tolist()
    close(list(plain["spread"].values()), np.transpose([estimates.mean_sd, estimates.var_sd, estimates.output_sd]))
    for name in ("mean_law", "var_law", "output_law"):
        close(plain[name], getattr(estimates, name))
    close(plain["N"] / plain["factor"], estimates.effective)
    close(plain["outputs"], outputs)


def test_pytorch_refuses_a_batch_of_one_token_in_these_words(capsys: pytest.CaptureFixture[str]) -> None:
    both(AxesGiven(view="batches", seq=512))
    assert streams.TOO_FEW.format(d=4) in capsys.readouterr().out


@pytest.mark.parametrize(("seq", "batch"), [(1, 1), (64, 33)])
def test_a_batch_of_one_token_or_of_too_many_is_left_out_and_said(seq: int, batch: int) -> None:
    given = AxesGiven(view="batches", seq=seq, batch=batch)
    for write in (axes_script, axes_torch_script):
        assert "# That token in batches of one size: batch is a whole number from" in write(given)
    names, plain = both(given)
    assert "outputs" not in names
    assert "outputs" not in plain


@pytest.mark.parametrize("kind", streams.STREAMS)
@pytest.mark.parametrize("momentum", [0.1, 1.0, 0.0])
@pytest.mark.parametrize("fed", [0, 1, 9])
@pytest.mark.parametrize("training", [False, True])
def test_what_batch_norm_carries_along_a_stream(kind: str, momentum: float, fed: int, training: bool) -> None:
    given = AxesGiven(
        view="running", stream=kind, n=5, momentum=momentum, drift=0.25, fed=fed, training=training, seed=6
    )
    names, plain = both(given)
    drift = 0.25 if kind == "drift" else 0.0
    history = streams.history(streams.Stream(kind=kind, tokens=5, momentum=momentum, drift=drift, seed=6), fed)
    alike(names["history"], history)

    running = history.running
    assert set(running) == {"pytorch", "decay", "biased"}
    pytorch, decay, biased = running["pytorch"], running["decay"], running["biased"]
    close(plain["path"].unbind(1), [pytorch.mean, pytorch.var, decay.mean, decay.var, biased.var])
    np.testing.assert_array_equal(biased.mean, pytorch.mean)
    close(np.array(plain["expected"]), history.expected_mean)
    close(plain["level"], history.mismatch_law)
    if kind != "mixture":
        close(plain["spread"], history.spread)
    assert ("lag" in plain) == (history.lag is not None)
    if history.lag is not None:
        close(plain["lag"], history.lag)
    if kind != "generation":
        for name in ("batch_mean", "batch_var", "mismatch"):
            close(np.array(plain[name]).reshape(getattr(history, name).shape), getattr(history, name))
        close([plain["true_mean"](step) for step in range(fed + 1)], history.truth)

    close(plain["x"], history.tokens)
    outputs = history.train if training else history.eval
    alike(names["outputs"], outputs)
    assert ("outputs" in plain) == (outputs is not None)
    if outputs is not None:
        close(plain["outputs"], outputs)
    close(plain["layer"], history.layer_norm)


def test_the_last_tokens_of_a_long_generation() -> None:
    given = AxesGiven(view="running", stream="generation", n=4, fed=70, training=False)
    names, plain = both(given)
    close(plain["x"], names["history"].tokens)
    close(plain["outputs"], names["history"].eval)


@pytest.mark.parametrize("kind", streams.STREAMS)
@pytest.mark.parametrize("alpha", [0.9, 0.0])
@pytest.mark.parametrize("fed", [0, 12])
def test_power_norm_along_a_stream(kind: str, alpha: float, fed: int) -> None:
    given = AxesGiven(view="power", stream=kind, n=8, momentum=0.2, drift=0.25, fed=fed, alpha=alpha, seed=6)
    names, plain = both(given)
    drift = 0.25 if kind == "drift" else 0.0
    stream = streams.Stream(kind=kind, tokens=8, momentum=0.2, drift=drift, seed=6)
    path = streams.power_path(stream, fed, alpha=alpha)
    alike(names["path"], path)

    close(plain["probe"][0], path.probe)
    close(np.array(plain["batch"]).reshape(path.batch.shape), path.batch)
    close(np.array(plain["running"]), path.running)
    close(np.array(plain["nus"]), path.nu)
    outputs = {name: values for name, values in path.outputs.items() if not np.isnan(values).any()}
    for name, values in outputs.items():
        close(plain["outputs"][name], values)
    assert {name for name, values in plain["outputs"].items() if values} == (set(outputs) if fed else set())
    if kind != "generation":
        close(plain["errors"], path.error)


def test_the_stand_in_gradient_is_the_pages() -> None:
    stream = streams.Stream(kind="steady", tokens=3, momentum=0.1, seed=6)
    drawn = np.random.default_rng([6, 4, 2]).standard_normal((3, len(MEANS)))
    np.testing.assert_array_equal(upstream_gradient(stream, 2), drawn)
