"""What does a depth sweep measure on one model?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

from normviz.depth.config import PointKey
from normviz.errors import InputError
from normviz.text import N_

Array = npt.NDArray[np.float64]

# The end of the year 9999 in Unix time, the last that a calendar of Python's can name.
LATEST = 253_402_300_799


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Something that a sweep measures: its id in files, its name on screen and a note (English messages)."""

    id: str
    label: str
    note: str


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        quantity.id: quantity
        for quantity in (
            Quantity(
                id="residual_mean_square",
                label=N_("mean square of the residual stream"),
                note=N_("mean of the squared entries of x_l over all tokens and channels; x_0 enters the first layer"),
            ),
            Quantity(
                id="pre_norm_mean_square",
                label=N_("mean square entering the norms on the identity path"),
                note=N_(
                    "attention sublayer of layer l at l - 0.5, feed-forward at l, embedding norm 0, final norm L + 0.5"
                ),
            ),
            Quantity(
                id="branch_mean_square",
                label=N_("mean square of a sublayer's output"),
                note=N_("before any norm on the branch; attention sublayer of layer l at l - 0.5, feed-forward at l"),
            ),
            Quantity(
                id="grad_residual",
                label=N_("L2 norm of dLoss/dx"),
                note=N_("over all tokens and channels of the residual stream x_l"),
            ),
            *(
                Quantity(id=f"grad_{matrix.lower()}", label=label, note=note)
                for matrix, label, note in (
                    ("WQ", N_("L2 norm of dLoss/dWQ"), N_("query matrix of layer l")),
                    ("WK", N_("L2 norm of dLoss/dWK"), N_("key matrix of layer l")),
                    ("WV", N_("L2 norm of dLoss/dWV"), N_("value matrix of layer l")),
                    ("WO", N_("L2 norm of dLoss/dWO"), N_("attention output matrix of layer l")),
                    ("W1", N_("L2 norm of dLoss/dW1"), N_("feed-forward input matrix of layer l")),
                    ("W2", N_("L2 norm of dLoss/dW2"), N_("feed-forward output matrix of layer l")),
                    ("WG", N_("L2 norm of dLoss/dWG"), N_("feed-forward gate matrix of layer l (SwiGLU)")),
                )
            ),
            Quantity(
                id="grad_all",
                label=N_("L2 norm of dLoss/d(all weights)"),
                note=N_("over the matrices of all layers together, where every one of them was measured"),
            ),
            Quantity(
                id="grad_alpha",
                label=N_("|dLoss/d alpha|"),
                note=N_("ReZero's gate of layer l, shared by both sublayers"),
            ),
            Quantity(
                id="second_mean_square",
                label=N_("mean square of the second stream"),
                note=N_("ResiDual's sum of all branches after layer l"),
            ),
            Quantity(
                id="write_share",
                label=N_("share of a sublayer's write in the stream"),
                note=N_(
                    "mean square of what is added, over that sum's: write / (write + stream); attention at l - 0.5, "
                    "feed-forward at l"
                ),
            ),
            Quantity(
                id="cosine_next",
                label=N_("cosine between x_{l-1} and x_l"),
                note=N_("of the residual stream before and after layer l, mean over tokens; 1 means no turn"),
            ),
            Quantity(
                id="logit_scale",
                label=N_("RMS of the attention logits"),
                note=N_("q·k / sqrt(d_head) over all allowed pairs of tokens and all heads of layer l"),
            ),
            Quantity(
                id="attention_entropy",
                label=N_("entropy of attention"),
                note=N_("of each token's weights over its largest, ln(allowed tokens): 1 is uniform, 0 is one token"),
            ),
            Quantity(id="loss", label=N_("loss"), note=N_("mean cross-entropy in nats at initialization")),
        )
    }
)


@dataclass(frozen=True, kw_only=True, eq=False)
class Profile:
    """One quantity of one model over its layers: read-only float64 arrays of the same length.

    Divergence is data: `value` may hold inf and nan.
    """

    layer: Array
    value: Array

    def __post_init__(self) -> None:
        for name in ("layer", "value"):
            array = np.array(getattr(self, name), dtype=np.float64)
            array.flags.writeable = False
            object.__setattr__(self, name, array)
        if self.layer.ndim != 1 or self.layer.shape != self.value.shape:
            raise InputError(
                "layer and value have one shape [n]; got {layer} and {value}",
                layer=list(self.layer.shape),
                value=list(self.value.shape),
            )

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Profile)
            and np.array_equal(self.layer, other.layer)
            and np.array_equal(self.value, other.value, equal_nan=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        # Arrays come out of a pickle writeable; the constructor closes them again.
        return partial(Profile, layer=self.layer, value=self.value), ()


@dataclass(frozen=True, kw_only=True)
class DepthPoint:
    """What one model gave: quantity id -> `Profile`, and how it was made.

    `seconds` is its share of the time of its slice, `device` the name of the device that measured it, `halvings` how
    often the slice was cut in two because the device's memory ran out, `finished` the Unix time at which it ended, in
    seconds, 0 where that is unknown.
    """

    placement: str
    depth: int
    seed: int
    profiles: Mapping[str, Profile]
    seconds: float
    device: str
    torch_version: str
    halvings: int = 0
    finished: float = 0.0

    def __post_init__(self) -> None:
        for name in ("seconds", "finished"):
            if not 0 <= (got := getattr(self, name)) <= LATEST:
                raise InputError(
                    "{field} is a number of seconds from 0 to {latest}; got {got}", field=name, latest=LATEST, got=got
                )
        object.__setattr__(self, "profiles", MappingProxyType(dict(self.profiles)))

    @property
    def key(self) -> PointKey:
        """Which model of the sweep this is."""
        return PointKey(self.placement, self.depth, self.seed)

    def ordered(self) -> list[tuple[str, Profile]]:
        """The quantities and their profiles in the order of `QUANTITIES`."""
        return [(name, self.profiles[name]) for name in QUANTITIES if name in self.profiles]

    def __reduce__(self) -> tuple[Any, ...]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return partial(DepthPoint, **{**values, "profiles": dict(self.profiles)}), ()
