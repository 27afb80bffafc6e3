"""Do the scripts of the cost lab count what the page counts, and time what the page times?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

from normviz.cost import KINDS, LAYERS, PAPER, BenchConfig, LayerSizes, layer_share, norm_cost
from normviz.cost.ways import eager
from normviz.errors import InputError
from normviz.snippets.cost import TITLES, cost_script, cost_torch_script
from tests.snippets.scripts import run

TINY = BenchConfig(kinds=tuple(KINDS), ways=("eager", "functional"), tokens=3, d=4, repeats=3, device="cpu")
DECODING = replace(LAYERS["llama3_8b"][1], batch=4, tokens=1, norms=4)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_counts_are_the_pages(dtype: str, capsys: pytest.CaptureFixture[str]) -> None:
    config = replace(TINY, dtype=dtype, ways=("eager", "functional", "compiled"))
    own, plain = (run(script("counts", config=config))["costs"] for script in (cost_script, cost_torch_script))
    assert list(own) == list(plain) == list(config.variants)
    for name, cost in own.items():
        kind, way = name.split("/")
        assert cost == norm_cost(kind, 3, 4, dtype, way=way)
        assert plain[name] == (cost.flops, cost.bytes_read, cost.bytes_written)
    assert "FLOP/byte" in capsys.readouterr().out


@pytest.mark.parametrize("sizes", [LayerSizes(), LAYERS["gpt2"][1], DECODING])
def test_layer_is_the_pages(sizes: LayerSizes) -> None:
    share = layer_share(sizes)
    assert run(cost_script("layer", sizes=sizes))["share"] == share
    parts = run(cost_torch_script("layer", sizes=sizes))["parts"]
    assert parts == {part.id: (part.flops, part.bytes) for part in share.parts}


@pytest.fixture
def gradients() -> Any:
    before = torch.is_grad_enabled()
    yield
    torch.set_grad_enabled(before)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_bench_times_every_variant(dtype: str) -> None:
    config = replace(TINY, dtype=dtype, kinds=("rms_norm",))
    result = run(cost_script("bench", config=config))["result"]
    assert (result.config, result.measured) == (config, config.variants)


@pytest.mark.usefixtures("gradients")
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_plain_bench_times_the_same_lines(dtype: str) -> None:
    script = cost_torch_script("bench", config=replace(TINY, dtype=dtype))
    assert "normviz" not in script
    names = run(script)
    assert list(names["ratios"]) == list(TINY.variants)
    assert all(len(values) == 3 and min(values) > 0 for values in names["ratios"].values())
    given = [names[name] for name in ("x", "f", "weight", "bias")]
    for kind in KINDS:
        for own, other in zip(names["eager"](kind), eager(kind, *given), strict=True):
            assert torch.equal(own, other)


@pytest.mark.usefixtures("gradients")
def test_plain_bench_goes_on_without_a_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise RuntimeError("no compiler\nat all")

    monkeypatch.setattr(torch, "compile", refuse)
    names = run(cost_torch_script("bench", config=replace(TINY, kinds=("rms_norm",), ways=("functional", "compiled"))))
    assert list(names["ratios"]) == ["rms_norm/functional"]
    assert "torch.compile cannot run here: no compiler" in capsys.readouterr().out


@pytest.mark.usefixtures("gradients")
def test_paper_is_the_papers_and_this_machine_stands_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    """FACTS 3.1: 6.9 % for the Transformer, 40.8 (63.9) % for the order embeddings."""
    own = run(cost_script("paper"))["saved"]
    said = capsys.readouterr().out
    names = run(cost_torch_script("paper", config=replace(TINY, kinds=("add_rms_norm",), repeats=4)))
    plain = capsys.readouterr().out
    for printed in (said, plain):
        assert "RMSNorm saves 6.9%" in printed
        assert "RMSNorm saves 40.8%, pRMSNorm 63.9%" in printed
    assert [names["saved"][row.label] for row in PAPER] == [saved for saved, _ in own.values()]
    for way in ("eager", "functional"):
        ratios = (names["ratios"][f"{kind}/{way}"] for kind in ("rms_norm", "layer_norm"))
        assert names["here"][way] == [1 - rms / layer for rms, layer in zip(*ratios, strict=True)]
        assert f"the norm alone here, {way}:" in plain


@pytest.mark.parametrize("script", [cost_script, cost_torch_script])
def test_an_unknown_view_is_said(script: Any) -> None:
    with pytest.raises(InputError, match="view can be counts, bench, layer, paper"):
        script("money")
    for view in TITLES:
        compile(script(view), view, "exec")
