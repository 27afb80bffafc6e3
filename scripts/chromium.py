"""Which Chromium do the browser tests, the benchmarks and the pictures drive?

`python -m scripts.chromium` prints its path; with `--install` a missing browser is installed first.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    # Whether or not there is a graphics card, 3-D figures are drawn by the processor.
    "--disable-gpu",
    "--enable-unsafe-swiftshader",
    "--use-angle=swiftshader",
    # A request that leaves the machine fails at once.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
)


def find() -> str | None:
    """Path of a Chromium that starts: `NORMVIZ_CHROMIUM`, then one on the PATH, then Playwright's own."""
    chosen = os.environ.get("NORMVIZ_CHROMIUM")
    if chosen:
        return chosen if _starts(chosen) else None
    installed = next((path for name in NAMES if (path := shutil.which(name)) and _starts(path)), None)
    return installed or _playwrights_own()


def required() -> str:
    """Path of a Chromium, or an error that says how to get one."""
    path = find()
    if path is None:
        raise RuntimeError("no Chromium that starts was found: run `python -m scripts.chromium --install`")
    return path


@contextmanager
def launched() -> Iterator[Browser]:
    """A headless Chromium until the block ends."""
    from playwright.sync_api import sync_playwright

    path = required()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        try:
            yield browser
        finally:
            browser.close()


def install() -> None:
    """Install Debian's package where apt is there and may be used, else Playwright's build."""
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["update"], ["install", "--yes", "--no-install-recommends", "chromium", "fonts-noto-cjk"]):
            subprocess.run(["apt-get", "-qq", *command], env=environment, stdout=sys.stderr, check=False)
        # Ubuntu's package of this name is a stub that needs snap: installed, yet it does not start.
        if find():
            return
    subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], stdout=sys.stderr, check=False)


def _playwrights_own() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() and _starts(path) else None


def _starts(path: str) -> bool:
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def main() -> int:
    """Print the path; exit 1 when there is none."""
    parser = argparse.ArgumentParser(description="Print the path of the Chromium that the checks use.")
    parser.add_argument("--install", action="store_true", help="install one first when none is found")
    if parser.parse_args().install and find() is None:
        install()
    try:
        print(required())
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
