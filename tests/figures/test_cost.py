"""Do the cost lab's figures show the ratios, the roof, the shares and the paper's tables?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normviz.cost import (
    LAYERS,
    PAPER,
    PARTS,
    BenchConfig,
    NormBench,
    Roof,
    collect,
    layer_share,
    norm_cost,
)
from normviz.figures import theme
from normviz.figures.cost import bench_picture, bench_roofline, paper_picture, roofline_picture, share_picture
from normviz.figures.cost.marks import percent
from normviz.figures.picture import Picture
from normviz.text import Text
from tests.cost.benches import COPIES, bench
from tests.figures.checks import check

ENGLISH = Text("en")
ISOLATES = {0x2068: None, 0x2069: None}
FULL = bench(COPIES)
PART = bench(
    {name: value for name, value in COPIES.items() if "compiled" not in name}, why_not={"compiled": "no compiler"}
)
ROOF = Roof(bandwidth=4e12, rate=8e14)


def drawn(picture: Picture, name: str) -> list[dict[str, object]]:
    return [trace for trace in picture.spec["data"] if trace["name"] == name and None not in trace["x"][:1]]


def words(picture: Picture) -> list[str]:
    return [note["text"] for note in picture.spec["layout"]["annotations"]]


@pytest.mark.parametrize("result", [FULL, PART, collect(BenchConfig(), [])])
def test_bench_is_a_picture(result: NormBench, t: Text, mode: str) -> None:
    picture = bench_picture(result, t=t, mode=mode)
    check(picture, t, mode)
    assert len(picture.table) == len(result.measured)


def test_bench_shows_medians_quartiles_and_what_the_bytes_say() -> None:
    picture = bench_picture(FULL, t=ENGLISH, mode="dark")
    (rms,) = drawn(picture, "RMSNorm")
    assert rms["x"] == pytest.approx([4.5, 5.0, 1.2])
    assert (rms["marker"]["color"], rms["marker"]["symbol"]) == (theme.NORM_COLORS["dark"]["rms_norm"], "diamond")
    (added,) = drawn(picture, "residual addition + RMSNorm")
    assert added["marker"]["symbol"] == "diamond-cross"
    (expected,) = drawn(picture, "by the bytes on paper")
    assert expected["x"][::3] == pytest.approx([FULL.expected_copies(name) for name in FULL.measured])
    assert "4.5 ×" in words(picture)
    assert "RMSNorm takes 80.0 % of LayerNorm's time, torch.compile." in picture.alt
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert low < 0 < np.log10(9) < high
    # Rows stand under one another, in the order of the table.
    places = [y for trace in picture.spec["data"][1:] for y in trace["y"]]
    assert places == sorted(places, reverse=True)


def test_spread_is_drawn_from_quartile_to_quartile() -> None:
    times = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    result = bench({}, seconds={"rms_norm/eager": times}, fresh=np.ones(5))
    (trace,) = drawn(bench_picture(result, t=ENGLISH, mode="light"), "RMSNorm")
    assert (trace["x"], trace["error_x"]["array"], trace["error_x"]["arrayminus"]) == ([3.0], [1.0], [1.0])


def test_what_cannot_run_is_said() -> None:
    picture = bench_picture(PART, t=ENGLISH, mode="light")
    assert {"cannot run here", "<b>torch.compile</b>"} <= set(words(picture))
    assert "torch.compile is missing: no compiler." in picture.alt
    assert "Medians of 5 rounds in turns, after 2 calls each to warm up; device cpu" in picture.alt


def test_roofline_is_a_picture(t: Text, mode: str) -> None:
    check(bench_roofline(FULL, t=t, mode=mode), t, mode)
    costs = {f"{kind}/compiled": norm_cost(kind, 64, 64, "bfloat16") for kind in ("layer_norm", "add_rms_norm")}
    check(roofline_picture(ROOF, costs, t=t, mode=mode), t, mode)


def test_roof_bends_at_the_ridge_and_norms_lie_on_or_below_it() -> None:
    picture = bench_roofline(FULL, t=ENGLISH, mode="light")
    roof = FULL.roof()
    line = picture.spec["data"][0]
    assert line["line"]["dash"] == theme.DASHES["theory"]
    assert line["x"][1] == pytest.approx(roof.ridge)
    assert line["y"][1:] == pytest.approx([roof.rate / 1e9] * 2)
    hollow, full = drawn(picture, "RMSNorm")
    for intensity, most, reached, name in zip(
        hollow["x"], hollow["y"], full["y"], [name for name in FULL.measured if name.startswith("rms")], strict=True
    ):
        assert intensity == FULL.cost(name).intensity
        assert most == pytest.approx(roof.attainable(intensity) / 1e9)
        assert reached == pytest.approx(FULL.cost(name).flops / FULL.spread(name).middle / 1e9)
        assert reached < most
    assert (hollow["showlegend"], full["showlegend"]) == (False, True)


def test_a_fast_device_is_counted_in_teraflops() -> None:
    costs = {"rms_norm/compiled": norm_cost("rms_norm", 64, 64)}
    picture = roofline_picture(ROOF, costs, t=ENGLISH, mode="light")
    assert "800 TFLOP/s, from 200 FLOP/byte on" in picture.alt
    assert "TFLOP/s" in picture.spec["layout"]["yaxis"]["title"]["text"]


@pytest.mark.parametrize("roof", [None, ROOF])
def test_share_is_a_picture_that_fills_its_bars(roof: Roof | None, t: Text, mode: str) -> None:
    share = layer_share(LAYERS["llama3_8b"][1])
    picture = share_picture(share, roof=roof, t=t, mode=mode)
    check(picture, t, mode)
    bars = np.array([trace["x"] for trace in picture.spec["data"]])
    assert bars.shape == (len(PARTS), 2 if roof is None else 3)
    np.testing.assert_allclose(bars.sum(axis=0), 100)
    assert bars[0, 1] == pytest.approx(100 * share.bytes_share())
    assert picture.spec["data"][0]["marker"]["color"] == theme.NORM_COLORS[mode]["rms_norm"]
    assert len({trace["marker"]["pattern"]["shape"] for trace in picture.spec["data"]}) == len(PARTS)


def test_share_names_what_the_norms_take() -> None:
    share = layer_share(replace(LAYERS["gpt2"][1], norm="layer_norm"))
    picture = share_picture(share, t=ENGLISH, mode="light")
    for value in (share.flops_share(), share.bytes_share()):
        assert f"norms {percent(value)} %" in words(picture)
        assert f"norms {percent(value)} %" in picture.alt


@pytest.mark.parametrize("result", [None, FULL, PART, collect(BenchConfig(), [])])
def test_paper_is_a_picture(result: NormBench | None, t: Text, mode: str) -> None:
    check(paper_picture(result, t=t, mode=mode), t, mode)


def test_paper_puts_the_range_right() -> None:
    picture = paper_picture(t=ENGLISH, mode="light")
    assert "6.9 to 40.8 %" in picture.title
    assert "63.9 % is pRMSNorm" in picture.alt
    (whole,), (partial,) = drawn(picture, "RMSNorm"), drawn(picture, "pRMSNorm")
    assert whole["x"] == pytest.approx([100 * row.saved for row in PAPER])
    assert partial["x"] == pytest.approx([25.9, 63.9], abs=0.05)
    assert set(partial["y"]) < set(whole["y"])


def enough(copies: Mapping[str, float] = COPIES, **changes: Any) -> NormBench:
    """A run of ten rounds of a tensor of 4 MiB."""
    config = BenchConfig(tokens=1024, d=1024)
    times = {name: copies[name] * np.ones(10) for name in config.variants}
    ones = np.ones(10)
    return bench({}, config=config, **{"seconds": times, "copy": ones, "fresh": ones, "matmul": ones} | changes)


def test_this_machine_stands_beside_the_paper_even_where_rms_norm_is_slower() -> None:
    picture = paper_picture(enough(), t=ENGLISH, mode="light")
    (here,) = drawn(picture, "RMSNorm here, median and quartiles")
    assert here["x"] == pytest.approx([20.0, -50.0, 50.0])  # compiled, functional (four times as long), eager
    assert here["marker"]["symbol"] == ["diamond", "triangle-left", "diamond"]
    assert "−300 %" in words(picture)
    assert "cpu, [1024, 1024] float32, 10 rounds" in " ".join(words(picture)).translate(ISOLATES)
    assert "This machine: cpu, [1024, 1024] float32, 10 rounds." in picture.alt
    low, high = picture.spec["layout"]["xaxis"]["range"]
    assert low < -50 < 64 < high


def test_a_long_name_of_a_device_has_its_own_line() -> None:
    picture = paper_picture(enough(device="cuda (NVIDIA <b>Long</b> Card)"), t=ENGLISH, mode="light")
    (note,) = [word.translate(ISOLATES) for word in words(picture) if "rounds" in word]
    assert note == "cuda (NVIDIA &lt;b&gt;Long&lt;/b&gt; Card), <br>[1024, 1024] float32, 10 rounds"


def test_this_machine_is_drawn_from_quartile_to_quartile() -> None:
    rms = np.array([0.5, 0.6, 0.6, 0.7, 0.7, 0.7, 0.8, 0.8, 0.9, 1.0])
    times = {"rms_norm/eager": rms, "layer_norm/eager": np.ones(10)}
    picture = paper_picture(enough(seconds=times), t=ENGLISH, mode="light")
    (here,) = drawn(picture, "RMSNorm here, median and quartiles")
    low, middle, high = 100 * (1 - np.quantile(rms, (0.75, 0.5, 0.25)))
    assert here["x"] == pytest.approx([middle])
    assert here["error_x"]["array"] == pytest.approx([high - middle])
    assert here["error_x"]["arrayminus"] == pytest.approx([middle - low])
    assert f"half of the rounds {low:.0f} to {high:.0f} %" in picture.alt


@pytest.mark.parametrize(
    "result", [FULL, enough(**{name: np.ones(9) for name in ("copy", "fresh", "matmul")}, seconds={})]
)
def test_too_short_or_too_small_a_run_does_not_stand_beside_the_paper(result: NormBench) -> None:
    picture = paper_picture(result, t=ENGLISH, mode="light")
    sentence = "A run of at least 10 rounds and 4 MiB is drawn here."
    assert sentence in [word.replace("<br>", " ") for word in words(picture)]
    assert sentence in picture.alt
    assert not drawn(picture, "RMSNorm here, median and quartiles")
    assert "This machine:" not in picture.alt


def test_every_other_row_has_a_band_that_holds_its_words_and_its_mark() -> None:
    picture = bench_picture(FULL, t=ENGLISH, mode="light")
    bands = [shape for shape in picture.spec["layout"]["shapes"] if shape["type"] == "rect"]
    notes = picture.spec["layout"]["annotations"]
    marks = [y for kind in ("LayerNorm", "RMSNorm") for y in drawn(picture, kind)[0]["y"]]
    assert len(bands) == 6  # the first and the third of three ways of three norms
    for band in bands[:4]:
        left, right = (note for note in notes if band["y0"] < note["y"] < band["y1"])
        assert left["y"] == right["y"]
        assert len([y for y in marks if band["y0"] < y < band["y1"]]) == 1


def test_a_layers_time_is_that_of_the_format_that_was_measured_and_names_it() -> None:
    share = layer_share(LAYERS["llama3_8b"][1])
    far = bench(COPIES, far=np.full(5, 0.1), far_bytes=2**30)
    picture = share_picture(share, bench=far, t=ENGLISH, mode="light")
    timed = layer_share(replace(share.sizes, dtype="float32"))
    roof = far.roof_for(timed.sizes)
    assert picture.spec["data"][0]["x"][2] == pytest.approx(100 * timed.time_share(roof))
    assert "time at least, in float32" in words(picture)
    assert "of this layer in float32 on cpu: a copy of 512 MiB moves 10.7 GB/s" in picture.alt
    assert "100 × 100 matrices" in picture.alt


def test_a_bench_in_the_caches_says_nothing_of_a_layers_time() -> None:
    share = layer_share(LAYERS["llama3_8b"][1])
    picture = share_picture(share, bench=FULL, t=ENGLISH, mode="light")
    assert len(picture.spec["data"][0]["x"]) == 2
    assert "No time is drawn" in picture.alt
    assert (
        share_picture(share, bench=collect(BenchConfig(), []), t=ENGLISH, mode="light").alt
        == share_picture(share, t=ENGLISH, mode="light").alt
    )


def test_right_of_the_ridge_the_bytes_are_not_the_limit() -> None:
    costs = {
        "layer_norm/compiled": norm_cost("layer_norm", 64, 64),
        "rms_norm/eager": norm_cost("rms_norm", 64, 64, way="eager"),
    }
    picture = roofline_picture(Roof(bandwidth=1e10, rate=5e9), costs, t=ENGLISH, mode="light")
    right, left = (cost.intensity for cost in costs.values())
    assert left < 0.5 < right
    assert f"LayerNorm, torch.compile: {right:.3g} FLOP/byte, right of the ridge" in picture.alt
    assert f"by operation: {left:.3g} FLOP/byte, {200 * left:.1f} % of the matrix rate at most." in picture.alt


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.0, "0"),
        (5.73e-5, "0.0057"),
        (3e-7, "0.00003"),
        (0.086, "8.6"),
        (0.247, "24.7"),
        (-3.729, "−373"),
        (1.0, "100"),
    ],
)
def test_percent_has_the_digits_that_matter(share: float, text: str) -> None:
    assert percent(share) == text
