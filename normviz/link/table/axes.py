"""Which controls does the axes lab have?"""

from __future__ import annotations

from normviz.link.fields import parse_cell
from normviz.link.knob import Knob
from normviz.text import N_

AXIS_OPTIONS = {
    "layer_norm": N_("LayerNorm"),
    "rms_norm": N_("RMSNorm"),
    "batch_norm": N_("BatchNorm"),
    "instance_norm": N_("InstanceNorm"),
    "group_norm": N_("GroupNorm"),
}

AXES = (
    Knob(id="norm", label=N_("Norm"), kind="choice", default="layer_norm", options=AXIS_OPTIONS),
    Knob(id="batch", label=N_("Sequences B"), kind="int", default=2, low=1, high=8),
    Knob(id="tokens", label=N_("Tokens T"), kind="int", default=3, low=1, high=32),
    Knob(id="d", label=N_("Channels d"), kind="int", default=4, low=1, high=64),
    Knob(
        id="groups",
        label=N_("Groups"),
        kind="int",
        default=2,
        low=1,
        high=64,
        help=N_("GroupNorm only: the channels are cut into this many groups; it must divide d."),
    ),
    Knob(
        id="seed",
        label=N_("Seed"),
        kind="int",
        default=0,
        low=0,
        high=2**31 - 1,
        help=N_("Another seed draws other values."),
    ),
    Knob(
        id="pad",
        label=N_("Padding"),
        kind="bool",
        default=False,
        help=N_("Shorter sequences are filled up with zeros, as in a real batch."),
    ),
    Knob(id="masked", label=N_("Leave pads out of the statistics"), kind="bool", default=False),
    Knob(id="cell", label=N_("Selected cell"), kind="text", default="0.1.2", check=parse_cell),
)
