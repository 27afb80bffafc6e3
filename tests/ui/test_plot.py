"""What does the plot component hand to Streamlit, with and without a server?"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from normviz.ui import plot as module
from normviz.ui.assets import plotly_files

FRONTEND = Path(module.__file__).parent / "frontend"


def script(lang: str = "en", rows: int = 3) -> None:
    import numpy as np
    import pandas as pd

    from normviz.figures.picture import Picture
    from normviz.text import Text
    from normviz.ui.plot import plot

    spec = {"data": [{"y": np.arange(9.0)}], "layout": {"height": 300}}
    table = pd.DataFrame({"x": np.arange(rows)})
    plot(Picture(name="p", title="Title", alt="Alt.", spec=spec, table=table), key="k", t=Text(lang))


@pytest.mark.parametrize("visit", [1, 2])  # a second runtime in one process knows the component too
def test_component_mounts_with_its_files(visit: int) -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    component = app.get("bidi_component")[0].proto
    assert (component.component_name, component.js_source_path) == ("normviz.plot", "plot.js")
    assert component.css_source_path == "plot.css"
    assert not component.isolate_styles
    data = json.loads(component.json)
    assert (data["name"], data["title"], data["alt"], data["height"]) == ("p", "Title", "Alt.", 300)
    assert data["spec"]["data"][0]["y"]["dtype"] == "f8"


def test_long_table_says_what_is_left_out() -> None:
    app = AppTest.from_function(script, kwargs={"rows": 1000}).run()
    (figure,) = app.get("bidi_component")
    data = json.loads(figure.proto.json)
    assert (data["table"]["rows"], data["table"]["shown"]) == (1000, module.ROWS)
    assert data["part"] is None
    assert data["words"]["part"] == "The first 200 of 1000 rows. The CSV file has all of them."


def test_a_very_long_table_comes_with_a_message_of_its_own() -> None:
    app = AppTest.from_function(script, kwargs={"rows": 5000}).run()
    figure, part = (component.proto for component in app.get("bidi_component"))
    data = json.loads(figure.json)
    assert (data["table"]["rows"], data["table"]["columns"]) == (5000, None)
    assert part.component_name == "normviz.part"
    assert part.bytes[:32].decode() == data["part"]
    content = part.bytes
    app.run()
    assert app.get("bidi_component")[1].proto.bytes == content


def test_plain_script_without_a_server_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Runtime, "exists", lambda: False)
    script()


def test_browser_files_are_part_of_the_package() -> None:
    for name in ("plot.js", "plot.css", "part.js", "part.css", "mathjax/tex-svg.js", "mathjax/LICENSE"):
        assert files("normviz.ui").joinpath("frontend", *name.split("/")).is_file()
    assert (plotly_files() / "plotly.min.js").is_file()


def test_browser_files_name_no_other_machine() -> None:
    for path in [*FRONTEND.glob("*.js"), *FRONTEND.glob("*.css")]:
        assert "http" not in path.read_text(encoding="utf-8").replace("http://www.w3.org", "")


@pytest.mark.parametrize("point", [None, "x", [1, "x"], {"a": 1}])
def test_malformed_click_is_dropped(monkeypatch: pytest.MonkeyPatch, point: object) -> None:
    monkeypatch.setattr(module.st, "session_state", {"k": {"click": point}})
    module._clicked("k", lambda indices: pytest.fail(f"called with {indices}"))


def test_click_is_handed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[list[int]] = []
    monkeypatch.setattr(module.st, "session_state", {"k": {"click": [1, 2, 3]}})
    module._clicked("k", got.append)
    assert got == [[1, 2, 3]]
