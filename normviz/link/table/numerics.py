"""Which controls does the numerics lab have?"""

from __future__ import annotations

from normviz.floats import ACCUMULATIONS, ARITHMETICS, FORMATS, INCIDENTS
from normviz.link.fields import parse_eps, parse_x
from normviz.link.knob import Knob
from normviz.text import N_

VIEW_OPTIONS = {
    "steps": N_("Step by step"),
    "incidents": N_("Cases"),
    "arithmetic": N_("Orders"),
    "decay": N_("Weight decay"),
}
_FORMATS = {name: kind.label for name, kind in FORMATS.items()}
_ARITHMETICS = {name: entry.label for name, entry in ARITHMETICS.items()}

NUMERICS = (
    Knob(id="view", label=N_("View"), kind="choice", default="steps", options=VIEW_OPTIONS),
    Knob(
        id="norm",
        label=N_("Norm"),
        kind="choice",
        default="rms_norm",
        options={"layer_norm": N_("LayerNorm"), "rms_norm": N_("RMSNorm")},
    ),
    Knob(id="format", label=N_("Format"), kind="choice", default="float16", options=_FORMATS),
    Knob(id="accumulate", label=N_("Computed"), kind="choice", default="own", options=dict(ACCUMULATIONS)),
    Knob(
        id="x",
        label=N_("Vector x"),
        kind="text",
        default="100, 250, -300, 0.01, 2, -1",
        check=parse_x,
        help=N_("Numbers separated by commas, spaces or new lines; JSON and what NumPy or PyTorch print work too."),
    ),
    Knob(
        id="eps",
        label="eps",
        kind="text",
        default="1e-6",
        check=parse_eps,
        help=N_("The small number added to the variance (LayerNorm) or to the mean square (RMSNorm), 0 to 10."),
    ),
    Knob(id="entry", label=N_("Entry"), kind="int", default=1, low=1, high=16_384),
    Knob(
        id="incident",
        label=N_("Case"),
        kind="choice",
        default=next(iter(INCIDENTS)),
        options={name: incident.label for name, incident in INCIDENTS.items()},
    ),
    Knob(id="first", label=N_("First"), kind="choice", default="cast_then_multiply", options=_ARITHMETICS),
    Knob(id="second", label=N_("Second"), kind="choice", default="multiply_then_cast", options=_ARITHMETICS),
    Knob(
        id="wide",
        label=N_("Format"),
        kind="choice",
        default="bfloat16",
        options={name: _FORMATS[name] for name in ("bfloat16", "float16")},
    ),
    Knob(
        id="spread",
        label=N_("Spread of the weights"),
        kind="float",
        default=0.3,
        low=0,
        high=2,
        step=0.05,
        help=N_("The scale of each channel is 1 plus this times a standard normal number."),
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
    Knob(id="start", label=N_("Scale at the start"), kind="float", default=1.5, low=-2, high=4, step=0.1),
    Knob(
        id="lr",
        label=N_("Learning rate"),
        kind="choice",
        default="0.001",
        options={rate: rate for rate in ("0.0001", "0.0003", "0.001", "0.003", "0.01")},
    ),
    Knob(id="decay", label=N_("Weight decay"), kind="float", default=0.1, low=0, high=1, step=0.01),
    Knob(id="steps", label=N_("Training steps"), kind="int", default=20_000, low=0, high=100_000),
)
