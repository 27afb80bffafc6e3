"""Do the scripts of the vector lab give its inputs back, and say what they leave out?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import normviz as nv
from normviz.errors import InputError
from normviz.snippets import LISTED, VIEWS, torch_script, vector_script
from tests.snippets.scripts import NORMS, arguments, attributes, case, close, run, same


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    "source", [("random", nv.random_vector), ("hidden", nv.hidden_state)], ids=lambda source: source[0]
)
@pytest.mark.parametrize(("d", "seed"), [(300, 0), (1500, 7), (1, 3)])
def test_a_drawn_vector_is_drawn_again(view: str, source: Any, d: int, seed: int) -> None:
    kind, draw = source
    x = draw(d, seed)
    for write in (vector_script, torch_script):
        script = write(view, x, origin=(kind, d, seed), eps=1e-5)
        assert ".txt" not in script
        same(run(script)["x"], x)


@pytest.mark.parametrize("view", VIEWS)
def test_long_arrays_are_read_from_files(view: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x, options = case(5000, "wb", 1e-5)
    monkeypatch.chdir(tmp_path)
    gradient = np.random.default_rng(2).normal(size=5000)
    arrays = {"x": x, "weight": options["weight"], "bias": options["bias"], "gradient": gradient}
    for name, array in arrays.items():
        Path(f"{name}.txt").write_text("\n".join(map(repr, array.tolist())), encoding="utf-8")
    for write in (vector_script, torch_script):
        script = write(view, x, gradient=gradient, **options)
        assert len(script) < 4000
        names = run(script)
        for name, array in arrays.items():
            if name != "gradient" or view == "backward":
                same(names[name], array)
    if view == "backward":
        for word, norm in NORMS.items():
            expected = nv.pullback(norm, x, gradient, **arguments(options, "weight"))
            close(names[f"{word}_image"], expected.image)
            close(names[f"{word}_away"], expected.lost)


@pytest.mark.parametrize(
    "values",
    [
        [1, 2, 3, 4],
        [-0.0, 1, 2],
        [0.0, -0.0],
        [-0.0, -0.0],
        [0.1 + 0.2, 1e22, -5e-324, 123456789012345680.0, 1e15],
        np.eye(1, 200, 3)[0],
        np.where(np.arange(2000) == 1999, -1e-3, 0.0),
        np.where(np.arange(200) == 5, -0.0, 0.0),
        np.zeros(50),
        np.full(3000, 0.1),
        np.broadcast_to(-2.5, (4,)),
        np.random.default_rng(0).normal(size=LISTED) * 1e3,
    ],
    ids=str,
)
def test_arrays_come_back_bit_for_bit(values: Any) -> None:
    bias = np.asarray(values, dtype=float)
    x = np.random.default_rng(1).normal(size=bias.size)
    origin = None if bias.size <= LISTED else ("random", bias.size, 1)
    for write in (vector_script, torch_script):
        names = run(write("invariances", x, bias=bias, origin=origin))
        same(names["bias"], bias)
        if origin is None:
            same(names["x"], x)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize(
    ("x", "eps", "missing"),
    [
        ([2.0, 2.0, 2.0], 0.0, ["layer"]),
        ([0.1] * 7, 0.0, ["layer"]),
        ([3.0], 0.0, ["layer"]),
        ([0.0, 0.0, 0.0, 0.0], 0.0, ["layer", "rms"]),
        ([0.0] * 300, 0.0, ["layer", "rms"]),
        ([1e-200, 2e-200, 5e-200], 0.0, ["layer", "rms"]),
        ([5e-324, 0.0], 0.0, ["layer", "rms"]),
        ([1e200, 2.0, 3.0], 1e-5, ["layer", "rms"]),
        ([1e-200, 2e-200, 5e-200], 1e-5, []),
        ([2.0, 2.0, 2.0, 2.0], 1e-5, []),
        ([0.0], 1e-5, []),
        ([0.0, 0.0], 1e-300, ["layer", "rms"]),
        ([1e80, -1e80, 3.0], 0.0, []),
    ],
)
def test_what_is_undefined_is_left_out_and_a_comment_says_why(
    view: str, x: list[float], eps: float, missing: list[str]
) -> None:
    vector = np.array(x)
    asked = {"mean": 0.0, "distribution": "normal", "seed": 0, "n": 20}
    why = {word: refusal(norm, vector, eps) for word, norm in NORMS.items()}
    assert [word for word in NORMS if why[word]] == missing
    for write in (vector_script, torch_script):
        script = write(view, vector, weight=np.full(vector.size, 2.0), eps=eps, cloud=asked)
        names, said = run(script), script.replace("\n# ", " ")
        plain = write is torch_script
        result = {
            "steps": {"layer": "layer", "rms": "root"},
            "backward": {word: f"{word}_image" if plain else f"{word}_pullback" for word in NORMS},
            "invariances": {word: f"{word}_after" for word in NORMS} if plain else {},
            "geometry": {},
        }[view]
        for word, name in result.items():
            assert (name in names) == (word not in missing)
            assert (why[word] or "") in said
        if len(missing) == 2 and any(x):
            assert "plane" not in names
            assert "affine" not in names
            assert any(sentence in said for sentence in why.values() if sentence)


def refusal(norm: str, x: np.ndarray, eps: float) -> str | None:
    try:
        {"layer_norm": nv.layer_norm, "rms_norm": nv.rms_norm}[norm](x, eps=eps)
    except InputError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("x", "scale", "shift", "left"),
    [
        ([1.0, 2.0, 3.0], 0.0, 2.0, {"rms"}),
        ([1.0, 2.0, 3.0], 0.0, 0.0, set()),
        ([2.0, 2.0, 2.0], 1.0, -1.0, {"rms"}),
        ([1e100, 2e100, 3.0], 1e100, 0.0, set()),
        ([1e140, 2e140, 3.0], 1e200, 0.0, set()),
        ([1.0, 2.0, 3.0], 1e-160, 0.0, set()),
    ],
)
def test_a_change_into_what_is_undefined(x: list[float], scale: float, shift: float, left: set[str]) -> None:
    vector, options = np.array(x), {"scale": scale, "shift": shift, "eps": 0.0}
    names = run(vector_script("invariances", vector, **options))
    try:
        expected = nv.affine(vector, scale, shift, eps=0.0)
    except InputError:
        assert "affine" not in names
    else:
        attributes(names["affine"], expected)
    plain = run(torch_script("invariances", vector, **options))
    assert {word for word in NORMS if f"{word}_after" in plain} == left


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [1e-140, 1e-100, 1e-80, 1e80, 1e120, 1e148])
@pytest.mark.parametrize("large", [1.0, 1e150])
def test_far_from_1_a_script_is_right_or_says_what_it_leaves_out(view: str, size: float, large: float) -> None:
    x, gradient, options = np.array([1.0, 2, -5]) * size, np.array([1.0, 0, large]), {"weight": np.full(3, large)}
    names = run(vector_script(view, x, eps=0.0, gradient=gradient, **options))
    script = torch_script(view, x, eps=0.0, gradient=gradient, **options)
    plain = run(script)
    for word, norm in NORMS.items() if view == "backward" else ():
        if large == 1 or size > 1:
            attributes(names[f"{word}_pullback"], nv.pullback(norm, x, gradient, eps=0.0, **options))
        else:
            assert f"{word}_pullback" not in names
        assert (f"{word}_image" in plain) == (large == 1 and 1e-90 < size < 1e90)
        if f"{word}_image" in plain:
            close(plain[f"{word}_image"], nv.pullback(norm, x, gradient, eps=0.0, **options).image, 1 / size)
            close(plain[f"{word}_jacobian"], nv.jacobian(norm, x, eps=0.0, **options), 1 / size)
        else:
            assert f"# The gradient through {'LayerNorm' if word == 'layer' else 'RMSNorm'}: PyTorch's" in script


def test_the_chapters_numbers_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for write in (vector_script, torch_script):
        run(write("steps", np.array([1.0, 2, 3, 4]), eps=0.0))
        printed = capsys.readouterr().out
        for number in ("2.5", "1.25", "1.1180", "-1.3416", "0.4472", "2.7386", "0.3651", "1.4605"):
            assert number in printed


@pytest.mark.parametrize("view", VIEWS)
def test_the_plain_script_needs_no_normviz(view: str) -> None:
    x, options = case(40, "wb", 1e-5, 1.0)
    asked = {"mean": 0.0, "distribution": "normal", "seed": 0, "n": 20}
    script = torch_script(view, x, gradient=x, cloud=asked, **options)
    assert "normviz" not in script
    assert "nv." not in script
    assert "normviz" not in torch_script(view, nv.hidden_state(40, 1), origin=("hidden", 40, 1))


def test_an_unknown_view_is_refused() -> None:
    for write in (vector_script, torch_script):
        with pytest.raises(InputError, match="steps, geometry, invariances, backward; got 'forward'"):
            write("forward", np.ones(3))
