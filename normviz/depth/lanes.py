"""What does one wiring do on its way through the stack? Each operation is done, watched, and noted for the way back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from normviz.depth.config import SweepConfig
from normviz.depth.kernels import NORMS, Backward, Norm, l2, wide
from normviz.placements import At, Placement, trace

Undo = Callable[[], None]
# Called with a quantity, a position and one value per seed [S], or per seed and loss [S, K].
Note = Callable[[str, float, Tensor], None]


class Cotangent:
    """What comes back to a value: [S, N, K, d], the sum of what all its readers send."""

    __slots__ = ("sum",)

    def __init__(self) -> None:
        self.sum: Tensor | None = None

    def receive(self, g: Tensor) -> None:
        """Add; `g` may be shared with others and is not written to."""
        self.sum = g if self.sum is None else self.sum + g

    def give(self) -> Tensor:
        """The whole sum, once: it is forgotten here."""
        g, self.sum = self.sum, None
        assert g is not None  # a layer's output depends on all that happens in it
        return g


class Var:
    """A tensor [S, N, d] on a lane's way.

    What undoes an operation keeps the cotangents of its Vars and not their values, so that those are freed early.
    `made_at` is the position of the sublayer that wrote it, until it joins the stream.
    """

    __slots__ = ("_lane", "_mean_square", "back", "made_at", "value")

    def __init__(
        self, value: Tensor, lane: Lane, made_at: float | None = None, mean_square: Tensor | None = None
    ) -> None:
        self.value = value
        self.back = Cotangent()
        self.made_at = made_at
        self._lane = lane
        self._mean_square = mean_square

    @property
    def mean_square(self) -> Tensor:
        """Over tokens and channels [S]."""
        if self._mean_square is None:
            self._mean_square = l2(self.value, 1, 2).square_() / self.value[0].numel()
        return self._mean_square

    def __add__(self, other: Var) -> Var:
        return self._lane.add(self, other)

    def __rmul__(self, factor: float) -> Var:
        return self._lane.scale(factor, self)


class Lane:
    """One wiring's operations.

    Parameters
    ----------
    placement, config
        Which wiring, and whose norm and eps.
    tape
        Where each operation puts what undoes it.
    note
        Where measured values go.
    """

    def __init__(self, placement: Placement, config: SweepConfig, tape: list[Undo], note: Note) -> None:
        self.placement = placement
        self.note = note
        self.position = 0.0
        self._norm: Norm = partial(NORMS[config.norm], eps=config.eps)
        self._tape = tape
        self._on_path: tuple[int, ...] = ()
        self._norms = 0
        self._shared_at = 0.0

    def at(self, layer: int, depth: int) -> At[Var]:
        """What the wiring may use in this layer."""
        self._on_path = trace(self.placement, layer=layer, depth=depth).identity_norms
        self._norms = 0
        return At(norm=self._wiring_norm, gate=partial(self._gate, float(layer)), layer=layer, depth=depth)

    def start(self, tokens: Tensor) -> Any:
        """What the first layer starts from; the stream is x_0."""
        x = Var(tokens, self)
        if self.placement.embedding_norm:
            x = self._watched_norm(x, 0.0)
        self.note("residual_mean_square", 0.0, x.mean_square)
        self._lengths = torch.linalg.vector_norm(wide(x.value), dim=-1)
        return (x, x) if self.placement.two_streams else x

    def layer_done(self, layer: int, before: Var, state: Any) -> None:
        """Measure what leaves a layer, beside what came in."""
        after = stream(state)
        self.note("residual_mean_square", layer, after.mean_square)
        lengths = torch.linalg.vector_norm(wide(after.value), dim=-1)
        dots = (wide(before.value) * wide(after.value)).sum(-1)
        self.note("cosine_next", layer, (dots / (self._lengths * lengths)).mean(-1))
        self._lengths = lengths
        if self.placement.two_streams:
            self.note("second_mean_square", layer, state[1].mean_square)

    def finish(self, state: Any, depth: int) -> Var:
        """What the head reads."""
        if self.placement.two_streams:
            p, d = state
            return self.add(p, self._watched_norm(d, depth + 0.5))
        x: Var = state
        return self._watched_norm(x, depth + 0.5) if self.placement.final_norm else x

    def add(self, a: Var, b: Var) -> Var:
        """A sum; where a sublayer's output meets the stream, its share is noted."""
        if (a.made_at is None) != (b.made_at is None):
            self._share(*((a, b) if a.made_at is None else (b, a)))
        y = Var(a.value + b.value, self)
        self._tape.append(partial(_undo_add, y.back, a.back, b.back))
        return y

    def scale(self, factor: float, x: Var) -> Var:
        """A multiple."""
        y = Var(factor * x.value, self, x.made_at)
        self._tape.append(partial(_undo, y.back, x.back, lambda g: factor * g))
        return y

    def _normed(self, x: Var) -> Var:
        value, backward = self._norm(x.value)
        y = Var(value, self, x.made_at)
        self._tape.append(partial(_undo, y.back, x.back, backward))
        return y

    def _watched_norm(self, x: Var, position: float) -> Var:
        """A norm through which the stream passes."""
        self.note("pre_norm_mean_square", position, x.mean_square)
        return self._normed(x)

    def _wiring_norm(self, x: Var) -> Var:
        call, self._norms = self._norms, self._norms + 1
        return self._watched_norm(x, self.position) if call in self._on_path else self._normed(x)

    def _gate(self, layer: float, x: Var) -> Var:
        value = x.value
        y = Var(0.0 * value, self, x.made_at)

        def backward(g: Tensor) -> Tensor:
            self.note("grad_alpha", layer, torch.einsum("snkd,snd->sk", wide(g), wide(value)))
            return 0.0 * g

        self._tape.append(partial(_undo, y.back, x.back, backward))
        return y

    def _share(self, old: Var, write: Var) -> None:
        assert write.made_at is not None
        if write.made_at == self._shared_at:
            return  # the second stream gets the same
        self._shared_at = write.made_at
        self.note("write_share", write.made_at, write.mean_square / (write.mean_square + old.mean_square))


def _undo(above: Cotangent, below: Cotangent, backward: Backward) -> None:
    below.receive(backward(above.give()))


def _undo_add(above: Cotangent, first: Cotangent, second: Cotangent) -> None:
    g = above.give()
    first.receive(g)
    second.receive(g)


def stream(state: Any) -> Var:
    """The residual stream at the end of a layer: what the next layer's sublayers read."""
    x: Var = state[0] if isinstance(state, tuple) else state
    return x
