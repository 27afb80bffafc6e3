"""How do the statistics, and with them the real tokens' outputs, depend on the share of pads that are counted?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from normviz.arrays import Floats, epsilon, frozen, whole_number
from normviz.grid.batches import Batch, pad_values
from normviz.grid.statistics import normalize_grid

LARGEST_SHARE = 0.9
"""Up to this share pads are added; beyond it BatchNorm sees hardly anything but pads."""

POINTS = 19
"""Shares at which the bias is measured, every 0.05 from 0 to 0.9 where the number of tokens allows it."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PaddingBias:
    """One channel of an unmasked BatchNorm against the share of pads, measured and by the closed form.

    Attributes
    ----------
    channel
        Which channel, from 0.
    share
        Pads / tokens p, shape [n], rising from 0.
    mean, var
        The statistics with the pads counted, measured, shape [n]; the variance is biased.
    shift, stretch
        Mean and standard deviation of the real tokens' outputs, measured, shape [n]; without pads about 0 and 1.
    mean_law, var_law, shift_law, stretch_law
        The same by the closed form.
    current
        Index of the batch's own share.
    """

    channel: int
    share: Floats
    mean: Floats
    var: Floats
    shift: Floats
    stretch: Floats
    mean_law: Floats
    var_law: Floats
    shift_law: Floats
    stretch_law: Floats
    current: int


def padding_bias(batch: Batch, channel: int, *, eps: float = 1e-5) -> PaddingBias:
    r"""Count more and more pads beside the same real tokens, and compare BatchNorm's statistics with the closed form.

    With real tokens of mean $\mu$ and variance $\sigma^2$, and a share p of pads of mean c and variance v (0 unless
    they are garbage),

    $$\hat\mu=(1-p)\mu+pc,\qquad\hat\sigma^2=(1-p)\sigma^2+pv+p(1-p)(\mu-c)^2,$$

    so that the real tokens' outputs have mean $(\mu-\hat\mu)/\sqrt{\hat\sigma^2+\varepsilon}$ and standard deviation
    $\sigma/\sqrt{\hat\sigma^2+\varepsilon}$. For $\mu=c=v=0$ that is an inflation by $1/\sqrt{1-p}$.

    Parameters
    ----------
    batch
        The batch's own pads are counted first, then more of the same kind, until p is about 0.9.
    channel
        From 0.
    eps
        As in `normalize_grid`.

    Raises
    ------
    InputError
        If there is no such channel, or as `normalize_grid`; with a single real token there is no variance at p = 0.
    """
    rows, _, d = batch.x.shape
    channel, eps = whole_number(channel, "channel", 0, d - 1), epsilon(eps)
    real, own = batch.x[batch.mask][:, channel], batch.x[~batch.mask][:, channel]
    wanted = np.linspace(0, LARGEST_SHARE, POINTS)
    counts = np.unique([*np.rint(len(real) * wanted / (1 - wanted)).astype(int), len(own)])
    more = max(0, int(counts[-1]) - len(own))
    if batch.pads == "garbage":
        # Of a row that the grid does not have, so that it is not the garbage of its own pads again.
        added = pad_values(batch.pads, rows, more, 1, batch.seed)[:, 0]
    else:
        added = np.full(more, pad_values(batch.pads, rows, 1, d, batch.seed)[0, channel])
    pads = np.concatenate([own, added])

    measured, laws = [], []
    mean, var = real.mean(), real.var()
    for count in counts:
        trace = normalize_grid(np.concatenate([real, pads[:count]])[None, :, None], "batch_norm", eps=eps)
        assert trace.mean is not None
        assert trace.var is not None
        output = trace.output[0, : len(real), 0]
        measured.append((trace.mean[0], trace.var[0], output.mean(), output.std()))

        p = count / (len(real) + count)
        pad_mean, pad_var = (pads[:count].mean(), pads[:count].var()) if count else (0.0, 0.0)
        mean_law = (1 - p) * mean + p * pad_mean
        var_law = (1 - p) * var + p * pad_var + p * (1 - p) * (mean - pad_mean) ** 2
        divisor = np.sqrt(var_law + eps)
        laws.append((mean_law, var_law, (mean - mean_law) / divisor, np.sqrt(var) / divisor))
    by_measure, by_law = (tuple(map(frozen, np.array(table).T.copy())) for table in (measured, laws))
    return PaddingBias(
        channel=channel,
        share=frozen(counts / (len(real) + counts)),
        **dict(zip(("mean", "var", "shift", "stretch"), by_measure, strict=True)),
        **dict(zip(("mean_law", "var_law", "shift_law", "stretch_law"), by_law, strict=True)),
        current=int(np.searchsorted(counts, len(own))),
    )
