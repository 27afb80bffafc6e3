"""Does a link bring back the view it was copied from, and refuse what it should?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from normviz import link
from normviz.depth import config
from normviz.errors import InputError
from normviz.grid import AXES
from normviz.placements import PLACEMENTS
from normviz.vectors import parse_vector

NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False, width=32), min_size=1, max_size=12)


def values_of(knob: link.Knob) -> st.SearchStrategy:
    """Values that a control can have."""
    if knob.kind == "bool":
        return st.booleans()
    if knob.kind == "choice":
        return st.sampled_from(list(knob.options))
    if knob.kind == "choices":
        chosen = st.sets(st.sampled_from(list(knob.options)), min_size=1)
        return chosen.map(lambda ids: [option for option in knob.options if option in ids])
    if knob.kind == "int":
        return st.integers(int(knob.low), int(knob.high))
    if knob.kind == "float":
        steps = round((knob.high - knob.low) / knob.step)
        return st.integers(0, steps).map(lambda n: round(knob.low + n * knob.step, 9))
    if knob.id == "eps":
        return st.floats(0, 10).map(repr)
    if knob.id == "cell":
        return st.tuples(*[st.integers(0, 9)] * 3).map(lambda cell: ".".join(map(str, cell)))
    if knob.id == "text":
        return st.lists(st.sampled_from(["it purred", "猫坐着", "قطة", "a & b = $c$ #1"]), min_size=1).map("\n".join)
    if knob.id == "names":
        return st.lists(st.sampled_from(["model.norm.weight", "h.0.ln_1.bias", "lm_head.weight"]), min_size=1).map(
            "\n".join
        )
    return NUMBERS.map(lambda numbers: ", ".join(map(repr, numbers)))


@pytest.mark.parametrize("page", link.KNOBS)
@given(data=st.data())
def test_read_brings_back_what_was_written(page, data):
    values = {knob.id: data.draw(values_of(knob), label=knob.id) for knob in link.KNOBS[page]}
    assert link.read(page, link.write(page, values)) == (values, [])


@pytest.mark.parametrize("page", link.KNOBS)
def test_the_default_view_has_an_empty_query(page):
    values, problems = link.read(page, {})
    assert link.write(page, values) == {}
    assert problems == []


@pytest.mark.parametrize(
    ("page", "name", "text", "said"),
    [
        ("axes", "batch", "9", ["Sequences B", "1 to 8", "9"]),
        ("axes", "batch", "two", ["Sequences B", "1 to 8", "two"]),
        ("axes", "batch", "nan", ["Sequences B", "1 to 8", "nan"]),
        ("axes", "seed", str(2**31), ["Seed", str(2**31 - 1), str(2**31)]),
        ("axes", "norm", "weight_norm", ["Norm", "layer_norm", "weight_norm"]),
        ("axes", "pad", "yes", ["Padding", "0 or 1", "yes"]),
        ("axes", "cell", "1.2", ["b.t.c", "1.2"]),
        ("axes", "text", " \n ", ["Sentences"]),
        ("axes", "change", "33", ["Words more or fewer", "-32 to 32", "33"]),
        ("axes", "momentum", "1.5", ["Momentum", "0 to 1", "1.5"]),
        ("depth", "placements", "post_norm,mid_norm", ["Placements", "pre_norm", "mid_norm"]),
        ("depth", "placements", "", ["Placements", "pre_norm"]),
        ("axes", "seed", "9" * 400, ["Seed", "2147483647"]),
        ("axes", "d", "1_0", ["Channels d", "1_0"]),
        ("axes", "batch", "\uff12", ["Sequences B", "\uff12"]),
        ("axes", "cell", "", ["b.t.c"]),
        ("axes", "cell", f"{'1' * 4400}.1.1", ["b.t.c"]),
        ("vector", "x", "", ["Vector x", "empty"]),
        ("vector", "x", "1e308, 1", ["Vector x", "1e+308"]),
        ("vector", "eps", "1_0", ["eps", "1_0"]),
        ("vector", "w", "a", ["Weight", "a"]),
        ("vector", "eps", "-1", ["eps", "0 to 10", "-1"]),
        ("vector", "eps", "small", ["eps", "0 to 10", "small"]),
        ("vector", "x", "1, two", ["two"]),
        ("vector", "scale", "4.1", ["Scale a", "-4 to 4", "4.1"]),
        ("vector", "scale", "nan", ["Scale a", "nan"]),
        ("vector", "d", "1000001", ["Entries d", "1000000"]),
        ("vector", "colour", "red", ["colour"]),
    ],
)
def test_an_unusable_entry_falls_back_to_the_default_and_is_named(page, name, text, said):
    values, problems = link.read(page, {name: text})
    assert values == link.read(page, {})[0]
    assert len(problems) == 1
    for word in said:
        assert word in str(problems[0])


def test_good_entries_survive_beside_a_bad_one():
    values, problems = link.read("axes", {"batch": "99", "d": "5"})
    assert values["d"] == 5
    assert len(problems) == 1


def test_the_language_is_not_a_control_of_a_page():
    assert link.read("vector", {"lang": "zh"})[1] == []


def test_a_text_too_long_for_a_link_is_left_out():
    text = ", ".join(["1.25"] * link.MAX_TEXT)
    assert link.write("vector", {"x": text}) == {}


@given(text=st.text(max_size=30), page=st.sampled_from(list(link.KNOBS)), data=st.data())
def test_any_text_is_either_read_or_named(text, page, data):
    names = [knob.id for knob in link.KNOBS[page]] or ["x"]
    name = data.draw(st.sampled_from(names))
    values, problems = link.read(page, {name: text})
    assert set(values) == {knob.id for knob in link.KNOBS[page]}
    assert all(isinstance(problem, InputError) for problem in problems)


@pytest.mark.parametrize("page", link.KNOBS)
def test_every_default_is_usable(page):
    for knob in link.KNOBS[page]:
        assert knob.parse(knob.write(knob.default)) == knob.default


def test_the_default_vector_is_the_chapters():
    assert parse_vector(link.knob("vector", "x").default).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("placements", tuple(PLACEMENTS)),
        ("norm", config.SWEEP_NORMS),
        ("init", config.INITS),
        ("attention", config.ATTENTIONS),
        ("activation", config.ACTIVATIONS),
        ("loss", config.LOSSES),
        ("dtype", config.DTYPES),
        ("device", config.DEVICES),
    ],
)
def test_the_page_offers_what_the_sweep_knows(name, ids):
    assert tuple(link.knob("depth", name).options) == ids


def test_the_axes_page_offers_every_axis():
    assert tuple(link.AXIS_OPTIONS) == AXES
