"""How are numbers and sentences put into words that go with a figure?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from normviz.text import Text


def number(value: float, digits: int = 3) -> str:
    """A few significant digits with a true minus sign and a bare exponent: 0.638, −12.3, 2846, 1.2e9."""
    value += 0.0  # turns -0.0 into 0.0
    text = f"{value:.{digits}g}"
    if 10**digits <= abs(float(text)) < 1e6:
        text = f"{value:.0f}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        text = f"{mantissa}e{int(exponent)}"
    return text.replace("-", "−")


def token_text(word: str, most: int = 14) -> str:
    """A person's word as plotly draws it: short, in its own direction of writing, and never markup or mathematics."""
    short = word if len(word) <= most else word[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    for sign, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("$", "&#36;"), ("%{", "&#37;{")):
        short = short.replace(sign, entity)
    return f"\N{FIRST STRONG ISOLATE}{short}\N{POP DIRECTIONAL ISOLATE}"


def spaced(text: str) -> str:
    """A space between a Chinese character and a Latin letter or digit that follows or precedes it."""
    return re.sub(r"(?<=[一-鿿])(?=[A-Za-z0-9])|(?<=[A-Za-z0-9])(?=[一-鿿])", " ", text)


def listed(t: Text, parts: Sequence[str]) -> str:
    """One or two phrases, joined by the language's word for "and"."""
    return spaced(t("{a} and {b}", a=parts[0], b=parts[1]) if len(parts) == 2 else parts[0])


def paragraph(t: Text, sentences: Iterable[str]) -> str:
    """Sentences after one another, with a space between them where the language has one."""
    return spaced(("" if t.lang == "zh" else " ").join(sentence for sentence in sentences if sentence))
