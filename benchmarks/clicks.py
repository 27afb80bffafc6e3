"""How much longer than on a bare page does a knob change take in the vector lab, with four entries and with a million?

`python -m benchmarks.clicks` serves both, lets one visitor each click in turn, and prints medians and their ratio.
"""

from __future__ import annotations

import argparse
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import mean, median

from benchmarks.client import Answer, Visitor
from scripts.serve import serve

BARE = Path(__file__).with_name("bare.py")
WARM_UP = 5
# Seconds between clicks. Faster ones measure TCP: Streamlit's socket leaves Nagle's algorithm on, and 40 ms of delayed
# acknowledgement come on top.
PAUSE = 0.1
# Makes the server say how long each script ran; nothing leaves the machine, since no browser is there to pass it on.
TIMED = {"STREAMLIT_BROWSER_GATHER_USAGE_STATS": "true"}
VIEWS = ("steps", "geometry", "invariances", "backward")
MILLION = "source=random&d=1000000&view="


def clicks(rounds: int) -> dict[str, list[Answer]]:
    """Answers to `rounds` knob changes on each page, taken in turn after a short warm-up."""
    with ExitStack() as open_now:
        plain = open_now.enter_context(serve(BARE, environment=TIMED))
        app = open_now.enter_context(serve(environment=TIMED))
        first = open_now.enter_context(Visitor(plain.url))
        second = open_now.enter_context(Visitor(app.url, "vector"))
        million = {view: open_now.enter_context(Visitor(app.url, "vector", MILLION + view)) for view in VIEWS}
        answers: dict[str, list[Answer]] = {}
        for turn in range(WARM_UP + rounds):
            knobs: dict[str, tuple[Visitor, str, str | float]] = {
                "bare page, slider": (first, "value", float(turn % 100)),
                "vector lab, vector": (second, "vector.x", f"1, 2, 3, {turn}"),
                "vector lab, eps": (second, "vector.eps", f"{turn % 2 + 1}e-5"),
                **{f"10^6, {view}": (who, "vector.eps", f"{turn % 2 + 1}e-5") for view, who in million.items()},
            }
            for name, (visitor, widget, value) in knobs.items():
                time.sleep(PAUSE)
                answer = visitor.set(visitor.widget(widget), value)
                if turn >= WARM_UP:
                    answers.setdefault(name, []).append(answer)
    return answers


def main() -> None:
    """Print a table: time until the answer and its ratio to the bare page, time in the script, messages and bytes."""
    parser = argparse.ArgumentParser(description="Compare clicks in the vector lab with clicks on a bare page.")
    parser.add_argument("--rounds", type=int, default=100, help="clicks per page")
    answers = clicks(parser.parse_args().rounds)
    baseline = median(answer.seconds for answer in next(iter(answers.values())))
    print(f"{'':20}{'answer, median':>16}{'ratio':>8}{'script, median':>16}{'mean':>10}{'messages':>10}{'bytes':>9}")
    for name, taken in answers.items():
        answered = median(answer.seconds for answer in taken)
        scripts = [answer.script for answer in taken if answer.script is not None]
        print(
            f"{name:20}{1e3 * answered:13.1f} ms{answered / baseline:8.2f}"
            f"{1e3 * median(scripts):13.1f} ms{1e3 * mean(scripts):7.1f} ms"
            f"{median(answer.messages for answer in taken):10.0f}{median(answer.size for answer in taken):9.0f}"
        )


if __name__ == "__main__":
    main()
