"""Does the vector lab show the chapter's numbers, and stay calm at bad input?"""

import re

import numpy as np
import pytest

from normviz.link import KNOBS, read
from normviz.slips import SLIPS
from normviz.text import LANGUAGES, Text
from normviz.ui.table import after_edits
from normviz.vectors import VECTORS
from tests.labs.conftest import said

VIEWS = list(next(knob for knob in KNOBS["vector"] if knob.id == "view").options)


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


def views_of(page):
    """The page in each of its views, one after the other."""
    for view in VIEWS:
        page.segmented_control(key="vector.view").set_value(view).run()
        assert not page.exception
        yield view


@pytest.mark.parametrize(
    "query",
    [
        {"x": "5", "eps": "1e-5"},
        {"x": "2, 5", "w": "0, 1", "b": "1"},
        {"x": "1, 2, 4", "w_is": "random", "b_is": "random", "cloud": "1"},
        {"x": "3, 3, 3, 3", "eps": "1e-5", "scale": "-1", "shift": "2"},
        {"x": "1e-140, 2e-140, 5e-140"},
        {"x": "1e150, -1e150, 3"},
        {"source": "random", "d": "64", "w": "2", "offset": "1", "cloud": "1", "dist": "exponential", "mean": "3"},
        {"source": "hidden", "d": "5000", "scale": "0", "eps": "1e-5"},
        {"source": "random", "d": "1000000", "cloud": "1"},
    ],
    ids=lambda query: str(query.get("x", query.get("source"))),
)
def test_every_view_is_drawn_for_vectors_of_all_kinds(open_lab, query):
    page = open_lab("vector", **query)
    for _ in views_of(page):
        assert not page.error
        assert not page.warning


@pytest.mark.parametrize(("x", "undefined"), [("2, 2, 2", 1), ("0, 0, 0", 2), ("7", 1)])
def test_every_view_says_once_why_a_norm_is_undefined(open_lab, x, undefined):
    page = open_lab("vector", x=x)
    for _ in views_of(page):
        assert len(page.error) == undefined
        assert "undefined at eps = 0" in page.error[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_preset_sets_the_controls_says_its_sentence_and_is_in_the_link(open_lab, lang):
    t = Text(lang)
    page = open_lab("vector", lang, x="9, 8")
    assert page.selectbox(key="vector.preset").value == "own"
    for name, entry in VECTORS.items():
        page.selectbox(key="vector.preset").set_value(name).run()
        assert not page.exception
        assert not page.error
        assert t(entry.sentence) in said(page)
        values, _ = read("vector", page.query_params)
        expected = {"x": entry.x} if entry.x else {"d": entry.d, "seed": entry.seed}
        assert {"source": entry.source, **expected}.items() <= values.items()


def test_the_list_of_presets_follows_what_is_typed(open_lab):
    page = open_lab("vector")
    for text, preset in (("9, 8, 7", "own"), (VECTORS["zero_mean"].x, "zero_mean"), ("1, 2, 3, 4", "chapter")):
        page.text_area(key="vector.x").set_value(text).run()
        assert page.selectbox(key="vector.preset").value == preset


def test_a_weight_that_no_longer_fits_is_said_and_comes_back(open_lab):
    page = open_lab("vector", w="1 2 3 4")
    page.text_area(key="vector.x").set_value("1, 2, 3").run()
    assert len(page.error) == 1
    assert "or 3, one per entry" in page.error[0].value
    page.text_area(key="vector.x").set_value("4, 3, 2, 1").run()
    assert not page.error
    assert page.query_params["w"] == "1 2 3 4"
    page.selectbox(key="vector.preset").set_value("two").run()
    assert not page.error


@pytest.mark.parametrize("x", ["1e-320, 2e-320, 5e-324", "1e-160, 2e-160"])
def test_each_complaint_stands_once(open_lab, x):
    slips = {f"slip_{name}": "1" for name in SLIPS}
    page = open_lab("vector", x=x, cloud="1", **slips)
    for _ in views_of(page):
        assert len({error.value for error in page.error}) == len(page.error) > 0


def test_the_eps_of_a_preset_goes_with_it_and_ones_own_stays(open_lab):
    page = open_lab("vector")
    presets = page.selectbox(key="vector.preset")
    for name, eps in (("constant", "1e-5"), ("one", "1e-5"), ("two", "0")):
        presets.set_value(name).run()
        assert page.text_input(key="vector.eps").value == eps
    page.text_input(key="vector.eps").set_value("0.1").run()
    for name in ("constant", "two"):
        presets.set_value(name).run()
        assert page.text_input(key="vector.eps").value == "0.1"


def test_a_drawn_vector_follows_its_length_and_seed(open_lab):
    page = open_lab("vector", source="random", d="12", seed="3")
    first = np.random.default_rng(3).standard_normal(12)[0]
    assert f"[{first:.4f}" in said(page)
    page.number_input(key="vector.seed").set_value(4).run()
    assert page.query_params["seed"] == "4"
    assert f"[{first:.4f}" not in said(page)


def test_eps_is_typed_or_slid_and_both_follow(open_lab):
    page = open_lab("vector", x="2, 2, 2")
    page.select_slider(key="vector.eps.slider").set_value("1e-5").run()
    assert page.query_params["eps"] == "1e-5"
    assert not page.error
    assert r"[0,\allowbreak\ 0,\allowbreak\ 0]" in said(page)
    page.text_input(key="vector.eps").set_value("0.003").run()
    assert page.select_slider(key="vector.eps.slider").value == "5e-3"


def test_one_plus_w_of_zero_changes_nothing(open_lab):
    plain, form = said(open_lab("vector")), said(open_lab("vector", w="0", offset="1"))
    assert r"(1 + w) \odot \hat x" in form
    for numbers in re.findall(r"\[[^]]*1\.4606\]", plain):
        assert numbers in form


def test_random_weights_and_biases_come_from_their_seed(open_lab):
    page = open_lab("vector", x="1, 2, 3", w_is="random", b_is="random", p_seed="5")
    weight = 1 + 0.5 * np.random.default_rng((5, 0)).standard_normal(3)
    bias = 0.5 * np.random.default_rng((5, 1)).standard_normal(3)
    output = np.array([-1, 0, 1]) * np.sqrt(1.5) * weight + bias
    assert ",\\allowbreak\\ ".join(f"{value:.4f}" for value in output) in said(page)


@pytest.mark.parametrize(("step", "there", "missing"), [(1, "Mean", "Variance"), (3, "Variance", "Divide")])
def test_the_steps_can_be_shown_one_by_one(open_lab, step, there, missing):
    page = open_lab("vector", step=str(step))
    titles = re.findall(r":gray\[([^]]*)\]", said(page))
    assert there in titles
    assert missing not in titles


@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_is_explained_and_measured_on_this_vector_when_it_is_switched_on(open_lab, name):
    off, on = (
        open_lab("vector", x="1000, 1001, 1002, 1004"),
        open_lab("vector", x="1000, 1001, 1002, 1004", eps="0.1", **{f"slip_{name}": "1"}),
    )
    assert "The other divides by" not in said(off)
    assert "The other divides by" in said(on)
    assert re.search(r"moves by \$\d", said(on))


def test_the_table_of_invariances_is_the_published_one(open_lab):
    (table,) = open_lab("vector", view="invariances").table
    words = table.value.map(lambda cell: cell.split()[0])
    published = [
        "Y Y Y Y Y", "n n Y n n", "Y Y n n n", "Y n Y Y Y", "Y n n n n", "n n Y Y Y",
    ]  # fmt: skip
    assert [["Y" if word == "✓" else "n" for word in row] for row in words.to_numpy()] == [
        row.split() for row in published
    ]


def test_the_backward_view_names_ranks_and_what_is_thrown_away(open_lab):
    words = said(open_lab("vector", view="backward", g="1"))
    assert "**LayerNorm**: rank 2 of 4" in words
    assert "**RMSNorm**: rank 3 of 4" in words
    assert "**LayerNorm**: 100 % of the gradient's squared length is thrown away" in words
    words = said(open_lab("vector", view="backward", eps="0.1"))
    assert "**LayerNorm**: rank 3 of 4" in words
    assert "**RMSNorm**: rank 4 of 4" in words
