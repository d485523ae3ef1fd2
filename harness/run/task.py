"""A task: one case in one mode on one backend, how to judge it, and what its host may use."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from opproof.core.capabilities import backend_of, options_of
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.core.verdicts import Mode
from opproof.harness.known_failures.known import Known
from opproof.harness.reference.chunks.memory_budget import DEFAULT_MEMORY_BYTES


@dataclass(frozen=True, slots=True)
class HostLimits:
    """Seconds of one call, bytes of the host and all that it started, judges at work."""

    jobs: int
    timeout: float
    memory: int
    in_process: bool = False  # the backend in the judge's own process, without limits
    private: tuple[str, ...] = ()  # files of the user's own references
    environments: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = ()  # variables to set, by the backend's text


#: In which other company rows are evaluated: fewer, halves of them, in another order, with others behind them.
INVARIANCES = ("batch", "chunk", "order", "padding")


@dataclass(frozen=True, slots=True)
class Task:
    """Small, and picklable."""

    backend: str  # as given with -b
    case: str
    mode: str
    strict_subnormals: bool = False
    signed_zeros: bool = False
    profile: str = ""  # the standard whose limits are judged beside ours
    convention: str = "any"
    grad_oracle: str = "reference"  # or "self": differences of the backend's own forward
    repeat: int = 1  # how often the judged call is made, other work between
    invariant: tuple[str, ...] = ()  # of INVARIANCES: in which company rows must give the bits that they give among all
    threads: tuple[int, ...] = ()  # with how many the call is made, in turn; empty: as many as the backend likes
    ops: tuple[str, ...] = ()  # folders of operators from outside the tree
    judge_memory: int = DEFAULT_MEMORY_BYTES  # bytes that judging may take
    memory: int = HOST_MEMORY  # bytes that its host may use, as Limits say
    timeout: float = TIMEOUT  # seconds that a call may take, likewise
    in_process: bool = False  # the backend is in the judge's own process, likewise
    known: tuple[Known, ...] = ()  # entries of the ledger that speak of it, whatever its verdict

    @property
    def is_by_itself(self) -> bool:
        """Whether gradients are held against differences of the backend's own forward."""
        return self.mode == Mode.GRADIENT and self.grad_oracle == "self"


def by_case(tasks: Iterable[Task]) -> Iterator[tuple[Task, ...]]:
    """The tasks of each case, which stand one after the other."""
    return (tuple(some) for _, some in groupby(tasks, key=lambda t: t.case))


@functools.cache
def op_name_of(task: Task) -> str:
    """The operator of a task, also of one whose case is malformed."""
    return task.case.partition("[")[0]


def _to_mebibytes(size: int) -> str:
    return str(size // 2**20)


def _format_seconds(value: float) -> str:
    """All digits, as `{:g}` has not: 1234567, 0.1"""
    return repr(float(value)).removesuffix(".0")


#: The options of `opproof run` that say how a task is judged: option, field of Task, and what is given with it; a
#: list where the option is given several times, "" for a flag. A field at its default is not said. The seed is part of
#: the case's id.
_OPTIONS: tuple[tuple[str, str, Callable[[Any], str | list[str]]], ...] = (
    ("--ops", "ops", lambda folders: [shlex.quote(str(folder)) for folder in folders]),
    ("--strict-subnormals", "strict_subnormals", lambda _: ""),
    ("--signed-zeros", "signed_zeros", lambda _: ""),
    ("--profile", "profile", str),
    ("--convention", "convention", str),
    ("--grad-oracle", "grad_oracle", str),
    ("--memory", "memory", _to_mebibytes),
    ("--timeout", "timeout", _format_seconds),
    ("--judge-memory", "judge_memory", _to_mebibytes),
    ("--repeat", "repeat", str),
    ("--invariant", "invariant", ",".join),
    ("--threads", "threads", lambda counts: ",".join(map(str, counts))),
    ("--in-process", "in_process", lambda _: ""),
)
_DEFAULTS = {field.name: field.default for field in fields(Task)}


def in_force(task: Task) -> list[str]:
    """The options by which a task is judged, as words of a command; none for what is at its default."""
    parts: list[str] = []
    for option, name, given in _OPTIONS:
        if (value := getattr(task, name)) != _DEFAULTS[name]:
            said = given(value)
            for word in [said] if isinstance(said, str) else said:
                parts += [option, word] if word else [option]
    return parts


def repro_command_of(task: Task, *before: Task) -> str:
    """The command that runs this task alone, or after those `before` it; known before it starts."""
    parts = ["opproof", "run", "-b", shlex.quote(backend_of(task.backend))]
    parts += map(shlex.quote, options_of(task.backend))
    if {t.mode for t in before} <= {task.mode}:
        parts += ["--mode", task.mode]
    for case in dict.fromkeys(t.case for t in (*before, task)):
        parts += ["--case", shlex.quote(case)]
    parts += ["-j", "1"] * bool(before)
    parts += in_force(task)
    parts += ["--out", "opproof-repro"]  # not the folder of the run whose record it repeats
    return " ".join(parts)
