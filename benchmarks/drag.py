"""How many frames a second does the vector pad draw under a moving hand, and what does it send meanwhile?

`python -m benchmarks.drag` moves a pointer for two seconds over a bare page, a bar and the tip of x, in turn in one
browser, and prints medians and their ratio to the bare page.
"""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median

from playwright.sync_api import Page, WebSocket

from scripts.chromium import launched
from scripts.serve import serve

BARE = Path(__file__).with_name("bare.py")
PACE = 0.008  # seconds between two moves of the pointer: a mouse reports 125 times a second
REACH = 60  # pixels from where the pointer was pressed
COUNT = """
() => {
  window.frames = [];
  const note = (time) => { window.frames.push(time); window.counting = requestAnimationFrame(note); };
  window.counting = requestAnimationFrame(note);
}
"""
COUNTED = "() => { cancelAnimationFrame(window.counting); return window.frames; }"


@dataclass(frozen=True, kw_only=True)
class Drag:
    """What a drag cost.

    Attributes
    ----------
    rate
        Frames per second, from the first to the last.
    longest
        Milliseconds between the two frames that lie furthest apart.
    moves
        How often the pointer was moved.
    sent
        WebSocket frames that the page sent before the release.
    """

    rate: float
    longest: float
    moves: int
    sent: int


def moved(page: Page, sent: list[str | bytes], place: tuple[float, float], seconds: float) -> Drag:
    """Press at a place of the page, move round it for so many seconds, and let go."""
    x, y = place
    page.mouse.move(x, y)
    page.mouse.down()
    page.evaluate(COUNT)
    before, moves = len(sent), 0
    start = time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        angle = 2 * math.pi * passed
        page.mouse.move(x + REACH * math.sin(angle) / 3, y + REACH * math.sin(angle))
        moves += 1
        time.sleep(max(0.0, start + moves * PACE - time.perf_counter()))
    frames = page.evaluate(COUNTED)
    during = len(sent) - before
    page.mouse.up()
    gaps = [later - earlier for earlier, later in pairwise(frames)]
    rate = 1e3 * len(gaps) / (frames[-1] - frames[0])
    return Drag(rate=rate, longest=max(gaps), moves=moves, sent=during)


def middle(page: Page, selector: str) -> tuple[float, float]:
    """The middle of the first element that a selector finds, brought into view."""
    found = page.locator(selector).first
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    if box is None:
        raise LookupError(f"{selector} is not on the page")
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def opened(page: Page, url: str, selector: str) -> list[str | bytes]:
    """Open a page, wait until it is at rest, and collect what it sends from then on."""
    sent: list[str | bytes] = []

    def watch(socket: WebSocket) -> None:
        socket.on("framesent", lambda frame: sent.append(frame))

    page.on("websocket", watch)
    page.goto(url)
    page.wait_for_selector(selector)
    page.wait_for_timeout(5000)  # the lab's figures are drawn
    return sent


def drags(rounds: int, seconds: float) -> dict[str, list[Drag]]:
    """Drags on the bare page and in the vector lab with 4 and with 24 entries, taken in turn."""
    short, long = (f"vector?x={'%2C'.join(map(str, range(1, n + 1)))}" for n in (4, 24))
    parts = {
        "bare page": ("", "h1"),
        "bar, 4 entries": (short, ".normviz-pad-handle"),
        "tip of x, 4 entries": (short, ".normviz-pad-knob"),
        "bar, 24 entries": (long, ".normviz-pad-handle"),
        "tip of x, 24 entries": (long, ".normviz-pad-knob"),
    }
    taken: dict[str, list[Drag]] = {name: [] for name in parts}
    with serve(BARE) as bare, serve() as app, launched() as browser:
        for _ in range(rounds):
            for name, (query, selector) in parts.items():
                context = browser.new_context(viewport={"width": 1280, "height": 900})
                page = context.new_page()
                url = f"{(app if query else bare).url}/{query}"
                sent = opened(page, url, selector)
                taken[name].append(moved(page, sent, middle(page, selector), seconds))
                context.close()
    return taken


def main() -> None:
    """Print a table: frames per second with their ratio to the bare page, longest frame, moves, frames sent."""
    parser = argparse.ArgumentParser(description="Count the frames that the vector pad draws under a moving pointer.")
    parser.add_argument("--rounds", type=int, default=5, help="drags of each kind")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a drag")
    given = parser.parse_args()
    taken = drags(given.rounds, given.seconds)
    baseline = median(drag.rate for drag in taken["bare page"])
    print(f"{'':22}{'frames/s':>10}{'ratio':>8}{'worst':>8}{'longest frame':>16}{'moves':>8}{'sent':>7}")
    for name, all_drags in taken.items():
        rates = [drag.rate for drag in all_drags]
        print(
            f"{name:22}{median(rates):10.1f}{median(rates) / baseline:8.2f}{min(rates):8.1f}"
            f"{median(drag.longest for drag in all_drags):13.1f} ms"
            f"{median(drag.moves for drag in all_drags):8.0f}{sum(drag.sent for drag in all_drags):7}"
        )


if __name__ == "__main__":
    main()
