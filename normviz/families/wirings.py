"""How do the families wire a layer where none of the placements says it as it is?"""

from __future__ import annotations

from collections.abc import Generator
from math import sqrt

from normviz.placements.wirings import At, T, Wiring, pre_norm


def parallel_two_attention(x: T, at: At[T]) -> Generator[T, T, tuple[T, T]]:
    """GPT-NeoX's first branch, f(N(x)); the second one has a norm of its own."""
    y = yield at.norm(x)
    return x, y


def parallel_two_feed_forward(streams: tuple[T, T], at: At[T]) -> Wiring[T]:
    """GPT-NeoX: x + f(N(x)) + g(N'(x)), two norms of the same x."""
    x, y = streams
    z = yield at.norm(x)
    return x + y + z


def first_unnormed(x: T, at: At[T]) -> Wiring[T]:
    """ModernBERT's attention: Pre-Norm, but layer 1 reads the embedding, which is normalized already."""
    if at.layer > 1:
        return (yield from pre_norm(x, at))
    y = yield x
    return x + y


def scaled_branch(x: T, at: At[T]) -> Wiring[T]:
    """Granite: x + m f(N(x)), with the same number m in all layers."""
    y = yield at.norm(x)
    return x + at.gate(y)


def scaled_layer(x: T, at: At[T]) -> Wiring[T]:
    """Gemma 4's second half: a sandwich, and then the whole stream times a number of the layer."""
    y = yield at.norm(x)
    return at.gate(x + at.norm(y))


def with_side_path(x: T, at: At[T]) -> Wiring[T]:
    """Gemma 3n's attention: a sandwich whose result is averaged with a side path that starts at the same norm."""
    h = at.norm(x)
    y = yield h
    return 1 / sqrt(2) * (x + at.norm(y) + at.gate(h))
