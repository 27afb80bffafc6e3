"""Does the numerics lab show what the formats make of a norm?"""

from __future__ import annotations

import re

import numpy as np
import pytest

from normviz.figures.numerics import claim_text
from normviz.floats import INCIDENTS, MARKS, difference, norm_steps
from normviz.link import knob
from normviz.text import Text
from tests.labs.conftest import said

VIEWS = tuple(knob("numerics", "view").options)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_every_view_opens_and_is_offered_as_two_scripts(open_lab, lang):
    page = open_lab("numerics", lang)
    for view in VIEWS:
        page.segmented_control(key="numerics.view").set_value(view)
        page.session_state["numerics.scripts"] = True
        page.run()
        assert not page.exception
        assert not page.error
        assert bool(re.search("[一-鿿]", said(page))) == (lang == "zh")
        mine, plain = (code.value for code in page.code[-2:])
        assert "normviz" in mine
        assert "normviz" not in plain


def test_each_step_stands_beside_its_neighbours(open_lab):
    page = open_lab("numerics", x="100, 250, -300", format="float16", accumulate="own", entry="2")
    trace = norm_steps(np.array([100.0, 250.0, -300.0]), "rms_norm", "float16", eps=1e-6, accumulate="own")
    table = page.table[0].value
    assert table.loc["squares", "Exact"] == "62500"
    assert table.loc["sum of the squares", "What happened"] == MARKS["overflow"]
    assert table.loc["their mean", "What happened"] == MARKS["carried"]
    assert trace.first_overflow in ("square", "sum")


def test_a_vector_without_a_norm_is_explained(open_lab):
    page = open_lab("numerics", x="0, 0", eps="0")
    assert not page.exception
    assert len(page.error) == 1


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("name", INCIDENTS)
def test_an_incident_says_what_is_computed_for_it(open_lab, name, lang):
    page = open_lab("numerics", lang, view="incidents", incident=name)
    assert not page.exception
    assert (Text(lang)("A danger shown with numbers of its own, not the report of a model.") in said(page)) == (
        not INCIDENTS[name].happened
    )
    for claim in INCIDENTS[name].claims():
        assert claim_text(claim, Text(lang)) in said(page)


def test_two_orders_differ_in_the_share_that_is_measured(open_lab):
    page = open_lab("numerics", view="arithmetic", seed="5")
    share = difference("cast_then_multiply", "multiply_then_cast", seed=5).share
    assert f"{100 * share:.1f} % of the outputs differ" in said(page)
