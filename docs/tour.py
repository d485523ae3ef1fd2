"""Plays a new user, in a fresh environment, and writes what was typed and seen: docs/tutorial/tour.md.

    python docs/tour.py          some minutes: it clones this repository, installs it, compiles and runs the examples
    python docs/tour.py --check  the same, nothing written; exit status 1 where a step does not end as the page says

The last step needs playwright and a Chromium; with axe-core at $AXE_CORE the pages are searched for barriers too.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "tutorial" / "tour.md"
BACKEND = """import numpy as np
from opproof.backends import Unsupported


def forward(op, inputs, params):
    if op == "relu":
        return np.maximum(inputs[0], 0)
    raise Unsupported(f"no {op} here")


def vjp(op, inputs, params, cotangents, needs):
    return [np.where(inputs[0] > 0, cotangents[0], 0).astype(inputs[0].dtype)]
"""
TEST = """import numpy as np


def test_relu(opproof_check):
    opproof_check(lambda x: np.maximum(x, 0), op="relu")
"""


@dataclass(frozen=True)
class Step:
    """A command of the user, the exit status it ends with, what its output holds, why it is typed."""

    say: str
    command: str
    status: int = 0
    holds: str = ""
    lines: int = 12


BROKEN = "build/libexample_broken.so"
CLONE = f"git clone --quiet {ROOT} opproof"
FIRST = (
    Step("A copy, and an environment of its own.", "git clone https://github.com/OWNER/opproof"),
    Step("", "python3 -m venv .venv && .venv/bin/pip install --quiet -c opproof/constraints.txt ./opproof pytest"),
    Step("One operator of one's own in C, from the skeleton, built and judged.", "opproof init c mine && make -C mine"),
    Step("", "opproof run -b mine/libmine.so -o relu --dtype f32 --level smoke", holds="relu"),
)
REST = (
    Step("What is there?", "opproof list ops | head -3"),
    Step("The example library's broken twin: a stride that is ignored.",
         "make -C opproof/examples/c_library BUILD=$PWD/build broken >/dev/null"),
    Step("", f"OPPROOF_DEFECT=wrong_stride opproof run -b {BROKEN} -o matmul --dtype f32 --out broken",
         1, "WRONG_VALUE", 24),
    Step("The README's Python backend.", "opproof run -b ./my_backend.py -o relu --level smoke --out python"),
    Step("The same function in a pytest suite.", "pytest -q test_mine.py", holds="1 passed"),
    Step("A typo.", "opproof run -b ./my_backend.py -o rleu", 2, "relu", 4),
    Step("The case again, by its id alone.", "opproof show 'relu[x=7x33;f32]' | head -8"),
)  # fmt: skip


def played(step: Step, folder: Path) -> tuple[str, float]:
    """What the step printed, and its seconds. Raises RuntimeError where it did not end as expected."""
    real = CLONE if step.command.startswith("git clone") else step.command
    tools = f"{folder / '.venv' / 'bin'}:{os.environ['PATH']}"
    env = {k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "PYTHONSAFEPATH"}} | {"PATH": tools}
    start = time.perf_counter()
    call = ["bash", "-c", real]
    done = subprocess.run(call, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)  # fmt: skip
    seconds = time.perf_counter() - start
    if done.returncode != step.status or step.holds not in done.stdout:
        raise RuntimeError(
            f"`{step.command}` ended with {done.returncode}, expected {step.status} and {step.holds!r}:\n{done.stdout}"
        )
    return done.stdout.strip(), seconds


def shown(step: Step, text: str) -> list[str]:
    """The step as the page has it: the command, and the first lines of what it printed."""
    kept = [line.rstrip() for line in text.splitlines() if not line.startswith(("make: ", "WARNING: "))]
    kept = [*kept[: step.lines], "..."] if len(kept) > step.lines else kept
    return [*[step.say, ""] * bool(step.say), "```console", f"$ {step.command}", *kept, "```", ""]


def looked_at(report: Path) -> list[str]:
    """The HTML report in Chromium, wide and narrow. Raises RuntimeError where it scrolls sideways or has barriers."""
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        return ["The report was not looked at: playwright is not installed."]
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        return ["The report was not looked at: no Chromium on the path."]
    axe = Path(os.environ.get("AXE_CORE", ROOT / "tests/browser/node_modules/axe-core/axe.min.js"))
    rows = ["| width | scheme | page is as wide | barriers found by axe-core |", "| ---: | --- | ---: | --- |"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--headless=new", "--no-sandbox"])
        for width in (1280, 390):
            for scheme in ("light", "dark"):
                context = browser.new_context(
                    viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
                )
                page = context.new_page()
                page.goto(report.as_uri())
                page.wait_for_selector("html[data-ready]")
                wide = page.evaluate("document.documentElement.scrollWidth")
                found = "not looked for"
                if axe.is_file():
                    page.evaluate(axe.read_text(encoding="utf-8"))
                    found = len(page.evaluate("axe.run(document)")["violations"])
                if wide > width or found not in {0, "not looked for"}:
                    raise RuntimeError(f"{report} at {width} px, {scheme}: {wide} px wide, {found} barriers")
                rows.append(f"| {width} | {scheme} | {wide} | {found} |")
                context.close()
        browser.close()
    return rows


def page(folder: Path) -> str:
    """The transcript."""
    (folder / "my_backend.py").write_text(BACKEND, encoding="utf-8")
    (folder / "test_mine.py").write_text(TEST, encoding="utf-8")
    lines, total = [], 0.0
    for step in FIRST:
        text, seconds = played(step, folder)
        total += seconds
        lines += shown(step, text)
    first = f"{total:.0f} s on {os.cpu_count()} cores, downloads included."
    lines += [f"From `git clone` to the records of one's own C function: {first}"]
    lines.append("")
    for step in REST:
        lines += shown(step, played(step, folder)[0])
    lines += ["The report of the broken twin, in headless Chromium:", "", *looked_at(folder / "broken" / "report.html")]
    head = ["# The tour", "", "What a new user types and sees, played and written by `docs/tour.py`; do not edit.", ""]
    return "\n".join([*head, *lines]).replace(str(folder), "~") + "\n"


def main(words: Sequence[str]) -> int:
    """The exit status."""
    with tempfile.TemporaryDirectory() as name:
        try:
            text = page(Path(name))
        except RuntimeError as error:
            print(error)
            return 1
    if "--check" not in words:
        PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
