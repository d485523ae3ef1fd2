"""A function or a backend against the standard cases of an operator of opproof's, in this process.

from opproof.harness.plugin.function import operator_test

@operator_test("softmax")
def test_softmax(x, *, dim):
return my_softmax(x, dim)
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from opproof.backends.loaded import Loaded, resolve_members
from opproof.cases import cases_of
from opproof.core.errors import UsageError
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness import __version__
from opproof.harness.check.function_backend import FunctionBackend, require_torch
from opproof.harness.clock import Allowed
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import as_told_by_itself, run_task
from opproof.harness.run.hosts.start import InProcessHost
from opproof.harness.run.plan import Selection, make_tasks, select_cases, select_operators
from opproof.harness.run.record import record
from opproof.harness.run.runner import MAX_DELTA_SECONDS, find_deltas
from opproof.harness.run.task import Task, op_name_of
from opproof.reference_ops import load
from opproof.reports import Header, Result, terminal
from opproof.reports._text import format_count
from opproof.reports.advice import withdraw_refuted
from opproof.reports.check import Report

_TRIED = ("the operator's standard cases",)


def by_backend(backend: Any, op: str, wishes: dict[str, Any]) -> Report:
    """Judge a backend, an object or the text that names one, by the cases of one operator, in this process."""
    from opproof.backends.load import load_backend

    loaded = resolve_members(load_backend(backend) if isinstance(backend, str) else backend, "backend")
    modes = ("forward", "gradient") if wishes["gradients"] and loaded.differentiates else ("forward",)
    dtype = wishes["dtype"]
    selection = Selection(ops=(op,), modes=modes, dtypes=(dtype,) if dtype else ())
    results, left = judge_function(loaded, selection, wishes["seconds"])
    asked = FunctionCheck(backend, op, vjp="autograd" if len(modes) == 2 else None, seconds=wishes["seconds"])
    notes = list_not_judged(
        asked, results, left, "the backend has no vjp" if wishes["gradients"] else "none were asked for"
    )
    return _report(loaded.name, op, results, notes, left)


def by_function(
    candidate: Callable[..., Any], op: str, vjp: Callable[..., Any] | None, wishes: dict[str, Any]
) -> Report:
    """Judge a function: it gets tensors of PyTorch where it takes them."""
    by_tensors, differentiable = _find_torch_support(candidate, op)
    device = wishes["device"] if by_tensors else ""
    gradient: Any = vjp
    if gradient is None and differentiable and wishes["gradients"]:
        gradient = "autograd"
    dtype = wishes["dtype"]
    called = FunctionCheck(
        candidate, op, gradient, (dtype,) if dtype else (), "standard", device=device, compute=wishes["compute"],
        seconds=wishes["seconds"], bits=wishes["bits"],
    )  # fmt: skip
    name, results, left = results_of(called)
    why = "autograd does not see through the candidate, and no vjp was given"
    notes = list_not_judged(called, results, left, why if wishes["gradients"] else "none were asked for")
    return _report(name, op, results, notes, left)


def _report(name: str, op: str, results: Sequence[Result], notes: tuple[str, ...], left: int) -> Report:
    by, told = Header(opproof=__version__, constants=CONSTANTS), tuple(withdraw_refuted(results))
    return Report(name, op, told, _TRIED, notes, left=left, asked=len(results), header=by)


def _find_torch_support(candidate: Callable[..., Any], op: str) -> tuple[bool, bool]:
    """Whether the candidate computes with PyTorch, and autograd sees through it: tried on the operator's first case."""
    try:
        import torch
    except ImportError:
        return False, False
    truth = load(op)
    case = next(c for c in cases_of(op, "smoke") if c.dtype == "f32")
    posed = make_question(case, truth, Mode.FORWARD).decoy_data
    arrays = [None if x is None else to_dtype(x, case.dtype) for x in posed.inputs]
    seen: list[Any] = []

    def watched(*tensors: Any, **params: Any) -> Any:
        given = [t.requires_grad_() if t is not None and t.is_floating_point() else t for t in tensors]
        seen.extend(tuple_of(candidate(*given, **params)))
        return seen[0]

    with contextlib.suppress(TypeError, ValueError):
        watched.__signature__ = inspect.signature(candidate)  # type: ignore[attr-defined]
    with contextlib.suppress(Exception):  # of whatever kind: then it may take arrays
        FunctionBackend(truth, watched, None, "cpu", None).forward(op, arrays, posed.params)
    tensors = [y for y in seen if isinstance(y, torch.Tensor)]
    return bool(tensors), any(y.requires_grad for y in tensors)


@dataclass(frozen=True)
class FunctionCheck:
    """What is to be judged by which cases, and as which precision and bits are declared."""

    fn: Callable[..., Any]
    op: str
    vjp: Callable[..., Any] | Literal["autograd"] | None = None  # gives a gradient a tensor, None where there is none
    dtypes: tuple[str, ...] = ()
    level: str = "standard"
    keyword: str = ""
    device: str = ""  # of PyTorch's tensors, where it gets those
    compute: str | None = None
    ops: tuple[str, ...] = ()  # folders of operators of one's own
    seconds: float = math.inf  # after so many no other case is begun
    bits: str | None = None


def make_function_check(
    fn: Callable[..., Any], op: str, *, dtypes: str | Sequence[str] = (), **options: Any
) -> FunctionCheck:
    """The options of `check` as a record."""
    listed = tuple(dtypes.split(",")) if isinstance(dtypes, str) else tuple(dtypes)
    return FunctionCheck(fn, op, dtypes=listed, **{**options, "ops": tuple(options.get("ops", ()))})


def check(fn: Callable[..., Any], op: str, **options: Any) -> list[Result]:
    """Judge `fn(*tensors, **params)` by the cases of the operator `op`; returns their records.

    `options`: those of `FunctionCheck`. `vjp(g, *tensors, **params)` returns a gradient per tensor. With `device`,
    tensors are PyTorch's, on that device, and `vjp="autograd"` differentiates `fn` itself. `compute` declares a lower
    precision ("storage", "f16", "bf16", "tf32"), `bits="vary"` that the same call may give other bits.

    Raises AssertionError that explains the failures, or when no case ran; UsageError for a wrong call.
    """
    name, results, _ = results_of(make_function_check(fn, op, **options))
    if failure := failure_message_of(name, op, results):
        raise AssertionError(failure)
    return results


def results_of(called: FunctionCheck) -> tuple[str, list[Result], int]:
    """The function's name, the records, and how many cases were left. Raises UsageError for a wrong call."""
    op, vjp, device = called.op, called.vjp, called.device
    if vjp == "autograd" and not device:
        raise UsageError('vjp="autograd" needs PyTorch tensors: give device="cpu" or another.')
    if device:
        require_torch(device)
    selection = Selection(
        ops=(op,), keyword=called.keyword, level=called.level, dtypes=called.dtypes, folders=called.ops,
        modes=("forward",) if vjp is None else ("forward", "gradient"),
    )  # fmt: skip
    gradient = None if vjp == "autograd" else vjp
    truth = select_operators(selection)[0]
    backend = FunctionBackend(truth, called.fn, gradient, device, called.compute, called.bits)
    name = str(getattr(called.fn, "__name__", type(called.fn).__name__))
    results, left = judge_function(resolve_members(backend, name), selection, called.seconds)
    return name, results, left


def list_not_judged(
    called: FunctionCheck, results: Sequence[Result], left: int, no_vjp: str = "no vjp was given"
) -> tuple[str, ...]:
    """What no record judges, and why: no gradient to ask for, cases that were declined, cases that were left.

    Cases that were declined for one reason are counted, and one of them is named.
    """
    declined: dict[str, list[Result]] = {}
    for r in results:
        if r.verdict is Verdict.UNSUPPORTED:
            declined.setdefault(r.message, []).append(r)
    notes = [
        f"{format_count(len(some), 'record')}, such as {some[0].mode} of {some[0].case}: {why}"
        for why, some in declined.items()
    ]
    if called.vjp is None:
        notes.append(f"gradients: {no_vjp}")
    if left:
        notes.append(f"{format_count(left, 'more case')}: {called.seconds:g} seconds were spent")
    return tuple(notes)


def operator_test(op: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """A decorator that makes a function of tensors and parameters a test: it is judged as the operator `op`.

    `options` are those of `check`. The test takes no arguments, so pytest looks for no fixtures; unittest will do too.
    """

    def decorate(fn: Callable[..., Any]) -> Callable[[], None]:
        @functools.wraps(fn)
        def test() -> None:
            __tracebackhide__ = True
            try:
                check(fn, op, **options)
            except AssertionError as error:
                message = str(error)
            else:
                return
            raise AssertionError(message)  # from here: the traceback through opproof says nothing of the function

        test.__signature__ = inspect.Signature()  # type: ignore[attr-defined]
        return test

    return decorate


def judge_function(backend: Loaded, selection: Selection, seconds: float) -> tuple[list[Result], int]:
    """The records of a backend in this process, and how many cases were left after `seconds`."""
    planned = make_tasks([backend.name], select_cases(selection), selection)
    if not planned:
        raise UsageError(f"no case of {selection.ops[0]} fits: mend dtypes, level or keyword.")
    records: dict[tuple[str, str], Result] = {}
    allowed, run = Allowed(seconds), functools.partial(_judge_tasks, InProcessHost(backend))
    # What warns in a function is not what is judged here, and pytest may turn warnings into errors.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        before = allowed.left
        for result in run(planned):
            records[result.case, str(result.mode)] = result
            took, before = before - allowed.left, allowed.left
            if before < took:  # the next would end too late
                break
        left = len(planned) - len(records)
        for result in find_deltas(run, [*records.values()], planned, (), MAX_DELTA_SECONDS):
            records[result.case, str(result.mode)] = result
    return [*records.values()], left


def _judge_tasks(host: InProcessHost, tasks: Iterable[Task]) -> Iterator[Result]:
    """The records of tasks, each with what shows it again."""
    for task in tasks:
        made = run_task(host, task, op_of(op_name_of(task), task.ops), timeout=math.inf)
        folders = [f"--ops {shlex.quote(str(Path(f)))}" for f in task.ops]
        show = ["opproof show", shlex.quote(task.case), f"--mode {task.mode}", *folders]
        yield replace(record(task, as_told_by_itself(made), in_process=True), repro=" ".join(show))


def failure_message_of(name: str, op: str, results: Sequence[Result], limit: int = 5) -> str:
    """The failures explained; empty where there are none."""
    failed = [r for r in results if r.verdict in FAILED]
    if failed:
        more = [f"… and {format_count(len(failed) - limit, 'more failure')}"] * (len(failed) > limit)
        first = f"{name} is not {op}: {len(failed):,} of {format_count(len(results), 'record')} failed"
        return "\n\n".join([first, *map(terminal.format_failure, failed[:limit]), *more])
    if not any(r.verdict == "PASS" for r in results):
        first_of = results[0]
        return f"{name} was not proved to be {op}: no case passed ({first_of.verdict}: {first_of.message})"
    return ""
