"""Where do many random vectors lie before and after LayerNorm and RMSNorm?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from normviz.arrays import Floats, centre, epsilon, finite_number, frozen, root_mean_square, whole_number, within_range
from normviz.errors import InputError
from normviz.geometry.normalized import normalized

# n x d numbers; 16 MB in float64.
LARGEST_CLOUD = 2_000_000
# One channel in 16 is this many times larger in the distribution "outlier".
OUTLIER_FACTOR = 20
OUTLIER_SPACING = 16


def _outlier(generator: np.random.Generator, shape: tuple[int, int]) -> Floats:
    noise = generator.standard_normal(shape)
    noise[:, ::OUTLIER_SPACING] *= OUTLIER_FACTOR
    return noise


# Mean 0 and standard deviation 1 (of the channels that are no outliers).
_NOISE: Mapping[str, Callable[[np.random.Generator, tuple[int, int]], Floats]] = MappingProxyType(
    {
        "normal": lambda generator, shape: generator.standard_normal(shape),
        "uniform": lambda generator, shape: generator.uniform(-np.sqrt(3), np.sqrt(3), shape),
        "exponential": lambda generator, shape: generator.standard_exponential(shape) - 1,
        "outlier": _outlier,
    }
)
DISTRIBUTIONS = tuple(_NOISE)


@dataclass(frozen=True, kw_only=True, eq=False)
class Cloud:
    r"""Many random vectors before and after both norms, each in its own half-plane span{1, x}.

    Attributes
    ----------
    before, layer_norm, rms_norm
        $(\sqrt d\cdot\mathrm{mean},\sqrt d\cdot\mathrm{std})$ of x, LN(x) and RMSNorm(x), shape [n, 2]: the exact
        coordinates of each vector along $\mathbf 1/\sqrt d$ and $(x-\bar x)/\|x-\bar x\|$. Lengths are exact; the angle
        between two different vectors is not to be read off.
    points, layer_points, rms_points
        The same vectors with their own entries as coordinates, shape [n, 3]; None unless d = 3.
    n, d, eps, mean, distribution
        How many vectors, their length, what was added inside the roots, and how the entries were drawn.
    """

    before: Floats
    layer_norm: Floats
    rms_norm: Floats
    points: Floats | None
    layer_points: Floats | None
    rms_points: Floats | None
    n: int
    d: int
    eps: float
    mean: float
    distribution: str


def cloud_size(d: int) -> int:
    """How many vectors of d entries make a cloud: 300, fewer where they would hold more than 2,000,000 numbers."""
    return max(1, min(300, LARGEST_CLOUD // d))


def cloud(
    d: int, *, n: int | None = None, mean: float = 0.0, distribution: str = "normal", eps: float = 0.0, seed: int = 0
) -> Cloud:
    r"""Seeded random vectors, and where LayerNorm and RMSNorm (without weight and bias) put them.

    Every entry is `mean` plus noise of mean 0 and standard deviation 1: normal, uniform on $[-\sqrt3,\sqrt3]$, or
    exponential minus 1 (skewed). "outlier" is normal noise that is 20 times larger in every 16th channel, the first one
    included, so that there is at least one.

    Parameters
    ----------
    d
        Numbers in each vector, 1 or more.
    n
        How many vectors; n x d is at most 2,000,000. None takes `cloud_size(d)`.
    mean
        What is added to the noise of every entry.
    distribution
        "normal", "uniform", "exponential" or "outlier".
    eps
        $\varepsilon\ge0$, inside both roots, in units of x squared.
    seed
        From 0 to 2**31 - 1; the same seed draws the same vectors.

    Raises
    ------
    InputError
        If an argument is out of its range, or if a norm is undefined at one of the vectors (LayerNorm at d = 1, eps 0).
    """
    d = whole_number(d, "d", 1)
    n = cloud_size(d) if n is None else whole_number(n, "n", 1)
    if n * d > LARGEST_CLOUD:
        raise InputError(
            "a cloud holds up to {limit} numbers, n vectors of d numbers each; got {n} x {d}.",
            limit=LARGEST_CLOUD,
            n=n,
            d=d,
        )
    if distribution not in _NOISE:
        raise InputError(
            "distribution is one of {choices}; got {value!r}.", choices=", ".join(DISTRIBUTIONS), value=distribution
        )
    mean, eps, seed = finite_number(mean, "mean"), epsilon(eps), whole_number(seed, "seed", 0, 2**31 - 1)
    within_range(np.array(mean), "mean")

    x = mean + _NOISE[distribution](np.random.default_rng(seed), (n, d))
    layer, rms = normalized("layer_norm", x, eps)[0], normalized("rms_norm", x, eps)[0]
    return Cloud(
        before=_half_plane(x),
        layer_norm=_half_plane(layer),
        rms_norm=_half_plane(rms),
        points=frozen(x) if d == 3 else None,
        layer_points=frozen(layer) if d == 3 else None,
        rms_points=frozen(rms) if d == 3 else None,
        n=n,
        d=d,
        eps=eps,
        mean=mean,
        distribution=distribution,
    )


def _half_plane(vectors: Floats) -> Floats:
    mean, centered = centre(vectors)
    return frozen(np.sqrt(vectors.shape[-1]) * np.hstack([mean, root_mean_square(centered)]))
