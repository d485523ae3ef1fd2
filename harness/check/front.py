"""The one call of the library: an operator of ours by name, or any reference of PyTorch."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from opproof.harness.check.compared import Wish, compared
from opproof.harness.check.report import Report
from opproof.vocabulary.errors import UsageError


def judged(
    candidate: Any, op: str | None, *, like: Any, inputs: Any, vjp: Callable[..., Any] | None, isolate: bool,
    **wishes: Any,
) -> Report:  # fmt: skip
    """The report on `candidate`. Raises UsageError for a wrong call."""
    if (op is None) == (like is None):
        raise UsageError("check needs one reference: give the name of an operator, or like= a function or module.")
    if not callable(candidate):
        raise UsageError(f"the candidate is a {type(candidate).__name__}: expected a function or a module.")
    if like is None:
        if inputs is not None:
            raise UsageError(f"inputs belongs to like=: the operator {op!r} has cases of its own.")
        defaults = {"seconds": 20.0, "device": "cpu", "gradients": True, "compute": None, "dtype": None}
        return by_name(candidate, str(op), vjp, {**defaults, **wishes})
    if not callable(like):
        raise UsageError(f"like is a {type(like).__name__}: expected a function or a module of PyTorch.")
    if inputs is None:
        raise UsageError("like= needs inputs: give a list of shapes or tensors, or a function that makes them.")
    if isolate:
        from opproof.harness.check.isolated import function_of

        return compared(function_of(candidate), like, inputs, Wish(**wishes))
    return compared(candidate, like, inputs, Wish(vjp=vjp, **wishes))


def by_name(candidate: Callable[..., Any], op: str, vjp: Callable[..., Any] | None, wishes: dict[str, Any]) -> Report:
    """Judge by the standard cases of an operator of ours: tensors of PyTorch where the candidate takes them."""
    from opproof.harness.plugin.function import Called, not_judged, results_of

    by_tensors, differentiable = takes_torch(candidate, op)
    device = wishes["device"] if by_tensors else ""
    gradient: Any = vjp
    if gradient is None and differentiable and wishes["gradients"]:
        gradient = "autograd"
    dtype = wishes["dtype"]
    called = Called(
        candidate, op, gradient, (dtype,) if dtype else (), "standard", device=device, compute=wishes["compute"],
        seconds=wishes["seconds"],
    )  # fmt: skip
    name, results, left = results_of(called)
    why = "autograd does not see through the candidate, and no vjp was given"
    notes = not_judged(called, results, left, why if wishes["gradients"] else "none were asked for")
    return Report(name, op, tuple(results), ("the operator's standard cases",), notes)


def takes_torch(candidate: Callable[..., Any], op: str) -> tuple[bool, bool]:
    """Whether the candidate computes with PyTorch, and autograd sees through it: tried on the operator's first case."""
    try:
        import torch
    except ImportError:
        return False, False
    from opproof.cases import cases_of
    from opproof.harness.plugin.function_backend import FunctionBackend
    from opproof.harness.truth.data import to_dtype
    from opproof.harness.truth.posed import pose
    from opproof.reference_ops import load
    from opproof.vocabulary.modes import Mode
    from opproof.vocabulary.several import tuple_of

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
