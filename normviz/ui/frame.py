"""What surrounds every page: the list of labs, the language, light or dark, the link."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from normviz.figures import theme
from normviz.ui import language, server, state
from normviz.ui.quoted import sentence_of

ROOT = Path(__file__).parents[2]

_style = (ROOT / "assets" / "style.css").read_text(encoding="utf-8")

_tools = st.components.v2.component(
    "normviz_tools",
    html=(
        '<div class="nv-tools"><button type="button"></button><button type="button"></button>'
        '<span role="status"></span></div>'
    ),
    js=(Path(__file__).parent / "tools.js").read_text(encoding="utf-8"),
    isolate_styles=False,
)


def run(labs: Mapping[str, str]) -> None:
    """Draw the frame and the page that the address names.

    Parameters
    ----------
    labs
        Page id -> English title, in the order of the list; the page is `labs/<id>.py`, and the first one opens first.
    """
    t = language.words()
    pages = {
        lab: st.Page(ROOT / "labs" / f"{lab}.py", title=t(title), default=position == 0)
        for position, (lab, title) in enumerate(labs.items())
    }
    current = st.navigation(list(pages.values()), position="hidden")
    here = next(lab for lab, page in pages.items() if page == current)
    title = t(labs[here])
    st.set_page_config(
        page_title=title if title == "normviz" else f"{title} · normviz",
        page_icon=str(ROOT / "assets" / "icon.svg"),
        layout="wide",
    )
    mode = language.mode()
    st.html(f"<style>:root {{ --nv-accent: {theme.ACCENT[mode]}; --nv-line: {theme.GRID[mode]} }}\n{_style}</style>")
    state.enter(here)
    words = {"lang": chosen} if (chosen := language.chosen()) else {}
    with st.container(horizontal=True, vertical_alignment="center", key="nv_header"):
        with st.container(horizontal=True, vertical_alignment="center", key="nv_labs"):
            for lab, page in pages.items():
                st.page_link(page, label=t(labs[lab]), query_params=state.query_of(lab) | words)
        with st.container(horizontal=True, vertical_alignment="center", key="nv_switches", width="content"):
            language.switch(t)
            _tools(
                key="nv_tools",
                width="content",
                data={
                    "share": t("Copy link"),
                    "copied": t("Link copied"),
                    "theme": t("Light") if mode == "dark" else t("Dark"),
                    "mode": mode,
                    "lang": "zh-CN" if t.lang == "zh" else t.lang,
                    "pages": ["", *list(labs)[1:]],
                },
            )
    if problems := state.problems():
        said = t("A part of the link cannot be used, and the default stands in for it:")
        st.warning("\n".join([said, *(f"- {sentence_of(problem, t)}" for problem in problems)]))
    current.run()
    state.leave(here, language.chosen())
    language.written()
    server.settle()
