"""How does a person feed batches one by one, or ten at a time, however quickly the clicks come?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from normviz import link
from normviz.ui import state

_feeder = st.components.v2.component(
    "normviz_feeder",
    html=(
        '<div class="nv-tools nv-feeder" role="group"><button type="button"></button><button type="button"></button>'
        '<button type="button"></button></div>'
    ),
    js=(Path(__file__).parent / "feeder.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def feeder(page: str, name: str, words: Mapping[str, str]) -> None:
    """Draw the buttons that raise a whole-number control by one or by ten, or set it to 0.

    Parameters
    ----------
    page, name
        The control.
    words
        In the reader's language: `group` names the buttons, `one`, `ten` and `over` stand on them.
    """
    most = int(link.knob(page, name).high or 0)
    key = f"{page}.{name}.feeder"
    _feeder(
        key=key,
        width="content",
        data={"at": state.value(page, name), "most": most, "words": dict(words)},
        on_at_change=lambda: _take(page, name, most, st.session_state[key].get("at")),
    )


def _take(page: str, name: str, most: int, told: object) -> None:
    # It comes from a browser: anything may be in it.
    if isinstance(told, int) and not isinstance(told, bool) and 0 <= told <= most:
        state.put(page, name, told)
        state.act()
