"""Does the depth lab run, join, cancel and explain?"""

import time

import pytest

from normviz.ui import server
from tests.labs.conftest import PATIENCE, said

SMALL = {"depths": "1,2", "seeds": "1", "d_model": "32", "seq_len": "8", "batch": "2", "layers": "2"}


def finished(page, state="done"):
    """Run the page until its sweep has ended."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        page.run()
        job = server.board().view(page.session_state["depth.job"])
        if job.state not in ("waiting", "running"):
            assert job.state == state, (job.state, job.message)
            return page.run()
        time.sleep(0.2)
    pytest.fail("The sweep did not end")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_small_sweep_of_a_link_starts_by_itself_and_says_what_measured_it(open_lab, lang):
    page = finished(open_lab("depth", lang, **SMALL))
    assert not page.exception
    assert not page.error
    for word in ("cpu", "float32"):
        assert word in said(page)


def test_the_second_visitor_of_a_link_finds_the_result(open_lab):
    finished(open_lab("depth", **SMALL))
    page = open_lab("depth", **SMALL)
    assert page.button(key="depth.run").disabled
    assert "Measured on" in said(page)


def test_changed_knobs_wait_for_run(open_lab):
    page = finished(open_lab("depth", **SMALL))
    page.slider(key="depth.seeds").set_value(16).run()
    page.pills(key="depth.depths").set_value(["64", "128"]).run()
    assert not page.button(key="depth.run").disabled
    assert any("until you press Run" in note.value for note in page.info)


def test_a_sweep_above_the_hosts_limit_names_the_knob_to_lower(open_lab):
    page = open_lab("depth", d_model="1024", depths="128", seq_len="512", batch="64", seeds="16")
    assert page.button(key="depth.run").disabled
    assert len(page.error) == 1
    assert not page.exception


def test_knobs_that_do_not_fit_together_are_explained(open_lab):
    page = open_lab("depth", attention="uniform", qk_norm="1")
    assert len(page.error) >= 1
    assert not page.exception


def test_an_emptied_choice_keeps_the_last_one(open_lab):
    page = finished(open_lab("depth", **SMALL))
    page.pills(key="depth.placements").set_value([]).run()
    assert not page.exception
    assert len(page.error) == 1
    assert "Placements" in page.error[0].value
    assert "Pre-Norm" in page.error[0].value
    assert "placements" not in page.query_params
    assert page.button(key="depth.run").disabled


def test_a_depth_that_was_not_measured_is_said(open_lab):
    page = finished(open_lab("depth", **{**SMALL, "layers": "128"}))
    assert "128 layers are not measured" in said(page)


@pytest.mark.parametrize("text", ["abc", "-5", "0"])
def test_an_unusable_limit_of_the_host_is_explained(open_lab, monkeypatch, text):
    monkeypatch.setenv("NORMVIZ_MAX_SECONDS", text)
    page = open_lab("depth", **{**SMALL, "seeds": "7"})
    assert not page.exception
    assert any("NORMVIZ_MAX_SECONDS" in error.value for error in page.error)


def test_cancel_keeps_what_arrived_and_go_on_measures_the_rest(open_lab):
    page = open_lab("depth", d_model="128", depths="16,32,64", seeds="8", seq_len="64")
    page.button(key="depth.run").click().run()
    assert not page.button(key="depth.cancel").disabled
    page.button(key="depth.cancel").click().run()
    page = finished(page, "cancelled")
    assert any("Cancelled" in note.value for note in page.warning)
    assert page.button(key="depth.run").label == "Go on"


def test_a_sweep_that_two_watch_goes_on_until_both_have_left(open_lab):
    long = {"d_model": "128", "depths": "16,32,64", "seeds": "9", "seq_len": "64"}
    pages = [open_lab("depth", **long), open_lab("depth", **long)]
    for page in pages:
        if not page.button(key="depth.run").disabled:
            page.button(key="depth.run").click().run()
    first, second = pages
    first.button(key="depth.cancel").click().run()
    first.run()
    assert any("You left this sweep" in note.value for note in first.info)
    assert first.button(key="depth.cancel").disabled
    second.button(key="depth.cancel").click().run()
    finished(second, "cancelled")


def test_the_other_labs_work_and_the_depth_lab_explains_when_there_is_no_cluster(open_lab, monkeypatch):
    server.board().close()
    monkeypatch.setenv("NORMVIZ_SCHEDULER", "tcp://127.0.0.1:1")
    server.start_afresh()
    page = open_lab("depth", **{**SMALL, "seeds": "3"})
    end = time.monotonic() + PATIENCE
    while server.board().cluster.state == "starting" and time.monotonic() < end:
        time.sleep(0.1)
    page.run()
    assert not page.exception
    assert any("cluster" in note.value for note in page.error)
    assert "127.0.0.1:1" in said(page)
    assert not open_lab("vector").exception
    monkeypatch.undo()
    server.board().close()
    server.start_afresh()
