"""What would a person write in PyTorch, without normviz, to get the depth lab's numbers?"""

from __future__ import annotations

from dataclasses import replace
from reprlib import repr as shown
from textwrap import indent, wrap

from normviz.depth.config import MATRICES, SweepConfig
from normviz.errors import InputError
from normviz.snippets.blocks import blocks, matrices
from normviz.snippets.measuring import STREAM, measuring
from normviz.snippets.wirings import INIT_SCALES, LAYERS

SINGLE = ("grad_all", "loss")
PRINTABLE = (*(f"grad_{name}" for name in MATRICES), "grad_all", "grad_alpha", "loss", *STREAM)
"""The quantities that a script without normviz can print."""


def standalone_script(config: SweepConfig, *, quantity: str = "grad_w2") -> str:
    """The depth lab as a script that needs nothing but PyTorch, to be read in a lecture.

    It draws the same numbers from the same seeds, has only the placements that were chosen, one layer a few lines, and
    lets autograd do the rest, model after model.

    Parameters
    ----------
    config
        The sweep. "mixed" arithmetic becomes float32, and a comment says so.
    quantity
        What is printed of each model, at its last and its first layer; one of `PRINTABLE`.

    Returns
    -------
    str
        Python; it prints a line for each model and keeps all layers' values in `measured`.

    Raises
    ------
    InputError
        If the script cannot print the quantity, or no model of the sweep has it.
    """
    if quantity not in PRINTABLE:
        raise InputError(
            "{field} can be {allowed}; got {got}", field="quantity", allowed=", ".join(PRINTABLE), got=shown(quantity)
        )
    if quantity == "grad_alpha":
        missing = "rezero" not in config.placements
        config = replace(config, placements=("rezero",))
    else:
        missing = quantity.startswith("grad_w") and quantity.removeprefix("grad_") not in matrices(config)
    if missing:
        raise InputError("No model of this sweep has the quantity {quantity}", quantity=quantity)
    parts = [
        f"{_header(config, quantity)}\n\n{_constants(config)}",
        *blocks(config),
        measuring(config, quantity),
        _report(config, quantity),
    ]
    return "\n\n".join(part.rstrip() + "\n" for part in parts)


def _header(config: SweepConfig, quantity: str) -> str:
    lines = [
        f'"""{quantity} of untrained Transformers against their depth, in plain PyTorch (2.4 or newer).',
        "",
        "The same seeds draw the same numbers as in the depth lab of normviz.",
        '"""',
        "",
        *(["import math", ""] if _needs_math(config) else []),
        "import torch",
        "import torch.nn.functional as F",
    ]
    return "\n".join(lines)


def _needs_math(config: SweepConfig) -> bool:
    return (
        config.attention != "uniform"
        or config.init in ("xavier", "gpt2")
        or any("math." in LAYERS[name] + INIT_SCALES.get(name, "") for name in config.placements)
    )


def _constants(config: SweepConfig) -> str:
    dtype = "float32" if config.dtype == "mixed" else config.dtype
    device = '"cuda" if torch.cuda.is_available() else "cpu"' if config.device == "auto" else f'"{config.device}"'
    mixed = "  # the lab rounded the factors of matrix products to bfloat16" if config.dtype == "mixed" else ""
    return "\n".join(
        [
            f"depths = {_tuple(config.depths)}",
            f"seeds = {_tuple(config.seeds)}",
            f"d_model, n_heads, d_ff = {config.d_model}, {config.n_heads}, {config.d_ff}",
            f"batch, seq_len, vocab_size = {config.batch}, {config.seq_len}, {config.vocab_size}",
            f"eps = {config.eps!r}",
            f"dtype = torch.{dtype}{mixed}",
            f"device = {device}",
        ]
    )


def _report(config: SweepConfig, quantity: str) -> str:
    """The loop over the models, a printed line for each."""
    values = (
        "{values[0]:.6g}" if quantity in SINGLE else "of the last layer {values[-1]:.6g}, of the first {values[0]:.6g}"
    )
    table = "\n".join(wrap(", ".join(f'"{name}":\0{name}' for name in config.placements), 110)).replace("\0", " ")
    entries = table if "\n" not in table else "\n" + indent(table, "    ") + ",\n"
    return f"""\
PLACEMENTS = {{{entries}}}
measured = {{}}
for depth in depths:
    for seed in seeds:
        for placement in PLACEMENTS:
            values = measure(placement, depth, seed)
            measured[placement, depth, seed] = values
            model = f"{{placement}}, {{depth}} layers, seed {{seed}}"
            print(f"{{model}}: {quantity} {values}")
"""


def _tuple(numbers: tuple[int, ...]) -> str:
    """Numbers as a tuple, or as a range where they are one."""
    if len(numbers) > 2 and numbers == tuple(range(numbers[0], numbers[-1] + 1)):
        return f"range({numbers[0]}, {numbers[-1] + 1})" if numbers[0] else f"range({numbers[-1] + 1})"
    text = "(" + ", ".join(map(str, numbers)) + ("," if len(numbers) == 1 else "") + ")"
    return text if len(text) < 100 else "(\n" + indent("\n".join(wrap(text[1:-1], 110)), "    ") + "\n)"
