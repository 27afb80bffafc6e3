"""Is what happened at each step said, and each loss only where it happened?"""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from normviz.floats import ACCUMULATIONS, FORMATS, INCIDENTS, MARKS, norm_steps
from normviz.text import catalogue


def marks(
    x: list[float], format: str = "float16", *, norm: str = "rms_norm", eps: float = 1e-6, **more: object
) -> dict:
    trace = norm_steps(x, norm, format, eps=eps, **{"accumulate": "own", **more})
    return {step.id: [step.mark(entry) for entry in range(step.value.size)] for step in trace.steps}


def test_a_small_eps_loses_digits_and_a_smaller_one_becomes_0() -> None:
    assert marks([1.0], eps=1e-6)["eps"] == ["subnormal"]
    assert marks([1.0], eps=1e-12)["eps"] == ["underflow"]
    assert marks([1.0], eps=2.0**-24)["eps"] == ["exact"]
    assert marks([1.0], eps=1e-3)["eps"] == ["rounded"]
    assert marks([1.0], eps=0.0)["eps"] == ["exact"]


def test_an_overflow_happens_once_and_is_carried_on() -> None:
    found = marks([300.0, 1.0])
    assert found["x"] == ["exact", "exact"]
    assert found["square"] == ["overflow", "exact"]
    for name in ("sum", "mean_square", "plus_eps", "root", "reciprocal"):
        assert found[name] == ["carried"], name
    # 300 times 0 and 1 times 0: the 0 came from 1 / infinity.
    assert found["normalized"] == ["carried", "carried"]


def test_a_running_sum_overflows_itself() -> None:
    found = marks([200.0, 200.0])
    assert found["square"] == ["exact", "exact"]
    assert found["sum"] == ["overflow"]
    assert found["mean_square"] == ["carried"]


def test_zero_times_infinity_is_no_number() -> None:
    found = marks([70_000.0, 1.0])
    assert found["x"] == ["overflow", "exact"]
    assert found["square"] == ["carried", "exact"]
    assert found["normalized"] == ["no_number", "carried"]
    # Infinity less infinity, and -infinity for the rest.
    found = marks([70_000.0, 1.0], norm="layer_norm")
    assert found["mean"] == ["carried"]
    assert found["centered"] == ["no_number", "carried"]
    assert found["sum"] == found["root"] == ["carried"]


def test_division_by_zero() -> None:
    found = marks([1e-4, 0.0], eps=1e-12)
    assert found["square"] == ["underflow", "exact"]
    assert found["sum"] == found["plus_eps"] == found["root"] == ["carried"]
    assert found["reciprocal"] == ["by_zero"]
    assert found["normalized"] == ["carried", "no_number"]


def test_the_format_without_infinity_overflows_to_nan() -> None:
    found = marks([500.0, 1.0], "float8_e4m3")
    assert found["x"] == ["overflow", "exact"]
    assert found["normalized"] == ["carried", "carried"]


def test_a_cancellation_is_no_loss_of_its_own() -> None:
    # Both are 2048 in float16, so that the exact difference 0 is off.
    found = marks([2048.0, 2048.5], norm="layer_norm")
    assert found["x"] == ["exact", "rounded"]
    assert found["centered"] == ["off", "off"]


def test_an_exact_step_on_a_rounded_value_is_off() -> None:
    assert marks([1 + 2.0**-11, 1.0], eps=0.0)["x"] == ["rounded", "exact"]
    assert marks([0.1], "bfloat16")["x"] == ["rounded"]
    found = marks([3.0, 1.0], "bfloat16", weight=[0.001, 1.0], arithmetic="gemma", eps=0.0)
    assert found["scale"] == ["rounded", "exact"]
    assert marks([3.0], "bfloat16", weight=[0.0], eps=0.0)["product"] == ["exact"]


@pytest.mark.parametrize("norm", ["rms_norm", "layer_norm"])
@pytest.mark.parametrize("format", FORMATS)
def test_marks_agree_with_the_flags(format: str, norm: str) -> None:
    x = np.random.default_rng(0).standard_normal(40) * np.logspace(-6, 6, 40)
    for accumulate, scale in itertools.product(ACCUMULATIONS, (1e-4, 1.0, 1e3)):
        trace = norm_steps(x * scale, norm, format, eps=1e-6, accumulate=accumulate, weight=np.full(40, 1.1))
        for step in trace.steps:
            found = step.marks
            assert set(found.tolist()) <= set(MARKS)
            np.testing.assert_array_equal(found == "overflow", step.overflow)
            np.testing.assert_array_equal((found == "underflow") | (found == "subnormal"), step.underflow)
            assert (step.value[found == "underflow"] == 0).all()
            assert (step.value[found == "subnormal"] != 0).all()
            # A sum may have been rounded before it met an infinity.
            assert step.rounded[found == "rounded"].all()
            if step.partial is None:
                assert not step.rounded[np.isin(found, ["exact", "off", "carried", "no_number", "by_zero"])].any()
            np.testing.assert_allclose(step.value[found == "exact"], step.exact[found == "exact"], rtol=1e-12)
            broken = ~np.isfinite(step.value)
            assert set(found[broken].tolist()) <= {"overflow", "carried", "no_number", "by_zero"}


def test_every_incident_begins_with_a_loss_of_its_own() -> None:
    losses = {"overflow", "underflow", "subnormal", "rounded"}
    for incident in INCIDENTS.values():
        trace = incident.setting.trace()
        changed = [
            step for step in trace.steps if set(step.marks.tolist()) & {"carried", "off", "no_number", "by_zero"}
        ]
        for step in changed[:1]:
            before = trace.steps[: trace.steps.index(step)]
            assert any(set(earlier.marks.tolist()) & losses for earlier in before)


def test_labels_are_different() -> None:
    assert len(set(MARKS.values())) == len(MARKS)
    known = catalogue("zh")
    said = [known[label] for label in MARKS.values() if label in known]
    assert len(set(said)) == len(said)
