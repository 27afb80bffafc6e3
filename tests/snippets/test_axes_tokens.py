"""Do both scripts show what pads do to other tokens, and which tokens a norm makes equal, as the page does?"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import normviz as nv
from normviz import grid
from normviz.snippets import AxesGiven, axes_script, axes_torch_script
from normviz.vectors import random_weight
from tests.snippets.axes_scripts import MIXED, alike, both, page
from tests.snippets.scripts import close

SOURCES: tuple[dict[str, Any], ...] = (
    {"source": "words", "text": MIXED, "d": 4, "seed": 3},
    {"source": "synthetic", "batch": 3, "tokens": 4, "d": 5, "seed": 7, "padded": True},
    {"source": "synthetic", "batch": 2, "tokens": 6, "d": 3, "kind": "correlated", "rho": 0.9},
    {"source": "synthetic", "batch": 1, "tokens": 3, "d": 1, "kind": "outlier"},
)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("pads", grid.PADS)
@pytest.mark.parametrize(("row", "change"), [(0, 1), (-1, 5), (0, -1), (0, 0)])
def test_what_a_sentences_length_does_to_the_others(source: dict[str, Any], pads: str, row: int, change: int) -> None:
    batch = page(AxesGiven(view="padding", pads=pads, **source))
    row %= len(batch.x)
    names, plain = both(AxesGiven(view="padding", pads=pads, row=row, change=change, **source))
    moved = grid.moved(batch, row, change, eps=1e-5)
    alike(names["moved"], moved)
    assert set(plain["moved"]) == set(moved.shift)
    for norm, shift in moved.shift.items():
        np.testing.assert_allclose(plain["moved"][norm], shift, rtol=0, atol=1e-12)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("pads", grid.PADS)
@pytest.mark.parametrize("eps", [1e-5, 0.1])
def test_the_bias_of_pads_and_its_closed_form(source: dict[str, Any], pads: str, eps: float) -> None:
    channel = source["d"] - 1
    given = AxesGiven(view="padding", pads=pads, channel=channel, eps=eps, **source)
    names, plain = both(given)
    bias = grid.padding_bias(page(given), channel, eps=eps)
    alike(names["bias"], bias)
    np.testing.assert_allclose(plain["pad_counts"] / (len(plain["tokens"]) + plain["pad_counts"]), bias.share)
    for at, name in enumerate(("mean", "var", "shift", "stretch")):
        close([row[at] for row in plain["measured"]], getattr(bias, name))
        close([row[at] for row in plain["law"]], getattr(bias, f"{name}_law"))


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("p_seed", [None, 4])
@pytest.mark.parametrize(("scale", "shift"), [(2.0, 0.0), (-0.5, 3.0), (1.0, 1.0)])
def test_one_token_at_another_scale_and_offset(
    source: dict[str, Any], p_seed: int | None, scale: float, shift: float
) -> None:
    given = AxesGiven(view="tokens", scale=scale, shift=shift, p_seed=p_seed, word=1, **source)
    names, plain = both(given)
    weight = None if p_seed is None else random_weight(given.d, p_seed)
    expected = nv.affine(page(given).x[0, 1], scale, shift, weight=weight, eps=1e-5)
    alike(names["affine"], expected)
    close(plain["other"], expected.moved)
    for norm, word in (("layer_norm", "layer"), ("rms_norm", "rms")):
        close(plain[norm](plain["token"]), getattr(expected, f"{word}_before"))
        close(plain[norm](plain["other"]), getattr(expected, f"{word}_after"))


def test_the_token_can_be_any_word() -> None:
    words = [*grid.split_sentences(MIXED).words[0], '"', "\\", "{x}", "猫", "\\n", "'''", '"""', "#"]
    for place, word in enumerate(words):
        given = AxesGiven(view="tokens", source="words", text="a\n" + " ".join(words), row=1, word=place, d=5, seed=2)
        names, plain = both(given)
        token = grid.embedding(word, 5, 2)
        alike(names["affine"], nv.affine(token, 2.0, 0.0, eps=1e-5))
        close(plain["token"], token)


@pytest.mark.parametrize("source", [*SOURCES, {"batch": 4, "tokens": 9, "d": 2, "padded": True, "pads": "garbage"}])
@pytest.mark.parametrize("p_seed", [None, 4])
def test_the_distances_of_pairs(source: dict[str, Any], p_seed: int | None) -> None:
    given = AxesGiven(view="tokens", p_seed=p_seed, **source)
    names, plain = both(given)
    weight = None if p_seed is None else random_weight(given.d, p_seed)
    pairs = grid.pairs(page(given), weight=weight, eps=1e-5)
    alike(names["pairs"], pairs)
    for name, found in plain["distances"].items():
        close(found, getattr(pairs, name))


def test_of_many_pairs_the_same_are_chosen() -> None:
    given = AxesGiven(view="tokens", batch=6, tokens=8, d=3)
    names, plain = both(given)
    assert len(plain["distances"]["before"]) == len(names["pairs"].before) == 500
    for name, found in plain["distances"].items():
        close(found, getattr(names["pairs"], name))


@pytest.mark.parametrize("source", [{"source": "words", "text": "alone"}, {"batch": 1, "tokens": 1}])
def test_a_single_token_makes_no_pair_and_no_change_of_others(source: dict[str, Any]) -> None:
    names, plain = both(AxesGiven(view="tokens", **source))
    assert "pairs" not in names
    assert "distances" not in plain
    close(plain["other"], names["affine"].moved)
    names, plain = both(AxesGiven(view="padding", **source))
    for found in ("moved", "bias", "measured"):
        assert found not in names
        assert found not in plain


@pytest.mark.parametrize("change", [-4, -40])
def test_a_sentence_that_would_lose_all_of_its_tokens_is_said(change: int) -> None:
    given = AxesGiven(view="padding", batch=2, tokens=4, d=2, change=change)
    for write in (axes_script, axes_torch_script):
        assert "# The change: change is a whole number from -3 to" in write(given)
    names, plain = both(given)
    assert "moved" not in names
    assert "moved" not in plain
    assert len(plain["measured"]) == len(names["bias"].share)


@pytest.mark.parametrize(
    ("options", "undefined"),
    [
        ({"d": 1, "scale": 1.0}, {"layer_norm"}),
        ({"d": 4, "scale": 0.0, "shift": 2.0}, {"layer_norm"}),
        ({"d": 4, "scale": 0.0, "shift": 0.0}, {"layer_norm", "rms_norm"}),
        ({"d": 4, "scale": 2.0, "shift": 1.0}, set()),
    ],
)
def test_without_eps_what_has_no_value_is_left_out_and_said(options: dict[str, Any], undefined: set[str]) -> None:
    given = AxesGiven(view="tokens", source="words", text="one two\nthree", eps=0.0, **options)
    names, _ = both(given)
    plain = axes_torch_script(given)
    affine = names["affine"]
    assert {
        name for name, verdict in (("layer_norm", affine.layer_verdict), ("rms_norm", affine.rms_verdict))
        if verdict == "undefined"
    } == undefined  # fmt: skip
    for norm, name in (("layer_norm", "LayerNorm"), ("rms_norm", "RMSNorm")):
        assert (f'print("{name}:", {norm}(token)' in plain) == (norm not in undefined)
        assert (f"# {name}: " in plain) == (norm in undefined)
    assert "# The pairs: " not in plain
    # A token of one number has no LayerNorm, and its distances are left open.
    assert np.isnan(names["pairs"].layer_norm).all() == (options["d"] == 1)
    assert np.isfinite(names["pairs"].rms_norm).all()
