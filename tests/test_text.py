"""Do sentences reach the reader whole, in either language?"""

import pickle

import pytest

from normviz.errors import InputError
from normviz.text import Text


def test_an_error_is_its_english_sentence():
    error = InputError("eps is at least {low}; got {got}", low=0, got=-1)
    assert isinstance(error, ValueError)
    assert str(error) == "eps is at least 0; got -1"


def test_an_error_crosses_a_process_border_whole():
    error = pickle.loads(pickle.dumps(InputError("eps is at least {low}; got {got}", low=0, got="{x}")))
    assert (error.template, error.values) == ("eps is at least {low}; got {got}", {"low": 0, "got": "{x}"})


def test_english_is_the_source_text():
    assert Text("en")("Mean of {n} values", n=4) == "Mean of 4 values"


def test_chinese_comes_from_the_catalogue():
    assert Text("zh")("Vector lab") == "向量实验室"


def test_an_unknown_message_stays_english():
    assert Text("zh")("no such message {n}", n=1) == "no such message 1"


def test_an_error_is_said_in_the_readers_language_with_the_reason_inside_it():
    reason = InputError("A number from {low} to {high} is allowed; got “{got}”.", low=0, high=10, got="x")
    error = InputError("{field}: {reason}", field="Weight", reason=reason)
    assert str(error) == "Weight: A number from 0 to 10 is allowed; got “x”."
    assert Text("zh").error(error) == "增益：应为 0 到 10 之间的数；得到的是“x”。"


def test_braces_in_what_a_person_typed_are_kept():
    error = InputError("got “{got}”", got="{0}")
    assert Text("en").error(error) == "got “{0}”"


def test_an_unknown_language_is_named():
    with pytest.raises(ValueError, match=r"en, zh.*'fr'"):
        Text("fr")
