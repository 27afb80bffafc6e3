"""How long does a click on a cell of the axes lab take, from the release of the pointer until everything shows it?

`python -m benchmarks.cells` clicks cells of the table and of the blocks, and a bare page's slider in turn, in one
browser, and prints medians and their ratio to the bare page.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, Page, WebSocket

from scripts.chromium import launched
from scripts.serve import ROOT, serve

APP = ROOT / "app.py"
BARE = Path(__file__).with_name("bare.py")
LAYERS = {"table": ".heatmaplayer image", "blocks": ".gl-container canvas"}
SIZES = ((2, 3, 4), (8, 32, 64))
WARM_UP = 3
PATIENCE = 60_000
"""Milliseconds until an answer must be there."""
REST = 400
"""Milliseconds between coming to a cell and the press: plotly looks for what is under a pointer every 50 ms."""

# From the release of the pointer: until the script has ended, until each figure is drawn with another description, and
# until the frame after that is on the screen, the 3-D figure's pixels included.
WATCH = """
() => {
  const app = document.querySelector("[data-testid=stApp]");
  const text = () => document.querySelector("[data-testid=stMarkdown]")?.textContent;
  const figures = [...document.querySelectorAll(".normviz-plot")].map((figure) => ({
    area: figure.querySelector(".normviz-plot-area"), canvas: figure.querySelector(".normviz-plot-canvas"),
  })).filter(({ canvas }) => canvas._fullData?.some(({ type }) => ["heatmap", "mesh3d"].includes(type)));
  const label = ({ area }) => area.getAttribute("aria-label");
  for (const figure of figures) {
    const note = () => Object.assign(figure, { drawn: label(figure), time: performance.now() });
    for (const event of ["plotly_afterplot", "plotly_relayout"]) figure.canvas.on(event, note);
  }
  const frame = () => new Promise(requestAnimationFrame);
  window.cells = { figures: figures.length, under: null };
  for (const { canvas } of figures) {
    canvas.on("plotly_hover", ({ points }) => { window.cells.under = points[0].customdata?.join() ?? null; });
    canvas.on("plotly_unhover", () => { window.cells.under = null; });
  }
  window.addEventListener("pointerup", async ({ timeStamp: start }) => {
    const before = { labels: figures.map(label), text: text() };
    for (const figure of figures) figure.drawn = label(figure);
    let running = false, ended = 0;
    const changed = () => figures.length
      ? figures.every((figure, i) => label(figure) !== before.labels[i] && figure.drawn === label(figure))
      : text() !== before.text;
    while (!ended || !changed()) {
      await frame();
      running ||= app.dataset.testScriptState === "running" || changed();
      ended ||= running && app.dataset.testScriptState === "notRunning" ? performance.now() : 0;
    }
    await frame();
    for (const { canvas } of figures) {
      const gl = canvas._fullLayout.scene?._scene.glplot.gl;
      gl?.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    }
    const drawn = figures.map(({ time }) => time - start);
    window.cells.answer = { script: ended - start, drawn, seconds: performance.now() - start };
  }, true);
}
"""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a click cost, in milliseconds from the release of the pointer.

    Attributes
    ----------
    script
        Until the page knew that the script had ended.
    drawn
        Until plotly had drawn each figure, the blocks first; empty on the bare page.
    whole
        Until all of it was on the screen.
    size
        Bytes that came in between.
    """

    script: float
    drawn: tuple[float, ...]
    whole: float
    size: int


class Reader:
    """One page, watched from its opening on."""

    def __init__(self, browser: Browser, url: str, figures: int) -> None:
        context = browser.new_context(viewport={"width": 1440, "height": 1000}, locale="en-US")
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self._sizes: list[int] = []
        self._cell = None
        self.page.on("websocket", self._listen)
        self.page.goto(url)
        drawn = "(n) => document.querySelectorAll('.normviz-plot-area[aria-busy=false]').length >= n"
        self.page.wait_for_function(drawn, arg=figures)
        self.page.get_by_role("heading", level=1).wait_for()
        self.page.wait_for_timeout(3000)
        self.page.evaluate(WATCH)
        found = self.page.evaluate("window.cells.figures")
        if found != figures:
            raise LookupError(f"{url} has {found} figures of cells; expected {figures}")

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", lambda frame: self._sizes.append(len(frame)))

    def click(self, x: float, y: float) -> Answer:
        """Come to a place, rest, click, and wait for the answer."""
        self.come(x, y)
        self.page.evaluate("delete window.cells.answer")
        self._sizes.clear()
        self.page.mouse.down()
        self.page.mouse.up()
        answer: dict[str, Any] = self.page.wait_for_function("window.cells.answer").json_value()
        drawn = tuple(answer["drawn"])
        return Answer(script=answer["script"], drawn=drawn, whole=answer["seconds"], size=sum(self._sizes))

    def click_cell(self, places: Iterator[tuple[float, float]]) -> Answer:
        """Click at the first of these places that has a cell which is not the one clicked last."""
        for x, y in places:
            self.come(x, y)
            cell = self.page.evaluate("window.cells.under")
            if cell not in (None, self._cell):
                self._cell = cell
                return self.click(x, y)
        raise LookupError("no other cell of the figure was found under the pointer")

    def come(self, x: float, y: float) -> None:
        """Move the pointer to a place and rest there."""
        self.page.mouse.move(x - 5, y)
        self.page.mouse.move(x, y, steps=3)
        self.page.wait_for_timeout(REST)


def slider_place(page: Page, turn: int) -> tuple[float, float]:
    """A place on the bare page's slider, another one each turn."""
    box = page.get_by_test_id("stSlider").bounding_box()
    assert box is not None
    return box["x"] + box["width"] * (0.2 + 0.05 * (turn % 12)), box["y"] + 0.66 * box["height"]


def places(page: Page, layer: str, turn: int) -> Iterator[tuple[float, float]]:
    """Places in the middle part of the figure that has this layer, from another one on each turn."""
    canvas = page.locator(f".normviz-plot-canvas:has({layer})").first
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    for step in range(turn, turn + 60):
        across, down = 0.35 + 0.3 * (step * 0.618 % 1), 0.35 + 0.3 * (step * 0.414 % 1)
        yield box["x"] + box["width"] * across, box["y"] + box["height"] * down


def clicks(rounds: int, script: Path) -> dict[str, list[Answer]]:
    """Answers to `rounds` clicks of each kind, taken in turn after a short warm-up."""
    with ExitStack() as open_now:
        bare, app = (open_now.enter_context(serve(page)) for page in (BARE, script))
        browser = open_now.enter_context(launched())
        plain = Reader(browser, bare.url, 0)
        query = "{}/axes?source=synthetic&batch={}&tokens={}&d={}"
        labs = {sizes: Reader(browser, query.format(app.url, *sizes), 2) for sizes in SIZES}
        answers: dict[str, list[Answer]] = {}
        for turn in range(WARM_UP + rounds):
            taken = {"bare page, slider": plain.click(*slider_place(plain.page, turn))}
            for sizes, reader in labs.items():
                for view, layer in LAYERS.items():
                    reader.page.bring_to_front()
                    name = f"{'x'.join(map(str, sizes))}, {view}"
                    taken[name] = reader.click_cell(places(reader.page, layer, turn))
            plain.page.bring_to_front()
            if turn >= WARM_UP:
                for name, answer in taken.items():
                    answers.setdefault(name, []).append(answer)
    return answers


def main() -> None:
    """Print a table: time until all is shown, its ratio to the bare page, its parts, and the bytes that came."""
    parser = argparse.ArgumentParser(description="Time clicks on cells of the axes lab in the browser.")
    parser.add_argument("--rounds", type=int, default=20, help="clicks of each kind")
    parser.add_argument("--script", type=Path, default=APP, help="the page to serve")
    given = parser.parse_args()
    answers = clicks(given.rounds, given.script)
    baseline = median(answer.whole for answer in next(iter(answers.values())))
    heads = ("shown, median", "worst", "ratio", "script", "blocks", "table", "bytes")
    print(f"{'milliseconds':20}" + "".join(f"{head:>15}" for head in heads))
    for name, taken in answers.items():
        whole = [answer.whole for answer in taken]
        drawn = [median(times) for times in zip(*(answer.drawn for answer in taken), strict=True)] or ["", ""]
        numbers = [median(whole), max(whole), median(whole) / baseline, median(answer.script for answer in taken)]
        cells = [f"{number:.2f}" if place == 2 else f"{number:.0f}" for place, number in enumerate(numbers)]
        cells += [f"{time:.0f}" if time else "" for time in drawn]
        print(f"{name:20}" + "".join(f"{cell:>15}" for cell in [*cells, f"{median(a.size for a in taken):.0f}"]))


if __name__ == "__main__":
    main()
