"""Do the measured numbers follow the closed forms of the papers?

Seeds are fixed: a bound is about three standard errors of a mean over the seeds, or what the paper's law leaves out at
this width where that is more.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch

from normviz.depth.config import SweepConfig
from normviz.depth.model import draw
from normviz.depth.results import DepthSweep, collect
from normviz.depth.sweep import sweep
from normviz.placements import PLACEMENTS
from tests.depth.reference import Model

Array = npt.NDArray[np.float64]

# The simplified model of Xiong et al. 2020 (arXiv:2002.04745, section 3.3 and appendices).
XIONG: dict[str, Any] = {
    "attention": "uniform", "n_heads": 1, "d_model": 256, "d_ff": 256, "activation": "relu", "init": "xavier",
    "output_projection": False, "eps": 0.0,
}  # fmt: skip
SEQUENCES, TOKENS, DEPTHS = 8, 16, (2, 4, 8, 16, 32, 64)
# The laws are for the loss of one token. A mean over N tokens with independent labels adds N independent gradients of
# weight 1/N, so that the norm is smaller by sqrt(N); with loss "one", N is the number of sequences.
ONE_TOKEN = np.sqrt(SEQUENCES)


def measured(**fields: Any) -> DepthSweep:
    config = SweepConfig(**fields)
    return collect(config, sweep(config))


@pytest.fixture(scope="module")
def paper() -> DepthSweep:
    return measured(**XIONG, depths=DEPTHS, seeds=range(8), batch=SEQUENCES, seq_len=TOKENS, loss="one")


def rms(x: Array) -> float:
    return float(np.sqrt(np.mean(x**2)))


def slope(x: Array, y: Array) -> float:
    return float(np.polyfit(np.log(x).ravel(), np.log(y).ravel(), 1)[0])


def test_lemma_2_post_norm_enters_its_feed_forward_norm_with_mean_square_three_halves(paper: DepthSweep) -> None:
    for depth in (8, 16, 32, 64):
        entering = paper.values("pre_norm_mean_square", "post_norm", depth)
        assert paper.layers("pre_norm_mean_square", "post_norm", depth)[2::2].tolist() == list(range(1, depth + 1))
        assert entering[:, 2::2].mean() == pytest.approx(1.5, abs=0.03)
        assert paper.values("residual_mean_square", "post_norm", depth) == pytest.approx(1, abs=1e-4)


def test_lemma_2_pre_norm_stream_grows_between_its_bounds(paper: DepthSweep) -> None:
    # Mean-field values for 16 tokens: the slope rises from 1/2 + 1/16 to 3/2 a layer as tokens become alike.
    law = dict(zip(DEPTHS, (2.267, 4.053, 8.495, 18.68, 40.58, 86.10), strict=True))
    for depth, expected in law.items():
        last = paper.values("residual_mean_square", "pre_norm", depth)[:, -1]
        error = last.std(ddof=1) / np.sqrt(last.size)
        assert abs(last.mean() - expected) < 3 * error + 0.01 * expected
        assert last.mean() == pytest.approx(expected, rel=0.07)
        layer = np.arange(1, depth + 1)
        profile = paper.values("residual_mean_square", "pre_norm", depth).mean(axis=0)[1:]
        assert (profile > 1 + layer / 2).all()
        assert (profile < 1 + 3 * layer / 2).all()


def test_lemma_2_upper_bound_is_reached_by_a_single_token() -> None:
    result = measured(
        **XIONG, placements=("pre_norm",), depths=(6,), seeds=range(4), batch=64, seq_len=1, vocab_size=10
    )
    profile = result.values("residual_mean_square", "pre_norm", 6).mean(axis=0)
    np.testing.assert_allclose(profile, 1 + 1.5 * np.arange(7), rtol=0.03)


def test_post_norm_last_layer_gradient_does_not_depend_on_depth(paper: DepthSweep) -> None:
    last = np.stack([paper.values("grad_w2", "post_norm", depth)[:, -1] for depth in DEPTHS]) * ONE_TOKEN
    assert last.mean() == pytest.approx(np.sqrt(256 / 3), rel=0.04)  # sqrt(d/3)
    assert slope(np.array(DEPTHS), last.mean(axis=1)) == pytest.approx(0, abs=0.02)


def test_pre_norm_last_layer_gradient_falls_with_the_square_root_of_the_stream(paper: DepthSweep) -> None:
    last = np.stack([paper.values("grad_w2", "pre_norm", depth)[:, -1] for depth in DEPTHS]) * ONE_TOKEN
    q = np.stack([paper.values("residual_mean_square", "pre_norm", depth)[:, -1] for depth in DEPTHS])
    assert (last / np.sqrt(256 / (2 * q))).mean() == pytest.approx(1, abs=0.03)  # sqrt(d / (2 q_L))
    assert slope(q, last) == pytest.approx(-0.5, abs=0.015)
    assert slope(np.array(DEPTHS), last.mean(axis=1)) == pytest.approx(-0.53, abs=0.03)


@pytest.mark.parametrize("layer", [1, 2, 4])
def test_pre_norm_gradient_depends_on_the_layer_and_not_on_the_depth(paper: DepthSweep, layer: int) -> None:
    depths = [depth for depth in DEPTHS if depth > layer]
    at = np.array([paper.values("grad_w2", "pre_norm", depth)[:, layer - 1].mean() for depth in depths])
    np.testing.assert_allclose(at / at.mean(), 1, atol=0.06)


@pytest.mark.parametrize("depth", [2, 4, 8, 16])
def test_post_norm_first_layer_gradient_is_not_smaller_than_the_last(paper: DepthSweep, depth: int) -> None:
    # The factor (2/3)^((L - l)/2) of the paper's appendix F is the norms' part alone; the branches give it back.
    w2 = paper.values("grad_w2", "post_norm", depth)
    ratio = np.exp(np.log(w2[:, 0] / w2[:, -1]).mean())
    assert 0.8 < ratio < 1.4
    if depth == 16:
        assert ratio > 10 * (2 / 3) ** ((depth - 1) / 2)


def test_a_mean_over_all_tokens_divides_gradients_by_the_root_of_their_number() -> None:
    # A large vocabulary: tokens that have become alike would otherwise share a part of their gradient.
    last = partial(measured, **XIONG, placements=("post_norm",), depths=(4,), seeds=range(4), vocab_size=10_000)
    gradient = last(loss="mean", batch=4, seq_len=TOKENS).values("grad_w2", "post_norm", 4)[:, -1]
    assert rms(gradient) * np.sqrt(4 * TOKENS) == pytest.approx(np.sqrt(256 / 3), rel=0.06)


# A decoder as they are used: softmax attention of 4 heads, GELU, RMSNorm (the setting of the project's tables).
DECODER: dict[str, Any] = {
    "norm": "rms_norm", "d_model": 256, "n_heads": 4, "d_ff": 1024, "activation": "gelu", "eps": 0.0, "batch": 4,
    "seq_len": 64,
}  # fmt: skip


@pytest.fixture(scope="module")
def sandwich() -> DepthSweep:
    return measured(**DECODER, placements=("sandwich_norm",), depths=(8,), seeds=range(5))


def test_sandwich_norm_gains_one_per_sublayer(sandwich: DepthSweep) -> None:
    profile = sandwich.values("residual_mean_square", "sandwich_norm", 8).mean(axis=0)
    gains = (profile[1:] - profile[0]) / (2 * np.arange(1, 9))
    np.testing.assert_allclose(gains, 1, atol=0.05)


def test_sandwich_norm_top_gradient_forgets_the_activation(sandwich: DepthSweep) -> None:
    # ||g|| / (sigma_2 sqrt(N q_L)) with ||g|| = 1 for this head; sigma_2^2 = 2 / (5 d).
    q = sandwich.values("residual_mean_square", "sandwich_norm", 8)[:, -1].mean()
    law = 1 / np.sqrt(2 / (5 * 256) * 4 * 64 * q)
    assert rms(sandwich.values("grad_w2", "sandwich_norm", 8)[:, -1]) == pytest.approx(law, rel=0.05)


@pytest.mark.parametrize("placement", ["sandwich_norm", "output_norm"])
def test_a_matrix_that_feeds_a_norm_is_orthogonal_to_its_gradient(placement: str) -> None:
    config = SweepConfig(**{**DECODER, "seq_len": 8, "d_ff": 256}, qk_norm=True)
    ends, layers = draw(config, PLACEMENTS[placement], 2, [0], torch.device("cpu"))
    weights = [{name: w[0].requires_grad_() for name, w in layer.items()} for layer in layers]
    out, _ = Model(config, placement, weights, torch.float32).run(ends.tokens[0])
    torch.nn.functional.cross_entropy((out @ ends.head[0]).flatten(0, 1), ends.labels[0].flatten()).backward()
    for layer in weights:
        for name in ("wo", "w2"):
            w, gradient = layer[name].detach(), layer[name].grad
            assert gradient is not None
            assert abs(torch.cosine_similarity(w.flatten(), gradient.flatten(), dim=0).item()) < 1e-6


def test_output_norm_explodes_without_qk_norm_and_is_flat_with_it() -> None:
    small = {
        **DECODER,
        "batch": 2,
        "seq_len": 32,
        "placements": ("output_norm",),
        "depths": (2, 8, 16),
        "seeds": (0, 1),
    }
    n = np.sqrt(2 * 32 / 256)  # measured values in the tables are for 256 tokens
    without, held = measured(**small), measured(**small, qk_norm=True)
    free = [rms(without.values("grad_w2", "output_norm", depth)[:, 0]) * n for depth in (2, 8, 16)]
    for depth in (2, 8, 16):
        assert rms(held.values("grad_w2", "output_norm", depth)[:, 0]) * n == pytest.approx(1, abs=0.15)
        assert held.values("residual_mean_square", "output_norm", depth)[:, -1].mean() == pytest.approx(
            1 + 2 * depth, rel=0.08
        )
    assert free[1] > 2.5 * free[0]
    assert free[2] > 2.5 * free[1]


def test_gpt2_init_makes_stream_and_gradients_independent_of_depth() -> None:
    result = measured(**{**DECODER, "d_ff": 1024}, init="gpt2", depths=(2, 4, 12), seeds=(0,))
    for depth in (2, 4, 12):
        assert 7.6e-3 < result.values("residual_mean_square", "pre_norm", depth)[0, -1] < 8.7e-3
        assert 1.17 < result.values("grad_w2", "pre_norm", depth)[0, -1] < 1.29
        np.testing.assert_allclose(result.values("grad_w2", "post_norm", depth), 0.110, rtol=0.02)


def test_no_norm_grows_geometrically() -> None:
    result = measured(**DECODER, placements=("no_norm",), depths=(8,), seeds=(0, 1))
    stream = result.values("residual_mean_square", "no_norm", 8).mean(axis=0)
    assert 500 < stream[-1] < 4000  # 1477 +- 50 over ten seeds
    assert result.values("grad_w2", "no_norm", 8)[:, 0].min() > 1e3


VARIANTS = (
    "deep_norm",
    "keel",
    "layer_norm_scaling",
    "hybrid_norm",
    "b2t",
    "sub_ln",
    "resi_dual",
    "parallel",
    "pre_norm",
)
FFN_VARIANCE = 0.23290  # c_F of GELU with Xavier weights, at any width


@pytest.fixture(scope="module")
def variants() -> DepthSweep:
    narrow = {**DECODER, "d_model": 128, "d_ff": 512}
    return measured(**narrow, placements=VARIANTS, depths=(4, 8, 16), seeds=(0, 1), gradients=("w2",))


@pytest.mark.parametrize("depth", [4, 8, 16])
def test_deep_norm_and_keel_weigh_the_stream_by_their_alpha(variants: DepthSweep, depth: int) -> None:
    # The branches that DeepNorm adds are small by beta, and Keel's are one part in (2L)^2.
    for placement, law, tolerance in (("deep_norm", np.sqrt(2 * depth), 0.12), ("keel", (2 * depth) ** 2, 0.03)):
        entering = variants.values("pre_norm_mean_square", placement, depth)[:, 1:]
        np.testing.assert_allclose(entering, law, rtol=tolerance)


def test_deep_norm_gradients_are_flat_over_the_layers(variants: DepthSweep) -> None:
    profile = variants.values("grad_w2", "deep_norm", 16).mean(axis=0)
    assert profile.max() / profile.min() < 1.25


def test_layer_norm_scaling_grows_like_a_logarithm(variants: DepthSweep) -> None:
    scaled, plain = (
        variants.values("residual_mean_square", name, 16).mean(axis=0) for name in ("layer_norm_scaling", "pre_norm")
    )
    assert scaled[16] - scaled[8] == pytest.approx(scaled[8] - scaled[4], rel=0.35)  # equal for a logarithm
    assert plain[16] - plain[8] > 1.8 * (plain[8] - plain[4])  # twice as much for a line


def test_hybrid_norm_ends_at_one_plus_the_feed_forward_variance(variants: DepthSweep) -> None:
    stream = variants.values("residual_mean_square", "hybrid_norm", 8)[:, 1:]
    np.testing.assert_allclose(stream.mean(axis=0), 1 + FFN_VARIANCE, rtol=0.04)


def test_b2t_enters_its_second_norm_near_its_law(variants: DepthSweep) -> None:
    # 2 + 2 / sqrt(1 + a) + c_F; a, the share of attention that alike tokens leave, rises to 1.
    entering = variants.values("pre_norm_mean_square", "b2t", 16)[:, 2::2].mean(axis=0)
    assert entering[0] > entering[-1] > 3.5
    assert entering[-1] == pytest.approx(2 + 2 / np.sqrt(2) + FFN_VARIANCE, rel=0.06)


@pytest.mark.parametrize("depth", [8, 16])
def test_sub_ln_grows_as_measured(variants: DepthSweep, depth: int) -> None:
    last = variants.values("residual_mean_square", "sub_ln", depth)[:, -1].mean()
    assert last == pytest.approx(1 + 2.6 * depth * np.log(2 * depth), rel=0.15)


def test_resi_dual_keeps_two_unit_streams(variants: DepthSweep) -> None:
    np.testing.assert_allclose(variants.values("residual_mean_square", "resi_dual", 16), 1, rtol=1e-3)
    assert variants.values("second_mean_square", "resi_dual", 16)[:, -1].min() > 3


def test_the_parallel_block_is_close_to_pre_norm(variants: DepthSweep) -> None:
    both = [variants.values("residual_mean_square", name, 16)[:, -1].mean() for name in ("parallel", "pre_norm")]
    assert both[0] == pytest.approx(both[1], rel=0.25)


def test_rezero_starts_as_the_identity_and_only_its_gates_have_gradients() -> None:
    result = measured(**DECODER, placements=("rezero",), depths=(4,), seeds=(0,))
    assert np.ptp(result.values("residual_mean_square", "rezero", 4)) == 0
    assert not result.values("grad_all", "rezero", 4).any()
    assert result.values("grad_alpha", "rezero", 4).min() > 0
