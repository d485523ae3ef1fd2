"""Runs tests once as they are, then once for each defect with those tests that reach it; they stop at what fails."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from opproof.cases._defects import PLANTED, PlantedDefect
from opproof.core.errors import UsageError, suggest
from opproof.harness.audit.plugin import PLAN
from opproof.reports._text import format_count
from opproof.reports.audit import AuditedDefect, AuditReport, Fate

#: Seconds that tests with a defect may take beyond three times what they take without one.
MORE_SECONDS = 60.0


@dataclass(frozen=True)
class _Run:
    """One run of the tests: pytest's status, None where it was stopped; what was recorded, and the last words."""

    status: int | None
    record: Mapping[str, Any]
    said: str


class SuiteProcess:
    """A pytest process that has collected the tests, and runs them as often as it is asked, each time in a copy.

    Where it cannot be copied, since it has threads, it runs them itself and ends; the next run begins another.
    """

    def __init__(self, kernel: str, command: Sequence[str], folder: str) -> None:
        self.kernel, self.command = kernel, command
        self.folder = Path(tempfile.mkdtemp(dir=folder))
        self.process: subprocess.Popen[bytes] | None = None

    def run(self, timeout: float, tests: Sequence[str] = (), defect: str = "", written: Sequence[int] = ()) -> _Run:
        """Run these tests, or all, with a defect; nothing is written beside them."""
        record, log = self.folder / "record", self.folder / "said"
        record.unlink(missing_ok=True)
        if self.process is None:
            self._start()
        assert self.process is not None
        plan = {"defect": defect, "tests": tests, "written": written, "record": str(record)}
        end, status = time.monotonic() + timeout, None
        try:
            os.write(self.requests, json.dumps(plan).encode() + b"\n")
            if select.select([self.answers], [], [], timeout)[0]:
                status = int(os.read(self.answers, 16))
            else:
                self.end()
        except (OSError, ValueError):  # it runs them itself, and says nothing before it ends
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(max(end - time.monotonic(), 0.0))
            self.end()
        found = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        return _Run(status, found, lines[-1][:200] if lines else "")

    def _start(self) -> None:
        theirs, self.requests = os.pipe()
        self.answers, answers = os.pipe()
        plan = json.dumps({"kernel": self.kernel, "requests": theirs, "answers": answers})
        given = {"OMP_NUM_THREADS": "1", **os.environ, PLAN: plan, "PYTHONDONTWRITEBYTECODE": "1"}
        own = ["-p", "opproof.harness.audit.plugin", "-o", f"cache_dir={self.folder}/cache"]
        own += ["--basetemp", f"{self.folder}/files"] + ["-n", "0"] * (find_spec("xdist") is not None)
        with (self.folder / "said").open("wb") as out:
            self.process = subprocess.Popen(
                [*self.command, *own], env=given, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True, pass_fds=(theirs, answers),
            )  # fmt: skip
        os.close(theirs)
        os.close(answers)

    def end(self) -> None:
        """End the process, and all that it started."""
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            os.close(self.requests)
            os.close(self.answers)
            self.process = None


def parse_command(words: Sequence[str]) -> list[str]:
    """What runs pytest in this Python, of `pytest ...` or `python -m pytest ...`. Raises UsageError for another."""
    if Path(words[0]).name in ("pytest", "py.test"):
        return [sys.executable, "-P", "-m", "pytest", *words[1:]]
    if Path(words[0]).name.startswith("python") and tuple(words[1:3]) == ("-m", "pytest"):
        return [sys.executable, *words[1:]]
    raise UsageError(f"{words[0]!r} is not pytest: give the tests as `-- pytest tests/test_mine.py`.")


def run_audit(kernel: str, command: Sequence[str], jobs: int, seconds: float, only: Sequence[str]) -> AuditReport:
    """Plant every defect, or those of `only`, in the function `module:name`. Raises UsageError where none can be."""
    start = time.monotonic()
    module, _, name = kernel.partition(":")
    if not module or not name:
        raise UsageError(f"--kernel {kernel!r}: expected MODULE:FUNCTION, such as mypackage.kernels:softmax.")
    for word in only:
        if word not in (names := [d.name for d in PLANTED]):
            raise UsageError(f"no defect is called {word!r}{suggest(word, names)}")
    words, free = parse_command(command), queue.SimpleQueue[SuiteProcess]()
    with tempfile.TemporaryDirectory(prefix="opproof-audit-") as folder, contextlib.ExitStack() as stack:
        processes = [SuiteProcess(kernel, words, folder) for _ in range(jobs)]
        for one in processes:
            stack.callback(one.end)
            free.put(one)
        right = processes[0].run(seconds)
        _check_baseline(right, kernel, seconds)
        taken = time.monotonic() - start

        def follow(d: PlantedDefect) -> AuditedDefect:
            one = free.get()
            try:
                return _follow(d, right, one, MORE_SECONDS + 3 * taken, start + seconds)
            finally:
                free.put(one)

        with ThreadPoolExecutor(jobs) as pool:
            found = list(pool.map(follow, [d for d in PLANTED if not only or d.name in only]))
    gradients = any("gradients × 2" in reached for reached in right.record["tests"].values())
    return AuditReport(kernel, len(right.record["tests"]), time.monotonic() - start, gradients, found)


def _follow(d: PlantedDefect, right: _Run, process: SuiteProcess, limit: float, end: float) -> AuditedDefect:
    """Plant a defect, and see what becomes of it in the tests that reach it."""
    tests = [t for t, reached in right.record["tests"].items() if d.name in reached]
    if not tests:
        return _settle(d, Fate.SURVIVES if d.unreached else Fate.NO_DEFECT, right, why=d.unreached)
    left = end - time.monotonic()
    if left <= 0:
        return _settle(d, Fate.NOT_TRIED, right)
    chosen = list(right.record["tests"]) if d.remembers else tests
    run = process.run(min(limit, left), chosen, d.name, right.record["written"])
    if run.status is None and left < limit:
        return _settle(d, Fate.NOT_TRIED, right)
    if run.status == 0:
        return _settle(d, Fate.SURVIVES if run.record.get("shown") else Fate.NO_DEFECT, run if d.inputs else right)
    failed = run.record.get("failed") or ["it takes too long" if run.status is None else "the process ends"]
    return _settle(d, Fate.KILLED, right, by=failed[0])


def _check_baseline(right: _Run, kernel: str, seconds: float) -> None:
    """Raise UsageError where the tests say nothing of the function, or fail though it is right."""
    if right.status is None:
        raise UsageError(f"the tests alone take more than {seconds:g} s: give --for more, or fewer tests.")
    failed = right.record.get("failed", ())
    if failed:
        count = format_count(len(failed), "failure")
        raise UsageError(f"{count} without a defect ({failed[0]}): mend or --deselect what fails, and audit again.")
    if right.status or not right.record:
        raise UsageError(f"pytest ends with {right.status} without a defect ({right.said}): give tests that pass.")
    if problem := right.record["problem"]:
        raise UsageError(f"{problem}: expected --kernel MODULE:FUNCTION, a function that the tests call.")
    if not right.record["tests"]:
        raise UsageError(f"no test calls {kernel}: name a function that they call, by the module that defines it.")


def _settle(d: PlantedDefect, fate: Fate, run: _Run, by: str = "", why: str = "") -> AuditedDefect:
    """What became of a defect, with a test that would kill it."""
    off = run.record["off"].get(d.name, 0.0)
    atol = f"{off / 2:.0e} * expected.abs().max().item()" if 0 < off < np.inf else "0"
    close = f"torch.testing.assert_close(got, expected, rtol=0, atol={atol})"
    return AuditedDefect(d.name, fate, by, d.line or close, why)
