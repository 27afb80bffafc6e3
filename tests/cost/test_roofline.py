"""Is a roof the lower of bandwidth and rate, and what do the paper's tables say?"""

from __future__ import annotations

import math

import pytest

from normviz.cost import CLAIM, PAPER, Roof, norm_cost, roofline
from normviz.errors import InputError


def test_norms_are_under_the_slope_and_take_the_time_of_their_bytes() -> None:
    roof = Roof(bandwidth=2e11, rate=4e12)
    costs = {kind: norm_cost(kind, 1024, 512) for kind in ("layer_norm", "rms_norm")}
    for point in roofline(roof, costs):
        assert point.limit == "bandwidth"
        assert point.seconds == pytest.approx(point.cost.bytes / roof.bandwidth)
        assert point.attainable == pytest.approx(point.intensity * roof.bandwidth)


def test_a_device_with_slow_arithmetic_is_the_limit_itself() -> None:
    (point,) = roofline(Roof(bandwidth=1e12, rate=1e10), {"x": norm_cost("layer_norm", 64, 64)})
    assert (point.limit, point.attainable, point.seconds) == ("rate", 1e10, point.cost.flops / 1e10)


def test_ridge_is_where_both_limits_meet() -> None:
    roof = Roof(bandwidth=3e9, rate=6e10)
    assert roof.ridge == 20
    assert roof.attainable(19) < roof.attainable(20) == roof.attainable(21) == roof.rate


@pytest.mark.parametrize("value", [0, -1.0, math.nan, math.inf, True, "fast"])
def test_a_roof_needs_two_positive_numbers(value: object) -> None:
    with pytest.raises(InputError, match="rate is a finite number above 0"):
        Roof(bandwidth=1.0, rate=value)


def test_the_papers_tables_span_7_to_41_percent_and_64_is_partial() -> None:
    """FACTS 3.1: 24.7 (25.9), 34.0, 11.0, 6.9, 15.1, 40.8 (63.9) and 20.5 %."""
    saved = {row.id: round(100 * row.saved, 1) for row in PAPER}
    assert saved == {
        "rnn_tf": 24.7, "rnn_theano": 34.0, "rnn_torch": 11.0, "transformer": 6.9, "reader": 15.1, "order": 40.8,
        "cifar": 20.5,
    }  # fmt: skip
    partial = {row.id: round(100 * row.p_saved, 1) for row in PAPER if row.p_saved is not None}
    assert partial == {"rnn_tf": 25.9, "order": 63.9}
    assert (min(saved.values()), max(partial.values())) == pytest.approx([100 * share for share in CLAIM], abs=0.15)
    assert list(saved.values()) == sorted(saved.values())
