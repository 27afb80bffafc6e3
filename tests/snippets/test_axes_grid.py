"""Do both scripts of the axes lab make the page's grid, and find its statistics?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from normviz import grid
from normviz.errors import InputError
from normviz.snippets import AxesGiven, axes_script, axes_torch_script
from tests.snippets.axes_scripts import MIXED, TEXT, alike, both, page, saved
from tests.snippets.scripts import close

SOURCES: tuple[dict[str, Any], ...] = (
    {"source": "words", "text": MIXED, "d": 6, "seed": 3},
    {"source": "words", "text": "one two\nthree four", "d": 6},
    {"source": "synthetic", "batch": 3, "tokens": 4, "d": 6, "seed": 7, "padded": True},
    {"source": "synthetic", "batch": 2, "tokens": 3, "d": 6, "kind": "correlated", "rho": 0.3},
    {"source": "synthetic", "batch": 2, "tokens": 1, "d": 6, "kind": "outlier"},
)


@pytest.mark.parametrize("norm", grid.AXES)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("masked", [False, True])
def test_the_grid_and_its_statistics(norm: str, source: dict[str, Any], masked: bool) -> None:
    given = AxesGiven(view="grid", norm=norm, groups=3, masked=masked, cell=(1, 0, 4), **source)
    names, plain = both(given)
    batch = page(given)
    hidden = masked and not batch.mask.all()
    mask, groups = batch.mask if hidden else None, 3 if norm == "group_norm" else 1
    trace = grid.normalize_grid(batch.x, norm, groups=groups, eps=1e-5, mask=mask)
    alike(names["batch"], batch)
    alike(names["trace"], trace)
    alike(names["chosen"], grid.cell(trace, 1, 0, 4))

    close(plain["x"], batch.x)
    kept = batch.mask if hidden else np.ones_like(batch.mask)
    close(plain["y"][torch.tensor(kept)], trace.output[kept])
    if norm == "rms_norm":
        close(plain["rms"].ravel(), trace.rms)
    else:
        close(plain["mean"].ravel(), trace.mean)
        close(plain["variance"].ravel(), trace.var)
    close(plain["chosen"], trace.output[1, 0, 4])
    assert plain["shared"].numel() == grid.cell(trace, 1, 0, 4).count


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("masked", [False, True])
def test_how_many_statistics_every_norm_takes_and_what_it_learns(source: dict[str, Any], masked: bool) -> None:
    given = AxesGiven(view="grid", groups=3, masked=masked, **source)
    names, plain = both(given)
    batch = page(given)
    traces = [grid.normalize_grid(batch.x, norm, groups=3) for norm in grid.AXES]
    assert names["counts"] == {trace.axis: trace.n_statistics for trace in traces}
    assert list(plain["counts"].values()) == [trace.n_statistics for trace in traces]
    for module, trace in zip(plain["counts"], traces, strict=True):
        shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}
        bias = {} if trace.bias_shape is None else {"bias": trace.bias_shape}
        assert shapes == {"weight": trace.parameter_shape, **bias}


@pytest.mark.parametrize("pads", grid.PADS)
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("view", ["grid", "padding", "tokens"])
def test_what_stands_on_the_pads(pads: str, source: dict[str, Any], view: str) -> None:
    given = AxesGiven(view=view, pads=pads, row=1, change=1, **source)
    names, plain = both(given)
    alike(names["batch"], page(given))
    close(plain["x"], page(given).x)
    if view == "padding":
        after = grid.resized(page(given), 1, 1)
        close(plain["padded"](plain["resized"])[0], after.x)
        np.testing.assert_array_equal(plain["padded"](plain["resized"])[1], after.mask)


@pytest.mark.parametrize("name", ["x.npy", 'it\'s "my" {grid}\n\\n #.npy', "数据 שלום.npy"])
@pytest.mark.parametrize("dtype", ["f2", "f4", "<f8", ">f8", "i4"])
@pytest.mark.parametrize("window", [(0, 0, 0), (1, 40, 3), (9, 9, 99)])
def test_a_file_is_read_and_the_part_that_is_shown_cut_out(
    name: str, dtype: str, window: tuple[int, int, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, name, (np.random.default_rng(0).normal(size=(10, 50, 3)) * 9).astype(dtype))
    given = AxesGiven(view="grid", source="file", file=name, window=window, batch=8, tokens=32, d=3, norm="batch_norm")
    names, plain = both(given)
    alike(names["batch"], page(given))
    close(plain["x"], page(given).x)
    close(plain["y"], names["trace"].output)


@pytest.mark.parametrize("view", ["padding", "tokens"])
@pytest.mark.parametrize("pads", grid.PADS)
def test_a_file_goes_through_the_other_views(
    view: str, pads: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    saved(tmp_path, "x.npy", np.random.default_rng(0).normal(size=(2, 3, 4)))
    given = AxesGiven(view=view, source="file", batch=2, tokens=3, d=4, pads=pads, seed=5)
    names, plain = both(given)
    alike(names["batch"], page(given))
    close(plain["x"], page(given).x)


@pytest.mark.parametrize("norm", grid.AXES)
def test_a_cell_on_a_pad_belongs_to_no_statistic(norm: str) -> None:
    source = SOURCES[2]
    given = AxesGiven(view="grid", norm=norm, groups=3, masked=True, cell=(2, 3, 4), **source)
    names, plain = both(given)
    assert names["chosen"].count == 0
    assert "chosen" not in plain
    counted = AxesGiven(view="grid", norm=norm, groups=3, cell=(2, 3, 4), **source)
    names, plain = both(counted)
    close(plain["chosen"], names["chosen"].output)


@pytest.mark.parametrize("norm", [norm for norm in grid.AXES if norm != "batch_norm"])
@pytest.mark.parametrize("source", [{"source": "words", "text": "alone", "d": 2}, {"batch": 1, "tokens": 1, "d": 2}])
def test_one_token_goes_through_every_norm_but_batch_norm(norm: str, source: dict[str, Any]) -> None:
    names, plain = both(AxesGiven(view="grid", norm=norm, groups=2, **source))
    close(plain["y"], names["trace"].output)
    assert "batch_norm" not in names["counts"]


def test_one_token_under_batch_norm_is_left_out_and_said() -> None:
    given = AxesGiven(view="grid", norm="batch_norm", batch=1, tokens=1)
    for write in (axes_script, axes_torch_script):
        assert "# The norm: BatchNorm takes its statistics over at least 2 real tokens" in write(given)
    names, plain = both(given)
    assert "trace" not in names
    assert "y" not in plain


def test_a_large_text_is_written_out_as_far_as_it_is_shown() -> None:
    text = "\n".join(" ".join(f"word{n}" for n in range(line, line + 100)) for line in range(20))
    given = AxesGiven(view="grid", source="words", text=text, d=2)
    for write in (axes_script, axes_torch_script):
        assert len(write(given).splitlines()) < 130
    names, plain = both(given)
    alike(names["batch"], page(given))
    close(plain["x"], page(given).x)


def test_words_are_literals_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = '"]]);open("broken","w")#\n\'+open("broken","w")+\'\n\\\n{given}\n"""\n' + TEXT
    given = AxesGiven(view="grid", source="words", text=text, d=2, seed=1)
    names, plain = both(given)
    assert names["batch"].words == tuple(map(tuple, plain["words"])) == grid.split_sentences(text).words
    assert list(tmp_path.iterdir()) == []


def test_a_text_without_a_word_is_refused() -> None:
    for write in (axes_script, axes_torch_script):
        with pytest.raises(InputError):
            write(AxesGiven(view="grid", source="words", text=" \n "))


@pytest.mark.parametrize(("field", "value"), [("view", "steps"), ("source", "nowhere")])
def test_an_unknown_view_or_source_is_refused(field: str, value: str) -> None:
    with pytest.raises(InputError, match=f"{field} can be .*; got '{value}'"):
        AxesGiven(**{"view": "grid", field: value})  # type: ignore[arg-type]
