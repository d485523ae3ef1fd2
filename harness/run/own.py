"""Operators of one's own before a run: a reference that uses what has no rule under noise is refused at once."""

from __future__ import annotations

import math
from collections.abc import Sequence

from opproof.cases import Case
from opproof.core.errors import OpError
from opproof.core.verdicts import Mode
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import pose
from opproof.harness.run.task import Task, op_of
from opproof.reference_ops import Op
from opproof.reference_ops._op import FOLDER


def check_own(planned: Sequence[Task]) -> None:
    """Try the smallest case of every operator that is none of ours. Raises OpError where one has no measured bound."""
    smallest: dict[str, tuple[int, Case, Op, Mode]] = {}
    for task in planned:
        if not task.ops:
            return
        case = Case.parse(task.case)
        op = op_of(case.op, task.ops)
        size = sum(0 if isinstance(shape, str) else math.prod(shape) for _, shape in case.tensors)  # a text: of a file
        if op.source.parent != FOLDER and size < smallest.get(op.name, (math.inf,))[0]:
            smallest[op.name] = size, case, op, Mode(task.mode)
    for _, case, op, mode in smallest.values():
        _check(case, op, mode)


def _check(case: Case, op: Op, mode: Mode) -> None:
    if mode is Mode.GRADIENT and op.vjp is None:
        return
    try:
        expected_of(pose(case, op, mode).asked)
    except OpError as error:
        raise OpError(f"{op.source}: the reference of {op.name}: {' '.join(str(error).split())}") from None
    except Exception:  # noqa: S110 - what else goes wrong is told by the records
        pass
