"""Is theory dashed where a law applies, and is it said where none does?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.results import DepthSweep
from normviz.depth.theory import Law, NoLaw
from normviz.figures import theme
from normviz.figures.depth import gradient_picture, laws, profile_picture, residual_picture, theory_notes
from normviz.figures.picture import Picture
from normviz.text import Text
from tests.figures.checks import check

ENGLISH = Text("en")
PAIR = SweepConfig(depths=(2, 4, 8), seeds=(0, 1))


def flat(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(1.0, key.depth + 1), np.full(key.depth, 0.5)


def stream(key: PointKey) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(key.depth + 1.0), 1 + np.arange(key.depth + 1.0)


LAWS = {"grad_w2": flat, "residual_mean_square": stream}


@pytest.fixture
def only_pre(monkeypatch: pytest.MonkeyPatch) -> None:
    """One law, for Pre-Norm."""

    def law(config: SweepConfig, quantity: str, placement: str, depth: int) -> Law:
        if placement != "pre_norm":
            raise NoLaw("Nobody knows for {placement}", placement=placement)
        start = 0.0 if quantity == "residual_mean_square" else 1.0
        layer = np.arange(start, depth + 1)
        return Law(layer=layer, value=layer + 1, name="q_l = l + 1", source="arXiv:2002.04745")

    laws._cached.cache_clear()
    monkeypatch.setattr(laws, "law", law)
    yield
    laws._cached.cache_clear()


def dashes(picture: Picture) -> list[dict[str, object]]:
    data = picture.spec["data"]
    return [trace for trace in data if trace.get("line", {}).get("dash") == "dash" and "legend" not in trace]


@pytest.mark.usefixtures("only_pre")
def test_theory_is_dashed_for_each_shown_place(make_sweep: Callable[..., DepthSweep], t: Text, mode: str) -> None:
    picture = gradient_picture(make_sweep(PAIR, LAWS), where=("last", "middle", "first"), t=t, mode=mode)
    check(picture, t, mode)
    last, middle, first = dashes(picture)
    np.testing.assert_array_equal(last["x"], [2, 4, 8])
    np.testing.assert_array_equal(last["y"], [3, 5, 9])
    np.testing.assert_array_equal(middle["y"], [2, 3, 5])
    np.testing.assert_array_equal(first["y"], [2, 2, 2])
    for trace in (last, middle, first):
        assert trace["legendgroup"] == "pre_norm"
        assert trace["line"]["color"] == theme.theory_color(mode, "pre_norm")
        assert "arXiv:2002.04745" in trace["hovertemplate"]
    assert t("{law} ({source})", law="q_l = l + 1", source="arXiv:2002.04745") in picture.alt
    low, high = picture.spec["layout"]["yaxis"]["range"]
    assert low < np.log10(0.5) < np.log10(9) < high


@pytest.mark.usefixtures("only_pre")
def test_theory_goes_over_the_layers_and_through_the_root(make_sweep: Callable[..., DepthSweep]) -> None:
    sweep = make_sweep(PAIR, LAWS)
    (line,) = dashes(profile_picture(sweep, quantity="grad_w2", depth=8, t=ENGLISH, mode="light"))
    np.testing.assert_array_equal(line["x"], np.arange(1, 9))
    (root,) = dashes(residual_picture(sweep, depth=8, t=ENGLISH, mode="light"))
    np.testing.assert_allclose(root["y"], np.sqrt(np.arange(1, 10)))


@pytest.mark.usefixtures("only_pre")
def test_theory_can_be_left_out_and_waits_for_a_first_point(make_sweep: Callable[..., DepthSweep]) -> None:
    for sweep, theory in ((make_sweep(PAIR, LAWS), False), (make_sweep(PAIR, LAWS, arrived=0), True)):
        for picture in (
            gradient_picture(sweep, theory=theory, t=ENGLISH, mode="light"),
            profile_picture(sweep, quantity="grad_w2", depth=8, theory=theory, t=ENGLISH, mode="light"),
            residual_picture(sweep, depth=8, theory=theory, t=ENGLISH, mode="light"),
        ):
            assert not dashes(picture)
            assert "Dashed" not in picture.alt


@pytest.mark.usefixtures("only_pre")
def test_notes_name_the_law_or_say_why_there_is_none(make_sweep: Callable[..., DepthSweep]) -> None:
    assert theory_notes(make_sweep(PAIR, LAWS), "grad_w2", ENGLISH) == [
        "Post-Norm: no law. Nobody knows for post_norm.",
        "Pre-Norm: q_l = l + 1 (arXiv:2002.04745).",
    ]


@pytest.mark.usefixtures("only_pre")
def test_theory_does_not_keep_the_page_waiting(make_sweep: Callable[..., DepthSweep]) -> None:
    config = SweepConfig(depths=(4, 1024), seeds=(0,))
    sweep = make_sweep(config, LAWS)
    (line,) = dashes(gradient_picture(sweep, where=("last",), t=ENGLISH, mode="light"))
    np.testing.assert_array_equal(line["x"], [4])
    assert not dashes(profile_picture(sweep, quantity="grad_w2", depth=1024, t=ENGLISH, mode="light"))
    assert "Deep models are drawn without theory" in theory_notes(sweep, "grad_w2", ENGLISH)[-1]
