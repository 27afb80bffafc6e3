"""Where does weight decay pull the scale of a norm, stored as the scale or as the scale less one?"""

from __future__ import annotations

from reprlib import repr as shown

import numpy as np

from normviz.arrays import Floats, finite_number, frozen, whole_number, within_range
from normviz.errors import InputError

FORMS: tuple[str, ...] = ("w", "1+w")
"""What is stored: the scale, or the scale less one."""

MOST_STEPS = 100_000


def weight_decay(form: str, *, start: float, lr: float, decay: float, steps: int) -> Floats:
    r"""The scale of one channel under AdamW's decay alone, step by step, without a gradient.

    Every step multiplies what is stored by $1-\eta\lambda$, so that the scale s goes to 0 or to 1:

    - "w": $s_t=(1-\eta\lambda)^t s_0$;
    - "1+w": $s_t=1+(1-\eta\lambda)^t(s_0-1)$.

    Parameters
    ----------
    form
        One of `FORMS`.
    start
        Scale at the start.
    lr, decay
        $\eta$ and $\lambda$, 0 or more, with $\eta\lambda\le1$.
    steps
        0 to 100,000.

    Returns
    -------
    Floats
        The scale before the first step and after each, shape [steps + 1].

    Raises
    ------
    InputError
        If an argument is out of its range.

    References
    ----------
    Loshchilov & Hutter 2019, arXiv:1711.05101.
    """
    if form not in FORMS:
        raise InputError("{field} can be {allowed}; got {got}", field="form", allowed=", ".join(FORMS), got=shown(form))
    start = finite_number(start, "start")
    within_range(np.array(start), "start")
    rate = _rate(lr, "lr") * _rate(decay, "decay")
    if rate > 1:
        raise InputError(
            "lr times decay is a share of the weight, from 0 to 1; got {lr:g} times {decay:g}.", lr=lr, decay=decay
        )
    left = np.cumprod(np.concatenate([[1.0], np.full(whole_number(steps, "steps", 0, MOST_STEPS), 1 - rate)]))
    goal = 1.0 if form == "1+w" else 0.0
    return frozen(goal + (start - goal) * left)


def _rate(value: float, field: str) -> float:
    number = finite_number(value, field)
    if number < 0:
        raise InputError("{field} is 0 or a positive number; got {value:g}.", field=field, value=number)
    return number
