"""A task: one case in one mode on one backend, and how to judge it."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from opproof.harness.ledger.known import Known
from opproof.harness.truth.slices.room import MEMORY
from opproof.reference_ops import Op, load, load_folder
from opproof.vocabulary.modes import Mode


@dataclass(frozen=True, slots=True)
class Task:
    """Small, and picklable."""

    backend: str  # as given with -b
    case: str
    mode: str
    strict_subnormals: bool = False
    convention: str = "any"
    grad_oracle: str = "reference"  # or "self": differences of the backend's own forward
    repeat: int = 1  # how often the judged call is made, other work between
    batch_invariant: bool = False  # rows alone must give the bits that they give among others
    threads: tuple[int, ...] = ()  # with how many the call is made, in turn; empty: as many as the backend likes
    ops: tuple[str, ...] = ()  # folders of operators from outside the tree
    judge_memory: int = MEMORY  # bytes that judging may take
    known: tuple[Known, ...] = ()  # entries of the ledger that speak of it, whatever its verdict

    @property
    def is_by_itself(self) -> bool:
        """Whether gradients are held against differences of the backend's own forward."""
        return self.mode == Mode.GRADIENT and self.grad_oracle == "self"


def by_case(tasks: Iterable[Task]) -> Iterator[tuple[Task, ...]]:
    """The tasks of each case, which stand one after the other."""
    return (tuple(some) for _, some in groupby(tasks, key=lambda t: t.case))


@functools.cache
def op_name(task: Task) -> str:
    """The operator of a task, also of one whose case is malformed."""
    return task.case.partition("[")[0]


def op_of(name: str, folders: tuple[str, ...]) -> Op:
    """The operator, from the user's folders first."""
    for folder in folders:
        for op in load_folder(Path(folder)):
            if op.name == name:
                return op
    return load(name)


def repro(task: Task, *before: Task) -> str:
    """The command that runs this task alone, or after those `before` it; known before it starts."""
    parts = ["opproof", "run", "-b", shlex.quote(task.backend)]
    if {t.mode for t in before} <= {task.mode}:
        parts += ["--mode", task.mode]
    for case in dict.fromkeys(t.case for t in (*before, task)):
        parts += ["--case", shlex.quote(case)]
    parts += ["-j", "1"] * bool(before)
    for folder in task.ops:
        parts += ["--ops", shlex.quote(folder)]
    if task.strict_subnormals:
        parts.append("--strict-subnormals")
    if task.convention != "any":
        parts += ["--convention", task.convention]
    if task.grad_oracle != "reference":
        parts += ["--grad-oracle", task.grad_oracle]
    if task.judge_memory != MEMORY:
        parts += ["--judge-memory", str(task.judge_memory // 2**20)]
    if task.repeat > 1:
        parts += ["--repeat", str(task.repeat)]
    if task.batch_invariant:
        parts.append("--batch-invariant")
    if task.threads:
        parts += ["--threads", ",".join(map(str, task.threads))]
    parts += ["--out", "opproof-repro"]  # not the folder of the run whose record it repeats
    return " ".join(parts)
