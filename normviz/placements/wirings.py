"""Where does the norm go: what enters a sublayer, and how does its output join the residual stream?

One function per wiring, side by side on purpose: each yields the sublayer's input, receives its output and returns what
the next sublayer starts from. That is the residual stream; a wiring that needs more of it hands a tuple on.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import sqrt
from typing import Any, Generic, Protocol, Self, TypeVar


class Stream(Protocol):
    """What a wiring handles: tensors in the model, recording stand-ins in a diagram."""

    def __add__(self, other: Self, /) -> Self: ...

    def __rmul__(self, factor: float, /) -> Self: ...


T = TypeVar("T", bound=Stream)
Wiring = Generator[T, T, T]
Pair = tuple[T, T]


@dataclass(frozen=True, kw_only=True)
class At(Generic[T]):
    """What a wiring may ask for at its place in the stack.

    Attributes
    ----------
    norm
        The model's norm.
    gate
        Multiplies by a trained number that starts at 0.
    layer, depth
        The layer l, from 1, and the number of layers L.
    """

    norm: Callable[[T], T]
    gate: Callable[[T], T]
    layer: int
    depth: int


def post_norm(x: T, at: At[T]) -> Wiring[T]:
    """Every norm sits on the identity path: N(x + f(x))."""
    y = yield x
    return at.norm(x + y)


def pre_norm(x: T, at: At[T]) -> Wiring[T]:
    """The identity path stays free: x + f(N(x))."""
    y = yield at.norm(x)
    return x + y


def sandwich_norm(x: T, at: At[T]) -> Wiring[T]:
    """Each branch arrives with mean square 1: x + N(f(N(x)))."""
    y = yield at.norm(x)
    return x + at.norm(y)


def output_norm(x: T, at: At[T]) -> Wiring[T]:
    """The sublayer reads the raw stream, only its output is normalized: x + N(f(x))."""
    y = yield x
    return x + at.norm(y)


def no_norm(x: T, at: At[T]) -> Wiring[T]:
    """Nothing holds the stream back: x + f(x)."""
    y = yield x
    return x + y


def deep_norm(x: T, at: At[T]) -> Wiring[T]:
    """Post-Norm with a heavier stream: N(a x + f(x)) with a = (2L)^(1/4)."""
    y = yield x
    return at.norm((2 * at.depth) ** 0.25 * x + y)


def keel(x: T, at: At[T]) -> Wiring[T]:
    """A norm inside and one outside: N(a x + f(N(x))) with a = 2L, the number of sublayers."""
    y = yield at.norm(x)
    return at.norm(2.0 * at.depth * x + y)


def layer_norm_scaling(x: T, at: At[T]) -> Wiring[T]:
    """Pre-Norm whose norms shrink with the layer: x + f(N(x) / sqrt(l))."""
    y = yield 1 / sqrt(at.layer) * at.norm(x)
    return x + y


MIX_LN_SHARE = 0.25
"""Share of the layers, from the bottom, that Mix-LN wires as Post-Norm (arXiv:2412.13795)."""


def mix_ln(x: T, at: At[T]) -> Wiring[T]:
    """Post-Norm in the lowest quarter of the layers, Pre-Norm above."""
    wiring = post_norm if at.layer <= int(MIX_LN_SHARE * at.depth) else pre_norm
    return (yield from wiring(x, at))


def rezero(x: T, at: At[T]) -> Wiring[T]:
    """No norm, and a gate a on each branch that starts at 0: x + a f(x)."""
    y = yield x
    return x + at.gate(y)


def residual_pair(streams: Pair[T], at: At[T]) -> Generator[T, T, Pair[T]]:
    """ResiDual: p goes through Post-Norm, d keeps the sum of all branches."""
    p, d = streams
    y = yield p
    return at.norm(p + y), d + y


def hybrid_feed_forward(x: T, at: At[T]) -> Wiring[T]:
    """HybridNorm's second half: h + f(h) with h = N(x); its attention normalizes queries, keys and values instead."""
    h = at.norm(x)
    y = yield h
    return h + y


def b2t_attention(x: T, at: At[T]) -> Generator[T, T, Pair[T]]:
    """B2T's first half: h = N(x + f(x)); the layer's input x goes along."""
    y = yield x
    return at.norm(x + y), x


def b2t_feed_forward(streams: Pair[T], at: At[T]) -> Wiring[T]:
    """B2T's second half: N(x + h + f(h)), with a connection from the layer's bottom x to its top."""
    h, x = streams
    y = yield h
    return at.norm(x + h + y)


def parallel_attention(x: T, at: At[T]) -> Generator[T, T, tuple[T, T, T]]:
    """The parallel block's first branch, f(N(x))."""
    h = at.norm(x)
    y = yield h
    return x, h, y


def parallel_feed_forward(streams: tuple[T, T, T], at: At[T]) -> Wiring[T]:
    """The parallel block: x + f(h) + g(h), where both sublayers read the same h = N(x)."""
    x, h, y = streams
    z = yield h
    return x + y + z


def join(wiring: Callable[..., Generator[Any, Any, Any]], x: Any, at: At[Any], sublayer: Callable[[Any], Any]) -> Any:
    """Send what a sublayer starts from through it, wired as the function says.

    Raises
    ------
    ValueError
        If the function does not yield exactly once.
    """
    steps, read = enter(wiring, x, at)
    return leave(steps, sublayer(read))


def enter(wiring: Callable[..., Generator[Any, Any, Any]], x: Any, at: At[Any]) -> tuple[Generator[Any, Any, Any], Any]:
    """Go up to the sublayer: the wiring's steps, for `leave`, and what the sublayer reads.

    Raises
    ------
    ValueError
        If the function does not yield.
    """
    steps = wiring(x, at)
    try:
        return steps, next(steps)
    except StopIteration:
        raise _not_once(steps) from None


def leave(steps: Generator[Any, Any, Any], y: Any) -> Any:
    """Go on from the sublayer's output `y`; returns what the next sublayer starts from.

    Raises
    ------
    ValueError
        If the function yields again.
    """
    try:
        steps.send(y)
    except StopIteration as stop:
        return stop.value
    raise _not_once(steps)


def _not_once(steps: Any) -> ValueError:
    return ValueError(f"{steps.__name__}: a wiring yields the sublayer's input exactly once")
