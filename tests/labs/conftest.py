"""How does a test run a page without a browser?"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from normviz.ui import server

ROOT = Path(__file__).parents[2]
PATIENCE = 120.0
"""Seconds until a run of a page counts as hung."""


@pytest.fixture(scope="session", autouse=True)
def own_board(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A board with a store of its own, shared by all page tests, and its cluster closed at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NORMVIZ_STORE", str(tmp_path_factory.mktemp("store")))
        server.start_afresh()
        yield
        server.board().close()
        server.start_afresh()


@pytest.fixture
def open_lab() -> Callable[..., AppTest]:
    """Open a page in a language with a link: `open_lab("axes", "zh", pad="1")`."""

    def start(lab: str, lang: str = "en", **query: str) -> AppTest:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=PATIENCE)
        if lab != "home":
            # Streamlit knows the pages once app.py has listed them.
            test.run().switch_page(f"labs/{lab}.py")
        # After the switch, which empties them, as a click on a page's name does.
        for name, text in {"lang": lang, **query}.items():
            test.query_params[name] = text
        return test.run()

    return start


def said(test: AppTest) -> str:
    """Everything that the page says in words and formulas."""
    parts = [*test.markdown, *test.caption, *test.latex, *test.error, *test.warning, *test.info, *test.header]
    return "\n".join(str(part.value) for part in parts)
