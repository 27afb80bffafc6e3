"""What every picture keeps, whatever it shows."""

from __future__ import annotations

from typing import Any

import numpy as np

from normviz.figures import theme
from normviz.figures.picture import Picture
from normviz.text import Text


def check(picture: Picture, t: Text, mode: str) -> None:
    """Plotly accepts it, the words are in the reader's language, colours are explicit and no number is NaN."""
    figure = picture.figure()
    assert figure.layout.title.text == picture.title
    assert figure.layout.paper_bgcolor == theme.BACKGROUND[mode]
    layout = picture.spec["layout"]
    assert layout["font"]["color"] == theme.INK[mode]
    assert layout["paper_bgcolor"] == layout["plot_bgcolor"] == theme.CLEAR
    assert "title" not in layout
    for words in (picture.title, picture.alt):
        assert words
        assert "{" not in words
        assert "nan," not in words
    assert any("一" <= letter <= "鿿" for letter in picture.alt) == (t.lang == "zh")
    assert picture.alt[-1] in ".。"
    assert picture.name.startswith("normviz-")
    assert picture.name.isascii()
    assert picture.name == picture.name.lower()
    for values in numbers(picture.spec["data"]):
        assert np.isfinite(values).all()


def numbers(spec: Any) -> list[np.ndarray]:
    """Every numeric array of a specification."""
    if isinstance(spec, dict):
        return [array for part in spec.values() for array in numbers(part)]
    if isinstance(spec, np.ndarray) and spec.dtype.kind in "fiu":
        return [spec]
    if isinstance(spec, list) and spec and all(isinstance(part, int | float) for part in spec):
        return [np.array(spec, dtype=float)]
    return [array for part in spec for array in numbers(part)] if isinstance(spec, list) else []


def measured(picture: Picture) -> list[dict[str, Any]]:
    """The lines with markers that are no entry of a legend."""
    data = picture.spec["data"]
    return [trace for trace in data if trace.get("mode") == "lines+markers" and "legend" not in trace]


def trace_named(picture: Picture, name: str) -> dict[str, Any]:
    (found,) = [trace for trace in picture.spec["data"] if trace.get("name") == name]
    return dict(found)
