"""Which controls does the cost lab have?"""

from __future__ import annotations

from normviz.cost import KINDS, LAYERS, WAYS
from normviz.link.knob import Knob
from normviz.text import N_

VIEW_OPTIONS = {
    "counts": N_("Counts"),
    "layer": N_("Share of a layer"),
    "bench": N_("Live benchmark"),
    "paper": N_("The paper's 7 % to 64 %"),
}
_DTYPES = {name: name for name in ("float32", "bfloat16", "float16")}

COST = (
    Knob(id="view", label=N_("View"), kind="choice", default="counts", options=VIEW_OPTIONS),
    Knob(id="kind", label=N_("Norm"), kind="choice", default="rms_norm", options=dict(KINDS)),
    Knob(id="way", label=N_("Computed"), kind="choice", default="compiled", options=dict(WAYS)),
    Knob(id="tokens", label=N_("Tokens N"), kind="int", default=2048, low=1, high=2**32),
    Knob(id="d", label=N_("Width d"), kind="int", default=4096, low=1, high=2**24),
    Knob(id="dtype", label=N_("Format"), kind="choice", default="bfloat16", options=_DTYPES),
    Knob(
        id="layer",
        label=N_("A layer of"),
        kind="choice",
        default="llama3_8b",
        options={name: label for name, (label, _) in LAYERS.items()},
    ),
    Knob(
        id="new",
        label=N_("New tokens"),
        kind="choice",
        default="all",
        options={"all": N_("the whole text"), "one": N_("one, as in generation")},
    ),
    Knob(
        id="kinds",
        label=N_("Norms"),
        kind="choices",
        default=["layer_norm", "rms_norm", "add_rms_norm"],
        options=dict(KINDS),
    ),
    Knob(id="ways", label=N_("Ways"), kind="choices", default=list(WAYS), options=dict(WAYS)),
    Knob(id="rows", label=N_("Tokens"), kind="int", default=2048, low=1, high=1_000_000),
    Knob(id="width", label=N_("Width"), kind="int", default=1024, low=1, high=65_536),
    Knob(id="format", label=N_("Format"), kind="choice", default="float32", options=_DTYPES),
    Knob(
        id="device",
        label=N_("Device"),
        kind="choice",
        default="auto",
        options={"auto": N_("auto"), "cpu": "cpu", "cuda": "cuda"},
        help=N_("auto takes a GPU where there is one."),
    ),
    Knob(id="repeats", label=N_("Rounds"), kind="int", default=20, low=3, high=200),
)
