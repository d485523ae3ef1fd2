"""The calls of a PyTorch program, as they happen: those that are operators of ours become cases."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from opproof.cases import Case
from opproof.core.tuples import tuple_of
from opproof.core.verdicts import Mode
from opproof.harness.capture.captured import CapturedCalls, as_computed, case_of
from opproof.reference_ops import load
from opproof.reference_ops._tape import Tape, find_leaves
from opproof.reference_ops._torch_calls import CallCounts, OperatorCall, find_operator, is_in_place, read_calls

#: How far an operator of ours may be from what PyTorch computed, to be the same, by the bytes of an element.
_CLOSE = {1: 0.2, 2: 2e-2, 4: 1e-3, 8: 1e-6}
#: Functions that make, copy or convert tensors.
_WITHOUT_ARITHMETIC = {
    "to", "type", "type_as", "float", "double", "half", "bfloat16", "clone", "copy", "detach", "zero", "cpu", "numpy",
    "empty_like", "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "normal", "uniform", "bernoulli",
    "new_zeros", "new_ones", "new_empty", "new_full", "new_tensor", "requires_grad", "kaiming_uniform",
    "xavier_uniform", "trunc_normal",
}  # fmt: skip


@contextlib.contextmanager
def record_calls(*, data: bool = False, tape: Tape | None = None) -> Iterator[CapturedCalls]:
    """A block whose calls are recorded, also their `data`. A function that is no operator of ours is looked into."""
    from torch.overrides import TorchFunctionMode

    seen = CapturedCalls(data={} if data else None, tape=tape)
    inside: list[Callable[..., Any]] = []

    class Recorder(TorchFunctionMode):  # type: ignore[misc, unused-ignore]
        def __torch_function__(
            self,
            func: Callable[..., Any],
            types: Any,
            args: Sequence[Any] = (),
            kwargs: Mapping[str, Any] | None = None,
        ) -> Any:
            kwargs = {} if kwargs is None else kwargs
            if tape is not None:  # before it is called, which may write into them
                for tensor in find_leaves((args, kwargs)):
                    tape.source_of(tensor)
            if readings := _read_calls(func, args, kwargs):
                return _record_call(seen, func, readings, args, kwargs)
            if not inspect.isfunction(func) or func in inside:  # it hands itself to the mode from within
                return _record_unknown(seen, func, _note(seen, func, args, kwargs, func(*args, **kwargs)), args)
            before = seen.total
            inside.append(func)
            try:
                with _with_unguarded(func), self:
                    result = func(*args, **kwargs)
            finally:
                inside.pop()
            return result if seen.total > before else _record_unknown(seen, func, result, args)

    with Recorder(), contextlib.nullcontext() if tape is None else tape.watched_modules():
        yield seen


def _note(
    seen: CapturedCalls,
    func: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    result: Any,
    number: int = -1,
) -> Any:
    """Put a call on the tape, if there is one, as the reading of that number; returns its result."""
    if seen.tape is not None:
        read = None if number < 0 else lambda given, named: _read_calls(func, given, named)[number][0]
        seen.tape.add_function(func, args, kwargs, result, read)
    return result


def _read_calls(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[OperatorCall, Case]]:
    """The calls of an operator of ours that this may be; of tensors that are written copies."""
    name = find_operator(func)
    if not name.operator or not _find_tensors(args):
        return []
    op = load(name.operator)
    if op.torch is None or "constant" in op.trivial(Mode.FORWARD):
        return []
    written = is_in_place(func, args, kwargs)
    given = [a.clone() if written and _find_tensors([a]) else a for a in args[:1]] + [*args[1:]]
    return [(c, case) for c in read_calls(func, op, given, kwargs) if (case := case_of(c)) is not None]


def _record_call(
    seen: CapturedCalls,
    func: Callable[..., Any],
    readings: Sequence[tuple[OperatorCall, Case]],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """The result; the call is counted as the case whose operator computes what PyTorch computed."""
    from torch.utils.flop_counter import FlopCounterMode

    with FlopCounterMode(display=False) as flops:
        result = func(*args, **kwargs)
    if not is_in_place(func, args, kwargs) and _is_move(result, args):
        return _note(seen, func, args, kwargs, result)
    number = next((i for i, r in enumerate(readings) if _agrees(r[0], result)), -1)
    reading = None if number < 0 else readings[number]
    case = None if reading is None else as_computed(*reading, _find_tensors(tuple_of(result))[0])
    if reading is None or case is None:
        seen.unmapped[find_operator(func).name] += 1
    else:
        call = reading[0]
        if seen.data is not None and case not in seen.data:
            seen.data[case] = {n: t.detach().clone() for n, t in call.tensors.items()}
        counts = seen.cases.setdefault(case, CallCounts())
        counts.calls += 1
        counts.flops += flops.get_total_flops()
    return _note(seen, func, args, kwargs, result, -1 if case is None else number)


def _record_unknown(seen: CapturedCalls, func: Callable[..., Any], result: Any, args: Sequence[Any]) -> Any:
    """The result of what is no operator of ours, which is counted where it computes floats of its tensors."""
    name = find_operator(func).name
    computes = any(y.is_floating_point() for y in _find_tensors(tuple_of(result)))
    if computes and name not in _WITHOUT_ARITHMETIC and _find_tensors(args) and not _is_move(result, args):
        seen.unmapped[name] += 1
    return result


@contextlib.contextmanager
def _with_unguarded(func: Any) -> Iterator[None]:
    """A block in which a Python function of PyTorch does not hand itself to the mode again, but makes its calls."""
    import torch

    spaces = [func.__globals__, vars(torch.overrides), vars(torch.nn.functional)]
    guards = [{n: space[n] for n in space if n.startswith("has_torch_function")} for space in spaces]
    for space, guarded in zip(spaces, guards, strict=True):
        space.update(dict.fromkeys(guarded, lambda *_: False))
    try:
        yield
    finally:
        for space, guarded in zip(reversed(spaces), reversed(guards), strict=True):
            space.update(guarded)


def _find_tensors(values: Sequence[Any]) -> list[Any]:
    import torch

    inside = [v for a in values for v in (a if isinstance(a, list | tuple) else (a,))]
    return [v for v in inside if isinstance(v, torch.Tensor)]


def _is_move(result: Any, args: Sequence[Any]) -> bool:
    """Whether the result is an argument, or lies in the memory of one: nothing was computed."""
    outputs = _find_tensors(tuple_of(result))
    given = {a.untyped_storage().data_ptr() for a in _find_tensors(args)}
    return bool(outputs) and all(y.untyped_storage().data_ptr() in given for y in outputs)


def _agrees(call: OperatorCall, result: Any) -> bool:
    import torch

    with torch.no_grad():
        try:
            twin = tuple_of(call.twin())
        except (RuntimeError, TypeError, ValueError, IndexError):
            return False
        if call.op.drawn_from:  # each draws for itself
            return [t.shape for t in _find_tensors(twin)][:1] == [t.shape for t in _find_tensors(tuple_of(result))][:1]
        pairs = zip(_find_tensors(twin), _find_tensors(tuple_of(result)), strict=False)
        return all(_close(a, b) for a, b in pairs)


def _close(a: Any, b: Any) -> bool:
    import torch

    if a.shape != b.shape:
        return False
    if not b.is_floating_point():
        return bool((a == b).all())
    tolerance = _CLOSE[b.element_size()]
    return bool(torch.allclose(a.to(b.dtype), b, rtol=tolerance, atol=tolerance, equal_nan=True))
