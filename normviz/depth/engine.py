"""How are many models measured in one forward and one backward pass?

The models of a slice share their sublayers' weights, seed by seed. Their wirings run side by side, as lanes of one
batch: each reads and joins as its generator says, and the sublayers see all lanes at once. Where nothing depends on the
number of layers, a shallow model is the lower part of a deep one, so that one forward pass serves all depths; on the
way down each depth adds its own loss's cotangent to those that come from above.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from normviz.depth.config import PointKey, SweepConfig
from normviz.depth.kernels import Product, l2, wide
from normviz.depth.lanes import Lane, Undo, Var, stream
from normviz.depth.model import Ends, draw, shapes
from normviz.depth.points import Profile
from normviz.depth.sublayers import Sublayers
from normviz.placements import PLACEMENTS, enter, leave

_SMALL = 1e-30  # of a chance


@dataclass(frozen=True)
class _Noted:
    """A measured value: of all depths that reach the position, or of one depth."""

    position: float
    value: Tensor
    depth: int | None


class Pass:
    """One slice: every combination of some placements, depths and seeds.

    Parameters
    ----------
    config
        The sweep.
    placements, depths, seeds
        The slice's models. With more than one depth, none of the placements may depend on it.
    device
        Where it runs.
    """

    def __init__(
        self,
        config: SweepConfig,
        placements: Sequence[str],
        depths: Sequence[int],
        seeds: Sequence[int],
        device: torch.device,
    ) -> None:
        self._config = config
        self._depths = sorted(depths, reverse=True)
        self._seeds = tuple(seeds)
        self._names = tuple(placements)
        self._device = device
        self._tape: list[Undo] = []
        self._noted: list[dict[str, list[_Noted]]] = [defaultdict(list) for _ in placements]
        self._top: int | None = None  # the depth whose top is at work
        self._lanes = [
            Lane(PLACEMENTS[name], config, self._tape, partial(self._note, index))
            for index, name in enumerate(placements)
        ]
        self._product = Product(config.dtype == "mixed")

    @torch.inference_mode()
    def run(self) -> dict[PointKey, dict[str, Profile]]:
        """Measure all models; each quantity's values lie in the order of their positions."""
        deepest = self._depths[0]
        ends, layers = draw(self._config, self._lanes[0].placement, deepest, self._seeds, self._device)
        self._sublayers = Sublayers(self._config, self._lanes[0].placement, self._device)
        states: list[list[Any]] = [[lane.start(ends.tokens.flatten(1, 2)) for lane in self._lanes]]
        self._tape.clear()  # nobody asks what lies below x_0
        marks = [0]
        for layer, weights in enumerate(layers, start=1):
            states.append(self._layer(layer, deepest, states[-1], weights))
            marks.append(len(self._tape))
        for layer in range(deepest, -1, -1):
            if layer in self._depths:
                self._add_loss(layer, states[layer], ends)
            self._note_residual_gradients(layer, states.pop())
            below = marks[layer - 1] if layer else 0
            while len(self._tape) > below:
                self._tape.pop()()
        return self._profiles()

    def _note(self, lane: int, quantity: str, position: float, value: Tensor) -> None:
        self._noted[lane][quantity].append(_Noted(position, value, self._top))

    def _layer(self, layer: int, deepest: int, states: list[Any], weights: dict[str, Tensor]) -> list[Any]:
        """Send all lanes through a layer."""
        joined = {"qkv": _beside(weights, "wq", "wk", "wv"), "in": _beside(weights, "w1", "wg")}
        joined |= {name: weights[name] for name in ("wo", "w2") if name in weights}
        before = [stream(state) for state in states]
        places = [lane.at(layer, deepest) for lane in self._lanes]
        for kind, position in (("attention", layer - 0.5), ("feed_forward", float(layer))):
            steps, reads = [], []
            for lane, state, at in zip(self._lanes, states, places, strict=True):
                lane.position = position
                step, read = enter(getattr(lane.placement, kind), state, at)
                steps.append(step)
                reads.append(read)
            outputs = self._sublayer(kind, position, reads, joined)
            states = [leave(step, y) for step, y in zip(steps, outputs, strict=True)]
        for lane, old, state in zip(self._lanes, before, states, strict=True):
            lane.layer_done(layer, old, state)
        return states

    def _sublayer(self, kind: str, position: float, reads: list[Var], weights: dict[str, Tensor]) -> list[Var]:
        """Send what all lanes read through the sublayer, and note how to come back."""
        x = torch.stack([read.value for read in reads], dim=1)
        if kind == "attention":
            y, backward, seen = self._sublayers.attention(x, weights)
            layer = position + 0.5
        else:
            (y, backward), seen = self._sublayers.feed_forward(x, weights), {}
            layer = position
        power = l2(y, 2, 3).square_() / y[0, 0].numel()
        outputs = [Var(y[:, i], lane, position, power[:, i]) for i, lane in enumerate(self._lanes)]
        for i, lane in enumerate(self._lanes):
            lane.note("branch_mean_square", position, power[:, i])
            for quantity, value in seen.items():
                lane.note(quantity, layer, value[:, i])

        above, below = [output.back for output in outputs], [read.back for read in reads]

        def undo() -> None:
            gx, found = backward(torch.stack([back.give() for back in above], dim=1))
            for i, (lane, back) in enumerate(zip(self._lanes, below, strict=True)):
                back.receive(gx[:, i])
                for name, value in found.items():
                    lane.note(f"grad_{name}", layer, value[:, i])

        self._tape.append(undo)
        return outputs

    def _add_loss(self, depth: int, states: list[Any], ends: Ends) -> None:
        """Go on from the last layer of the models of one depth to their loss, and back; their cotangents join."""
        self._top = depth
        mark = len(self._tape)
        below = [state if isinstance(state, tuple) else (state,) for state in states]
        above = [tuple(Var(x.value, lane) for x in xs) for lane, xs in zip(self._lanes, below, strict=True)]
        tops = [
            lane.finish(xs if lane.placement.two_streams else xs[0], depth)
            for lane, xs in zip(self._lanes, above, strict=True)
        ]
        g = self._loss(torch.stack([x.value for x in tops], dim=1), ends)
        for i, x in enumerate(tops):
            x.back.receive(g[:, i].unsqueeze(2))
        while len(self._tape) > mark:
            self._tape.pop()()
        for old, new in ((x, y) for xs, ys in zip(below, above, strict=True) for x, y in zip(xs, ys, strict=True)):
            own, others = new.back.give(), old.back.sum
            old.back.sum = own if others is None else torch.cat([others, own], dim=2)
        self._top = None

    def _loss(self, x: Tensor, ends: Ends) -> Tensor:
        """Note the cross-entropy in nats of x [S, P, N, d], mean over tokens, and return its cotangent."""
        config, labels, read = self._config, ends.labels, x
        if config.loss == "one":
            read, labels = x.unflatten(2, (config.batch, -1))[:, :, :, -1], labels[:, :, -1:]
        # float32 logits, as in mixed-precision training: half precision would round the loss itself.
        logits = wide(self._product(read.flatten(1, 2), ends.head))
        chances = logits.softmax(-1)
        classes = labels.flatten(1).repeat(1, len(self._lanes)).unsqueeze(-1)
        picked = chances.gather(-1, classes)
        # One exponential of each logit is enough, unless a label's chance is too small for float32.
        losses = picked.log() if bool(picked.min() > _SMALL) else logits.log_softmax(-1).gather(-1, classes)
        losses = -losses.unflatten(1, (len(self._lanes), -1)).mean(dim=(2, 3))
        for i, lane in enumerate(self._lanes):
            lane.note("loss", 0.0, losses[:, i])
        chances.scatter_(-1, classes, picked - 1)
        share = 1 / labels[0].numel()
        g = self._product(chances.to(ends.head.dtype), ends.head.mT).mul_(share).view_as(read)
        if config.loss == "one":
            whole = torch.zeros_like(x.unflatten(2, (config.batch, -1)))
            whole[:, :, :, -1] = g
            g = whole.flatten(2, 3)
        return g

    def _note_residual_gradients(self, layer: int, states: list[Any]) -> None:
        for lane, state in zip(self._lanes, states, strict=True):
            g = stream(state).back.sum
            assert g is not None
            lane.note("grad_residual", layer, l2(g, 1, 3))

    def _profiles(self) -> dict[PointKey, dict[str, Profile]]:
        """Bring all numbers to the host in one transfer and give each model its own."""
        tensors = [item.value for noted in self._noted for items in noted.values() for item in items]
        if self._device.type == "mps":  # has no float64
            tensors = [value.cpu() for value in tensors]
        flat = torch.cat([value.flatten() for value in tensors]).double().cpu().numpy()
        numbers = iter(np.split(flat, np.cumsum([value.numel() for value in tensors])[:-1]))
        found: dict[PointKey, dict[str, Profile]] = {}
        for name, noted in zip(self._names, self._noted, strict=True):
            table = {
                quantity: [(item, next(numbers).reshape(item.value.shape)) for item in items]
                for quantity, items in noted.items()
            }
            for column, depth in enumerate(self._depths):
                for row, seed in enumerate(self._seeds):
                    found[PointKey(name, depth, seed)] = {
                        quantity: _profile(items, depth, row, column) for quantity, items in table.items()
                    }
        for profiles in found.values():
            self._finish(profiles)
        return found

    def _finish(self, profiles: dict[str, Profile]) -> None:
        """Put together what is told apart on the way."""
        if "grad_alpha" in profiles:  # one number for both sublayers: its derivatives add up
            slopes = profiles["grad_alpha"]
            layers = np.unique(slopes.layer)
            sums = np.array([slopes.value[slopes.layer == layer].sum() for layer in layers])
            profiles["grad_alpha"] = Profile(layer=layers, value=np.abs(sums))
        matrices = [f"grad_{name}" for name in shapes(self._config)]
        if all(name in profiles for name in matrices):
            with np.errstate(over="ignore"):
                whole = np.sqrt(sum((profiles[name].value ** 2).sum() for name in matrices))
            profiles["grad_all"] = Profile(layer=np.zeros(1), value=np.array([whole]))


def _beside(weights: dict[str, Tensor], *names: str) -> Tensor:
    """The matrices that a model has of these, side by side, so that one product serves them all."""
    parts = [weights[name] for name in names if name in weights]
    return parts[0] if len(parts) == 1 else torch.cat(parts, dim=-1)


def _profile(items: list[tuple[_Noted, np.ndarray[Any, Any]]], depth: int, row: int, column: int) -> Profile:
    """The values of one model: one seed's row, and the column of its loss where there is one for each."""
    own = [
        (item.position, values[row] if values.ndim == 1 else values[row, column])
        for item, values in items
        if (item.position <= depth if item.depth is None else item.depth == depth)
    ]
    own.sort(key=lambda pair: pair[0])
    return Profile(layer=np.array([position for position, _ in own]), value=np.array([value for _, value in own]))
