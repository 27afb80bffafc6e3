"""Which controls does the depth lab have?"""

from __future__ import annotations

from normviz.link.fields import parse_eps
from normviz.link.knob import Knob
from normviz.placements import PLACEMENTS
from normviz.text import N_


def _numbers(*sizes: int) -> dict[str, str]:
    return {str(size): str(size) for size in sizes}


PLACEMENT_OPTIONS = {name: placement.label for name, placement in PLACEMENTS.items()}
QUANTITY_OPTIONS = {
    "grad_w2": N_("W2 (feed-forward, out)"),
    "grad_w1": N_("W1 (feed-forward, in)"),
    "grad_wg": N_("W_G (gate of SwiGLU)"),
    "grad_wo": N_("W_O (attention, out)"),
    "grad_wv": N_("W_V (values)"),
    "grad_wk": N_("W_K (keys)"),
    "grad_wq": N_("W_Q (queries)"),
    "grad_all": N_("all weights together"),
    "grad_residual": N_("the residual stream and the input"),
    "grad_alpha": N_("ReZero's gate alpha"),
}
WHERE_OPTIONS = {"last": N_("last layer"), "middle": N_("middle layer"), "first": N_("first layer")}
VIEW_OPTIONS = {
    "gradients": N_("Gradients"),
    "map": N_("Map"),
    "stream": N_("Stream"),
    "attention": N_("Attention"),
    "claims": N_("Claims"),
}
DEPTH_OPTIONS = _numbers(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

DEPTH = (
    Knob(
        id="placements",
        label=N_("Placements"),
        kind="choices",
        default=["post_norm", "pre_norm"],
        options=PLACEMENT_OPTIONS,
        help=N_("Where the norm sits; all chosen ones are measured with the same weights."),
    ),
    Knob(
        id="depths",
        label=N_("Depths L"),
        kind="choices",
        default=["2", "4", "8", "16", "32"],
        options=DEPTH_OPTIONS,
        help=N_("Number of layers; a layer is attention and feed-forward."),
    ),
    Knob(
        id="norm",
        label=N_("Norm"),
        kind="choice",
        default="layer_norm",
        options={"layer_norm": N_("LayerNorm"), "rms_norm": N_("RMSNorm"), "dyt": N_("DyT"), "none": N_("None")},
        help=N_("DyT is tanh(x / 2) instead of a norm; None leaves every norm out."),
    ),
    Knob(
        id="init",
        label=N_("Initialization"),
        kind="choice",
        default="xavier",
        options={"xavier": "Xavier", "gpt2": "GPT-2", "std02": N_("std 0.02")},
        help=N_("Xavier: variance 2/(fan in + fan out). GPT-2: 0.02, residual outputs over sqrt(2L). std 0.02: plain."),
    ),
    Knob(
        id="seeds",
        label=N_("Seeds"),
        kind="int",
        default=2,
        low=1,
        high=16,
        help=N_("How many random initializations; the figures show their spread."),
    ),
    Knob(id="d_model", label="d_model", kind="choice", default="64", options=_numbers(32, 64, 128, 256, 512, 1024)),
    Knob(id="n_heads", label=N_("Heads"), kind="choice", default="4", options=_numbers(1, 2, 4, 8, 16)),
    Knob(id="ff", label="d_ff / d_model", kind="choice", default="4", options=_numbers(1, 2, 3, 4)),
    Knob(id="batch", label=N_("Sequences B"), kind="int", default=4, low=1, high=64),
    Knob(id="seq_len", label=N_("Tokens T"), kind="int", default=32, low=1, high=512),
    Knob(
        id="attention",
        label=N_("Attention"),
        kind="choice",
        default="causal",
        options={"causal": N_("causal"), "bidirectional": N_("bidirectional"), "uniform": N_("uniform")},
        help=N_("Uniform: every token attends to all tokens equally, as in the theory of Xiong et al. 2020."),
    ),
    Knob(
        id="activation",
        label=N_("Activation"),
        kind="choice",
        default="relu",
        options={"relu": "ReLU", "gelu": "GELU", "swiglu": "SwiGLU"},
    ),
    Knob(
        id="qk_norm",
        label=N_("QK-norm"),
        kind="bool",
        default=False,
        help=N_("RMSNorm on queries and keys before their product."),
    ),
    Knob(
        id="wo",
        label=N_("Output matrix W_O"),
        kind="bool",
        default=True,
        help=N_("Xiong et al. 2020 prove their theorem for attention without it."),
    ),
    Knob(
        id="loss",
        label=N_("Loss"),
        kind="choice",
        default="mean",
        options={"mean": N_("all tokens"), "one": N_("last token")},
    ),
    Knob(id="eps", label="eps", kind="text", default="1e-5", check=parse_eps),
    Knob(
        id="dtype",
        label="dtype",
        kind="choice",
        default="float32",
        options={"float32": "float32", "mixed": N_("mixed"), "bfloat16": "bfloat16", "float16": "float16"},
        help=N_("Mixed: matrix products in bfloat16, the stream, norms and sums in float32. float16 ends at 65504."),
    ),
    Knob(
        id="device",
        label=N_("Device"),
        kind="choice",
        default="auto",
        options={"auto": "auto", "cpu": "cpu", "cuda": "cuda", "mps": "mps"},
        help=N_("auto: cuda where there is one, else the CPU."),
    ),
    Knob(id="view", label=N_("View"), kind="choice", default="gradients", options=VIEW_OPTIONS),
    Knob(id="quantity", label=N_("Gradient of"), kind="choice", default="grad_w2", options=QUANTITY_OPTIONS),
    Knob(id="where", label=N_("At"), kind="choices", default=["last", "first"], options=WHERE_OPTIONS),
    Knob(
        id="theory",
        label=N_("Theory"),
        kind="bool",
        default=True,
        help=N_("Dashed: what the closed forms and the mean-field recursion give for infinite width."),
    ),
    Knob(id="layers", label=N_("Layers at depth L"), kind="choice", default="32", options=DEPTH_OPTIONS),
    Knob(id="map", label=N_("Map of"), kind="choice", default="pre_norm", options=PLACEMENT_OPTIONS),
)
