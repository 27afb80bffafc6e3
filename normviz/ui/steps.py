"""How are the steps of a norm laid out on the page?"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from normviz.steps import Step
from normviz.text import Text


def show_steps(steps: Sequence[Step] | None, t: Text, *, key: str) -> None:
    """Draw the steps as titled formulas, one below the other; nothing where the norm is undefined."""
    if steps:
        with st.container(key=f"nv_steps_{key}"):
            # Inline formulas, because those may end a line between two terms.
            st.markdown("\n\n".join(f":gray[{t(step.title)}]\\\n$\\displaystyle {step.latex}$" for step in steps))
