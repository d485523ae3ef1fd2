"""What runs in a worker process: one task at a time, its faults contained, its chatter kept apart."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.backends.exec.child import children
from opproof.backends.load import load_backend
from opproof.backends.protocol import DeviceLost
from opproof.cases import Case
from opproof.harness.judge.judgement import Judgement, Rules, judge, number
from opproof.harness.judge.self_oracle import judge_by_self
from opproof.harness.run.execute import Outcome, execute
from opproof.reference_ops import Op, load, load_folder
from opproof.reports import Evidence, Result
from opproof.vocabulary.modes import Mode
from opproof.vocabulary.verdicts import FAILED, Verdict

#: Exit status of a worker that used more memory than allowed, of one whose backend called exit(0), or lost its device.
MEMORY_EXIT = 77
QUIET_EXIT = 78
DEVICE_EXIT = 79

#: Callbacks that the C library holds a pointer to.
_KEPT: list[Any] = []


@dataclass(frozen=True, slots=True)
class Task:
    """One case in one mode on one backend, and how to judge it. Small, and picklable."""

    backend: str  # as given with -b
    case: str
    mode: str
    strict_subnormals: bool = False
    convention: str = "any"
    grad_oracle: str = "reference"  # or "self": differences of the backend's own forward
    ops: tuple[str, ...] = ()  # folders of operators from outside the tree
    soft: bool = False
    alone: bool = False


def log_file(folder: str, pid: int) -> Path:
    """Where the worker `pid` writes what the backend prints."""
    return Path(folder) / f"worker-{pid}.log"


def start(logs: str, memory: int, run: int) -> None:
    """Initialise a worker of the process `run`: stdout and stderr into a log, a limit of `memory` bytes."""
    sys.stdout.flush()
    log = os.open(log_file(logs, os.getpid()), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["opproof-worker"]
    _no_core_files()
    _never_exit_quietly()
    threading.Thread(target=_watch, args=(memory, run), daemon=True).start()


def describe(backend: str) -> dict[str, str]:
    """Name, version and device of a backend. Raises BackendError when it cannot be loaded."""
    loaded = backend_of(backend)
    return {
        "spec": backend,
        "name": str(getattr(loaded, "name", backend)),
        "version": str(getattr(loaded, "version", "")),
        "device": str(getattr(loaded, "device", "cpu")),
    }


@functools.cache
def backend_of(spec: str) -> Any:
    """The backend of this process, loaded once."""
    return load_backend(spec)


@functools.cache
def op_of(name: str, folders: tuple[str, ...]) -> Op:
    """The operator, from the user's folders first."""
    for folder in folders:
        for op in load_folder(Path(folder)):
            if op.name == name:
                return op
    return load(name)


def run_task(task: Task) -> Result:
    """Run and judge one task in a worker process."""
    os.ftruncate(1, 0)
    try:
        return result_of(task, backend_of(task.backend))
    except DeviceLost as lost:
        print(lost, file=sys.stderr, flush=True)
        os._exit(DEVICE_EXIT)


def result_of(task: Task, backend: Any) -> Result:
    """Run and judge one task in this process, on a backend that is loaded already."""
    case = Case.parse(task.case)
    op = op_of(case.op, task.ops)
    declared = backend.compute(op.name, case.dtype, task.mode) if hasattr(backend, "compute") else None
    rules = Rules(task.strict_subnormals, task.convention, declared)
    try:
        outcome = execute(backend, case, op, task.mode, soft=task.soft, alone=task.alone)
    except ModuleNotFoundError as missing:  # of a reference: what a backend raises is settled inside
        said = (
            f"the reference of {op.name} needs {missing.name}, which is not installed: pip install 'opproof[quantised]'"
        )
        outcome = Outcome("UNSUPPORTED", said)
    if outcome.verdict:
        found, diagnosis = Judgement(outcome.verdict, outcome.message), ""
    else:
        by_self = task.mode == "gradient" and task.grad_oracle == "self"
        found = judge_by_self(backend, case, op, outcome) if by_self else judge(case, op, task.mode, outcome, rules)
        diagnosis = _diagnose(case, op, task.mode, outcome, found)
    return Result(
        case=task.case,
        op=case.op,
        dtype=case.dtype,
        backend=task.backend,
        mode=Mode(task.mode),
        verdict=Verdict(found.verdict),
        units=None if found.units is None else number(round(found.units, 4)),
        worst=found.worst,
        message=found.message,
        diagnosis=diagnosis,
        seconds=round(outcome.seconds, 6),
        repro=repro(task),
        evidence=_evidence(case, op, task.mode, outcome, found),
    )


def repro(task: Task) -> str:
    """The command that runs this task alone; known before it starts."""
    import shlex

    parts = ["opproof", "run", "-b", shlex.quote(task.backend), "--mode", task.mode, "--case", shlex.quote(task.case)]
    for folder in task.ops:
        parts += ["--ops", shlex.quote(folder)]
    if task.strict_subnormals:
        parts.append("--strict-subnormals")
    if task.convention != "any":
        parts += ["--convention", task.convention]
    if task.grad_oracle != "reference":
        parts += ["--grad-oracle", task.grad_oracle]
    return " ".join(parts)


def _diagnose(case: Case, op: Op, mode: str, outcome: Any, found: Judgement) -> str:
    if found.verdict not in ("WRONG_VALUE", "WRONG_GRADIENT") or not found.comparisons:
        return ""
    from opproof.harness.diagnose.diagnosis import diagnose

    return diagnose(case, op, mode, outcome, found)


def _evidence(case: Case, op: Op, mode: str, outcome: Outcome, found: Judgement) -> Evidence | None:
    if found.verdict not in FAILED:
        return None
    from opproof.harness.explain.evidence import evidence

    return evidence(case, op, mode, outcome, found)


def _no_core_files() -> None:
    try:
        import resource
    except ImportError:  # not on Windows
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _never_exit_quietly() -> None:
    """Let exit(0) of a backend be seen: pebble takes a worker that ends with status 0 for a tidy one."""
    on_exit = getattr(ctypes.CDLL(None), "on_exit", None) if sys.platform == "linux" else None
    if on_exit is None:
        return
    kind = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)
    _KEPT.append(kind(lambda status, _: os._exit(status or QUIET_EXIT)))
    on_exit(_KEPT[-1], None)


def _resident(pid: int) -> int:
    """Resident memory of a process in bytes; 0 where the system does not tell, or it has ended."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):
        return 0


def _watch(memory: int, run: int) -> None:
    """End the process when it and an exec backend's outgrow the limit; polled: RLIMIT_AS counts the untouched too.

    And when the run itself is gone, killed for instance: nobody would read the answer.
    """
    while _is_there(run):
        if _resident(os.getpid()) + sum(_resident(child.process.pid) for child in list(children)) > memory:
            for child in list(children):
                child.kill()
            os._exit(MEMORY_EXIT)
        time.sleep(0.05)
    for child in list(children):
        child.kill()
    os._exit(1)


def _is_there(process: int) -> bool:
    if os.name != "posix":  # signal 0 is a question there only
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def new_log_folder() -> str:
    """A folder for the logs of one run's workers."""
    return tempfile.mkdtemp(prefix="opproof-")
