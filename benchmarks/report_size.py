"""How large the HTML report of a large run is, how long it takes to make, and when a browser has it ready.

    python benchmarks/report_size.py [RECORDS]

The bars: 20,000 records in under 6 MB, interactive in under 1.5 s in headless Chromium.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import report_samples as samples

from opproof.reports import Header, Result, html, junit, markdown, terminal

ARGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"]


def main() -> None:
    records = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    results = samples.run(-(-records // 300))
    header = samples.header(len(results))
    print(f"{len(results)} records")
    for name, render in (("terminal", terminal.format_summary), ("markdown", markdown.render), ("junit", junit.render)):
        timed(name, render, header, results)
    page = timed("html", html.render, header, results)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None:
        print("no Chromium on the path: the browser's part is left out")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        file.write_text(page, encoding="utf-8")
        in_browser(chromium, file.as_uri())


def timed(name: str, render: Any, header: Header, results: list[Result]) -> str:
    start = time.perf_counter()
    text: str = render(header, results)
    print(f"{name:10} {time.perf_counter() - start:6.2f} s  {len(text.encode()) / 1e6:6.2f} MB")
    return text


def in_browser(chromium: str, address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGS)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        for _ in range(3):
            start = time.perf_counter()
            page.goto(address)
            page.wait_for_selector("html[data-ready]")
            page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")  # it has been painted
            print(f"ready      {time.perf_counter() - start:6.2f} s after the request")
        for name, script in ACTIONS.items():
            seconds = page.evaluate(TIMED.replace("ACTION", script)) / 1000
            print(f"{name:10} {seconds:6.3f} s to the next frame")
        browser.close()


TIMED = """() => new Promise(done => { const t = performance.now(); ACTION;
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - t))); })"""
_SET = "const e = document.querySelector('#tools [name=NAME]'); e.value = 'VALUE'; e.dispatchEvent(new Event('change'))"
ACTIONS = {
    "filter": _SET.replace("NAME", "dtype").replace("VALUE", "f16"),
    "unfilter": _SET.replace("NAME", "dtype").replace("VALUE", ""),
    "sort": "document.querySelector('[data-sort=case]').click()",
    "scroll": "scrollTo(0, document.documentElement.scrollHeight / 2)",
    "operator": "location.hash = '#softmax'",
    "overview": "location.hash = ''",
}

if __name__ == "__main__":
    main()
