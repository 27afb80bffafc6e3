"""Do the scripts of the placement lab's families find what the page shows?"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from normviz.errors import InputError
from normviz.families import FAMILIES, KNOWN, Names, Sizes, decode, norm_parameters, sizes_needed
from normviz.snippets.families import LISTED, MODELS, counts_script, decoder_script, family_script
from tests.families.keys import model, names
from tests.families.tiny import CASES
from tests.snippets.scripts import run


@pytest.mark.parametrize("family", ["llama", "gemma2", "olmo", "t5"])
def test_decoder_script_finds_what_the_page_finds(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    given = names(model(family))
    found = run(decoder_script(given))["decoded"]
    assert found == decode(given)
    out = capsys.readouterr().out
    assert all(FAMILIES[name].label in out for name in found.candidates)
    assert all(norm.key in out for norm in found.found)


def test_many_names_are_read_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    keys = (*(f"model.layers.{i}.input_layernorm.weight" for i in range(LISTED)), "model.norm.weight")
    Path("names.txt").write_text("\n".join(keys), encoding="utf-8")
    given = Names(keys=keys, shapes={})
    assert run(decoder_script(given))["decoded"] == decode(given)


@pytest.mark.parametrize("known", sorted(KNOWN))
def test_counts_script_counts_a_known_model(known: str) -> None:
    given = KNOWN[known]
    count = run(counts_script(given.family, given.sizes))["count"]
    assert count == norm_parameters(FAMILIES[given.family], given.sizes)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_counts_script_counts_any_sizes(family: str) -> None:
    sizes = Sizes(**{**dict.fromkeys(sizes_needed(FAMILIES[family]), 8), "n_layers": 9})
    assert run(counts_script(family, sizes))["count"] == norm_parameters(FAMILIES[family], sizes)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_family_script_prints_the_norms_of_the_table(family: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = family_script(family)
    assert "normviz" not in script
    norms = run(script)["norms"]
    out = capsys.readouterr().out
    sites = FAMILIES[family].sites
    patterns = [re.escape(site.name).replace(r"\{i\}", r"\d+") for site in sites]
    for name in norms:
        assert f"{name} " in out
        assert any(re.fullmatch(pattern, name) for pattern in patterns), name
    for pattern, site in zip(patterns, sites, strict=True):
        assert site.optional or any(re.fullmatch(pattern, name) for name in norms), site.name
    eps = {site.eps or FAMILIES[family].eps for site in sites}
    printed = {float(text) for text in re.findall(r"eps (\S+)$", out, re.MULTILINE) if text != "None"}
    assert printed == (set() if family == "olmo" else eps)


def test_every_family_has_its_model() -> None:
    assert set(MODELS) == set(FAMILIES)
    for family, (name, config) in MODELS.items():
        assert (name, config.partition("(")[0]) == CASES[family][:2]


@pytest.mark.parametrize("write", [family_script, lambda family: counts_script(family, Sizes(n_layers=1, d_model=1))])
def test_an_unknown_family_is_refused(write: object) -> None:
    with pytest.raises(InputError, match="family can be llama"):
        write("grok")  # type: ignore[operator]
