"""Does each wiring do what its formula says, and is its diagram read off the function itself?"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from math import log
from typing import Any

import numpy as np
import pytest

from normviz.placements import PLACEMENTS, At, Placement, enter, join, leave, trace

X = np.array([1.0, -2.0, 3.5])
SECOND = np.array([0.25, 4.0, -1.0])
GATE = 0.3
PLACES = [(1, 1), (1, 4), (2, 8), (3, 8), (7, 8), (100, 100)]

Array = np.ndarray[Any, Any]


def f(x: Array) -> Array:
    return 2 * x[::-1] + 1


def g(x: Array) -> Array:
    return x**2 - 3


def n(x: Array) -> Array:
    return x / np.sqrt(np.mean(x**2))


def sublayer_by_sublayer(step: Callable[[Array, Callable[[Array], Array]], Array]) -> Array:
    return step(step(X, f), g)


def expected(name: str, layer: int, depth: int) -> Array | tuple[Array, Array]:
    """What leaves a layer with attention f and feed-forward sublayer g, written as in the wiring's paper."""
    if name == "post_norm":
        return n(n(X + f(X)) + g(n(X + f(X))))
    if name in ("pre_norm", "sub_ln"):
        h = X + f(n(X))
        return h + g(n(h))
    if name in ("sandwich_norm", "peri_ln"):
        h = X + n(f(n(X)))
        return h + n(g(n(h)))
    if name == "output_norm":
        return sublayer_by_sublayer(lambda x, sublayer: x + n(sublayer(x)))
    if name == "no_norm":
        return X + f(X) + g(X + f(X))
    if name == "deep_norm":
        return sublayer_by_sublayer(lambda x, sublayer: n((2 * depth) ** 0.25 * x + sublayer(x)))
    if name == "layer_norm_scaling":
        return sublayer_by_sublayer(lambda x, sublayer: x + sublayer(n(x) / np.sqrt(layer)))
    if name == "rezero":
        return sublayer_by_sublayer(lambda x, sublayer: x + GATE * sublayer(x))
    if name == "mix_ln":
        return expected("post_norm" if layer <= depth // 4 else "pre_norm", layer, depth)
    if name == "b2t":
        h = n(X + f(X))
        return n(X + h + g(h))
    if name == "resi_dual":
        p = n(X + f(X))
        return n(p + g(p)), SECOND + f(X) + g(p)
    if name == "hybrid_norm":
        y = X + f(X)
        return n(y) + g(n(y))
    if name == "keel":
        return sublayer_by_sublayer(lambda x, sublayer: n(2 * depth * x + sublayer(n(x))))
    if name == "parallel":
        return X + f(n(X)) + g(n(X))
    raise AssertionError(f"{name} has no formula here")


# Norms of attention and of the feed-forward sublayer, those of them on the identity path; final and embedding norm.
WIRING = {
    "post_norm": ((1, 1), (0, 1), False, True),
    "pre_norm": ((1, 1), (), True, False),
    "sandwich_norm": ((2, 2), (), True, False),
    "output_norm": ((1, 1), (), True, False),
    "no_norm": ((0, 0), (), False, False),
    "deep_norm": ((1, 1), (0, 1), False, True),
    "layer_norm_scaling": ((1, 1), (), True, False),
    "sub_ln": ((1, 1), (), True, False),
    "rezero": ((0, 0), (), False, False),
    "mix_ln": ((1, 1), (), True, False),
    "b2t": ((1, 1), (0, 1), False, True),
    "resi_dual": ((1, 1), (0, 1), False, True),
    "hybrid_norm": ((0, 1), (0,), True, False),
    "keel": ((2, 2), (1, 3), False, True),
    "peri_ln": ((2, 2), (), True, True),
    "parallel": ((1, 0), (), True, False),
}
# What else a record says of these, where the others say nothing.
MORE = {
    "two_streams": {"resi_dual"},
    "inner_norm": {"sub_ln"},
    "qkv_norm": {"hybrid_norm"},
    "init_scale": {"deep_norm", "sub_ln"},
    "knows_depth": {"deep_norm", "sub_ln", "mix_ln", "keel"},
}


def at(layer: int, depth: int, gate: float = GATE) -> At[Any]:
    return At(norm=n, gate=lambda y: gate * y, layer=layer, depth=depth)


def one_layer(placement: Placement, place: At[Any]) -> Any:
    state: Any = (X, SECOND) if placement.two_streams else X
    for wiring, sublayer in ((placement.attention, f), (placement.feed_forward, g)):
        state = join(wiring, state, place, sublayer)
    return state


@pytest.mark.parametrize(("layer", "depth"), PLACES)
@pytest.mark.parametrize("name", PLACEMENTS)
def test_a_layer_computes_its_formula(name: str, layer: int, depth: int) -> None:
    np.testing.assert_allclose(one_layer(PLACEMENTS[name], at(layer, depth)), expected(name, layer, depth), rtol=1e-12)


def test_every_placement_is_checked() -> None:
    assert set(PLACEMENTS) == set(WIRING)


@pytest.mark.parametrize("name", PLACEMENTS)
def test_only_what_the_record_says_depends_on_the_depth(name: str) -> None:
    places = [at(3, depth) for depth in (3, 8, 12, 100)]
    outputs = [one_layer(PLACEMENTS[name], place) for place in places]
    differ = any(not np.array_equal(outputs[0], output) for output in outputs)
    # Sub-LN's wiring is Pre-Norm's; what knows the depth is its initialization.
    assert PLACEMENTS[name].knows_depth == (differ or PLACEMENTS[name].init_scale is not None)


def test_rezero_starts_as_the_identity() -> None:
    np.testing.assert_array_equal(one_layer(PLACEMENTS["rezero"], at(1, 4, gate=0.0)), X)


@pytest.mark.parametrize(("depth", "posts"), [(1, 0), (3, 0), (4, 1), (7, 1), (8, 2), (32, 8)])
def test_mix_ln_has_post_norm_in_the_lowest_quarter_rounded_down(depth: int, posts: int) -> None:
    on_path = [trace(PLACEMENTS["mix_ln"], layer=layer, depth=depth).identity_norms for layer in range(1, depth + 1)]
    assert on_path == [(0, 1)] * posts + [()] * (depth - posts)


@pytest.mark.parametrize("depth", [1, 2, 12, 1000])
def test_initial_scales_are_the_papers(depth: int) -> None:
    deep, sub = PLACEMENTS["deep_norm"].init_scale, PLACEMENTS["sub_ln"].init_scale
    assert deep is not None
    assert sub is not None
    assert deep(depth) == pytest.approx(1 / (8 * depth) ** (1 / 4))
    assert sub(depth) == pytest.approx(log(2 * depth) ** 0.5)


@pytest.mark.parametrize("name", PLACEMENTS)
def test_record_says_what_the_wiring_needs(name: str) -> None:
    placement, found = PLACEMENTS[name], trace(PLACEMENTS[name])
    assert placement.id == name == name.lower()
    assert placement.label
    assert placement.note.endswith(".")
    assert placement.formula
    assert len(placement.source) == len("1706.03762")
    assert (found.norms, found.identity_norms, placement.final_norm, placement.embedding_norm) == WIRING[name]
    for field, names in MORE.items():
        assert bool(getattr(placement, field)) == (name in names), field


@pytest.mark.parametrize("name", PLACEMENTS)
def test_the_trace_gives_the_numbers_of_the_wiring(name: str) -> None:
    place = at(3, 8)
    found = trace(PLACEMENTS[name], layer=3, depth=8)
    values: dict[int, Array] = {}

    def value(node: Any) -> Any:
        if id(node) not in values:
            inputs = [value(child) for child in node.inputs]
            values[id(node)] = {
                "x": lambda: X,
                "second": lambda: SECOND,
                "norm": lambda: n(*inputs),
                "gate": lambda: GATE * inputs[0],
                "scale": lambda: node.factor * inputs[0],
                "add": lambda: inputs[0] + inputs[1],
                "sublayer": lambda: (f, g)[node.index](inputs[0]),
            }[node.kind]()
        return values[id(node)]

    computed = [value(node) for node in found.output]
    wanted = one_layer(PLACEMENTS[name], place)
    np.testing.assert_allclose(computed, wanted if isinstance(wanted, tuple) else [wanted], rtol=1e-12)


def test_trace_records_the_expression() -> None:
    found = trace(PLACEMENTS["sandwich_norm"])
    (output,) = found.output
    assert output.kind == "add"
    stream, branch = output.inputs
    assert (stream.kind, branch.kind, branch.index) == ("add", "norm", 3)
    sublayer = branch.inputs[0]
    assert (sublayer.kind, sublayer.index, sublayer.inputs) == ("sublayer", 1, (found.reads[1],))
    assert (found.reads[0].kind, found.reads[0].index, found.reads[0].inputs[0].kind) == ("norm", 0, "x")


def test_the_parallel_block_reads_one_norm_twice() -> None:
    found = trace(PLACEMENTS["parallel"])
    assert found.reads[0] is found.reads[1]


def test_trace_of_two_streams_gives_both() -> None:
    first, second = trace(PLACEMENTS["resi_dual"]).output
    assert first.kind == "norm"
    assert second.inputs[0].inputs[0].kind == "second"


def test_a_norm_used_twice_is_on_the_path_once() -> None:
    def twice(x: Any, at: At[Any]) -> Generator[Any, Any, Any]:
        h = at.norm(x)
        y = yield h
        return at.norm(h + y) + h

    assert trace(replace(PLACEMENTS["no_norm"], attention=twice)).identity_norms == (0, 1)


def never(x: Any, at: At[Any]) -> Generator[Any, Any, Any]:
    return x
    yield


def again(x: Any, at: At[Any]) -> Generator[Any, Any, Any]:
    y = yield x
    z = yield y
    return x + z


@pytest.mark.parametrize("wiring", [never, again])
@pytest.mark.parametrize("sublayer", ["attention", "feed_forward"])
def test_a_wiring_that_does_not_yield_once_is_refused(wiring: Callable[..., Any], sublayer: str) -> None:
    with pytest.raises(ValueError, match=f"{wiring.__name__}: a wiring yields the sublayer's input exactly once"):
        trace(replace(PLACEMENTS["no_norm"], **{sublayer: wiring}))
    with pytest.raises(ValueError, match="exactly once"):
        join(wiring, X, at(1, 1), f)


def test_enter_and_leave_are_the_two_halves_of_join() -> None:
    steps, read = enter(PLACEMENTS["pre_norm"].attention, X, at(1, 1))
    np.testing.assert_array_equal(read, n(X))
    np.testing.assert_array_equal(leave(steps, f(read)), join(PLACEMENTS["pre_norm"].attention, X, at(1, 1), f))
