"""What does a weight or bias look like that is neither 1 nor 0, where a person has none to type?"""

from __future__ import annotations

import numpy as np

from normviz.arrays import Floats, frozen, whole_number

SPREAD = 0.5
"""Standard deviation of random weights and biases: enough to be seen, and few weights change their sign."""


def random_weight(d: int, seed: int, *, about: float = 1.0) -> Floats:
    r"""A random gain, $w_i = c + 0.5\,z_i$ with standard normal $z_i$.

    Parameters
    ----------
    d
        Entries, 1 or more.
    seed
        0 or more; the same seed gives the same gain.
    about
        $c$: 1, or 0 where the model multiplies by 1 + w.

    Returns
    -------
    read-only array of float64, shape [d]
    """
    return _drawn(d, seed, 0, about)


def random_bias(d: int, seed: int) -> Floats:
    r"""A random bias, $b_i = 0.5\,z_i$ with standard normal $z_i$, independent of the weight of the same seed.

    Parameters
    ----------
    d
        Entries, 1 or more.
    seed
        0 or more; the same seed gives the same bias.

    Returns
    -------
    read-only array of float64, shape [d]
    """
    return _drawn(d, seed, 1, 0.0)


def _drawn(d: int, seed: int, stream: int, about: float) -> Floats:
    d, seed = whole_number(d, "d", 1), whole_number(seed, "seed", 0)
    drawn: Floats = about + SPREAD * np.random.default_rng((seed, stream)).standard_normal(d)
    return frozen(drawn)
