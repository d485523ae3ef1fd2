"""A function, or a backend, against an operator of opproof's: its standard cases."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Sequence
from typing import Any

from opproof.harness.check.report import Report
from opproof.reports import Result
from opproof.reports.advice import sound

_TRIED = ("the operator's standard cases",)


def by_backend(backend: Any, op: str, wishes: dict[str, Any]) -> Report:
    """Judge a backend, an object or the text that names one, by the cases of one operator, in this process."""
    from opproof.backends.load import load_backend
    from opproof.backends.loaded import settle
    from opproof.harness.plugin.function import Called, judged_by, not_judged
    from opproof.harness.run.plan import Selection

    loaded = settle(load_backend(backend) if isinstance(backend, str) else backend, "backend")
    modes = ("forward", "gradient") if wishes["gradients"] and loaded.differentiates else ("forward",)
    dtype = wishes["dtype"]
    selection = Selection(ops=(op,), modes=modes, dtypes=(dtype,) if dtype else ())
    results, left = judged_by(loaded, selection, wishes["seconds"])
    asked = Called(backend, op, vjp="autograd" if len(modes) == 2 else None, seconds=wishes["seconds"])
    notes = not_judged(asked, results, left, "the backend has no vjp" if wishes["gradients"] else "none were asked for")
    return _report(loaded.name, op, results, notes, left)


def by_function(
    candidate: Callable[..., Any], op: str, vjp: Callable[..., Any] | None, wishes: dict[str, Any]
) -> Report:
    """Judge a function: it gets tensors of PyTorch where it takes them."""
    from opproof.harness.plugin.function import Called, not_judged, results_of

    by_tensors, differentiable = _takes_torch(candidate, op)
    device = wishes["device"] if by_tensors else ""
    gradient: Any = vjp
    if gradient is None and differentiable and wishes["gradients"]:
        gradient = "autograd"
    dtype = wishes["dtype"]
    called = Called(
        candidate, op, gradient, (dtype,) if dtype else (), "standard", device=device, compute=wishes["compute"],
        seconds=wishes["seconds"], bits=wishes["bits"],
    )  # fmt: skip
    name, results, left = results_of(called)
    why = "autograd does not see through the candidate, and no vjp was given"
    notes = not_judged(called, results, left, why if wishes["gradients"] else "none were asked for")
    return _report(name, op, results, notes, left)


def _report(name: str, op: str, results: Sequence[Result], notes: tuple[str, ...], left: int) -> Report:
    return Report(name, op, tuple(sound(results)), _TRIED, notes, left=left, asked=len(results))


def _takes_torch(candidate: Callable[..., Any], op: str) -> tuple[bool, bool]:
    """Whether the candidate computes with PyTorch, and autograd sees through it: tried on the operator's first case."""
    try:
        import torch
    except ImportError:
        return False, False
    from opproof.cases import cases_of
    from opproof.core.arrays import tuple_of
    from opproof.core.verdicts import Mode
    from opproof.harness.plugin.function_backend import FunctionBackend
    from opproof.harness.reference.data import to_dtype
    from opproof.harness.reference.question import pose
    from opproof.reference_ops import load

    truth = load(op)
    case = next(c for c in cases_of(op, "smoke") if c.dtype == "f32")
    posed = pose(case, truth, Mode.FORWARD).other
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
