"""What is lost where a small number meets a large one: a branch and its stream, a weight and the 1 beside it?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from normviz.arrays import Floats, frozen
from normviz.floats.formats import known_format, round_to


def residual_path(start: float, update: float, steps: int, *, format: str = "bfloat16") -> Floats:
    r"""A stream to which every branch adds the same update, $x_{k+1}=\mathrm{round}(x_k+u)$.

    Parameters
    ----------
    start, update
        Finite numbers.
    steps
        Number of branches, 0 or more.
    format
        A key of `FORMATS`, in which the stream is kept.

    Returns
    -------
    Floats
        The stream before the first branch and after each, shape [steps + 1].

    Raises
    ------
    InputError
        If the format is unknown.
    """
    kind = known_format(format)
    path = [round_to(np.array(start, dtype=np.float64), kind)]
    for _ in range(steps):
        path.append(round_to(path[-1] + update, kind))
    return frozen(np.array(path))


@dataclass(frozen=True, kw_only=True, eq=False)
class Landing:
    """Where scales 1 + w close to 1 land in a format, held as the scale and as w.

    Attributes
    ----------
    format
        Id of the format.
    w
        The weights, shape [n].
    as_scale, as_w
        Scale less one of each where the format holds 1 + w, and where it holds w, shape [n].
    """

    format: str
    w: Floats
    as_scale: Floats
    as_w: Floats


def landing(w: Floats, *, format: str = "bfloat16") -> Landing:
    """Round 1 + w, and w, to the format.

    Parameters
    ----------
    w
        Finite numbers, shape [n].
    format
        A key of `FORMATS`.

    Raises
    ------
    InputError
        If the format is unknown.
    """
    kind = known_format(format)
    return Landing(
        format=format, w=frozen(np.array(w)), as_scale=frozen(round_to(1 + w, kind) - 1), as_w=frozen(round_to(w, kind))
    )
