"""Are the numbers in titles and alt texts written as a person would?"""

from __future__ import annotations

import pytest

from normviz.figures.words import number, paragraph, spaced
from normviz.text import Text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.6384, "0.638"), (-12.345, "−12.3"), (0.0, "0"), (-0.0, "0"), (2846.4, "2846"), (1.2e9, "1.2e9"),
        (5e-7, "5e−7"), (999.9, "1000"),
    ],
)  # fmt: skip
def test_number(value: float, text: str) -> None:
    assert number(value) == text


def test_sentences_are_joined_as_the_language_does() -> None:
    assert paragraph(Text("en"), ["One.", "", "Two."]) == "One. Two."
    assert paragraph(Text("zh"), ["一。", "二。"]) == "一。二。"


def test_latin_and_chinese_stand_apart() -> None:
    assert spaced("第一层的dLoss/dW2 的范数在2–8 层") == "第一层的 dLoss/dW2 的范数在 2–8 层"
    assert spaced("layer 2, token 3") == "layer 2, token 3"
