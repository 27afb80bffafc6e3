"""Are the labels of a log axis few, round and inside the axis?"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz.figures.ticks import MOST, log_ticks, sparse


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.07, 1.2, ["0.1", "0.2", "0.5", "1"]),
        (0.8, 7.5, ["1", "2", "5"]),
        (0.55, 0.85, ["0.6", "0.7", "0.8"]),
        (0.009, 12, ["0.01", "0.1", "1", "10"]),
        (1e-9, 1e3, ["1e−8", "1e−6", "0.0001", "0.01", "1", "100"]),
    ],
)
def test_labels_are_round_plain_numbers(low: float, high: float, labels: list[str]) -> None:
    values, texts = log_ticks(low, high)
    assert texts == labels
    assert len(values) == len(labels)


@given(st.floats(-290, 290), st.floats(np.log10(1.3), 600))
def test_there_are_two_to_six_labels_apart_from_each_other(start: float, decades: float) -> None:
    low, high = 10**start, 10 ** min(start + decades, 303.0)
    values, texts = log_ticks(low, high)
    assert 2 <= len(values) <= MOST
    assert len(set(texts)) == len(texts)
    assert all(low <= value <= high * (1 + 1e-9) for value in values)
    # At least a twentieth of the axis, 15 pixels of 300.
    assert np.diff(np.log(values)).min() > (np.log(high) - np.log(low)) / 20


@pytest.mark.parametrize(
    ("depths", "shown"),
    [
        ((2, 4, 8, 16, 32), (2, 4, 8, 16, 32)),
        ((2, 4, 8, 16, 32, 64, 128, 256, 512, 1024), (2, 4, 8, 16, 32, 64, 256, 1024)),
        ((1000, 1001, 1024), (1000, 1024)),
        ((7,), (7,)),
    ],
)
def test_sparse_labels_keep_the_last_and_do_not_touch(depths: tuple[int, ...], shown: tuple[int, ...]) -> None:
    texts = sparse([str(depth) for depth in depths], np.log(depths))
    assert len(texts) == len(depths)
    assert tuple(int(text) for text in texts if text) == shown
