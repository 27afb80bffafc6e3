"""How does a test run a script of the vector lab, and compare what it finds with the package?"""

from __future__ import annotations

from typing import Any

import numpy as np

NORMS = {"layer": "layer_norm", "rms": "rms_norm"}


def run(script: str) -> dict[str, Any]:
    assert max(map(len, script.splitlines())) <= 120
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(script, "exported.py", "exec"), names)
    return names


def same(found: Any, expected: Any) -> None:
    """Equal bit for bit, None and tuples included."""
    if expected is None or isinstance(expected, (str, bool, int)):
        assert found == expected
        return
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def close(found: Any, expected: Any, largest: float | None = None) -> None:
    """Equal to 1e-12 of the largest number there."""
    expected = np.asarray(expected, dtype=float)
    scale = largest if largest is not None else max(1.0, np.abs(expected).max(initial=0.0))
    np.testing.assert_allclose(np.asarray(found, dtype=float), expected, rtol=0, atol=1e-12 * scale)


def attributes(found: Any, expected: Any) -> None:
    """Every public attribute of two results, bit for bit."""
    assert type(found) is type(expected)
    for name in vars(expected):
        same(getattr(found, name), getattr(expected, name))


def case(d: int, kind: str, eps: float, offset: float = 0.0) -> tuple[np.ndarray, dict[str, Any]]:
    """A vector with the arguments of a script; `kind` says which of weight and bias there are."""
    rng = np.random.default_rng(d)
    x = 1 + rng.normal(size=d) * 3
    options: dict[str, Any] = {"eps": eps, "offset": offset}
    if "w" in kind:
        options["weight"] = rng.uniform(0.5, 2, size=d) * rng.choice([-1, 1], size=d) - offset
    if "b" in kind:
        options["bias"] = rng.normal(size=d)
    return x, options


def arguments(options: dict[str, Any], *names: str) -> dict[str, Any]:
    """What the package's functions are called with; the gain instead of the stored weight."""
    weight = options.get("weight")
    known = {
        "weight": None if weight is None else options.get("offset", 0.0) + weight,
        "bias": options.get("bias"),
        "eps": options["eps"],
    }
    return {name: known[name] for name in (*names, "eps")}
