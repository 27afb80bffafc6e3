"""Does the cost lab count what the formulas say, and refuse what no machine holds?"""

from __future__ import annotations

import re

import pytest

from normviz.cost import LAYERS, layer_share, norm_cost
from normviz.figures.cost.marks import percent
from normviz.link import knob
from tests.labs.conftest import said

VIEWS = tuple(knob("cost", "view").options)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_opens(open_lab, lang):
    page = open_lab("cost", lang)
    for view in VIEWS:
        page.segmented_control(key="cost.view").set_value(view)
        page.session_state["cost.scripts"] = True
        page.run()
        assert not page.exception
        assert not page.error
        assert bool(re.search("[一-鿿]", said(page))) == (lang == "zh")
        assert len(page.code) == 2


def test_the_counts_are_those_of_the_sizes(open_lab):
    table = open_lab("cost", tokens="512", d="768", dtype="float32", way="functional").table[0].value
    for kind, label in (("layer_norm", "LayerNorm"), ("add_rms_norm", "residual addition + RMSNorm")):
        cost = norm_cost(kind, 512, 768, "float32", way="functional")
        assert table.loc[label, "Operations"] == f"{cost.flops:,}"
        assert table.loc[label, "Bytes read"] == f"{cost.bytes_read:,}"


def test_sizes_that_no_machine_holds_are_explained_once(open_lab):
    page = open_lab("cost", tokens=str(2**32), d=str(2**24))
    assert not page.exception
    assert len(page.error) == 1


def test_the_share_of_a_layer_is_that_of_its_sizes(open_lab):
    share = layer_share(LAYERS["gpt3"][1])
    assert f"{percent(share.flops_share())} % of the layer's operations" in said(
        open_lab("cost", view="layer", layer="gpt3")
    )
