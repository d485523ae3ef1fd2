"""One call of a backend: tensors laid out in guarded memory, the call, a first look at what came back."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends import BackendFailed, InputChanged, OutOfBounds, Unsupported
from opproof.backends.protocol import DeviceLost
from opproof.cases import Case
from opproof.cases._layouts import layouts_of, storage_of
from opproof.harness.run.device import lent
from opproof.harness.run.memory import Buffer, arrange, guarded, poison, unwritten
from opproof.harness.truth.data import arguments, parameters, to_dtype
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array

#: Name, shape and dtype of a result; None for a gradient that is not asked for.
Wanted = tuple[str, tuple[int, ...], np.dtype[Any]] | None


class Settled(Exception):
    """A verdict is reached before the numbers are looked at."""

    def __init__(self, verdict: str, message: str) -> None:
        super().__init__(message)
        self.verdict, self.message = verdict, message


@dataclass(frozen=True)
class Question:
    """What a backend is asked: values in float64 (or int64), cotangents for a gradient, results wanted."""

    backend: Any
    case: Case
    op: Op
    values: Sequence[Array | None]
    cotangents: Sequence[Array | None] | None  # None in forward mode, and for an output not of floats
    needs: Sequence[bool]
    wanted: Sequence[Wanted]
    at_end: bool  # buffers end at a guard page; else they begin at one
    soft: bool  # guards can be read and written, and are looked at afterwards


@dataclass
class Memory:
    """The tensors of one call in the backend's memory."""

    inputs: list[Array | None] = field(default_factory=list)
    cotangents: list[Array | None] = field(default_factory=list)
    results: list[Array | None] = field(default_factory=list)  # stays empty for backends that return arrays
    buffers: dict[str, Buffer] = field(default_factory=dict)
    given: dict[str, NDArray[np.uint8]] = field(default_factory=dict)  # bytes before the call


def ask(question: Question) -> tuple[list[Array | None], float]:
    """The results as fresh arrays and the seconds of the call, copies to a device and back included.

    Raises Settled, and DeviceLost.
    """
    into = hasattr(question.backend, "forward_into" if question.cotangents is None else "vjp_into")
    memory = lay_out(question, into=into)
    started = time.perf_counter()
    answer = _call(question, memory, into=into)
    seconds = time.perf_counter() - started
    for name, buffer in memory.buffers.items():
        if written := buffer.trespass():
            raise Settled("OUT_OF_BOUNDS", f"{name}: {written}")
    for name, before in memory.given.items():
        changed = np.flatnonzero(before != memory.buffers[name].data)
        if changed.size:
            said = f"{changed.size} of {before.size} bytes changed during the call"
            raise Settled("INPUT_CHANGED", f"{name}: {said}")
    return received(answer, question, into=into), seconds


def lay_out(question: Question, *, into: bool) -> Memory:
    """Tensors in guarded memory, as the case's layouts say; poisoned results where the backend writes into them."""
    case, memory = question.case, Memory()
    layouts = layouts_of(case)
    alignment = int(getattr(question.backend, "alignment", 64))
    soft = question.soft or hasattr(question.backend, "device_memory")

    def place(key: str, values: Array, layout: str) -> Array:
        native, storage = to_dtype(values, case.dtype), storage_of(values.shape, layout)
        size = storage.size * native.dtype.itemsize
        memory.buffers[key] = guarded(size, at_end=question.at_end, soft=soft, alignment=alignment)
        array = arrange(native, storage, memory.buffers[key])
        memory.given[key] = memory.buffers[key].data.copy()
        return array

    placed: dict[int, Array] = {}  # one array given twice is one tensor
    for name, v in zip(arguments(case, question.op), question.values, strict=True):
        if v is not None and name is not None and id(v) not in placed:
            placed[id(v)] = place(f"input {name}", v, layouts[name])
        memory.inputs.append(None if v is None else placed[id(v)])
    for i, g in enumerate(question.cotangents if question.cotangents is not None else ()):
        memory.cotangents.append(None if g is None else place(f"cotangent {i}", g, cotangent_layout(case)))
    for want in question.wanted if into else ():
        if want is None:
            memory.results.append(None)
            continue
        name, shape, kind = want
        size = int(np.prod(shape)) * kind.itemsize
        buffer = guarded(size, at_end=question.at_end, soft=soft, alignment=alignment)
        poison(buffer, kind)
        memory.buffers[name] = buffer
        memory.results.append(np.ndarray(shape, kind, buffer.data))
    return memory


def cotangent_layout(case: Case) -> str:
    """The layout that all inputs share, where a cotangent can have it too."""
    return case.layout if ":" not in case.layout and case.layout != "broadcast" else "contiguous"


def _call(question: Question, memory: Memory, *, into: bool) -> Any:
    backend, op, params = question.backend, question.op.name, parameters(question.case, question.op)
    gradient = question.cotangents is not None
    try:
        if into:
            with lent(getattr(backend, "device_memory", None), memory.buffers.values()) as lend:
                inputs, results = [lend(x) for x in memory.inputs], [lend(y) for y in memory.results]
                if gradient:
                    backend.vjp_into(op, inputs, params, [lend(g) for g in memory.cotangents], results)
                else:
                    backend.forward_into(op, inputs, params, results)
        elif gradient:
            return backend.vjp(op, memory.inputs, params, memory.cotangents, list(question.needs))
        else:
            return backend.forward(op, memory.inputs, params)
    except (Unsupported, NotImplementedError) as reason:
        raise Settled("UNSUPPORTED", str(reason) or "declined without a reason") from None
    except OutOfBounds as found:
        raise Settled("OUT_OF_BOUNDS", str(found)) from None
    except InputChanged as found:
        raise Settled("INPUT_CHANGED", str(found)) from None
    except BackendFailed as failure:
        raise Settled("ERROR", str(failure)) from None
    except MemoryError as error:
        raise Settled("OUT_OF_MEMORY", f"MemoryError {error}".strip()) from None
    except DeviceLost:
        raise  # no later call can succeed in this process
    except (Exception, SystemExit, GeneratorExit) as error:  # whatever a backend raises is its own case's failure
        raise Settled("ERROR", _described(error)) from None
    return memory.results


def _described(error: BaseException) -> str:
    """The exception and the innermost line that raised it."""
    frame, where = error.__traceback__, ""
    while frame is not None:
        where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]} ({where})"


def received(answer: Any, question: Question, *, into: bool) -> list[Array | None]:
    """Number, shape and dtype of what came back; copies, so that later calls cannot change them."""
    arrays = list(answer) if isinstance(answer, tuple | list) else [answer]
    if len(arrays) != len(question.wanted):
        raise Settled("WRONG_SHAPE", f"{len(arrays)} arrays came back, expected {len(question.wanted)}")
    return [
        None if want is None else _one(array, want, question, into=into)
        for array, want in zip(arrays, question.wanted, strict=True)
    ]


def _one(array: Any, want: tuple[str, tuple[int, ...], np.dtype[Any]], question: Question, *, into: bool) -> Array:
    name, shape, kind = want
    if array is None:
        raise Settled("WRONG_SHAPE", f"{name} is None, expected shape {shape}")
    a = np.asarray(array)
    if a.shape != shape:
        raise Settled("WRONG_SHAPE", f"{name} has shape {a.shape}, expected {shape}")
    whole = question.cotangents is None and a.dtype.kind in "iu" and kind.kind == "i"  # an index of any width
    if a.dtype != kind and not whole:
        raise Settled("WRONG_DTYPE", f"{name} has dtype {a.dtype.name}, expected {kind.name}")
    if into and (missing := unwritten(a)).any():
        index = tuple(int(i) for i in np.argwhere(missing)[0])
        count = f"{int(missing.sum())} of {a.size} elements were not written, the first at {index}"
        raise Settled("NOT_WRITTEN", f"{name}: {count}")
    return a.copy()
