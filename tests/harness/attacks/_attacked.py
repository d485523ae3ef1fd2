"""A run of the real command line on a backend that misbehaves: what it said, what it recorded, what it left behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from collections.abc import Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from opproof.core.errors import ResultsError
from opproof.reports import Result, read_results

#: Right, for float32: what the backends here answer where they do not misbehave.
HONEST = """
import ctypes, os, signal, subprocess, sys, threading, time
import numpy as np
from opproof.backends import Unsupported

OPS = {
    "relu": lambda x: np.maximum(x, 0), "neg": lambda x: -x, "abs": np.abs, "square": np.square, "sign": np.sign,
    "exp": np.exp, "sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "tanh": np.tanh, "floor": np.floor, "ceil": np.ceil,
    "add": np.add, "sub": np.subtract, "mul": np.multiply,
}


def honest(op, inputs):
    with np.errstate(all="ignore"):
        return OPS[op](*inputs)


def forward(op, inputs, params):
    return honest(op, inputs)


def later(seconds, deed):
    threading.Thread(target=lambda: (time.sleep(seconds), deed()), daemon=True).start()
"""

#: Cases that such a backend gets right.
INNOCENT = tuple(f"neg[x=5x{n};f32]" for n in range(1, 13))

#: A variable that every process of a run has in its environment, unless it takes care not to.
_TOKEN = "OPPROOF_TEST_TOKEN"


@dataclass(frozen=True)
class Run:
    """What became of it."""

    status: int
    out: str
    err: str
    results: list[Result]
    left: list[str]  # command lines of processes that are still there

    @property
    def verdicts(self) -> dict[str, str]:
        """By case; the modes apart where there are two."""
        modes = {r.mode for r in self.results}
        return {r.case if len(modes) == 1 else f"{r.case} {r.mode}": r.verdict for r in self.results}

    @property
    def failing(self) -> dict[str, str]:
        """Verdicts other than PASS."""
        return {case: verdict for case, verdict in self.verdicts.items() if verdict != "PASS"}

    def message(self, case: str) -> str:
        """Of the record of a case."""
        return next(r.message for r in self.results if r.case == case)


def backend(folder: Path, text: str) -> str:
    """A file of the honest backend and `text`, which may define its functions anew; as given to -b."""
    path = folder / "backend.py"
    path.write_text(HONEST + text, encoding="utf-8")
    return str(path)


def command(spec: str, cases: tuple[str, ...], *options: str) -> list[str]:
    """Of a run in forward mode, unless `options` say another."""
    asked = [part for case in cases for part in ("--case", case)]
    mode = [] if "--mode" in options else ["--mode", "forward"]
    return [
        sys.executable,
        "-m",
        "opproof.harness",
        "run",
        "-b",
        spec,
        *mode,
        "--quiet",
        "--out",
        "out",
        *options,
        *asked,
    ]


def environment(token: str, **more: str) -> dict[str, str]:
    """Of a run whose backends may not have the references."""
    return {k: v for k, v in os.environ.items() if k != "OPPROOF_REFERENCES"} | {_TOKEN: token, **more}


def run(
    folder: Path, spec: str, cases: tuple[str, ...], *options: str, limit: float = 500, before: Sequence[str] = (),
    **variables: str,
) -> Run:  # fmt: skip
    """Run to the end; `before` starts the command line."""
    token = uuid.uuid4().hex
    done = subprocess.run(
        [*before, *command(spec, cases, *options)], capture_output=True, text=True, errors="replace", check=False,
        cwd=folder, env=environment(token, **variables), timeout=limit, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return Run(done.returncode, done.stdout, done.stderr, recorded(folder), left(token))


def recorded(folder: Path) -> list[Result]:
    """What a run there has recorded; nothing where there is no file."""
    try:
        return read_results(folder / "out")[1]
    except ResultsError:
        return []


@contextmanager
def started(folder: Path, spec: str, cases: tuple[str, ...], *options: str):
    """A run under way, and the token of its processes."""
    token = uuid.uuid4().hex
    process = subprocess.Popen(
        command(spec, cases, *options), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
        env=environment(token), stdin=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        yield process, token
    finally:
        process.kill()
        process.communicate()
        for one in _with(token):
            with suppress(psutil.Error):
                one.kill()


def left(token: str, patience: float = 15.0) -> list[str]:
    """Command lines of processes with `token` that do not end by themselves."""
    ends = time.monotonic() + patience
    while (found := _with(token)) and time.monotonic() < ends:
        time.sleep(0.1)
    return [_words(process) for process in found]


def _with(token: str) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.environ().get(_TOKEN) == token:
                found.append(process)
    return found


def _words(process: psutil.Process) -> str:
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""
