"""Does Streamlit's configuration keep the palette of the figures, and every request on this machine?"""

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


def test_no_start_asks_another_machine():
    # A headless Streamlit without a name of its own asks elsewhere for its address; usage statistics go elsewhere too.
    assert CONFIG["browser"] == {"serverAddress": "localhost", "gatherUsageStats": False}
