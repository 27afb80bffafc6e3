"""Does every incident's claim hold, judged by PyTorch and closed forms?"""

from __future__ import annotations

import math
import string
from collections.abc import Mapping

import ml_dtypes
import numpy as np
import pytest
import torch
from transformers import BertConfig
from transformers.models.gemma.modeling_gemma import GemmaRMSNorm

from normviz.floats import INCIDENTS, norm_steps, variance_errors
from normviz.floats.claims import T5_VALUE
from normviz.text import Text, catalogue


def numbers(incident: str) -> Mapping[str, float]:
    return {name: value for claim in INCIDENTS[incident].claims() for name, value in claim.values.items()}


def naive(x: torch.Tensor, eps: float) -> torch.Tensor:
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)


@pytest.mark.parametrize("name", INCIDENTS)
def test_every_sentence_has_its_numbers_under_names_of_their_own(name: str) -> None:
    fields = []
    for claim in INCIDENTS[name].claims():
        named = [field for _, field, _, _ in string.Formatter().parse(claim.sentence) if field]
        assert set(named) == set(claim.values)
        fields += named
    assert len(fields) == len(set(fields))
    assert INCIDENTS[name].setting.trace().steps


def test_4096_values_of_100() -> None:
    found = numbers("sum")
    assert found["total"] == 4096 * 100**2 == 4.096e7
    assert found["largest"] == torch.finfo(torch.float16).max
    assert found["times"] == pytest.approx(625.3, abs=0.05)
    running = torch.zeros((), dtype=torch.float16)
    for term in range(1, int(found["term"]) + 1):
        running = running + torch.tensor(100.0, dtype=torch.float16) ** 2
        assert bool(running.isinf()) == (term == 7)
    assert found["term"] == 7
    assert found["naive"] == 0
    x = torch.full((4096,), 100.0, dtype=torch.float16)
    assert x.pow(2).mean() == found["mean"] == 10_000
    assert x.pow(2).sum().isinf()
    assert torch.equal(naive(x, 1e-6), torch.full_like(x, found["kept"]))
    assert found["kept"] == 1
    trace = INCIDENTS["sum"].setting.trace()
    assert trace["sum"].first_overflow == 6
    assert trace.first_overflow == "sum"


def test_a_value_of_256() -> None:
    found = numbers("square")
    below = torch.nextafter(torch.tensor(256.0).half(), torch.tensor(0.0).half())
    assert found["fits"] == below.item() == 255.875
    assert below.square().isfinite()
    assert torch.tensor(256.0).half().square().isinf()
    for value, name in ((255.0, "inside"), (256.0, "beyond")):
        x = torch.full((4096,), value, dtype=torch.float16)
        assert torch.equal(naive(x, 1e-6), torch.full_like(x, found[name]))
    x = torch.full((4096,), 256.0, dtype=torch.float16)
    assert torch.nn.functional.rms_norm(x, (4096,), eps=1e-6)[0] == found["wide"] == 1
    assert (found["inside"], found["beyond"]) == (1, 0)
    normal = torch.distributions.Normal(0.0, 100.0)
    assert found["share"] == pytest.approx(2 * normal.cdf(torch.tensor(-256.0)).item(), rel=1e-4)
    assert found["share"] == pytest.approx(0.0105, abs=5e-5)
    assert found["count"] == 4096 * found["share"]
    drawn = torch.from_numpy(np.random.default_rng(0).normal(scale=100.0, size=(50, 4096))).half()
    assert (naive(drawn, 1e-6) == 0).all()


def test_t5() -> None:
    found = numbers("t5")
    assert found["value"] == T5_VALUE
    x = torch.tensor(INCIDENTS["t5"].setting.x, dtype=torch.float32)
    assert x[0].half().isinf()
    assert found["held"] == math.inf
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    with torch.no_grad():
        output = T5LayerNorm(x.numel(), eps=1e-6).half()(x.half())
    assert output[0].isnan()
    assert math.isnan(found["first"])
    assert (output[1:] == 0).all()
    assert found["other"] == 0
    assert x[0].bfloat16() == found["coarse"] == 66_048
    assert x[0].item() == found["fine"]


def test_the_orders_differ_as_the_classes_do() -> None:
    found = numbers("orders")
    assert found["olmo"] == pytest.approx(0.259, abs=0.015)
    assert found["gemma"] == pytest.approx(0.380, abs=0.015)
    assert found["t5"] == found["gemma3n"] == 0
    assert found["twice"] == pytest.approx(2.33e-3, rel=0.03)
    assert found["once"] == pytest.approx(1.66e-3, rel=0.03)


def test_one_plus_w_in_bfloat16() -> None:
    found = numbers("one_plus_w")
    one = torch.ones((), dtype=torch.bfloat16)
    for end in ("low", "high"):
        w = torch.tensor(found[end], dtype=torch.bfloat16)
        assert w.item() == found[end]
        assert one + w == 1
        assert one + w * 1.01 != 1
    # Normal weights between both ends.
    expected = sum(math.erf(abs(found[end]) / found["std"] / math.sqrt(2)) / 2 for end in ("low", "high"))
    assert found["share"] == pytest.approx(expected, abs=0.005)
    assert found["largest"] == pytest.approx(2.0**-8, rel=0.01)
    # Gemma's class adds in float32 and keeps such a weight.
    module = GemmaRMSNorm(8, eps=1e-6).bfloat16()
    torch.nn.init.constant_(module.weight, found["high"])
    with torch.no_grad():
        assert (module(torch.full((8,), 127.0).bfloat16()) == torch.tensor(1 + found["high"]).bfloat16()).all()
        assert (1.0 + module.weight.float() != 1).all()


def test_w_is_stored_32_times_finer_than_the_scale() -> None:
    found = numbers("stored")
    assert found["as_w"] == pytest.approx(1.2e-4, rel=0.03)
    assert found["as_scale"] == pytest.approx(3.9e-3, rel=0.01)
    assert found["times"] == pytest.approx(32, rel=0.02)
    # The spacing at 1 over that in the binade of the largest weight, both of bfloat16.
    spacing = np.spacing(np.array([1.0, 0.04]).astype(ml_dtypes.bfloat16)).astype(float)
    assert spacing[0] / spacing[1] == 32


def test_eps_in_float16() -> None:
    found = numbers("eps")
    assert BertConfig().layer_norm_eps == 1e-12
    for name, value in (("bert", 1e-12), ("llama", 1e-6), ("gpt", 1e-5), ("square", 1e-8)):
        assert torch.tensor(value).half().item() == found[name]
    assert found["bert"] == found["square"] == 0
    assert found["llama"] == pytest.approx(1.013e-6, rel=1e-3)
    assert found["gpt"] == pytest.approx(1.001e-5, rel=1e-3)
    x = torch.full((64,), 1e-4).half()
    assert (x * (x.pow(2).mean() + 1e-12).rsqrt()).isinf().all()
    assert found["output"] == math.inf


def test_variance_in_one_pass() -> None:
    found = numbers("one_pass")
    for ratio, name, fact in ((1e2, "hundred", 1.8e-3), (1e3, "thousand", 0.13), (1e4, "more", 24)):
        x = torch.from_numpy(ratio + np.random.default_rng(0).standard_normal((256, 1024))).float()
        exact = x.double().var(-1, unbiased=False)
        one_pass = x.square().mean(-1) - x.mean(-1).square()
        two_pass = (x - x.mean(-1, keepdim=True)).square().mean(-1)
        errors = [(v.double() / exact - 1).square().mean().sqrt().item() for v in (one_pass, two_pass)]
        assert variance_errors(ratio) == pytest.approx(errors, rel=1e-9)
        assert found[name] == pytest.approx(errors[0], rel=1e-9)
        # FACTS 7 does not say d, nor what is averaged; the claim does.
        assert fact / 3 < found[name] < fact * 3
    assert found["two_pass"] == pytest.approx(5e-8, rel=0.3)
    assert (found["rows"], found["d"]) == (256, 1024)


def test_only_reports_of_models_and_libraries_happened() -> None:
    happened = {name for name, incident in INCIDENTS.items() if incident.happened}
    assert happened == {"square", "t5", "orders", "one_plus_w"}
    for name in happened:
        assert INCIDENTS[name].source.startswith("https://github.com/")


def test_a_bfloat16_residual_stream() -> None:
    found = numbers("residual")
    stream = torch.tensor(256.0, dtype=torch.bfloat16)
    assert stream + 0.5 == stream + 1 == stream
    assert (found["ulp"], found["half"], found["one"]) == (2, 256, 256)
    for _ in range(int(found["steps"])):
        stream = stream + 1
    assert (stream.item(), found["exact"]) == (found["stream"], 256 + found["steps"])
    assert found["share"] == 1 / 512
    sizes = torch.linspace(256, 512, 129).bfloat16()
    assert torch.equal(sizes + sizes * (found["share"] * 0.98), sizes)


def test_naive_and_upcast_of_the_acceptance_list() -> None:
    """FACTS A11: naive float16 of 256.0 is 0.0, of 255.0 is 1.0; upcast is 1.0."""
    for value, accumulate, expected in ((256.0, "sum", 0), (255.0, "sum", 1), (256.0, "float32", 1)):
        output = norm_steps(np.full(16, value), "rms_norm", "float16", eps=1e-6, accumulate=accumulate).output
        assert (output == expected).all()


def test_claims_are_sentences_in_both_languages() -> None:
    from normviz.figures.numerics import claim_text

    for incident in INCIDENTS.values():
        for claim in incident.claims():
            for lang in ("en", "zh"):
                said = claim_text(claim, Text(lang))
                assert "{" not in said
                assert said[-1] in ".。"
            if claim.sentence in catalogue("zh"):
                assert any("一" <= letter <= "鿿" for letter in claim_text(claim, Text("zh")))
