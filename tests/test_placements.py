"""Does each wiring do what its formula says, and is its diagram read off the function itself?"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from normviz.placements import PLACEMENTS, join, trace

X = np.array([1.0, -2.0, 3.5])


def f(x: np.ndarray) -> np.ndarray:
    return 2 * x[::-1] + 1


def norm(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt(np.mean(x**2))


FORMULAS = {
    "post_norm": norm(X + f(X)),
    "pre_norm": X + f(norm(X)),
    "sandwich_norm": X + norm(f(norm(X))),
    "output_norm": X + norm(f(X)),
    "no_norm": X + f(X),
}
# Norms in a sublayer, those of them on the identity path, final norm, embedding norm.
WIRING = {
    "post_norm": (1, (0,), False, True),
    "pre_norm": (1, (), True, False),
    "sandwich_norm": (2, (), True, False),
    "output_norm": (1, (), True, False),
    "no_norm": (0, (), False, False),
}


@pytest.mark.parametrize("name", PLACEMENTS)
def test_placement_computes_its_formula(name: str) -> None:
    np.testing.assert_array_equal(join(PLACEMENTS[name], X, norm, f), FORMULAS[name])


@pytest.mark.parametrize("name", PLACEMENTS)
def test_record_is_named_after_its_function(name: str) -> None:
    placement = PLACEMENTS[name]
    assert placement.id == name == placement.function.__name__
    assert placement.label
    assert placement.formula.startswith(r"x \leftarrow ")


@pytest.mark.parametrize("name", PLACEMENTS)
def test_trace_counts_norms_and_finds_those_on_the_identity_path(name: str) -> None:
    placement, found = PLACEMENTS[name], trace(PLACEMENTS[name])
    assert (found.norms, found.identity_norms, placement.final_norm, placement.embedding_norm) == WIRING[name]


def test_trace_records_the_expression() -> None:
    found = trace(PLACEMENTS["sandwich_norm"])
    assert found.output.kind == "add"
    stream, branch = found.output.inputs
    assert (stream.kind, branch.kind, branch.index) == ("x", "norm", 1)
    assert branch.inputs[0].kind == "sublayer"
    assert branch.inputs[0].inputs == (found.sublayer_input,)
    assert (found.sublayer_input.kind, found.sublayer_input.index) == ("norm", 0)


def test_a_norm_used_twice_is_on_the_path_once() -> None:
    def twice(x: Any, norm: Callable[[Any], Any]) -> Generator[Any, Any, Any]:
        h = norm(x)
        y = yield h
        return norm(h + y) + h

    assert trace(replace(PLACEMENTS["no_norm"], function=twice)).identity_norms == (0, 1)


def never(x: Any, norm: Callable[[Any], Any]) -> Generator[Any, Any, Any]:
    return x
    yield


def again(x: Any, norm: Callable[[Any], Any]) -> Generator[Any, Any, Any]:
    y = yield x
    z = yield y
    return x + z


@pytest.mark.parametrize("function", [never, again])
def test_a_placement_that_does_not_yield_once_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="no_norm: a placement yields the sublayer's input exactly once"):
        trace(replace(PLACEMENTS["no_norm"], function=function))
