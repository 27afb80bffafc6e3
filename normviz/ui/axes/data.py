"""Which grid is it? A person's sentences, numbers drawn from a seed, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from normviz.arrays import Floats
from normviz.figures.words import number
from normviz.grid import (
    LARGEST_GRID_FILE,
    Batch,
    batch,
    read_grid_file,
    sentences_batch,
    split_sentences,
    summary,
    synthetic_batch,
    window,
)
from normviz.link import MOST_SHOWN, knob
from normviz.text import N_, Text
from normviz.ui import state
from normviz.ui.controls import control, link_too_long, text_control
from normviz.ui.files import file_field, taken_out
from normviz.ui.quoted import quoted

PAGE = "axes"
OWN = "own"
"""What the list of examples shows where the sentences are no example."""

EXAMPLES = {
    "en": (N_("English"), knob(PAGE, "text").default),
    "zh": (N_("Chinese, split by character"), "猫坐在垫子上\n它打呼噜\n一只小狗对着它叫"),
    "ar": (N_("Arabic, written from right to left"), "جلست القطة على السجادة\nنامت\nنبح كلب صغير عليها"),
    "twins": (N_("One word many times"), "very very very very good\ngood"),
}

_EXAMPLE = "axes.example"
_HELD = "axes.held"
_UPLOAD = "axes.upload"
_HELD_NAME = "axes.held.name"
_SIZES = ("batch", "tokens", "d")
_MIB = 2**20


@dataclass(frozen=True, kw_only=True, eq=False)
class Data:
    """The grid of a view.

    Attributes
    ----------
    batch
        What is shown and normalized.
    spec
        What it is made from, as `normviz.snippets.AxesGiven` names it.
    """

    batch: Batch
    spec: dict[str, Any]


def data(t: Text, *, padded: bool = True) -> Data:
    """Draw the controls that say which grid it is, and return it.

    Parameters
    ----------
    padded
        Whether pads are looked at; else what they hold is not asked.
    """
    kind = control(PAGE, "source", t)
    return {"words": _words, "synthetic": _synthetic, "file": _file}[kind](t, padded)


def _words(t: Text, padded: bool) -> Data:
    _examples(t)
    sentences = text_control(PAGE, "text", t, split_sentences, area=True)
    link_too_long(PAGE, "text", t)
    if sentences.by_character:
        st.caption(t("A line without spaces is split by character."))
    if sentences.dropped_words or sentences.dropped_sentences:
        st.caption(
            t(
                "Shown are the first {most_words} words of the first {most_sentences} sentences; {words} words and "
                "{sentences} sentences are left out.",
                most_sentences=MOST_SHOWN[0],
                most_words=MOST_SHOWN[1],
                words=f"{sentences.dropped_words:,}",
                sentences=f"{sentences.dropped_sentences:,}",
            )
        )
    return _sentences(t, padded)


def _sentences(t: Text, padded: bool) -> Data:
    """The grid of the sentences in the field, with the controls of their embeddings and pads."""
    channels, seeds = st.columns(2, gap="medium")
    with channels:
        d = control(PAGE, "d", t)
    with seeds:
        seed = control(PAGE, "seed", t)
    pads = control(PAGE, "pads", t) if padded else "zero"
    text = state.good(PAGE, "text")
    spec = {"source": "words", "text": text, "d": d, "seed": seed, "pads": pads}
    return Data(batch=sentences_batch(text, d, seed=seed, pads=pads), spec=spec)


def _synthetic(t: Text, padded: bool) -> Data:
    kind = control(PAGE, "kind", t)
    left, right = st.columns(2, gap="medium")
    with left:
        sequences, tokens = control(PAGE, "batch", t), control(PAGE, "tokens", t)
    with right:
        d, seed = control(PAGE, "d", t), control(PAGE, "seed", t)
    rho = control(PAGE, "rho", t) if kind == "correlated" else knob(PAGE, "rho").default
    with st.container(horizontal=True, gap="large"):
        padded = padded and control(PAGE, "pad", t)
        pads = control(PAGE, "pads", t) if padded else "zero"
    spec = {
        "source": "synthetic", "kind": kind, "batch": sequences, "tokens": tokens, "d": d, "seed": seed, "rho": rho,
        "padded": padded, "pads": pads,
    }  # fmt: skip
    made = synthetic_batch(kind, sequences, tokens, d, seed=seed, rho=rho, padded=padded, pads=pads)
    return Data(batch=made, spec=spec)


def _file(t: Text, padded: bool) -> Data:
    label = t("An array [B, T, d] as .npy, up to {limit} MiB", limit=LARGEST_GRID_FILE // _MIB)
    file_field(label, ["npy"], LARGEST_GRID_FILE, opened=_open, key=_UPLOAD, t=t)
    held: Floats | None = st.session_state.get(_HELD)
    if held is None or taken_out(_UPLOAD):
        st.caption(t("No file is open on this page; shown are the sentences. A file is not in the link."))
        return _sentences(t, padded)
    name: str = st.session_state[_HELD_NAME]
    _summarize(name, held, t)
    starts = _starts(held, t)
    shown = window(held, *starts, sizes=MOST_SHOWN)
    spec = {"source": "file", "file": name, "window": starts, **dict(zip(_SIZES, shown.shape, strict=True))}
    return Data(batch=batch(list(shown)), spec=spec)


def _summarize(name: str, held: Floats, t: Text) -> None:
    """What the whole file holds."""
    found = summary(held)
    said = t(
        "{name} holds [B, T, d] = {shape}: mean {mean}, standard deviation {std}, from {low} to {high}.",
        name=f"**{quoted(name)}**",
        shape=str(list(found.shape)),
        mean=number(found.mean),
        std=number(found.std),
        low=number(found.smallest),
        high=number(found.largest),
    )
    if found.outliers:
        listed = ", ".join(str(channel + 1) for channel in found.outliers[:12])
        said += " " + t("Far larger than the rest: channels {channels}.", channels=listed)
    st.caption(said + " " + t("It stays on this page while it is open; the link leaves it out."))


def _starts(held: Floats, t: Text) -> tuple[int, int, int]:
    """Where the part that is shown begins, from 0, with the controls that move it where the file is larger."""
    names = ("from_b", "from_t", "from_c")
    longer = [name for name, size, most in zip(names, held.shape, MOST_SHOWN, strict=True) if size > most]
    if not longer:
        return 0, 0, 0
    for column, name in zip(st.columns(len(longer), gap="medium"), longer, strict=True):
        with column:
            control(PAGE, name, t)
    st.caption(
        t(
            "Shown and normalized is a part of {part}; statistics are those of this part.",
            part=" × ".join(str(min(size, most)) for size, most in zip(held.shape, MOST_SHOWN, strict=True)),
        )
    )
    asked = [state.value(PAGE, name) - 1 if name in longer else 0 for name in names]
    inside = [min(a, max(0, n - most)) for a, n, most in zip(asked, held.shape, MOST_SHOWN, strict=True)]
    if inside != asked:
        st.caption(t("The file ends before that; its last part is shown."))
    return inside[0], inside[1], inside[2]


def _open(name: str, content: bytes) -> None:
    st.session_state[_HELD] = read_grid_file(name, content)
    st.session_state[_HELD_NAME] = name


def _examples(t: Text) -> None:
    """Draw the list of examples; it shows the one that the field holds."""
    text = state.good(PAGE, "text")
    current = next((name for name, (_, example) in EXAMPLES.items() if example == text), OWN)
    st.session_state[_EXAMPLE] = current
    labels = {name: t(label) for name, (label, _) in EXAMPLES.items()} | {OWN: t("your own sentences")}
    st.selectbox(
        t("Start from"),
        [*EXAMPLES, *([OWN] if current == OWN else [])],
        format_func=labels.__getitem__,
        key=_EXAMPLE,
        on_change=_choose,
    )


def _choose() -> None:
    chosen = st.session_state[_EXAMPLE]
    if chosen in EXAMPLES:  # else the list still answers with a label of the language before the switch
        state.put(PAGE, "text", EXAMPLES[chosen][1])
        state.act()


def picker(name: str, labels: list[str], t: Text) -> int:
    """Draw a list whose place is a whole-number control of the page, from 1, and return the place from 0."""
    place: int = min(state.value(PAGE, name), len(labels)) - 1
    key = f"axes.{name}.list"
    st.session_state[key] = place
    st.selectbox(
        t(knob(PAGE, name).label), range(len(labels)), format_func=labels.__getitem__, key=key, on_change=_pick,
        args=(name, key),
    )  # fmt: skip
    return place


def _pick(name: str, key: str) -> None:
    chosen = st.session_state[key]
    if isinstance(chosen, int):  # else a label of the language before the switch
        state.put(PAGE, name, chosen + 1)
        state.act()


def sentence_labels(made: Batch, t: Text) -> list[str]:
    """Each sequence by its number, and by its words where it has them."""
    plain = [t("sequence {b}", b=b + 1) for b in range(len(made.lengths))]
    if made.words is None:
        return plain
    return [f"{b + 1}: {' '.join(words)}" for b, words in enumerate(made.words)]


def token_labels(made: Batch, b: int, t: Text) -> list[str]:
    """Each real token of a sequence by its number, and by its word where it has one."""
    if made.words is None:
        return [t("token {n}", n=n + 1) for n in range(made.lengths[b])]
    return [f"{n + 1}: {word}" for n, word in enumerate(made.words[b])]
