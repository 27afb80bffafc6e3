"""In which layer does a ported model first differ from the original, for each of the classic mistakes?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from reprlib import repr as shown
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from normviz.arrays import Floats, frozen, whole_number
from normviz.errors import InputError
from normviz.families.miniature import HEADS, Recipe, checkpoint, run, sites
from normviz.families.record import Family
from normviz.families.table import FAMILIES
from normviz.floats import WIDE
from normviz.placements import wirings
from normviz.text import N_

MISTAKES: Mapping[str, str] = MappingProxyType(
    {
        "scale_for_w": N_("w taken as the scale, its 1 forgotten"),
        "w_for_scale": N_("1 added to a stored scale"),
        "eps": N_("another eps"),
        "cast_order": N_("cast and multiply in the other order"),
        "no_bias": N_("biases of the norms dropped"),
        "no_final_norm": N_("final norm forgotten"),
        "post_as_pre": N_("norms after read as norms before"),
    }
)
"""Id -> the mistake in words; not every family offers each (`applicable`)."""

MOST_LAYERS = 24
WIDTHS = (16, 256)
LARGEST_SEED = 2**31 - 1

# The two values that most configs have; the wrong one is taken for the right one.
_USUAL_EPS = (1e-5, 1e-6)
_NORMS_AFTER = ("post_norm", "output_norm")


@dataclass(frozen=True, kw_only=True)
class PortingConfig:
    """A small random model of a family, and what its port does wrong.

    Parameters
    ----------
    family
        A key of `FAMILIES`; its wiring, norms, eps and arithmetic are used, not its sizes or its positions.
    n_layers
        L, 1 to 24.
    d_model
        Width, 16 to 256 and a multiple of 4, the number of heads.
    seed
        Of tokens and weights, 0 to 2**31 - 1.
    dtype
        "float32", "bfloat16" or "float16": the type of weights and activations. Products are added in float32.
    mistakes
        Keys of `MISTAKES` that are `applicable`; kept in the order of that table.

    Raises
    ------
    InputError
        If a field is out of its range, or the family does not offer a mistake.
    """

    family: str
    n_layers: int = 4
    d_model: int = 64
    seed: int = 0
    dtype: str = "float32"
    mistakes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check("family", self.family, tuple(FAMILIES))
        _check("dtype", self.dtype, WIDE)
        whole_number(self.n_layers, "n_layers", 1, MOST_LAYERS)
        if whole_number(self.d_model, "d_model", *WIDTHS) % HEADS:
            raise InputError(
                "d_model is a multiple of n_heads; got d_model {d_model} and n_heads {n_heads}",
                d_model=self.d_model,
                n_heads=HEADS,
            )
        whole_number(self.seed, "seed", 0, LARGEST_SEED)
        allowed = applicable(self.family)
        if not isinstance(self.mistakes, (tuple, list)):
            raise InputError("{field} is a list; got {got}", field="mistakes", got=shown(self.mistakes))
        for mistake in self.mistakes:
            _check("mistakes", mistake, allowed)
        object.__setattr__(self, "mistakes", tuple(name for name in allowed if name in self.mistakes))


@dataclass(frozen=True, kw_only=True, eq=False)
class Ported:
    r"""How far the port's residual stream is from the original's.

    Attributes
    ----------
    config
        What was compared.
    passed
        How many sublayers the stream has passed, int64 [n]: 0 to 2L; in a parallel layer both at once.
    layers
        $\|x'-x\|/\|x\|$ over all tokens after so many sublayers, shape [n]; exactly 0 where all bits agree.
    output
        The same of the model's output, after the final norm.
    first
        The first entry of `passed` with a difference, 2L + 1 if only the output differs, None if nothing does.
    applicable
        Ids of the mistakes that the family offers.
    """

    config: PortingConfig
    passed: NDArray[np.int64]
    layers: Floats
    output: float
    first: int | None
    applicable: tuple[str, ...]


def applicable(family: str) -> tuple[str, ...]:
    """Ids of the mistakes that can be made with a family, in the order of `MISTAKES`.

    Raises
    ------
    InputError
        If the family is unknown.
    """
    _check("family", family, tuple(FAMILIES))
    known, roles = FAMILIES[family], sites(FAMILIES[family])
    offered = {
        "scale_for_w": known.form == "1+w",
        "w_for_scale": known.form == "w",
        "eps": True,
        "cast_order": known.norm == "rms_norm" and known.form != "none",
        "no_bias": any(site.bias for site in roles.values()),
        "no_final_norm": "final" in roles,
        "post_as_pre": known.placement in _NORMS_AFTER,
    }
    return tuple(name for name in MISTAKES if offered[name])


def wrong_eps(eps: float) -> float:
    """What "another eps" is: 1e-5 where it is smaller, and 1e-6 where it is 1e-5."""
    large, small = _USUAL_EPS
    return small if eps >= large else large


def port(config: PortingConfig) -> Ported:
    """Run a small random model of the family as it is and with the mistakes, and compare the streams."""
    family = FAMILIES[config.family]
    stored = checkpoint(family, n_layers=config.n_layers, d_model=config.d_model, seed=config.seed, dtype=config.dtype)
    original, ported = run(stored, recipe(family)), run(stored, recipe(family, config.mistakes))
    found = [(passed, _error(theirs, ours)) for (passed, ours), (_, theirs) in zip(original, ported, strict=True)]
    different = [passed for passed, error in found if error != 0]
    return Ported(
        config=config,
        passed=frozen(np.array([passed for passed, _ in found[:-1]], dtype=np.int64)),
        layers=frozen(np.array([error for _, error in found[:-1]])),
        output=found[-1][1],
        first=different[0] if different else None,
        applicable=applicable(config.family),
    )


def recipe(family: Family, mistakes: tuple[str, ...] = ()) -> Recipe:
    """How a family's norms are read, with these mistakes made."""
    found = Recipe(
        attention=family.attention,
        feed_forward=family.feed_forward,
        eps=family.eps,
        add_one=family.form == "1+w",
        cast_first=family.arithmetic in ("cast_then_multiply", "t5"),
    )
    changes: dict[str, dict[str, Any]] = {
        "scale_for_w": {"add_one": False},
        "w_for_scale": {"add_one": True},
        "eps": {"eps": wrong_eps(family.eps)},
        "cast_order": {"cast_first": not found.cast_first},
        "no_bias": {"bias": False},
        "no_final_norm": {"final": False},
        "post_as_pre": {"attention": wirings.pre_norm, "feed_forward": wirings.pre_norm},
    }
    for mistake in mistakes:
        found = replace(found, **changes[mistake])
    return found


def _error(x: NDArray[np.generic], original: NDArray[np.generic]) -> float:
    exact = original.astype(np.float64)
    return float(np.linalg.norm(x.astype(np.float64) - exact) / np.linalg.norm(exact))


def _check(field: str, value: str, allowed: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in allowed:
        raise InputError(
            "{field} can be {allowed}; got {got}", field=field, allowed=", ".join(allowed), got=shown(value)
        )
