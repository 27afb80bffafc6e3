"""What does the app look like? Pictures of each page, taken from the running app.

`python -m scripts.pictures` renews the README's pictures in docs/pictures; with `--all` every page is taken in both
languages, light and dark, at both widths, from top to bottom.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page

from scripts.chromium import launched
from scripts.serve import ROOT, serve

Scheme = Literal["light", "dark"]

LOCALES = {"en": "en-US", "zh": "zh-CN"}
PAGES = {"home": ""} | {name: name for name in ("vector", "axes", "depth", "placements", "numerics", "cost")}
FIGURES = {
    "home": 0,
    "vector": 2,
    "axes": 2,
    "depth": 3,
    "placements": 0,
    "numerics": 3,
    "cost": 0,
}  # what the first view of a page draws
VIEWS = {  # the other views of a page, and how many figures each draws
    "vector": {"geometry": 3, "invariances": 0, "backward": 4},
    "axes": {"padding": 2, "batches": 2, "running": 4, "power": 3, "tokens": 2},
    "placements": {"families": 0, "names": 0, "porting": 1, "counts": 0},
    "numerics": {"incidents": 2, "arithmetic": 1, "decay": 1},
    "cost": {"layer": 1, "bench": 0, "paper": 1},
    "depth": {"map": 1, "stream": 3, "attention": 2, "claims": 0},
}
QUERIES = {  # what a view shows best
    ("vector", "geometry"): "&x=1,%202,%204&w=1.5,%200.7,%201&b=0.5,%200,%200",
    ("axes", "batches"): "&population=equal",
    ("axes", "running"): "&stream=drift&fed=60",
}
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
HEIGHTS = {1440: 1250, 390: 844}  # CSS pixels: a tall window, so that a lab shows its figures, and a phone
TALLEST = 8000  # CSS pixels of a picture from top to bottom

# The script has ended, no sweep runs, the page's figures are drawn, and nothing has changed for a while.
SETTLED = """
(figures) => {
  const quiet = 1500;
  const fault = document.querySelector('[data-testid="stException"]');
  if (fault) throw new Error(fault.innerText);
  if (!window.pictures) {
    window.pictures = { changed: performance.now() };
    const note = () => { window.pictures.changed = performance.now(); };
    new MutationObserver(note).observe(document, { childList: true, subtree: true, characterData: true });
  }
  const busy = '.normviz-plot-place, [data-testid="stProgress"], [data-testid="stSkeleton"]';
  const shown = document.querySelector('[data-test-script-state="notRunning"] [data-testid="stMain"] :is(h1, h2)');
  const areas = [...document.querySelectorAll('.normviz-plot-area')];
  const drawn = areas.length >= figures && areas.every((area) => area.getAttribute('aria-busy') === 'false');
  return shown && drawn && !document.querySelector(busy) && performance.now() - window.pictures.changed > quiet;
}
"""
SETTLE_LIMIT = 120_000  # milliseconds


@dataclass(frozen=True, kw_only=True)
class Shot:
    """One picture: a page, perhaps in another view than its first, in one language, scheme and width."""

    page: str
    lang: str = "en"
    scheme: Scheme = "light"
    width: int = 1440
    view: str = ""
    at: str = ""  # CSS selector of what stands at the top of the window, if not the page's own top

    @property
    def file(self) -> str:
        """Name of its file."""
        view = f"-{self.view}" if self.view else ""
        return f"{self.page}{view}-{self.lang}-{self.scheme}-{self.width}.png"

    @property
    def figures(self) -> int:
        """How many figures it shows."""
        return VIEWS[self.page][self.view] if self.view else FIGURES[self.page]


README = (
    Shot(page="vector"),
    Shot(page="vector", view="geometry", at='[class*="st-key-vector-view"]'),
    Shot(page="axes", at='[class*="st-key-axes-view"]'),
    Shot(page="axes", view="padding", at='[class*="st-key-axes-view"]'),
    Shot(page="axes", view="batches", at='[class*="st-key-axes-view"]'),
    Shot(page="axes", view="running", at='[class*="st-key-axes-view"]'),
    Shot(page="depth"),
    Shot(page="placements", at='[class*="st-key-placements-view"]'),
    Shot(page="placements", view="porting", at='[class*="st-key-placements-view"]'),
    Shot(page="numerics", at='[class*="st-key-numerics-view"]'),
    Shot(page="cost", view="paper"),
    Shot(page="depth", view="claims"),
    Shot(page="depth", view="stream"),
    Shot(page="depth", lang="zh", scheme="dark"),
    Shot(page="vector", lang="zh", width=390, at=".normviz-pad"),
)


def every_shot() -> Iterator[Shot]:
    """Each page and view in both languages, light and dark, at both widths."""
    for page, lang, scheme, width in product(PAGES, LOCALES, SCHEMES, HEIGHTS):
        for view in ("", *VIEWS.get(page, ())):
            yield Shot(page=page, lang=lang, scheme=scheme, width=width, view=view)


def take(browser: Browser, url: str, shot: Shot, folder: Path, *, whole: bool) -> Path:
    """Save one picture: what a person sees first, or the whole page from top to bottom."""
    context = browser.new_context(
        viewport={"width": shot.width, "height": HEIGHTS[shot.width]},
        locale=LOCALES[shot.lang],
        color_scheme=shot.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    view = f"&view={shot.view}" if shot.view else ""
    page.goto(f"{url}/{PAGES[shot.page]}?lang={shot.lang}{view}{QUERIES.get((shot.page, shot.view), '')}")
    page.wait_for_function(SETTLED, arg=shot.figures, timeout=SETTLE_LIMIT)
    if whole:
        page.set_viewport_size({"width": shot.width, "height": _full_height(page)})
        page.wait_for_function(SETTLED, arg=shot.figures, timeout=SETTLE_LIMIT)
    if shot.at and not whole:
        page.locator(shot.at).first.evaluate("(part) => part.scrollIntoView()")
        page.wait_for_function(SETTLED, arg=shot.figures, timeout=SETTLE_LIMIT)
    file = folder / shot.file
    page.screenshot(path=file)
    context.close()
    return file


def _full_height(page: Page) -> int:
    # Streamlit scrolls inside the page, so the browser's own full-page picture would end at the window.
    height = page.evaluate("""() => document.querySelector('[data-testid="stMain"]').scrollHeight""")
    return min(int(height), TALLEST)


def main() -> None:
    """Take the pictures and print their names."""
    parser = argparse.ArgumentParser(description="Take pictures of the running app.")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures", help="folder of the pictures")
    parser.add_argument("--all", action="store_true", help="every page, language, scheme and width, from top to bottom")
    parser.add_argument("--only", default="", help="of these, the files whose name holds this text")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    shots = every_shot() if arguments.all else README
    with serve() as served, launched() as browser:
        for shot in shots:
            if arguments.only in shot.file:
                print(take(browser, served.url, shot, arguments.out, whole=arguments.all), flush=True)


if __name__ == "__main__":
    main()
