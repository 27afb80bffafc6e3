"""Which words belong to a page? Markdown per language, cut into named sections."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import streamlit as st

from normviz.text import Text

LESSONS = Path(__file__).parents[2] / "assets" / "lessons"

_WIDE = "\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"
"""Chinese characters and punctuation, as a range of a regular expression."""


def lesson(page: str, section: str, t: Text) -> None:
    """Draw one section of a page's lesson in the reader's language."""
    st.markdown(sections(page, t.lang)[section])


@cache
def sections(page: str, lang: str) -> dict[str, str]:
    """Section name -> Markdown; a section starts at a line `<!-- name -->`."""
    text = (LESSONS / lang / f"{page}.md").read_text(encoding="utf-8")
    # Markdown turns a line's end into a space, which Chinese does not put between its characters.
    text = re.sub(rf"(?<=[{_WIDE}])\n(?=[{_WIDE}])", "", text)
    parts = re.split(r"^<!-- ([a-z_]+) -->$", text, flags=re.MULTILINE)
    return {name: body.strip() for name, body in zip(parts[1::2], parts[2::2], strict=True)}
