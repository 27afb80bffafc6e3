"""What would a person type to measure the depth lab's sweep with normviz?"""

from __future__ import annotations

from typing import Any

from normviz.depth.config import SweepConfig


def depth_script(config: SweepConfig, *, quantity: str = "grad_w2") -> str:
    """The depth lab as a script: the sweep itself, and the numbers of its figures.

    Parameters
    ----------
    config
        The sweep.
    quantity
        Whose norm at the last and the first layer is printed.
    """
    fields = "".join(f"    {name}={_literal(value)},\n" for name, value in config.to_dict().items())
    return _DEPTH.format(fields=fields, quantity=quantity)


_DEPTH = '''\
"""A depth sweep: gradients and the residual stream of models at initialization, against depth."""

import numpy as np

import normviz as nv

config = nv.SweepConfig(
{fields})
points = []
for point in nv.sweep(config):
    print(f"{{point.placement}}, {{point.depth}} layers, seed {{point.seed}}: {{point.seconds:.2f}} s")
    points.append(point)
result = nv.collect(config, points)
frame = result.to_frame()  # placement, depth, seed, quantity, layer, value


def over_seeds(rows):
    """Geometric mean over the seeds whose value is finite and not zero."""
    usable = rows[np.isfinite(rows.value) & (rows.value > 0)]
    return np.exp(np.log(usable.value).groupby([usable.placement, usable.depth, usable.layer]).mean())


gradient = frame[frame.quantity == "{quantity}"]
last = over_seeds(gradient[gradient.layer == gradient.depth])
first = over_seeds(gradient[gradient.layer == gradient.groupby("depth").layer.transform("min")])
residual = np.sqrt(over_seeds(frame[frame.quantity == "residual_mean_square"]))
print("{quantity} of the last layer:", last, sep="\\n")
print("{quantity} of the first layer:", first, sep="\\n")
print("RMS of the residual stream:", residual, sep="\\n")

# To keep the result: result.save("sweep.npz"); nv.load("sweep.npz") reads it again.
'''


def _literal(value: Any) -> str:
    if isinstance(value, list):
        return "(" + ", ".join(map(_literal, value)) + ("," if len(value) == 1 else "") + ")"
    return f'"{value}"' if isinstance(value, str) else repr(value)
