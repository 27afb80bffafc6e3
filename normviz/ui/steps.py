"""How are the steps of a norm laid out on the page, and gone through one by one?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import streamlit as st

from normviz.steps import STAGES, Step
from normviz.text import Text
from normviz.ui import state

_stepper = st.components.v2.component(
    "normviz_stepper",
    html=(
        '<div class="nv-tools nv-stepper" role="group"><button type="button"></button><button type="button"></button>'
        '<button type="button"></button><span role="status"></span></div>'
    ),
    js=(Path(__file__).parent / "stepper.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def stepper(page: str, name: str, t: Text) -> int:
    """Draw the buttons that go through the steps, and return the last stage to show.

    Parameters
    ----------
    page, name
        The control of kind `int` that holds the stage; 0 shows all of them.
    """
    step: int = state.value(page, name)
    key = f"{page}.{name}.stepper"
    place = t("All {last} steps", last=STAGES) if step == 0 else t("Step {step} of {last}", step=step, last=STAGES)
    words = {"group": t("Steps"), "back": t("Back"), "next": t("Next"), "all": t("All"), "place": place}
    _stepper(
        key=key,
        data={"step": step, "last": STAGES, "words": words},
        on_step_change=lambda: _go(page, name, st.session_state[key].get("step")),
    )
    return step or STAGES


def _go(page: str, name: str, step: object) -> None:
    # It comes from a browser: anything may be in it.
    if isinstance(step, int) and not isinstance(step, bool) and 0 <= step <= STAGES:
        state.put(page, name, step)
        state.act()


def show_steps(steps: Sequence[Step] | None, t: Text, *, key: str, until: int = STAGES) -> None:
    """Draw the steps up to a stage as titled formulas, one below the other; nothing where the norm is undefined."""
    shown = [step for step in steps or () if step.stage <= until]
    if shown:
        with st.container(key=f"nv_steps_{key}"):
            # Inline formulas, because those may end a line between two terms.
            st.markdown("\n\n".join(f":gray[{t(step.title)}]\\\n$\\displaystyle {step.latex}$" for step in shown))
