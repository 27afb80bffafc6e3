"""Does a claim hold on numbers that fulfil it, fail on others, and is it open where a run cannot tell?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from normviz.depth.claims import CLAIMS, Claim, Verdict, judge_all
from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.points import QUANTITIES, DepthPoint, Profile
from normviz.depth.results import DepthSweep, collect
from normviz.depth.theory import law

Array = npt.NDArray[np.float64]
# quantity -> its value for a placement and depth at the layers x.
Numbers = Mapping[str, Callable[[str, int, Array], Array]]

BY_ID = {claim.id: claim for claim in CLAIMS}


def layers(quantity: str, depth: int) -> Array:
    if quantity in ("residual_mean_square", "grad_residual"):
        return np.arange(depth + 1.0)
    if quantity == "pre_norm_mean_square":
        return np.arange(2 * depth + 1) / 2
    return np.arange(1.0, depth + 1)


def run(config: SweepConfig, numbers: Numbers, keys: Iterable[PointKey] | None = None) -> DepthSweep:
    """A result whose models all have these numbers."""
    points = []
    for key in config.keys() if keys is None else keys:
        profiles = {}
        for quantity, compute in numbers.items():
            at = layers(quantity, key.depth)
            value = np.broadcast_to(compute(key.placement, key.depth, at), at.shape)
            profiles[quantity] = Profile(layer=at, value=value)
        points.append(DepthPoint(**key._asdict(), profiles=profiles, seconds=0, device="cpu", torch_version="2"))
    return collect(config, points)


def with_knobs(claim: Claim, **more: Any) -> SweepConfig:
    """The configuration that the claim's own knobs give."""
    return dataclasses.replace(SweepConfig(), **{**claim.knobs, **more})


def says(verdict: Verdict) -> str:
    return verdict.words.format(**verdict.values)


def w2(compute: Callable[[str, int, Array], Any]) -> Numbers:
    return {"grad_w2": compute}


def stream(compute: Callable[[str, int, Array], Any]) -> Numbers:
    return {"residual_mean_square": compute}


def theory(factor: float) -> Numbers:
    config = with_knobs(BY_ID["norms_alike"])
    return w2(lambda placement, depth, x: factor * law(config, "grad_w2", placement, depth).value)


# id -> numbers on which it holds, numbers on which it fails.
EXAMPLES: dict[str, tuple[Numbers, Numbers]] = {
    # sqrt(d/3) at every depth; a fall like 1/sqrt(L)
    "post_last_layer_keeps": (w2(lambda p, L, x: 9.24 + 0 * x), w2(lambda p, L, x: 9.24 * L**-0.5 + 0 * x)),
    "pre_last_layer_follows_stream": (
        {"grad_w2": lambda p, L, x: (1 + x) ** -0.5, "residual_mean_square": lambda p, L, x: 1 + x},
        {"grad_w2": lambda p, L, x: 1 / (1 + x), "residual_mean_square": lambda p, L, x: 1 + x},
    ),
    "pre_last_layer_root_depth": (w2(lambda p, L, x: x**-0.53), w2(lambda p, L, x: 1 + 0 * x)),
    # the norms' factor alone, (2/3)^((L - l)/2); what is measured
    "post_vanishes": (w2(lambda p, L, x: (2 / 3) ** ((L - x) / 2)), w2(lambda p, L, x: 1.013 ** (L - x))),
    "pre_is_flat": (w2(lambda p, L, x: 1 + 0.2 * np.sin(x)), w2(lambda p, L, x: x**-0.5)),
    "post_above_pre": (
        w2(lambda p, L, x: (2.0 if p == "post_norm" else 1.0) + 0 * x),
        w2(lambda p, L, x: (0.1 if p == "post_norm" else 1.0) + 0 * x),
    ),
    # 1.17, ..., 373 at L = 2 ... 32; with QK-norm about 1
    "output_norm_needs_qk_norm": (w2(lambda p, L, x: np.exp(0.18 * (L - x))), w2(lambda p, L, x: x**-0.5)),
    "qk_norm_holds_output_norm": (w2(lambda p, L, x: x**-0.5), w2(lambda p, L, x: np.exp(0.18 * (L - x)))),
    "deep_norm_is_flat": (w2(lambda p, L, x: 0.117 + 1e-5 * x), w2(lambda p, L, x: x**-0.5)),
    "input_gradient_keeps": (
        {"grad_residual": lambda p, L, x: 0.07 + 0 * x},
        {"grad_residual": lambda p, L, x: 0.07 * L**-0.5 + 0 * x},
    ),
    "mix_ln_is_more_even": (
        w2(lambda p, L, x: x ** (-0.1 if p == "mix_ln" else -0.5)),
        w2(lambda p, L, x: x**-0.5),
    ),
    "rezero_trains_gates_first": (
        {"grad_w2": lambda p, L, x: 0 * x, "grad_wq": lambda p, L, x: 0 * x, "grad_alpha": lambda p, L, x: 0.1 + 0 * x},
        {"grad_w2": lambda p, L, x: 1e-9 + 0 * x, "grad_alpha": lambda p, L, x: 0.1 + 0 * x},
    ),
    "norms_alike": (theory(1.02), theory(1.5)),
    # alternating 1 + a and 3/2
    "lemma_2_post": (
        {"pre_norm_mean_square": lambda p, L, x: np.where(x % 1 == 0, 1.5, 1.9)},
        {"pre_norm_mean_square": lambda p, L, x: np.where(x % 1 == 0, 1.233, 1.5)},
    ),
    "lemma_2_pre": (stream(lambda p, L, x: 1 + 1.3 * x), stream(lambda p, L, x: 1 + 2 * x)),
    "pre_stream_grows_linearly": (stream(lambda p, L, x: 1 + 0.9 * x), stream(lambda p, L, x: 1.3**x)),
    "sandwich_adds_one": (stream(lambda p, L, x: 1 + 2 * x), stream(lambda p, L, x: 1 + 0.9 * x)),
    "peri_ln_grows_linearly": (stream(lambda p, L, x: 1 + 2 * x), stream(lambda p, L, x: 1 + np.sqrt(x))),
    "layer_norm_scaling_grows_slowly": (
        stream(lambda p, L, x: 1 + 0.8 * np.log1p(x)),
        stream(lambda p, L, x: 1 + 0.8 * x),
    ),
    "gpt2_init_keeps_stream": (stream(lambda p, L, x: 8e-4 + 7e-3 * x / L), stream(lambda p, L, x: 8e-4 + 7e-3 * x)),
    "no_norm_explodes": (stream(lambda p, L, x: 2.64**x), stream(lambda p, L, x: 1.01**x)),
    "deep_norm_outweighs_branches": (
        {"pre_norm_mean_square": lambda p, L, x: np.sqrt(2 * L) + 0.01 + 0 * x},
        {"pre_norm_mean_square": lambda p, L, x: 1.5 + 0 * x},
    ),
    "pre_deep_layers_idle": (
        {"cosine_next": lambda p, L, x: np.sqrt(x / (x + 1))},
        {"cosine_next": lambda p, L, x: 0.8 + 0 * x},
    ),
    "qk_norm_bounds_logits": (
        {"logit_scale": lambda p, L, x: 1 + 0.1 * np.sin(x)},
        {"logit_scale": lambda p, L, x: x + 1},
    ),
}


def test_there_are_claims_with_a_source_a_quantity_and_a_test() -> None:
    assert len(CLAIMS) >= 14
    assert len(BY_ID) == len(CLAIMS)
    assert BY_ID.keys() == EXAMPLES.keys()
    for claim in CLAIMS:
        assert claim.quantity in QUANTITIES
        assert claim.source == "popular" or claim.source.startswith("arXiv:")
        assert claim.sentence.endswith(".")
        assert claim.test


@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
def test_a_claim_holds_and_fails_on_the_run_that_its_knobs_give(claim: Claim) -> None:
    fulfilled, broken = EXAMPLES[claim.id]
    for numbers, state in ((fulfilled, "holds"), (broken, "fails")):
        verdict = claim.judge(run(with_knobs(claim), numbers))
        assert verdict.state == state, says(verdict)
        assert any(character.isdigit() for character in says(verdict))


@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
def test_a_claim_is_unwith_knobs_a_run_without_its_numbers(claim: Claim) -> None:
    fulfilled, _ = EXAMPLES[claim.id]
    empty = run(with_knobs(claim), fulfilled, keys=())
    elsewhere = run(with_knobs(claim, placements=("parallel",)), fulfilled)
    unmeasured = run(with_knobs(claim), {"loss": lambda p, L, x: 6.9 + 0 * x})
    for result in (empty, elsewhere, unmeasured):
        if claim.id == "qk_norm_bounds_logits" and result is elsewhere:
            continue  # true of every placement
        verdict = claim.judge(result)
        assert verdict.state == "untested"
        assert says(verdict)


@pytest.mark.parametrize("wrong", [np.inf, np.nan], ids=["inf", "nan"])
@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
def test_a_diverged_run_decides_nothing(claim: Claim, wrong: float) -> None:
    for numbers in EXAMPLES[claim.id]:
        spoilt: Numbers = {
            quantity: lambda p, L, x, compute=compute: np.where(L == 32, wrong, compute(p, L, x))  # type: ignore[misc]
            for quantity, compute in numbers.items()
        }
        verdict = claim.judge(run(with_knobs(claim), spoilt))
        if claim.id == "no_norm_explodes":  # the depths that did not overflow tell how fast it grows
            assert verdict.state == claim.judge(run(with_knobs(claim, depths=(2, 4, 8, 16)), numbers)).state
        else:
            assert verdict.state == "untested"
    nothing: Numbers = {quantity: lambda p, L, x: wrong + 0 * x for quantity in EXAMPLES[claim.id][0]}
    assert claim.judge(run(with_knobs(claim), nothing)).state == "untested"


@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
def test_a_claim_about_norms_is_untested_without_them(claim: Claim) -> None:
    for norm in ("dyt", "none"):
        verdict = claim.judge(run(with_knobs(claim, norm=norm), EXAMPLES[claim.id][0]))
        assert (verdict.state == "untested") == (claim.id not in ("no_norm_explodes", "rezero_trains_gates_first"))


@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
def test_a_partial_run_is_judged_on_what_is_there(claim: Claim) -> None:
    config = with_knobs(claim)
    fulfilled, _ = EXAMPLES[claim.id]
    one_seed = [key for key in config.keys() if key.seed == config.seeds[0]]  # noqa: SIM118
    assert claim.judge(run(config, fulfilled, one_seed)).state == "holds"
    shallow = [key for key in config.keys() if key.depth == 2]  # noqa: SIM118
    at_once = {"rezero_trains_gates_first", "norms_alike", "lemma_2_post", "qk_norm_bounds_logits"}
    assert (claim.judge(run(config, fulfilled, shallow)).state == "untested") == (claim.id not in at_once)


@pytest.mark.parametrize("claim", CLAIMS, ids=BY_ID)
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"norm": "dyt", "init": "gpt2", "dtype": "bfloat16", "depths": (3,), "gradients": ("wq",)},
        {"attention": "uniform", "n_heads": 3, "d_model": 96, "d_ff": 96, "loss": "one", "activation": "gelu"},
        {"qk_norm": True, "activation": "swiglu", "seq_len": 4096, "init": "std02", "norm": "none"},
    ],
    ids=["default", "half", "paper", "long"],
)
def test_knobs_make_any_run_one_that_tests_the_claim(claim: Claim, fields: dict[str, Any]) -> None:
    config = dataclasses.replace(SweepConfig(**fields), **claim.knobs)
    numbers = EXAMPLES[claim.id][0]
    keys = [key for key in config.keys() if key.seed == config.seeds[0]]  # noqa: SIM118
    assert claim.judge(run(config, numbers, keys)).state != "untested"


@pytest.mark.parametrize(
    ("claim", "fields", "reason"),
    [
        ("output_norm_needs_qk_norm", {"qk_norm": True}, "has QK-norm"),
        ("output_norm_needs_qk_norm", {"attention": "uniform"}, "no queries and keys"),
        ("output_norm_needs_qk_norm", {"depths": (8, 32)}, "4 layers or fewer"),
        ("qk_norm_holds_output_norm", {"qk_norm": False}, "has no QK-norm"),
        ("gpt2_init_keeps_stream", {"init": "xavier"}, "about init gpt2"),
        ("lemma_2_post", {"d_ff": 256}, "d_ff = d_model"),
        ("lemma_2_pre", {"activation": "gelu"}, "relu"),
        ("post_last_layer_keeps", {"depths": (2, 32)}, "2 have arrived"),
        ("post_vanishes", {"depths": (2, 4)}, "has 4 layers; it takes 8"),
        ("norms_alike", {"dtype": "float16"}, "no theory applies"),
    ],
)
def test_an_untested_claim_says_what_is_missing(claim: str, fields: dict[str, Any], reason: str) -> None:
    verdict = BY_ID[claim].judge(run(with_knobs(BY_ID[claim], **fields), EXAMPLES[claim][0]))
    assert verdict.state == "untested"
    assert reason in says(verdict)


def test_a_stream_that_keeps_its_size_cannot_test_a_slope_on_it() -> None:
    claim = BY_ID["pre_last_layer_follows_stream"]
    flat: Numbers = {"grad_w2": lambda p, L, x: 1 + 0 * x, "residual_mean_square": lambda p, L, x: 8e-3 + 0 * x}
    verdict = claim.judge(run(with_knobs(claim, init="gpt2"), flat))
    assert verdict.state == "untested"
    assert "factor of 1.00" in says(verdict)


def test_the_theory_itself_is_judged_as_the_measured_models_are() -> None:
    # What every measured run of this kind says: gradients neither vanish in Post-Norm nor are even in Pre-Norm.
    config = SweepConfig(seeds=(0,))
    quantities = ("grad_w2", "residual_mean_square", "grad_residual")
    numbers: Numbers = {
        quantity: lambda p, L, x, quantity=quantity: law(config, quantity, p, L).value  # type: ignore[misc]
        for quantity in quantities
    }
    states = {claim.id: verdict.state for claim, verdict in judge_all(run(config, numbers))}
    assert list(states) == [claim.id for claim in CLAIMS]
    expected = {
        "post_last_layer_keeps": "holds",
        "pre_last_layer_follows_stream": "holds",
        "pre_last_layer_root_depth": "holds",
        "post_vanishes": "fails",
        "pre_is_flat": "fails",
        "post_above_pre": "holds",
        "input_gradient_keeps": "holds",
        "norms_alike": "holds",
        "pre_stream_grows_linearly": "holds",
    }
    assert {name: state for name, state in states.items() if state != "untested"} == expected
