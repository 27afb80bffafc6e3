"""Does the vector lab show the chapter's numbers, and stay calm at bad input?"""

import pytest

from normviz.ui.table import after_edits
from tests.labs.conftest import said


def test_the_first_view_shows_the_chapters_numbers(open_lab):
    words = said(open_lab("vector"))
    for number in ("2.5000", "1.2500", "1.1180", "2.7386"):
        assert number in words
    assert r"-1.3416,\allowbreak\ -0.4472,\allowbreak\ 0.4472,\allowbreak\ 1.3416" in words
    assert r"0.3651,\allowbreak\ 0.7303,\allowbreak\ 1.0954,\allowbreak\ 1.4606" in words


def test_a_typed_vector_changes_every_step(open_lab):
    page = open_lab("vector")
    page.text_area(key="vector.x").set_value("3 4").run()
    assert r"\frac{1}{2}\,(3 + 4) = 3.5000" in said(page)
    assert page.query_params["x"] == "3 4"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("1, nan", "NaN"),
        ("1, inf", "infinite"),
        ("1, two", "two"),
        ("[[1, 2], [3, 4]]", "one"),
        ("1 " * 1_000_001, "1000000"),
        ("1e308, -1e308", "1e+308"),
    ],
)
def test_a_bad_vector_gets_a_sentence_and_the_last_good_one_stays(open_lab, text, sentence):
    page = open_lab("vector")
    page.text_area(key="vector.x").set_value("5, 6").run()
    page.text_area(key="vector.x").set_value(text).run()
    assert not page.exception
    assert len(page.error) == 1
    assert sentence in page.error[0].value
    assert "5, 6" in page.error[0].value
    assert r"\frac{1}{2}\,(5 + 6)" in said(page)
    assert page.query_params["x"] == "5, 6"


def test_a_bad_vector_is_explained_in_chinese(open_lab):
    page = open_lab("vector", "zh")
    page.text_area(key="vector.x").set_value("1, nan").run()
    assert any("\u4e00" <= letter <= "\u9fff" for letter in page.error[0].value)


def test_a_constant_vector_without_eps_has_no_layer_norm_but_an_rms_norm(open_lab):
    page = open_lab("vector", x="2, 2, 2")
    assert not page.exception
    assert len(page.error) == 1
    assert r"1,\allowbreak\ 1,\allowbreak\ 1" in said(page)


def test_a_constant_vector_with_eps_is_all_zero(open_lab):
    page = open_lab("vector", x="2, 2, 2", eps="1e-5")
    assert not page.error
    assert r"[0,\allowbreak\ 0,\allowbreak\ 0]" in said(page)


def test_one_number_is_a_vector(open_lab):
    page = open_lab("vector", x="-7", eps="1e-5")
    assert not page.exception
    assert not page.error


def test_weight_and_bias_are_one_number_or_one_per_entry(open_lab):
    page = open_lab("vector", w="2", b="1, 0, 0, 0")
    assert r"w \odot \hat x + b" in said(page)
    page.text_input(key="vector.w").set_value("1, 2").run()
    assert len(page.error) == 1
    assert "4" in page.error[0].value


@pytest.mark.parametrize("x", ["1e-170, 2e-170", "5e-324, 0"])
def test_numbers_too_small_to_square_are_explained(open_lab, x):
    page = open_lab("vector", x=x)
    assert not page.exception
    assert page.error


def test_a_bad_weight_names_its_field(open_lab):
    page = open_lab("vector")
    page.text_input(key="vector.w").set_value("a").run()
    assert len(page.error) == 1
    assert page.error[0].value.startswith("**Weight**")


def test_a_long_vector_has_no_table_and_is_not_in_the_link(open_lab):
    page = open_lab("vector")
    page.text_area(key="vector.x").set_value(" ".join(str(n) for n in range(3000))).run()
    assert not page.exception
    assert "x" not in page.query_params
    assert "too long for a link" in said(page)


def test_edits_of_the_table_become_the_vector():
    edits = {"edited_rows": {"1": {"x": 9.0}}, "added_rows": [{"x": 5.0}, {}], "deleted_rows": [0]}
    assert after_edits([1.0, 2.0, 3.0], edits).tolist() == [9.0, 3.0, 5.0]


def test_a_cleared_entry_of_the_table_is_left_out():
    edits = {"edited_rows": {"0": {"x": None}}, "added_rows": [], "deleted_rows": []}
    assert after_edits([1.0, 2.0], edits).tolist() == [2.0]
