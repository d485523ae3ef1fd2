"""Makes docs/report.png: the HTML report of the example backend in headless Chromium.

python docs/screenshot.py [REPORT.html]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM = "/usr/bin/chromium"
ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


def report(out: str) -> Path:
    """A report of the example backend."""
    call = [sys.executable, "-m", "opproof.harness", "run", "-b", "./my_backend.py", "--dtype", "f32", "--out", out]
    folder = ROOT / "examples" / "python_backend"
    subprocess.run([*call, "-o", "relu,sigmoid,softmax"], cwd=folder, check=False, stdout=subprocess.DEVNULL)
    return Path(out) / "report.html"


def main() -> None:
    with tempfile.TemporaryDirectory() as out, sync_playwright() as playwright:
        page_file = Path(sys.argv[1]) if len(sys.argv) > 1 else report(out)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_file.resolve().as_uri())
        page.wait_for_timeout(500)
        page.screenshot(path=ROOT / "docs" / "report.png")
        browser.close()


if __name__ == "__main__":
    main()
