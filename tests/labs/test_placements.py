"""Does the placement lab show what the families, the decoder, the bench and the counts compute?"""

from __future__ import annotations

import re

import pytest

from normviz.families import FAMILIES, KNOWN, norm_parameters
from normviz.link import knob
from tests.labs.conftest import said

VIEWS = tuple(knob("placements", "view").options)


def errors(page):
    return [error.value for error in page.error]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_opens_and_is_offered_as_a_script(open_lab, lang):
    page = open_lab("placements", lang)
    for view in VIEWS:
        page.segmented_control(key="placements.view").set_value(view).run()
        assert not page.exception
        assert not errors(page)
        assert bool(re.search("[一-鿿]", said(page))) == (lang == "zh")
        assert any("normviz" in code.value or "transformers" in code.value for code in page.code)


def test_the_counts_of_the_wirings_come_from_the_trace(open_lab):
    table = open_lab("placements", placements="post_norm,pre_norm,sandwich_norm").table[0].value
    assert table["In a layer"].tolist() == [2, 2, 4]
    assert table["On the identity path"].tolist() == [2, 0, 0]


def test_a_search_narrows_the_list_and_finds_nothing_in_words(open_lab):
    page = open_lab("placements", view="families")
    page.text_input(key="placements.search").set_value("sandwich gemma").run()
    shown = page.selectbox(key="placements.family.list").options
    # The family that is shown stays on top until another one is chosen.
    assert [label.split(" (")[0] for label in shown] == ["Llama", "Gemma 2", "Gemma 3", "Gemma 3n", "Gemma 4"]
    assert page.selectbox(key="placements.family.list").value == "llama"
    page.text_input(key="placements.search").set_value("<b>![x](y)").run()
    assert not page.exception
    assert "all are listed" in said(page)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_opens_with_its_names(open_lab, family):
    page = open_lab("placements", view="families", family=family)
    assert not page.exception
    names = page.table[1].value.index.tolist()
    assert names == [site.name for site in FAMILIES[family].sites]


def test_pasted_names_are_decoded_and_a_text_without_names_is_explained(open_lab):
    page = open_lab("placements", view="names")
    field = page.text_area(key="placements.names")
    field.set_value("h.0.ln_1.weight\nh.0.ln_1.bias\nh.0.ln_2.weight\nh.0.ln_2.bias").run()
    assert "GPT-2" in said(page)
    assert "ln_f" in said(page)  # missing, and said so
    page.text_area(key="placements.names").set_value("Dear reader, this is a letter.").run()
    assert not page.exception
    assert len(errors(page)) == 1
    assert "GPT-2" in said(page)


def test_the_bench_names_the_mistakes_that_the_family_offers(open_lab):
    page = open_lab("placements", view="porting", family="gemma2")
    offered = {toggle.key.removeprefix("placements.mistake_") for toggle in page.toggle}
    assert "scale_for_w" in offered
    assert "no_bias" not in offered


def test_a_known_models_sizes_give_its_count(open_lab):
    page = open_lab("placements", view="counts")
    for name in ("gpt3", "qwen3_8b"):
        page.selectbox(key="placements.known.list").set_value(name).run()
        model = KNOWN[name]
        assert f"{norm_parameters(FAMILIES[model.family], model.sizes).total:,} parameters" in said(page)
        assert page.selectbox(key="placements.known.list").value == name


def test_sizes_of_no_model_are_explained(open_lab):
    page = open_lab("placements", view="counts", n_layers="0")
    assert not page.exception
    assert "1 to 10000" in page.warning[0].value
    page = open_lab("placements", view="counts", family="qwen3", head_dim="0")
    assert len(errors(page)) == 1


def test_a_model_with_the_sizes_of_another_stays_the_one_that_was_chosen(open_lab):
    page = open_lab("placements", view="counts")
    page.selectbox(key="placements.known.list").set_value("llama3_8b").run()
    assert page.selectbox(key="placements.known.list").value == "llama3_8b"


def test_a_list_that_fits_many_families_is_headed_by_none(open_lab):
    page = open_lab("placements", view="names", names="model.layers.0.input_layernorm.weight")
    assert "Too few names" in said(page)
