"""Do both scripts of the numerics lab find what the page shows?"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from normviz import floats
from normviz.errors import InputError
from normviz.snippets.floats import FloatsGiven, floats_script, floats_torch_script
from tests.snippets.scripts import close, run

NAMES = {
    "x": "x",
    "mean": "mean",
    "centered": "c",
    "square": "square",
    "mean_square": "mean_square",
    "eps": "eps",
    "plus_eps": "plus_eps",
    "root": "root",
    "reciprocal": "reciprocal",
    "normalized": "normalized",
}
"""Step -> its name in the script without normviz."""


@pytest.fixture(autouse=True)
def numpy_as_it_is() -> Iterator[None]:
    """A script may switch NumPy's warnings off; afterwards they are as before."""
    with np.errstate():
        yield


def settings() -> Iterator[floats.Setting]:
    rng = np.random.default_rng(0)
    for format, accumulate, norm in itertools.product(floats.FORMATS, floats.ACCUMULATIONS, ("rms_norm", "layer_norm")):
        x = rng.standard_normal(40) * 30
        yield floats.Setting(x=x, format=format, norm=norm, eps=1e-5, accumulate=accumulate)
        for arithmetic in floats.ARITHMETICS:
            weight = 1 + 0.3 * rng.standard_normal(40)
            yield floats.Setting(
                x=x, format=format, norm=norm, eps=1e-5, accumulate=accumulate, weight=weight, arithmetic=arithmetic
            )


def numbers(value: Any) -> np.ndarray:
    return np.atleast_1d(np.asarray(value)).astype(np.float64)


def test_every_step_is_the_same_bit_for_bit() -> None:
    for setting in settings():
        given = FloatsGiven(view="steps", setting=setting)
        trace = setting.trace()
        np.testing.assert_array_equal(run(floats_script(given))["trace"].output, trace.output)
        plain = floats_torch_script(given)
        assert "normviz" not in plain
        found = run(plain)
        for step in trace.steps:
            if step.id in NAMES:
                np.testing.assert_array_equal(numbers(found[NAMES[step.id]]), step.value, err_msg=step.id)
        np.testing.assert_array_equal(numbers(found["running"]), trace["sum"].partial)
        np.testing.assert_array_equal(numbers(found["output"]), trace.output)


@pytest.mark.parametrize("incident", floats.INCIDENTS)
def test_the_norm_of_an_incident(incident: str) -> None:
    given = FloatsGiven(view="steps", incident=incident)
    trace = floats.INCIDENTS[incident].setting.trace()
    np.testing.assert_array_equal(run(floats_script(given))["trace"].output, trace.output)
    np.testing.assert_array_equal(numbers(run(floats_torch_script(given))["output"]), trace.output)


def test_numbers_that_numpy_rounds_twice_are_rounded_before() -> None:
    setting = floats.Setting(x=np.array([1 + 2.0**-8 + 2.0**-40, 2.0]), format="bfloat16")
    script = floats_torch_script(FloatsGiven(view="steps", setting=setting))
    assert "rounded already" in script
    assert numbers(run(script)["x"])[0] == 1 + 2.0**-7


def test_a_norm_that_is_undefined_is_left_out_and_said() -> None:
    setting = floats.Setting(x=np.zeros(3), format="float16", eps=0.0)
    for write in (floats_script, floats_torch_script):
        script = write(FloatsGiven(view="steps", setting=setting))
        assert "# The norm: RMSNorm of a vector of zeros is undefined" in script
        assert "trace" not in run(script)


@pytest.mark.parametrize(("first", "second"), list(itertools.combinations(floats.ARITHMETICS, 2)))
def test_the_share_that_differs(first: str, second: str) -> None:
    for format in floats.WIDE:
        given = FloatsGiven(view="arithmetics", first=first, second=second, format=format, d=48, rows=6, seed=3)
        names = run(floats_script(given))
        expected = floats.difference(first, second, format=format, d=48, rows=6, seed=3)
        found = names["difference"]
        assert found.share == expected.share
        for error, again in zip(found.errors, expected.errors, strict=True):
            np.testing.assert_array_equal(error, again)
        plain = run(floats_torch_script(given))
        assert plain["share"] == expected.share
        close(plain["rms"], expected.rms)
        close(plain["largest"], expected.largest)


@pytest.mark.parametrize("steps", [0, 1, 30])
def test_weight_decay(steps: int) -> None:
    given = FloatsGiven(view="decay", start=-0.7, lr=0.02, decay=0.5, steps=steps)
    names, plain = run(floats_script(given)), run(floats_torch_script(given))
    for form in floats.FORMS:
        path = floats.weight_decay(form, start=-0.7, lr=0.02, decay=0.5, steps=steps)
        np.testing.assert_array_equal(names["paths"][form], path)
        close(plain["paths"][form], path)


def test_a_decay_that_is_no_share_is_left_out_and_said() -> None:
    given = FloatsGiven(view="decay", lr=3.0, decay=1.0)
    for write in (floats_script, floats_torch_script):
        assert "# The path: lr times decay is a share" in write(given)
        assert "paths" not in run(write(given))


@pytest.mark.parametrize("incident", floats.INCIDENTS)
def test_every_claim_of_an_incident(incident: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = FloatsGiven(view="incident", incident=incident)
    run(floats_script(given))
    printed = capsys.readouterr().out
    plain = floats_torch_script(given)
    assert "normviz" not in plain
    found = run(plain)
    for claim in floats.INCIDENTS[incident].claims():
        assert claim.sentence.format(**claim.values) in printed
        for name, value in claim.values.items():
            np.testing.assert_allclose(found[name], value, rtol=1e-7, err_msg=name)


def test_terms_are_counted_from_one(capsys: pytest.CaptureFixture[str]) -> None:
    run(floats_script(FloatsGiven(view="steps", incident="sum")))
    assert "the running sum leaves the format at term 7\n" in capsys.readouterr().out
    setting = floats.Setting(x=np.ones(300), format="bfloat16")
    run(floats_script(FloatsGiven(view="steps", setting=setting)))
    assert "leaves the running sum as it was is term 257\n" in capsys.readouterr().out


def test_a_dropped_weight_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for second, said in (("no_weight", True), ("gemma", False)):
        given = FloatsGiven(view="arithmetics", second=second, d=16, rows=2)
        run(floats_script(given))
        assert ("compared with the scale 1" in capsys.readouterr().out) == said
        assert ("compared with the scale 1" in floats_torch_script(given)) == said


def test_unknown_names_are_refused() -> None:
    with pytest.raises(InputError, match="view can be steps, arithmetics, decay, incident"):
        FloatsGiven(view="sum")
    with pytest.raises(InputError, match="incident can be sum, square"):
        FloatsGiven(view="incident", incident="gpt")
