"""Backends that attack in some operators and get all others right, with plain NumPy; and runs of them.

An attack is Python text with a dictionary ATTACKS: for an operator's name a function of its inputs, called before the
right answer is given; where it returns something, that is the answer.
"""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task

RIGHT = """
import asyncio, ctypes, os, signal, subprocess, sys, threading, time
import numpy as np

from opproof.backends import Unsupported

version, device = "1", "attacker"
ATTACKS = {}
UNARY = {name: getattr(np, name) for name in "abs ceil cos exp floor sin square tanh".split()}
wide, exp, matmul = np.float64, np.exp, np.matmul


def right(op, inputs, params):
    x = inputs[0].astype(wide)
    if op == "relu":
        return np.maximum(x, 0)
    if op == "neg":
        return np.negative(x)
    if op == "add":
        return x + inputs[1].astype(wide)
    if op == "matmul":
        return np.matmul(x, inputs[1].astype(wide))
    if op == "softmax":
        e = np.exp(x - x.max(axis=params["dim"], keepdims=True))
        return e / e.sum(axis=params["dim"], keepdims=True)
    return UNARY[op](x)


def forward(op, inputs, params):
    dtype = inputs[0].dtype
    given = ATTACKS[op](inputs) if op in ATTACKS else None
    return right(op, inputs, params).astype(dtype) if given is None else given


def raises(error):
    def attack(inputs):
        raise error

    return attack


class Odd(BaseException):
    pass
"""

#: In the environment of all that a run starts; its value is one run's own.
MARK = "OPPROOF_ATTACKED_RUN"


def written(folder, attack, name="attacker.py"):
    """The file of a backend that attacks, as given to -b."""
    path = folder / name
    path.write_text(RIGHT + attack, encoding="utf-8")
    return str(path)


def case_of(op):
    return f"{op}[x=3x33;f32]"


def records(backend, cases, *, jobs=1, timeout=60.0, memory=2 << 30, ops=()):
    """The last record of each case, in the order of cases."""
    with Pool(HostLimits(jobs, timeout, memory)) as pool:
        last = {r.case: r for r in pool.run([Task(backend, case, "forward", ops=ops) for case in cases])}
    assert sorted(last) == sorted(cases)
    return [last[case] for case in cases]


def verdicts(folder, attack, *names, **limits):
    """Verdicts of one case of each operator, by its name."""
    found = records(written(folder, attack), [case_of(op) for op in names], **limits)
    return {op: str(r.verdict) for op, r in zip(names, found, strict=True)}


def passed(*names):
    return dict.fromkeys(names, "PASS")


def command(folder, backend, names, *options):
    """The command line of a run."""
    cases = [text for op in names for text in ("--case", op if "[" in op else case_of(op))]
    start = [sys.executable, "-m", "opproof.harness", "run", "-b", backend, *cases, "--mode", "forward"]
    return [*start, "-j", "1", "--quiet", "--out", str(folder / "out"), *options]


def run(folder, backend, names, *options, **environment):
    """A run to its end: exit status, stdout, stderr."""
    return subprocess.run(
        command(folder, backend, names, *options),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )


def marked(value):
    """Processes of the run that has this mark, by their command lines."""
    entry, found = f"{MARK}={value}".encode(), {}
    for process in Path("/proc").iterdir():
        with suppress(OSError):
            if process.name.isdigit() and entry in (process / "environ").read_bytes().split(b"\0"):
                found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    return found


def left(value, patience=30.0):
    """Those that are there still after a while."""
    ends = time.monotonic() + patience
    while time.monotonic() < ends and marked(value):
        time.sleep(0.1)
    return marked(value)
