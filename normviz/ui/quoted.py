"""How does a person's own text stand in a sentence of the page, which is Markdown?"""

from __future__ import annotations

import re

from normviz.errors import InputError
from normviz.text import Text

_MARKS = re.compile(r"([\\`*\[\]<>$~|]|:(?=[a-zA-Z])|(?<!\w)_|_(?!\w))")
"""What Markdown or Streamlit would read as emphasis, an image that is fetched, a formula, a colour or an icon."""


def quoted(text: str) -> str:
    """The text, drawn as it stands."""
    return _MARKS.sub(r"\\\1", text)


def sentence_of(error: InputError, t: Text) -> str:
    """An error's sentence as Markdown, with the texts that came quoted."""
    return t.error(error, quote=quoted)
