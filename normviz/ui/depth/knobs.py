"""How do the depth lab's knobs and a configuration stand for each other?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from normviz import link
from normviz.depth.config import SweepConfig
from normviz.depth.presets import PRESETS, preset
from normviz.errors import InputError
from normviz.text import Text
from normviz.ui import state
from normviz.ui.controls import complain

PAGE = "depth"
OWN = "own"
"""What the list of presets shows where the knobs are no preset's."""

_CONFIG = "depth.config"
_PRESET = "depth.preset"
_FIELDS = (
    "placements", "depths", "norm", "init", "seeds", "d_model", "n_heads", "ff", "batch", "seq_len", "attention",
    "activation", "qk_norm", "wo", "loss", "eps", "dtype", "device",
)  # fmt: skip


def sweep_config(t: Text) -> SweepConfig:
    """The configuration that the knobs stand for; the last good one, and the reason, where they do not fit together."""
    try:
        config = _read()
    except InputError as error:
        complain(error, t)
        kept: SweepConfig = st.session_state.get(_CONFIG, SweepConfig())
        return kept
    st.session_state[_CONFIG] = config
    return config


def _read() -> SweepConfig:
    value = {row: state.good(PAGE, row) for row in _FIELDS}
    width = int(value["d_model"])
    return SweepConfig(
        placements=tuple(value["placements"]),
        depths=tuple(int(depth) for depth in value["depths"]),
        norm=value["norm"],
        init=value["init"],
        seeds=tuple(range(value["seeds"])),
        d_model=width,
        n_heads=int(value["n_heads"]),
        d_ff=int(value["ff"]) * width,
        batch=value["batch"],
        seq_len=value["seq_len"],
        attention=value["attention"],
        activation=value["activation"],
        qk_norm=value["qk_norm"],
        output_projection=value["wo"],
        loss=value["loss"],
        eps=float(value["eps"]),
        dtype=value["dtype"],
        device=value["device"],
    )


def knob_values(config: SweepConfig) -> dict[str, Any]:
    """The knobs that stand for a configuration.

    Raises
    ------
    InputError
        If the page has no knob, or no such value of it, for something in the configuration.
    """
    values: dict[str, Any] = {
        "placements": list(config.placements),
        "depths": [str(depth) for depth in config.depths],
        "norm": config.norm,
        "init": config.init,
        "seeds": len(config.seeds),
        "d_model": str(config.d_model),
        "n_heads": str(config.n_heads),
        "ff": f"{config.d_ff / config.d_model:g}",
        "batch": config.batch,
        "seq_len": config.seq_len,
        "attention": config.attention,
        "activation": config.activation,
        "qk_norm": config.qk_norm,
        "wo": config.output_projection,
        "loss": config.loss,
        "eps": f"{config.eps:g}".replace("e-0", "e-"),
        "dtype": config.dtype,
        "device": config.device,
    }
    for name, value in values.items():
        knob = link.knob(PAGE, name)
        knob.parse(knob.write(value))
    if replace(config, seeds=tuple(range(len(config.seeds))), vocab_size=SweepConfig.vocab_size) != config:
        raise InputError("This page has no knob for the seeds or the number of classes of this sweep")
    return values


def set_knobs(config: SweepConfig) -> None:
    """Turn the knobs to a configuration that they can stand for."""
    for name, value in knob_values(config).items():
        state.put(PAGE, name, value)
    state.put(PAGE, "layers", str(max(config.depths)))
    state.act_on_all()


def turn_to_test(config: SweepConfig, changes: Mapping[str, Any]) -> None:
    """Turn the knobs to those that test a claim: the changes, and where they do not fit the rest, the presets' rest."""
    try:
        wanted = SweepConfig.from_dict({**config.to_dict(), **changes})
    except InputError:
        wanted = SweepConfig.from_dict(dict(changes))
    set_knobs(wanted)


def presets(t: Text) -> None:
    """Draw the list of presets; it shows the one that the knobs are at."""
    current = next((name for name in PRESETS if _is_at(name)), OWN)
    st.session_state[_PRESET] = current
    labels = {name: t(entry.label) for name, entry in PRESETS.items()} | {OWN: t("your own knobs")}
    st.selectbox(
        t("Start from"),
        [*PRESETS, *([OWN] if current == OWN else [])],
        format_func=labels.__getitem__,
        key=_PRESET,
        on_change=_choose,
    )
    if current != OWN:
        entry = PRESETS[current]
        rest = t(entry.leaves_out)
        st.caption(t(entry.reproduces) + " " + (t("Left out: {what}", what=rest) if entry.source else rest))


def _is_at(name: str) -> bool:
    try:
        return _read() == preset(name)
    except InputError:
        return False


def _choose() -> None:
    chosen = st.session_state[_PRESET]
    if chosen in PRESETS:  # not where the list still answers with a label of the language before the switch
        set_knobs(preset(chosen))
