"""Does a person's own text stand in a sentence as it was typed?"""

from __future__ import annotations

import pytest

from normviz.errors import InputError
from normviz.text import Text
from normviz.ui.quoted import quoted, sentence_of


@pytest.mark.parametrize(
    ("text", "drawn"),
    [
        ("![](http://e.x/a)", "!\\[\\](http://e.x/a)"),
        ("$x$", "\\$x\\$"),
        (":red[no]", "\\:red\\[no\\]"),
        ("<img src=a>", "\\<img src=a\\>"),
        ("1e-5, tcp://127.0.0.1:1", "1e-5, tcp://127.0.0.1:1"),
    ],
)
def test_marks_of_markdown_are_escaped_and_plain_text_stays(text: str, drawn: str) -> None:
    assert quoted(text) == drawn


def test_only_the_values_of_a_sentence_are_quoted_however_deep() -> None:
    inner = InputError("got `{got}`", got="[a]")
    assert sentence_of(InputError("{field}: {reason}", field="x", reason=inner), Text("en")) == "x: got `\\[a\\]`"
