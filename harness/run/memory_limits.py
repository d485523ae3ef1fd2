"""What memory a case needs, of its host and of its judge, and what is said where that is too much.

Tensors lie in shared memory as often as calls need them: whether they fit is asked of the machine. What a judge
computes in is memory of its process alone, held to --judge-memory by the kernel: Linux alone counts it apart
(RLIMIT_DATA since 4.7, getrlimit(2)). Where the tensors alone are beyond a host's limit nobody is asked: that is no
fault of a backend's.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from opproof.cases import Case
from opproof.cases._layouts import cotangent_layout, layouts_of, storage_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.verdicts import Mode, Verdict, describe_beyond, format_bytes
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.memory_budget import TooLarge, round_up_memory
from opproof.harness.reference.chunks.question import find_templates
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.memory import find_shared_result
from opproof.harness.run.request import Request, Wanted
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


def bytes_of(question: Request) -> int:
    """Bytes of all tensors of a call as they lie in memory: inputs, cotangents and results, none of them twice."""
    posed = question.posed
    case, layouts = posed.case, layouts_of(posed.case)
    inputs = {id(v): (name, v) for name, v in zip(posed.names, posed.inputs, strict=True) if v is not None and name}
    total = sum(_bytes_of(v, case.dtype_of(name), layouts[name]) for name, v in inputs.values())
    total += sum(_bytes_of(g, case.dtype, cotangent_layout(case)) for g in posed.cotangents if g is not None)
    shared = find_shared_result(question)
    results = [w for i, w in enumerate(question.wanted) if w is not None and i != shared]
    return total + sum(w.dtype.itemsize * storage_of(w.shape, case.into).size for w in results)


def _bytes_of(values: Array, dtype: str, layout: str) -> int:
    item = DTYPES[dtype].numpy.itemsize if values.dtype.kind == "f" else values.dtype.itemsize  # as to_dtype makes it
    return int(item) * storage_of(values.shape, layout).size


def check_fits(task: Task, size: int) -> None:
    """Raises Settled where tensors of so many bytes are more than the host of a task may use."""
    if size > task.memory:
        raise EarlyVerdict(Verdict.UNSUPPORTED, describe_beyond(size, task.memory))


def explain_limit(fault: HostFault, task: Task, size: int, *, whole: bool) -> tuple[Verdict, str]:
    """The verdict and message of a fault: what the case needs, where a limit of opproof's own is the reason.

    `size`: bytes of the tensors, all of them where it is `whole`, else of the inputs.
    """
    option = _RAISED_BY.get(fault.verdict)
    if option is None:
        return fault.verdict, fault.message
    if fault.verdict is Verdict.OUT_OF_MEMORY and size > task.memory:
        return Verdict.UNSUPPORTED, describe_beyond(size, task.memory)
    what = "tensors" if whole else "inputs"
    return fault.verdict, f"{fault.message} (its {what} take {format_bytes(size)}; {option} raises the limit)"


#: Times that the inputs of a case are held: the data of both questions, and those of the call; and that the results
#: are: in the call, and of the call before, the judged one and the call after it. Cases that are asked once more, first
#: of all or last, have one more of each such call.
INPUT_COPIES = 3
RESULT_COPIES = 4
#: Bytes of tensors from which the machine is asked whether it has room.
_MIN_CHECKED_BYTES = 2**26
MIB = 2**20


def limit_of(host: Host, task: Task) -> int:
    """Bytes that judging a task may take; sys.maxsize where nothing is limited.

    That is where tensors travel through the judge's own memory, and where gradients are held against differences of the
    backend's own forward, of the whole.
    """
    return task.judge_memory if host.shares_memory and not task.is_by_itself else sys.maxsize


def explain_outgrown(case: str, memory: int, error: BaseException) -> str:
    """That judging `case` needs more than its limit, and which to give, in words."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    wanted = math.prod(shape) * dtype.itemsize if shape is not None and dtype is not None else 0
    least = round_up_memory(max(2 * memory, memory + 2 * wanted))
    array = f"; the last array that it asked for has {wanted // MIB} MiB" if wanted >= MIB else ""
    return (
        f"judging {case} takes more than --judge-memory {memory // MIB} (MiB) in the judge's process{array}; "
        f"give --judge-memory {least} or more, or a smaller case"
    )


def check_foreseen(case: Case, op: Op, mode: Mode, task: Task, *, copies: int) -> None:
    """Ask of a large case, before anything of it is drawn, whether what one slice says of its results fits the task and
    the machine. Raises EarlyVerdict, TooLarge.
    """
    inputs = count_input_bytes(case)
    outputs = find_templates(case, op) if INPUT_COPIES * inputs >= _MIN_CHECKED_BYTES else None
    if outputs is None:
        return
    made = sum(y.size * (DTYPES[case.dtype].numpy.itemsize if y.dtype.kind == "f" else y.itemsize) for y in outputs)
    given, results = (inputs, made) if mode is Mode.FORWARD else (inputs + made, inputs)
    if mode is Mode.FORWARD and not case.inplace:
        check_fits(task, bytes_of_inputs(case, op) + made)
    _check_room(case, task.judge_memory, INPUT_COPIES * given + copies * results)


def check_free(
    case: Case, memory: int, results: Sequence[Wanted | None] | None = None, *, copies: int = RESULT_COPIES
) -> None:
    """Ask the machine whether the tensors of `case` fit beside `memory` bytes; of its `results` too, so many copies,
    once the data are drawn. Raises TooLarge.
    """
    inputs = count_input_bytes(case)
    if results is None:
        needed = INPUT_COPIES * inputs
    else:
        needed = inputs + copies * sum(math.prod(w.shape) * w.dtype.itemsize for w in results if w is not None)
    _check_room(case, memory, needed)


def _check_room(case: Case, memory: int, needed: int) -> None:
    """Raise TooLarge where the machine has no room for the `needed` bytes of tensors beside `memory` of the judge."""
    free = free_bytes() if needed >= _MIN_CHECKED_BYTES else None
    if free is not None and needed + memory > free:
        raise TooLarge(
            f"judging {case} takes {needed // MIB} MiB of shared memory for its tensors and --judge-memory "
            f"{memory // MIB} MiB, and this machine has {free // MIB} MiB free; give fewer --jobs, a lower "
            "--judge-memory or a smaller case, or free some memory"
        )


def explain_killed(text: str, memory: int) -> str:
    """What is said of the case of that id at which the judge's process was killed: of a large one, what it needs."""
    case, said = Case.parse(text), "the judge's process was killed while it was at this case, twice"
    inputs = count_input_bytes(case)
    if INPUT_COPIES * inputs < _MIN_CHECKED_BYTES:
        return said
    free = free_bytes()
    there = "" if free is None else f", and this machine has {free // MIB} MiB free now"
    return (
        f"{said}, as the kernel does where memory runs out; it is not the backend's. Its inputs are held "
        f"{INPUT_COPIES} times, {INPUT_COPIES * inputs // MIB} MiB, and its results {RESULT_COPIES} times, beside "
        f"--judge-memory {memory // MIB} MiB{there}; give --jobs 1, a lower --judge-memory, or a smaller case"
    )


def count_input_bytes(case: Case) -> int:
    shapes = case.shapes.items()
    return sum(math.prod(shape) * np.dtype(DTYPES[case.dtype_of(name)].numpy).itemsize for name, shape in shapes)


def free_bytes() -> int | None:
    """Bytes that the machine, or the control group that this process is in, has left; None where nothing tells."""
    with suppress(OSError, ValueError, IndexError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        free = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
        return min([free, *_group()])
    return None


def _group() -> Iterator[int]:
    """What is left in the control group, where it has a limit (cgroup v2)."""
    with suppress(OSError, ValueError, IndexError):
        name = Path("/proc/self/cgroup").read_text().strip().rpartition("::")[2]
        folder = Path("/sys/fs/cgroup") / name.lstrip("/")
        most, used = ((folder / f"memory.{what}").read_text().strip() for what in ("max", "current"))
        stat = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        yield int(most) - int(used) + int(stat.get("inactive_file", 0))
