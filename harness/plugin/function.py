"""One Python function against one operator, in this process: the fixture `opproof_check`, and a decorator.

from opproof.harness.plugin.function import operator_test

@operator_test("softmax")
def test_softmax(x, *, dim):
    return my_softmax(x, dim)
"""

from __future__ import annotations

import functools
import inspect
import math
import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from opproof.backends.loaded import Loaded, settle
from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.clock import Allowed
from opproof.harness.plugin.function_backend import FunctionBackend, torch_is_there
from opproof.harness.run.attempt import attempt
from opproof.harness.run.hosts.start import Inside
from opproof.harness.run.plan import Selection, cases, operators, tasks
from opproof.harness.run.record import record
from opproof.harness.run.session.recheck import as_told_by_itself
from opproof.harness.run.task import op_name, op_of
from opproof.reports import Result, terminal
from opproof.reports._text import plural


def check(
    fn: Callable[..., Any],
    op: str,
    *,
    vjp: Callable[..., Any] | Literal["autograd"] | None = None,
    dtypes: str | Sequence[str] = (),
    level: str = "standard",
    keyword: str = "",
    device: str = "",
    compute: str | None = None,
    ops: Sequence[str] = (),
    seconds: float = math.inf,
    bits: str | None = None,
) -> list[Result]:
    """Judge `fn(*tensors, **params)` by the cases of the operator `op`; returns their records.

    `vjp(g, *tensors, **params)` returns a gradient per tensor, None for those that have none. With `device`, tensors
    are PyTorch's, on that device, and `vjp="autograd"` differentiates `fn` itself. `compute` declares a lower
    precision ("storage", "f16", "bf16", "tf32"), `bits="vary"` that the same call may give other bits. `ops`: folders
    of operators of your own. After `seconds` no other case is begun.

    Raises AssertionError that explains the failures, or when no case ran; UsageError for a wrong call.
    """
    judged = called(
        fn, op, vjp=vjp, dtypes=dtypes, level=level, keyword=keyword, device=device, compute=compute, ops=ops,
        seconds=seconds, bits=bits,
    )  # fmt: skip
    name, results, _ = results_of(judged)
    if failure := objection(name, op, results):
        raise AssertionError(failure)
    return results


def called(fn: Callable[..., Any], op: str, *, dtypes: str | Sequence[str] = (), **options: Any) -> Called:
    """The options of `check` as a record."""
    listed = tuple(dtypes.split(",")) if isinstance(dtypes, str) else tuple(dtypes)
    return Called(fn, op, dtypes=listed, **{**options, "ops": tuple(options.get("ops", ()))})


@dataclass(frozen=True)
class Called:
    """What is to be judged by which cases; see `check`. `seconds`: after so many no other case is begun."""

    fn: Callable[..., Any]
    op: str
    vjp: Callable[..., Any] | Literal["autograd"] | None = None
    dtypes: tuple[str, ...] = ()
    level: str = "standard"
    keyword: str = ""
    device: str = ""
    compute: str | None = None
    ops: tuple[str, ...] = ()
    seconds: float = math.inf
    bits: str | None = None


def results_of(called: Called) -> tuple[str, list[Result], int]:
    """The function's name, the records, and how many cases were left. Raises UsageError for a wrong call."""
    op, vjp, device = called.op, called.vjp, called.device
    if vjp == "autograd" and not device:
        raise UsageError('vjp="autograd" needs PyTorch tensors: give device="cpu" or another.')
    if device:
        torch_is_there(device)
    selection = Selection(
        ops=(op,),
        keyword=called.keyword,
        level=called.level,
        modes=("forward",) if vjp is None else ("forward", "gradient"),
        dtypes=called.dtypes,
        folders=called.ops,
    )
    backend = FunctionBackend(
        operators(selection)[0], called.fn, None if vjp == "autograd" else vjp, device, called.compute, called.bits
    )
    name = str(getattr(called.fn, "__name__", type(called.fn).__name__))
    results, left = judged_by(settle(backend, name), selection, called.seconds)
    return name, results, left


def not_judged(
    called: Called, results: Sequence[Result], left: int, no_vjp: str = "no vjp was given"
) -> tuple[str, ...]:
    """What no record judges, and why: no gradient to ask for, cases that were declined, cases that were left.

    Cases that were declined for one reason are counted, and one of them is named.
    """
    declined: dict[str, list[Result]] = {}
    for r in results:
        if r.verdict is Verdict.UNSUPPORTED:
            declined.setdefault(r.message, []).append(r)
    notes = [
        f"{plural(len(some), 'record')}, such as {some[0].mode} of {some[0].case}: {why}"
        for why, some in declined.items()
    ]
    if called.vjp is None:
        notes.append(f"gradients: {no_vjp}")
    if left:
        notes.append(f"{plural(left, 'more case')}: {called.seconds:g} seconds were spent")
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


def judged_by(backend: Loaded, selection: Selection, seconds: float) -> tuple[list[Result], int]:
    """The records of a backend in this process, and how many cases were left after `seconds`."""
    planned = tasks([backend.name], cases(selection), selection)
    if not planned:
        raise UsageError(f"no case of {selection.ops[0]} fits: mend dtypes, level or keyword.")
    records: list[Result] = []
    host, allowed = Inside(backend), Allowed(seconds)
    # What warns in a function is not what is judged here, and pytest may turn warnings into errors.
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for task in planned:
            if records and allowed.over:
                break
            made = attempt(host, task, op_of(op_name(task), task.ops), timeout=math.inf)
            result = record(task, as_told_by_itself(made), in_process=True)
            show = [
                "opproof",
                "show",
                shlex.quote(task.case),
                f"--mode {task.mode}",
                *(f"--ops {shlex.quote(str(Path(f)))}" for f in task.ops),
            ]
            records.append(replace(result, repro=" ".join(show)))
    return records, len(planned) - len(records)


def objection(name: str, op: str, results: Sequence[Result], limit: int = 5) -> str:
    """The failures explained; empty where there are none."""
    failed = [r for r in results if r.verdict in FAILED]
    if failed:
        more = [f"… and {plural(len(failed) - limit, 'more failure')}"] * (len(failed) > limit)
        first = f"{name} is not {op}: {len(failed):,} of {plural(len(results), 'record')} failed"
        return "\n\n".join([first, *map(terminal.failure, failed[:limit]), *more])
    if not any(r.verdict == "PASS" for r in results):
        first_of = results[0]
        return f"{name} was not proved to be {op}: no case passed ({first_of.verdict}: {first_of.message})"
    return ""
