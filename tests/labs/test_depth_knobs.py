"""Can the depth lab's knobs stand for every preset and for what every claim asks for, and do they come back?"""

import pytest

from normviz.depth.claims import CLAIMS
from normviz.depth.config import SweepConfig
from normviz.depth.presets import PRESETS, preset
from normviz.errors import InputError
from normviz.ui.depth.knobs import knob_values
from tests.labs.conftest import said
from tests.labs.test_depth import SMALL, finished


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_set(name):
    assert knob_values(preset(name))


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_what_tests_a_claim_can_be_set(claim):
    assert knob_values(SweepConfig.from_dict({**SweepConfig().to_dict(), **claim.knobs}))


@pytest.mark.parametrize("changes", [{"seeds": (3,)}, {"vocab_size": 50}, {"d_model": 48}, {"depths": (3,)}])
def test_what_no_knob_stands_for_is_refused(changes):
    with pytest.raises(InputError):
        knob_values(SweepConfig(**changes))


@pytest.mark.parametrize("name", ["xiong_2020", "olmo2"])
def test_choosing_a_preset_turns_the_knobs_and_says_what_it_leaves_out(open_lab, name):
    page = open_lab("depth", **SMALL)
    page.selectbox(key="depth.preset").set_value(name).run()
    assert not page.exception
    config = preset(name)
    assert page.session_state["depth.config"] == config
    assert page.selectbox(key="depth.preset").value == name
    assert "Left out" in said(page)
    page.slider(key="depth.seeds").set_value(5).run()
    assert page.selectbox(key="depth.preset").value == "own"


def test_the_defaults_are_the_classroom_and_leave_the_link_empty(open_lab):
    page = open_lab("depth")
    assert page.selectbox(key="depth.preset").value == "classroom"
    page.selectbox(key="depth.preset").set_value("bert").run()
    assert dict(page.query_params)["init"] == "std02"
    page.selectbox(key="depth.preset").set_value("classroom").run()
    assert set(page.query_params) == {"lang"}


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_claims_are_judged_and_one_click_sets_what_tests_them(open_lab, lang):
    page = finished(open_lab("depth", lang, **{**SMALL, "depths": "1,2", "view": "claims"}))
    assert not page.exception
    assert len(page.expander) >= len(CLAIMS)
    page.button(key="depth.claim.sandwich_adds_one").click().run()
    assert not page.exception
    assert "sandwich_norm" in page.session_state["depth.config"].placements


@pytest.mark.parametrize("view", ["gradients", "map", "stream", "attention", "claims"])
@pytest.mark.parametrize("fields", [{}, {"attention": "uniform"}, {"placements": "rezero,no_norm", "norm": "none"}])
def test_every_view_draws_every_kind_of_run(open_lab, view, fields):
    page = finished(open_lab("depth", **{**SMALL, **fields, "view": view}))
    assert not page.exception
    assert not page.error


@pytest.mark.parametrize("view", ["gradients", "map"])
def test_a_matrix_that_no_model_has_is_said(open_lab, view):
    page = finished(open_lab("depth", **SMALL, quantity="grad_wg", view=view))
    assert not page.exception
    assert any("nothing to show here: L2 norm of dLoss/dWG" in note.value for note in page.info)


def test_half_precision_offers_its_deviation_from_float32(open_lab):
    page = finished(open_lab("depth", **{**SMALL, "seeds": "4", "dtype": "mixed"}))
    page.button(key="depth.twin.run").click().run()
    assert not page.exception
    for _ in range(200):
        page.run()
        if "Largest relative deviation" in said(page):
            return
    pytest.fail("The deviation was not shown")
