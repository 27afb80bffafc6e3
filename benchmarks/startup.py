"""How much longer than a bare page does Home take from the start of the server to the first paint?

`python -m benchmarks.startup` starts both in turn, each with an empty store, and prints medians and ratios.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

from scripts.chromium import launched
from scripts.serve import ROOT, serve

PAGES = {"bare page": Path(__file__).with_name("bare.py"), "Home": ROOT / "app.py"}
# Notes the moment at which the page's title is on screen: in the next frame after it is in the document.
WATCH = """
const titles = '[data-testid="stMain"] :is(h1, h2)';
new MutationObserver((_, observer) => {
  const shown = [...document.querySelectorAll(titles)].some((e) => e.innerText.trim() && e.getClientRects().length);
  if (shown) {
    observer.disconnect();
    requestAnimationFrame(() => { window.firstPaint = performance.now(); });
  }
}).observe(document, { childList: true, subtree: true, characterData: true });
"""
PAINTED = """
() => {
  const fault = document.querySelector('[data-testid="stException"]');
  if (fault) throw new Error(fault.innerText);
  return window.firstPaint !== undefined;
}
"""
PAINT_LIMIT = 60_000  # milliseconds


@dataclass(frozen=True, kw_only=True)
class Start:
    """Seconds of one start.

    Attributes
    ----------
    health
        From the start of the process until `/_stcore/health` answers.
    first
        From the first visit's navigation until its title is painted; the script's imports are in it.
    again
        The same for a second visitor, with an empty browser cache too.
    """

    health: float
    first: float
    again: float


def paint(browser: Browser, url: str) -> float:
    """Seconds from navigation to the title on screen, for a visitor with an empty cache."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    page.add_init_script(WATCH)
    page.goto(url, wait_until="commit")
    page.wait_for_function(PAINTED, timeout=PAINT_LIMIT)
    seconds = float(page.evaluate("window.firstPaint")) / 1e3
    context.close()
    return seconds


def start(browser: Browser, script: Path) -> Start:
    """Serve a script afresh and visit it twice."""
    with serve(script) as served:
        first = paint(browser, served.url)
        time.sleep(1.0)  # lets the first visit's connection close
        return Start(health=served.health, first=first, again=paint(browser, served.url))


def main() -> None:
    """Print a table: medians of both pages and their ratio."""
    parser = argparse.ArgumentParser(description="Compare the start of Home with the start of a bare page.")
    parser.add_argument("--rounds", type=int, default=7, help="starts of each page")
    rounds = parser.parse_args().rounds
    starts: dict[str, list[Start]] = {name: [] for name in PAGES}
    with launched() as browser:
        for _ in range(rounds):
            for name, script in PAGES.items():
                starts[name].append(start(browser, script))
    print(f"{'median of ' + str(rounds):34}{'bare page':>11}{'Home':>11}{'ratio':>8}")
    for field, words in (
        ("health", "start of the server to health"),
        ("first", "first visit to first paint"),
        ("again", "second visit to first paint"),
    ):
        bare, home = (median(getattr(taken, field) for taken in starts[name]) for name in PAGES)
        print(f"{words:34}{bare:9.2f} s{home:9.2f} s{home / bare:8.2f}")


if __name__ == "__main__":
    main()
