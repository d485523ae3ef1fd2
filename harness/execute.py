"""One case on one backend in this process: guarded memory, three calls, and what came back.

The calls: other data (buffers begin at a guard), the case's data (buffers end at one), the other
data again. The middle call is judged; the outer two must agree bit for bit, so state that
survives a call is seen. No expected value exists in this process until the backend has answered.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends import BackendFailed, Unsupported
from opproof.cases import Case
from opproof.cases._dtypes import DTYPES
from opproof.cases._layouts import layouts_of, storage_of
from opproof.harness import reference
from opproof.harness.data import arguments, cotangents_of, differentiable, inputs_of, ordered, parameters, to_dtype
from opproof.harness.memory import Buffer, arrange, guarded, poison, unwritten
from opproof.reference_ops import Op

Array = NDArray[Any]


@dataclass
class Outcome:
    """What the backend did. `verdict` is empty while nothing but the numbers remains to be judged."""

    verdict: str = ""
    message: str = ""
    arrays: list[Array | None] = field(default_factory=list)  # outputs, or gradients by argument
    stale: list[Array | None] = field(default_factory=list)  # what the first call gave, other data
    inputs: list[Array | None] = field(default_factory=list)  # float64, by argument
    cotangents: list[Array] = field(default_factory=list)
    needs: list[bool] = field(default_factory=list)
    seconds: float = 0.0


class _Found(Exception):
    """Something is settled before the numbers are looked at."""

    def __init__(self, verdict: str, message: str) -> None:
        super().__init__(message)
        self.verdict, self.message = verdict, message


@dataclass(frozen=True)
class _Call:
    """Everything one call needs, in the backend's memory."""

    inputs: list[Array | None]
    cotangents: list[Array]
    outputs: list[Array | None]  # memory of the caller; empty for backends that return arrays
    buffers: dict[str, Buffer]
    read_only: list[str]


def execute(backend: Any, case: Case, op: Op, mode: str, *, soft: bool = False, alone: bool = False) -> Outcome:
    """Run `case` on `backend` in `mode` ("forward" or "gradient"). Never raises for the backend's faults.

    `soft` makes guards readable (see memory.py); `alone` makes only the judged call.
    """
    outcome = Outcome()
    values = inputs_of(case, op)
    outcome.inputs = ordered(case, op, values)
    outcome.needs = differentiable(case, op, outcome.inputs)
    other = ordered(case, op, inputs_of(case, op, variant=1))
    templates = reference.forward(case, op, other)
    shapes, kinds = [y.shape for y in templates], [y.dtype for y in templates]
    if mode == "gradient":
        outcome.cotangents = cotangents_of(case, shapes)
        exist = reference.gradients_exist(case, op, other)
        outcome.needs = [n and e for n, e in zip(outcome.needs, exist, strict=True)]
    try:
        _declines(backend, case, op, mode, outcome)
        first = None if alone else _answer(backend, case, op, mode, other, shapes, kinds, outcome, 1, soft)
        outcome.arrays = _answer(backend, case, op, mode, outcome.inputs, shapes, kinds, outcome, 0, soft)
        if first is not None:
            outcome.stale = first
            again = _answer(backend, case, op, mode, other, shapes, kinds, outcome, 1, soft)
            if op.deterministic and not _same_bits(first, again):
                raise _Found("NOT_REPEATABLE", "the same call gave other bits after a call with other data")
    except _Found as found:
        outcome.verdict, outcome.message = found.verdict, found.message
    return outcome


def _declines(backend: Any, case: Case, op: Op, mode: str, outcome: Outcome) -> None:
    if mode == "gradient" and not (hasattr(backend, "vjp") or hasattr(backend, "vjp_into")):
        raise _Found("UNSUPPORTED", "the backend has no vjp")
    if mode == "gradient" and not any(outcome.needs):
        raise _Found("UNSUPPORTED", "no input of this operator has a gradient")
    if hasattr(backend, "supports"):
        answer = backend.supports(op.name, [case.dtype], parameters(case, op))
        if answer is not True:
            raise _Found("UNSUPPORTED", str(answer) if answer else "declined without a reason")


def _prepare(
    backend: Any, case: Case, op: Op, values: Sequence[Array | None], outcome: Outcome, variant: int, soft: bool,
    results: Sequence[tuple[str, tuple[int, ...], np.dtype[Any]] | None], shapes: Sequence[tuple[int, ...]],
    gradient: bool,
) -> _Call:  # fmt: skip
    names, layouts = arguments(case, op), layouts_of(case)
    alignment = int(getattr(backend, "alignment", 64))
    buffers: dict[str, Buffer] = {}

    def room(key: str, nbytes: int) -> Buffer:
        buffers[key] = guarded(nbytes, at_end=variant == 0, soft=soft, alignment=alignment)
        return buffers[key]

    placed: dict[int, Array] = {}
    inputs: list[Array | None] = []
    for name, v in zip(names, values, strict=True):
        if v is None or name is None:
            inputs.append(None)
            continue
        if id(v) not in placed:
            native, storage = to_dtype(v, case.dtype), storage_of(v.shape, layouts[name])
            placed[id(v)] = arrange(native, storage, room(f"input {name}", storage.size * native.dtype.itemsize))
        inputs.append(placed[id(v)])
    cotangents = []
    for i, g in enumerate(cotangents_of(case, shapes, variant) if gradient else []):
        native = to_dtype(g, case.dtype)
        cotangents.append(arrange(native, storage_of(g.shape, "contiguous"), room(f"cotangent {i}", native.nbytes)))
    read_only = list(buffers)
    outputs: list[Array | None] = []
    for result in results:
        if result is None:
            outputs.append(None)
            continue
        name, shape, kind = result
        buffer = room(name, int(np.prod(shape)) * kind.itemsize)
        poison(buffer, kind)
        outputs.append(np.ndarray(shape, kind, buffer.data))
    return _Call(inputs, cotangents, outputs, buffers, read_only)


def _answer(
    backend: Any, case: Case, op: Op, mode: str, values: Sequence[Array | None], shapes: Sequence[tuple[int, ...]],
    kinds: Sequence[np.dtype[Any]], outcome: Outcome, variant: int, soft: bool,
) -> list[Array | None]:  # fmt: skip
    """One call: its results as fresh arrays, or _Found."""
    native = DTYPES[case.dtype].numpy
    wanted: list[tuple[str, tuple[int, ...], np.dtype[Any]] | None]
    if mode == "forward":
        wanted = [
            (f"output {n}", s, native if k.kind == "f" else k)
            for n, s, k in zip(output_names(op, len(shapes)), shapes, kinds, strict=True)
        ]
    else:
        wanted = [
            (f"gradient of {n}", v.shape, native) if need and v is not None else None
            for n, v, need in zip(arguments(case, op), values, outcome.needs, strict=True)
        ]
    into = hasattr(backend, "forward_into" if mode == "forward" else "vjp_into")
    call = _prepare(
        backend, case, op, values, outcome, variant, soft, wanted if into else [], shapes, mode == "gradient"
    )
    before = {name: call.buffers[name].data.copy() for name in call.read_only}
    started = time.perf_counter()
    answer = _call(backend, case, op, mode, call, outcome.needs, into)
    outcome.seconds += time.perf_counter() - started
    for name, buffer in call.buffers.items():
        if written := buffer.trespass():
            raise _Found("OUT_OF_BOUNDS", f"{name}: {written}")
    for name in call.read_only:
        changed = np.flatnonzero(before[name] != call.buffers[name].data)
        if changed.size:
            raise _Found(
                "INPUT_CHANGED", f"{name}: {changed.size} of {before[name].size} bytes changed during the call"
            )
    return _check(answer, wanted, mode, into)


def _call(backend: Any, case: Case, op: Op, mode: str, call: _Call, needs: list[bool], into: bool) -> Any:
    params = parameters(case, op)
    try:
        if mode == "forward" and into:
            backend.forward_into(op.name, call.inputs, params, call.outputs)
        elif mode == "forward":
            return backend.forward(op.name, call.inputs, params)
        elif into:
            backend.vjp_into(op.name, call.inputs, params, call.cotangents, call.outputs)
        else:
            return backend.vjp(op.name, call.inputs, params, call.cotangents, needs)
    except Unsupported as reason:
        raise _Found("UNSUPPORTED", str(reason) or "declined without a reason") from None
    except BackendFailed as failure:
        raise _Found("ERROR", str(failure)) from None
    except MemoryError as error:
        raise _Found("OUT_OF_MEMORY", f"MemoryError {error}".strip()) from None
    except (Exception, SystemExit, GeneratorExit) as error:  # whatever a backend raises is its own case's failure
        raise _Found("ERROR", _describe(error)) from None
    return call.outputs


def _describe(error: BaseException) -> str:
    """The exception and the innermost line of the backend's own code that raised it."""
    frame, where = error.__traceback__, ""
    while frame is not None:
        where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]} ({where})"


def _check(answer: Any, wanted: Sequence[Any], mode: str, into: bool) -> list[Array | None]:
    """Number, shape and dtype of what came back; copies, so that later calls cannot change them."""
    arrays = list(answer) if isinstance(answer, tuple | list) else [answer]
    if len(arrays) != len(wanted):
        raise _Found("WRONG_SHAPE", f"{len(arrays)} arrays came back, expected {len(wanted)}")
    found: list[Array | None] = []
    for array, want in zip(arrays, wanted, strict=True):
        if want is None:
            found.append(None)
            continue
        name, shape, kind = want
        if array is None:
            raise _Found("WRONG_SHAPE", f"{name} is None, expected shape {shape}")
        a = np.asarray(array)
        if a.shape != shape:
            raise _Found("WRONG_SHAPE", f"{name} has shape {a.shape}, expected {shape}")
        if a.dtype != kind and not (mode == "forward" and a.dtype.kind in "iu" and kind.kind == "i"):
            raise _Found("WRONG_DTYPE", f"{name} has dtype {a.dtype.name}, expected {kind.name}")
        if into and (missing := unwritten(a)).any():
            index = tuple(int(i) for i in np.argwhere(missing)[0])
            count = f"{int(missing.sum())} of {a.size} elements were not written, the first at {index}"
            raise _Found("NOT_WRITTEN", f"{name}: {count}")
        found.append(a.copy())
    return found


def output_names(op: Op, count: int) -> list[str]:
    """Names of `count` outputs."""
    return list(op.outputs) if len(op.outputs) == count else [f"y{i}" for i in range(count)]


def _same_bits(first: Sequence[Array | None], second: Sequence[Array | None]) -> bool:
    return all(
        (a is None and b is None) or (a is not None and b is not None and a.tobytes() == b.tobytes())
        for a, b in zip(first, second, strict=True)
    )
