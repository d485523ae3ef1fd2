"""What memory a case needs at least: that of its tensors as they lie, known from their shapes, dtypes and layouts.

A host that outgrew opproof's limit though the tensors fit is told so, with the option that raises it; where the tensors
alone are beyond the limit nobody is asked, for that is no fault of a backend's.
"""

from __future__ import annotations

from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Verdict, said_beyond, worded
from opproof.harness.run.arena.layout import shared_result
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Question, Settled
from opproof.harness.run.task import Task
from opproof.reference_ops import Op

#: The option that raises each of opproof's own limits.
_RAISED_BY = {Verdict.TIMEOUT: "--timeout SECONDS", Verdict.OUT_OF_MEMORY: "--memory MIB"}


def bytes_of_inputs(case: Case, op: Op) -> int:
    """Bytes that the inputs take at least, before they are drawn: of numbers that are no floats one each."""
    constraints = dict(op.domain(case.shapes, **case.kwargs)) if op.domain else {}
    layouts, total = layouts_of(case), 0
    for name, shape in case.shapes.items():
        drawn = constraints.get(name)
        item = 1 if isinstance(drawn, range) or callable(drawn) else DTYPES[case.dtype_of(name)].numpy.itemsize
        total += item * storage_of(shape, layouts[name]).size
    return total


def bytes_of(question: Question) -> int:
    """Bytes of all tensors of a call as they lie in memory: inputs, cotangents and results, none of them twice."""
    posed = question.posed
    case, layouts = posed.case, layouts_of(posed.case)
    inputs = {id(v): (name, v) for name, v in zip(posed.names, posed.inputs, strict=True) if v is not None and name}
    total = sum(_lying(v, case.dtype_of(name), layouts[name]) for name, v in inputs.values())
    total += sum(_lying(g, case.dtype, cotangent_layout(case)) for g in posed.cotangents if g is not None)
    shared = shared_result(question)
    results = [w for i, w in enumerate(question.wanted) if w is not None and i != shared]
    return total + sum(w.dtype.itemsize * storage_of(w.shape, case.into).size for w in results)


def _lying(values: Array, dtype: str, layout: str) -> int:
    item = DTYPES[dtype].numpy.itemsize if values.dtype.kind == "f" else values.dtype.itemsize  # as to_dtype makes it
    return int(item) * storage_of(values.shape, layout).size


def check_fits(task: Task, size: int) -> None:
    """Raises Settled where tensors of so many bytes are more than the host of a task may use."""
    if size > task.memory:
        raise Settled(Verdict.UNSUPPORTED, said_beyond(size, task.memory))


def limited(fault: HostFault, task: Task, size: int, *, whole: bool) -> tuple[Verdict, str]:
    """The verdict and message of a fault: what the case needs, where a limit of opproof's own is the reason.

    `size`: bytes of the tensors, all of them where it is `whole`, else of the inputs.
    """
    option = _RAISED_BY.get(fault.verdict)
    if option is None:
        return fault.verdict, fault.message
    if fault.verdict is Verdict.OUT_OF_MEMORY and size > task.memory:
        return Verdict.UNSUPPORTED, said_beyond(size, task.memory)
    what = "tensors" if whole else "inputs"
    return fault.verdict, f"{fault.message} (its {what} take {worded(size)}; {option} raises the limit)"
