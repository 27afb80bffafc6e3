"""Which controls does the vector lab have?"""

from __future__ import annotations

from normviz.link.fields import parse_eps, parse_x
from normviz.link.knob import Knob
from normviz.text import N_
from normviz.vectors import parse_vector

SOURCE_OPTIONS = {
    "typed": N_("typed"),
    "random": N_("random"),
    "hidden": N_("hidden state"),
    "file": N_("file"),
}
PARAMETER_OPTIONS = {"typed": N_("typed"), "random": N_("random")}
VIEW_OPTIONS = {
    "steps": N_("Steps"),
    "geometry": N_("Geometry"),
    "invariances": N_("Invariances"),
    "backward": N_("Backward"),
}
DISTRIBUTION_OPTIONS = {
    "normal": N_("normal"),
    "uniform": N_("uniform"),
    "exponential": N_("exponential"),
    "outlier": N_("outlier channels"),
}
_SEED_LIMIT = 2**31 - 1

VECTOR = (
    Knob(
        id="source",
        label=N_("Vector x is"),
        kind="choice",
        default="typed",
        options=SOURCE_OPTIONS,
        help=N_("Random and hidden state are drawn from the seed; a file stays on this page and is not in the link."),
    ),
    Knob(
        id="x",
        label=N_("Vector x"),
        kind="text",
        default="1, 2, 3, 4",
        check=parse_x,
        help=N_("Numbers separated by commas, spaces or new lines; JSON and what NumPy or PyTorch print work too."),
    ),
    Knob(id="d", label=N_("Entries d"), kind="int", default=64, low=1, high=1_000_000),
    Knob(
        id="seed",
        label=N_("Seed"),
        kind="int",
        default=0,
        low=0,
        high=_SEED_LIMIT,
        help=N_("Another seed draws other values."),
    ),
    Knob(
        id="eps",
        label="eps",
        kind="text",
        default="0",
        check=parse_eps,
        help=N_("The small number added to the variance (LayerNorm) or to the mean square (RMSNorm), 0 to 10."),
    ),
    Knob(
        id="w",
        label=N_("Weight"),
        kind="text",
        default="",
        check=parse_vector,
        help=N_("The gain of each entry: one number for all or one per entry. Empty means 1."),
    ),
    Knob(id="w_is", label=N_("Weight is"), kind="choice", default="typed", options=PARAMETER_OPTIONS),
    Knob(
        id="b",
        label=N_("Bias"),
        kind="text",
        default="",
        check=parse_vector,
        help=N_("Added to LayerNorm's output: one number for all or one per entry. Empty means 0. RMSNorm has none."),
    ),
    Knob(id="b_is", label=N_("Bias is"), kind="choice", default="typed", options=PARAMETER_OPTIONS),
    Knob(
        id="p_seed",
        label=N_("Seed of weight and bias"),
        kind="int",
        default=0,
        low=0,
        high=_SEED_LIMIT,
        help=N_("Random weights are 1 + 0.5 times, random biases 0.5 times standard normal numbers."),
    ),
    Knob(
        id="offset",
        label=N_("1 + w"),
        kind="bool",
        default=False,
        help=N_(
            "Some models store w and multiply by 1 + w, so that w = 0 changes nothing. The weight above is then w."
        ),
    ),
    Knob(id="view", label=N_("View"), kind="choice", default="steps", options=VIEW_OPTIONS),
    Knob(
        id="step",
        label=N_("Steps shown"),
        kind="int",
        default=0,
        low=0,
        high=6,
        help=N_("0 shows all."),
    ),
    Knob(id="slip_unbiased", label=N_("n or n − 1"), kind="bool", default=False),
    Knob(id="slip_eps_outside", label=N_("eps inside or outside the root"), kind="bool", default=False),
    Knob(id="slip_one_pass", label=N_("E[x²] − E[x]² in float32"), kind="bool", default=False),
    Knob(id="slip_std_for_rms", label=N_("RMS is not the standard deviation"), kind="bool", default=False),
    Knob(
        id="cloud",
        label=N_("A cloud of random vectors"),
        kind="bool",
        default=False,
        help=N_("Up to 300 random vectors with as many entries as x, and where both norms put them."),
    ),
    Knob(
        id="dist",
        label=N_("Entries of the cloud"),
        kind="choice",
        default="normal",
        options=DISTRIBUTION_OPTIONS,
    ),
    Knob(
        id="mean",
        label=N_("Mean of the cloud"),
        kind="float",
        default=0.0,
        low=-10,
        high=10,
        step=0.1,
        help=N_("The entries have standard deviation 1 about this mean."),
    ),
    Knob(id="scale", label=N_("Scale a"), kind="float", default=1.0, low=-4, high=4, step=0.1),
    Knob(id="shift", label=N_("Shift b"), kind="float", default=0.0, low=-10, high=10, step=0.1),
    Knob(
        id="factor",
        label=N_("Factor of the table"),
        kind="choice",
        default="3",
        options={factor: factor for factor in ("-3", "-0.5", "0.5", "3", "100")},
        help=N_("What weights and data are multiplied by."),
    ),
    Knob(
        id="g",
        label=N_("Gradient g"),
        kind="text",
        default="",
        check=parse_vector,
        help=N_("The gradient that arrives at the output: one number for all or one per entry. Empty means 1, 0, 0, …"),
    ),
)
