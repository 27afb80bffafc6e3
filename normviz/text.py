"""How does an English sentence become the reader's language?"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from typing import Any

from normviz.errors import InputError

LANGUAGES: tuple[str, ...] = ("en", "zh")


def N_(message: str) -> str:  # noqa: N802  (gettext's own name for a marked message)
    """Mark an English message for translation and return it unchanged."""
    return message


class Text:
    """The words of one language: call it with an English message and its values.

    Parameters
    ----------
    lang
        One of `LANGUAGES`; English messages are returned as they are.

    Raises
    ------
    ValueError
        If the language is unknown.
    """

    def __init__(self, lang: str = "en") -> None:
        if lang not in LANGUAGES:
            raise ValueError(f"lang is one of {', '.join(LANGUAGES)}; got {lang!r}")
        self.lang = lang
        self._messages = {} if lang == "en" else catalogue(lang)

    def __call__(self, message: str, /, **values: Any) -> str:
        """The message in this language, its `str.format` fields filled from `values`."""
        text = self._messages.get(message, message)
        return text.format(**values) if values else text

    def error(self, error: InputError, *, quote: Callable[[str], str] = str) -> str:
        """The error's sentence in this language; `quote` is applied to the texts in it, which may be a person's."""
        values = {
            name: self.error(value, quote=quote)
            if isinstance(value, InputError)
            else quote(self(value))
            if isinstance(value, str)
            else value
            for name, value in error.values.items()
        }
        return self._messages.get(error.template, error.template).format(**values)


@cache
def catalogue(lang: str) -> dict[str, str]:
    """Message -> translation, read once from the language's gettext catalogue (`locale/<lang>/messages.po`)."""
    from babel.messages.pofile import read_po

    with (files("normviz") / "locale" / lang / "messages.po").open("rb") as file:
        return {str(m.id): str(m.string) for m in read_po(file, locale=lang) if m.id and m.string}
