"""Which controls does the axes lab have?"""

from __future__ import annotations

from normviz.grid import split_sentences
from normviz.link.fields import parse_cell
from normviz.link.knob import Knob
from normviz.text import N_

VIEW_OPTIONS = {
    "grid": N_("Who shares"),
    "padding": N_("Padding"),
    "batches": N_("Small batches"),
    "running": N_("Training and inference"),
    "power": N_("PowerNorm"),
    "tokens": N_("What is lost"),
}
AXIS_OPTIONS = {
    "layer_norm": N_("LayerNorm"),
    "rms_norm": N_("RMSNorm"),
    "batch_norm": N_("BatchNorm"),
    "instance_norm": N_("InstanceNorm"),
    "group_norm": N_("GroupNorm"),
    "everything": N_("Everything"),
}
SOURCE_OPTIONS = {"words": N_("sentences"), "synthetic": N_("numbers"), "file": N_("file")}
KIND_OPTIONS = {
    "independent": N_("independent"),
    "correlated": N_("correlated"),
    "outlier": N_("outlier channels"),
}
PAD_OPTIONS = {"zero": N_("zeros"), "embedding": N_("a pad embedding"), "garbage": N_("garbage")}
VALUE_OPTIONS = {"before": N_("before"), "after": N_("after")}
POPULATION_OPTIONS = {
    "independent": N_("independent"),
    "heavy": N_("heavy tails"),
    "equal": N_("equally correlated"),
    "chain": N_("correlated with neighbours"),
}
STREAM_OPTIONS = {
    "steady": N_("steady"),
    "drift": N_("drifting"),
    "mixture": N_("changing mixture"),
    "generation": N_("generation"),
}
MODE_OPTIONS = {"train": N_("training"), "eval": N_("inference")}

MOST_SHOWN = MOST_SEQUENCES, MOST_TOKENS, MOST_CHANNELS = 8, 32, 64
"""What is drawn of a grid [B, T, d] at most."""

_SEED_LIMIT = 2**31 - 1
_PLACE = 10_000_000

_DATA = (
    Knob(
        id="source",
        label=N_("The grid holds"),
        kind="choice",
        default="words",
        options=SOURCE_OPTIONS,
        help=N_("Numbers are drawn from the seed; a file stays on this page and is not in the link."),
    ),
    Knob(
        id="text",
        label=N_("Sentences"),
        kind="text",
        default="the cat sat on the mat\nit purred\na dog barked at it",
        check=split_sentences,
        help=N_("One sentence a line; its words are the tokens. Each word has an embedding drawn from the seed."),
    ),
    Knob(
        id="kind",
        label=N_("Numbers"),
        kind="choice",
        default="independent",
        options=KIND_OPTIONS,
        help=N_(
            "Independent: each cell on its own. Correlated: the tokens of a sequence resemble each other. Outlier "
            "channels: a few channels are twenty times as large, as in trained models."
        ),
    ),
    Knob(id="batch", label=N_("Sequences B"), kind="int", default=2, low=1, high=MOST_SEQUENCES),
    Knob(id="tokens", label=N_("Tokens T"), kind="int", default=3, low=1, high=MOST_TOKENS),
    Knob(id="d", label=N_("Channels d"), kind="int", default=6, low=1, high=MOST_CHANNELS),
    Knob(
        id="rho",
        label=N_("Correlation within a sequence"),
        kind="float",
        default=0.5,
        low=0,
        high=1,
        step=0.05,
    ),
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
        id="pad",
        label=N_("Padding"),
        kind="bool",
        default=False,
        help=N_("The later sequences are shorter and filled up, as in a real batch."),
    ),
    Knob(
        id="pads",
        label=N_("Pads hold"),
        kind="choice",
        default="zero",
        options=PAD_OPTIONS,
        help=N_("Garbage is what uninitialized memory or an earlier layer may leave there: ten times random numbers."),
    ),
    Knob(id="from_b", label=N_("From sequence"), kind="int", default=1, low=1, high=_PLACE),
    Knob(id="from_t", label=N_("From token"), kind="int", default=1, low=1, high=_PLACE),
    Knob(id="from_c", label=N_("From channel"), kind="int", default=1, low=1, high=_PLACE),
)
_GRID = (
    Knob(id="norm", label=N_("Norm"), kind="choice", default="layer_norm", options=AXIS_OPTIONS),
    Knob(
        id="groups",
        label=N_("Groups"),
        kind="int",
        default=2,
        low=1,
        high=MOST_CHANNELS,
        help=N_("GroupNorm only: the channels are cut into this many groups; it must divide d."),
    ),
    Knob(id="masked", label=N_("Leave pads out of the statistics"), kind="bool", default=False),
    Knob(
        id="values",
        label=N_("Values"),
        kind="choice",
        default="before",
        options=VALUE_OPTIONS,
        help=N_("What the colours and the numbers show: the cells before or after the norm."),
    ),
    Knob(id="cell", label=N_("Selected cell"), kind="text", default="0.1.2", check=parse_cell),
)
_PADDING = (
    Knob(id="row", label=N_("Sentence"), kind="int", default=1, low=1, high=MOST_SEQUENCES),
    Knob(
        id="change",
        label=N_("Words more or fewer"),
        kind="int",
        default=4,
        low=-MOST_TOKENS,
        high=MOST_TOKENS,
        help=N_("A longer sentence starts over from its first word; every other sentence is filled up to its length."),
    ),
    Knob(id="channel", label=N_("Channel"), kind="int", default=1, low=1, high=MOST_CHANNELS),
)
_BATCHES = (
    Knob(
        id="population",
        label=N_("Tokens are"),
        kind="choice",
        default="independent",
        options=POPULATION_OPTIONS,
        help=N_("Each has mean 0 and variance 1. Heavy tails: a Laplace distribution."),
    ),
    Knob(id="seq", label=N_("Tokens in a sequence T"), kind="int", default=8, low=1, high=64),
    Knob(id="corr", label=N_("Correlation"), kind="float", default=0.5, low=0, high=0.95, step=0.05),
    Knob(
        id="z",
        label=N_("Value of the fixed token"),
        kind="float",
        default=1.5,
        low=-4,
        high=4,
        step=0.1,
        help=N_("In standard deviations from the mean of the population."),
    ),
    Knob(id="size", label=N_("Sequences in the batch B"), kind="int", default=2, low=1, high=32),
)
_STREAM = (
    Knob(
        id="stream",
        label=N_("The data are"),
        kind="choice",
        default="steady",
        options=STREAM_OPTIONS,
        help=N_(
            "Steady: the same population in each batch. Drifting: its mean moves. Changing mixture: two domains, and "
            "each batch has another share of them. Generation: after 50 batches of training, one token at a time."
        ),
    ),
    Knob(id="n", label=N_("Tokens in a batch N"), kind="int", default=16, low=2, high=64),
    Knob(
        id="momentum",
        label=N_("Momentum"),
        kind="float",
        default=0.1,
        low=0,
        high=1,
        step=0.01,
        help=N_("PyTorch's: the share of the new batch in the running statistics."),
    ),
    Knob(id="drift", label=N_("Drift of the mean in a batch"), kind="float", default=0.05, low=0, high=1, step=0.01),
    Knob(id="fed", label=N_("Batches so far"), kind="int", default=20, low=0, high=200),
    Knob(
        id="mode",
        label=N_("The layer is in"),
        kind="choice",
        default="train",
        options=MODE_OPTIONS,
        help=N_("PyTorch's model.train() and model.eval()."),
    ),
    Knob(
        id="alpha",
        label=N_("Share of the old in PowerNorm"),
        kind="float",
        default=0.9,
        low=0,
        high=1,
        step=0.01,
        help=N_("The paper's alpha, forward and backward."),
    ),
)
_TOKENS = (
    Knob(id="word", label=N_("Token"), kind="int", default=2, low=1, high=MOST_TOKENS),
    Knob(id="scale", label=N_("Scale a"), kind="float", default=2.0, low=-4, high=4, step=0.1),
    Knob(id="shift", label=N_("Shift b"), kind="float", default=1.0, low=-10, high=10, step=0.1),
    Knob(
        id="weighted",
        label=N_("A random weight"),
        kind="bool",
        default=False,
        help=N_("The gain of each channel is 1 + 0.5 times a standard normal number, as after some training."),
    ),
)

AXES = (
    Knob(id="view", label=N_("View"), kind="choice", default="grid", options=VIEW_OPTIONS),
    *_DATA,
    *_GRID,
    *_PADDING,
    *_BATCHES,
    *_STREAM,
    *_TOKENS,
)
