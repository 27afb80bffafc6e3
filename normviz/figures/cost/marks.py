"""Which colour and symbol has what is normalized, and how is it named?"""

from __future__ import annotations

from normviz.cost import KINDS, WAYS
from normviz.figures import theme
from normviz.text import Text


def color(kind: str, mode: str) -> str:
    """The norm's own, with and without the addition."""
    return theme.NORM_COLORS[mode][kind.removeprefix("add_")]


def symbol(kind: str, *, hollow: bool = False) -> str:
    """The norm's own; a cross in it is the addition."""
    base = theme.SYMBOLS[kind.removeprefix("add_")] + ("-cross" if kind.startswith("add_") else "")
    return base + ("-open" if hollow else "")


def variant_name(variant: str, t: Text) -> str:
    """Kind and way in words."""
    kind, way = variant.split("/")
    return t("{kind}, {way}", kind=t(KINDS[kind]), way=t(WAYS[way]))


def percent(share: float) -> str:
    """A share in per cent with two significant digits below ten: 0.0057, 8.6, 24.7."""
    value = 100 * share
    text = f"{value:.0f}" if abs(value) >= 99.95 else f"{value:.1f}" if abs(value) >= 9.95 else f"{value:.2g}"
    if "e" in text:
        text = f"{value:.1g}"
        text = f"{float(text):f}".rstrip("0") if "e" in text and abs(value) > 1e-6 else text
    return text.replace("-", "−")
