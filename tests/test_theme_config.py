"""Do the page and its figures share one palette?"""

import tomllib
from pathlib import Path

import pytest

from normviz.figures import theme

CONFIG = tomllib.loads((Path(__file__).parents[1] / ".streamlit" / "config.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("mode", theme.MODES)
@pytest.mark.parametrize(
    ("option", "colours"),
    [
        ("backgroundColor", theme.BACKGROUND),
        ("secondaryBackgroundColor", theme.PANEL),
        ("textColor", theme.INK),
        ("primaryColor", theme.ACCENT),
    ],
)
def test_the_pages_colours_are_the_figures(mode, option, colours):
    assert CONFIG["theme"][mode][option] == colours[mode]
