"""Does the picture of a cloud show its points to scale?"""

from __future__ import annotations

import numpy as np
import pytest

from normviz.figures.vector import cloud_picture
from normviz.geometry import cloud
from normviz.geometry.cloud import DISTRIBUTIONS
from normviz.text import Text
from tests.figures.checks import check, trace_named

ENGLISH = Text("en")


@pytest.mark.parametrize("distribution", DISTRIBUTIONS)
def test_points_lie_where_mean_and_std_put_them(distribution: str, t: Text, mode: str) -> None:
    drawn = cloud(16, n=40, mean=0.5, distribution=distribution, seed=3)
    picture = cloud_picture(drawn, t=t, mode=mode)
    check(picture, t, mode)
    before, layer, rms = (
        np.stack([trace["x"], trace["y"]], axis=1)
        for trace in (trace_named(picture, t(name)) for name in ("random x", "their LN(x)", "their RMSNorm(x)"))
    )
    np.testing.assert_array_equal(before, drawn.before)
    np.testing.assert_allclose(layer, np.tile([0, 4], (40, 1)), atol=1e-12)
    np.testing.assert_allclose(np.hypot(*rms.T), 4)
    np.testing.assert_allclose(rms[:, 0] / rms[:, 1], before[:, 0] / before[:, 1])
    assert picture.spec["layout"]["yaxis"]["scaleanchor"] == "x"
    circle = picture.spec["data"][0]
    np.testing.assert_allclose(np.hypot(circle["x"], circle["y"]), 4)


def test_every_point_lies_inside_the_axes() -> None:
    for drawn in (cloud(3, n=20), cloud(64, n=20, distribution="outlier"), cloud(8, n=20, mean=50.0, eps=1.0)):
        layout = cloud_picture(drawn, t=ENGLISH, mode="light").spec["layout"]
        for axis, column in (("xaxis", 0), ("yaxis", 1)):
            low, high = layout[axis]["range"]
            for points in (drawn.before, drawn.layer_norm, drawn.rms_norm):
                assert low < points[:, column].min()
                assert points[:, column].max() < high


def test_the_groups_differ_without_colour() -> None:
    traces = cloud_picture(cloud(5), t=ENGLISH, mode="light").spec["data"][1:]
    assert len({trace["marker"]["symbol"] for trace in traces}) == 3


def test_the_title_promises_the_circle_at_eps_0_only() -> None:
    assert "LN keeps one point" in cloud_picture(cloud(8), t=ENGLISH, mode="light").title
    assert "LN keeps one point" not in cloud_picture(cloud(8, eps=0.5), t=ENGLISH, mode="light").title


def test_table_and_text_have_the_lengths() -> None:
    drawn = cloud(4, n=30, eps=0.5)
    picture = cloud_picture(drawn, t=ENGLISH, mode="light")
    assert len(picture.table) == 90
    lengths = picture.table["L2 norm"].to_numpy()[30:60]
    np.testing.assert_allclose(lengths, np.hypot(*drawn.layer_norm.T))
    assert f"from {lengths.min():.3g} to {lengths.max():.3g}" in picture.alt
