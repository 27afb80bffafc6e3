"""What do the pads hand to the browser, and which of its answers do they believe?"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from normviz.text import Text
from normviz.ui import pad as module

X = np.array([1.0, 2.0, 4.0])
LONG = np.random.default_rng(0).normal(3, 2, 1000)


def script(n: int = 3) -> None:
    import numpy as np

    from normviz.text import Text
    from normviz.ui.pad import affine_pad, gradient_pad, pad

    x = np.arange(float(n))
    common = {"eps": 1e-5, "t": Text("en"), "mode": "light", "released": print}
    pad(x, weight=np.ones(n), bias=np.zeros(n), key="a", **common)
    gradient_pad(x, x, weight=None, key="b", **common)
    affine_pad(x, 2.0, 1.0, key="c", **common)


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Mount a pad and hand it what a browser sends: `answer(pad, value, *arguments)` lists what was released."""

    def send(draw: Any, value: object, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
        mounted: dict[str, Any] = {}
        monkeypatch.setattr(module, "renderer", lambda name, html: lambda **given: mounted.update(given))
        monkeypatch.setattr(module.Runtime, "exists", lambda: True)
        monkeypatch.setattr(module.st, "session_state", {"k": {"released": value}})
        got: list[dict[str, Any]] = []
        draw(*arguments, eps=0, t=Text("en"), mode="dark", key="k", released=got.append, **options)
        mounted["on_released_change"]()
        return got

    return send


def test_pads_mount_with_their_files_and_data() -> None:
    app = AppTest.from_function(script).run()
    assert not app.exception
    protos = [part.proto for part in app.get("bidi_component")]
    assert {(p.component_name, p.js_source_path, p.css_source_path) for p in protos} == {
        ("normviz.pad", "pad.js", "pad.css")
    }
    vector, gradient, affine = (json.loads(proto.json) for proto in protos)
    assert (vector["kind"], vector["value"], vector["weight"], vector["d"]) == (
        "vector",
        {"x": [0, 1, 2]},
        [1, 1, 1],
        3,
    )
    assert (gradient["kind"], gradient["value"]["gradient"]) == ("gradient", [0, 1, 2])
    assert (affine["kind"], affine["value"]) == ("affine", {"scale": 2, "shift": 1})
    for name in ("pad.js", "pad.css", "norms.js"):
        assert files("normviz.ui").joinpath("frontend", name).is_file()


def test_a_long_vector_travels_as_a_few_numbers() -> None:
    app = AppTest.from_function(script, kwargs={"n": 100_000}).run()
    assert not app.exception
    vector, affine = (part.proto.json for part in app.get("bidi_component"))
    assert len(vector) < 3000
    assert len(affine) < 3000
    assert json.loads(vector)["value"] == {"mean": 49999.5, "std": pytest.approx(np.arange(1e5).std())}
    assert json.loads(affine)["long"]["reach"] == 49999.5
    assert app.caption[0].value == "A gradient of up to 24 entries can be dragged; this one has 100000."


def test_plain_script_without_a_server_draws_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.Runtime, "exists", lambda: False)
    script()


@pytest.mark.parametrize("n", [3, 1000])
def test_a_released_value_is_handed_on(answer: Any, n: int) -> None:
    x = LONG[:n]
    value = {"x": [1, -2.5, 1e150]} if n == 3 else {"mean": 1.5, "std": -2}
    assert answer(module.pad, value, x) == [value]
    assert answer(module.gradient_pad, {"gradient": [0, 1, 2.5]}, X, X) == [{"gradient": [0, 1, 2.5]}]
    assert answer(module.affine_pad, {"scale": -4, "shift": 10}, x, 1, 0) == [{"scale": -4, "shift": 10}]


@pytest.mark.parametrize(
    "value",
    [
        None,
        "x",
        [1, 2, 3],
        {},
        {"x": "123"},
        {"x": [1, 2]},
        {"x": [1, 2, 3, 4]},
        {"x": [1, 2, None]},
        {"x": [1, 2, "3"]},
        {"x": [1, 2, True]},
        {"x": [1, 2, float("nan")]},
        {"x": [1, 2, float("inf")]},
        {"x": [1, 2, -1.1e150]},
        {"x": [1, 2, 10**400]},
        {"mean": 1, "std": 1},
    ],
)
def test_malformed_vectors_are_dropped(answer: Any, value: object) -> None:
    assert answer(module.pad, value, X) == []
    renamed = {"gradient": value["x"]} if isinstance(value, dict) and "x" in value else value
    assert answer(module.gradient_pad, renamed, X, X) == []


@pytest.mark.parametrize("value", [{"x": [1]}, {"mean": 1}, {"mean": 1, "std": None}, {"mean": float("nan"), "std": 1}])
def test_malformed_tips_are_dropped(answer: Any, value: object) -> None:
    assert answer(module.pad, value, LONG) == []


@pytest.mark.parametrize(
    "value", [{"scale": 1}, {"scale": 4.1, "shift": 0}, {"scale": 1, "shift": -11}, {"shift": True}]
)
def test_maps_out_of_their_limits_are_dropped(answer: Any, value: object) -> None:
    assert answer(module.affine_pad, value, X, 1, 0) == []
