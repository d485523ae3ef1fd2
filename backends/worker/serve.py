"""One request answered: the backend is called with arrays in the arena, and whatever it does is an answer.

Results that it returns are copied to their places in the arena; the judge reads them there, and nowhere else. Tensors
of a device travel as whole buffers, canaries and all, and come back after the call: opproof can make no page of a
device unreadable, so a write out of bounds is seen there, and a read only if it changes the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from opproof.backends.c.device import DeviceMemory
from opproof.backends.c.structs import DeviceArray
from opproof.backends.loaded import Loaded
from opproof.backends.protocol import BackendFailed, DeviceLost, InputChanged, OutOfBounds, Unsupported
from opproof.backends.worker.memory import Arena
from opproof.backends.worker.protocol import BufferRef, Range, WireRequest, dtype_of, name_of, read_array_at
from opproof.core.arrays import Array
from opproof.core.text import text_of

#: Axes that an array can have.
_AXES = 64


class CallOutcome(StrEnum):
    """How a call went, as far as its host can tell."""

    DONE = "done"
    DECLINED = "unsupported"
    FAILED = "failed"
    OUT_OF_BOUNDS = "out of bounds"
    INPUT_CHANGED = "input changed"
    OUT_OF_MEMORY = "out of memory"
    DEVICE_LOST = "device lost"
    NOT_MADE = "not made"  # of several calls, one before it went wrong


@dataclass(frozen=True, slots=True)
class WireResult:
    """What the backend gave for one result: None, or an array's dtype and shape."""

    dtype: str  # with "big-endian " before it where its bytes stand so
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class WireReply:
    """How the call went, in words where it went wrong, and what came back."""

    outcome: CallOutcome
    message: str = ""
    results: Sequence[WireResult | None] = ()
    impl: str = ""  # the name of what computed it, where the backend says that


def serve_request(
    backend: Loaded, request: WireRequest, arena: Arena, base: int = 0, *, interrupts: bool = False
) -> WireReply:
    """Call the backend with what lies in the arena from byte `base` on.

    Raises nothing for what it does, KeyboardInterrupt alone where the user `interrupts`.
    """
    try:
        given = _call_backend(backend, request, arena, base)
        return replace(given, impl=backend.impl())
    except (Unsupported, NotImplementedError) as reason:
        return WireReply(CallOutcome.DECLINED, text_of(reason) or "declined without a reason")
    except OutOfBounds as fault:
        return WireReply(CallOutcome.OUT_OF_BOUNDS, text_of(fault))
    except InputChanged as fault:
        return WireReply(CallOutcome.INPUT_CHANGED, text_of(fault))
    except BackendFailed as failure:
        return WireReply(CallOutcome.FAILED, text_of(failure))
    except MemoryError as error:
        return WireReply(CallOutcome.OUT_OF_MEMORY, f"MemoryError {text_of(error)}".strip())
    except DeviceLost as lost:
        return WireReply(CallOutcome.DEVICE_LOST, text_of(lost))
    except BaseException as error:  # of any class: it ends the call, not the host
        if interrupts and isinstance(error, KeyboardInterrupt):
            raise
        return WireReply(CallOutcome.FAILED, describe_error(error))


def describe_error(error: BaseException) -> str:
    """The exception and the innermost line that raised it."""
    frame, where = error.__traceback__, ""
    while frame is not None:
        where = f"{frame.tb_frame.f_code.co_filename}:{frame.tb_lineno}"
        frame = frame.tb_next
    text = " ".join(text_of(error).split())
    return f"{type(error).__name__}: {text[:1000]} ({where})" if text else f"{type(error).__name__} ({where})"


def _call_backend(backend: Loaded, request: WireRequest, arena: Arena, base: int) -> WireReply:
    end = base + request.size
    arena.grow(end)
    arena.guard(request.guards, base, end)
    memory = arena.memory[base:]
    inputs = _read_inputs(request, memory)
    cotangents = [None if p is None else read_array_at(p, memory) for p in request.cotangents]
    places = _place_results(request, inputs, cotangents, memory)
    params = dict(request.params)
    if request.threads:
        backend.set_threads(request.threads)  # type: ignore[misc]
    if backend.writes(request.gradient):
        with with_device_copies(backend.device_memory, memory, request.zones) as lend:
            given, results = [lend(x) for x in inputs], [lend(y) for y in places]
            if request.gradient:
                backend.vjp_into(request.op, given, params, [lend(g) for g in cotangents], results)  # type: ignore[misc]
            else:
                backend.forward_into(request.op, given, params, results)  # type: ignore[misc]
        return WireReply(CallOutcome.DONE, results=[None if y is None else _describe(y) for y in places])
    into: dict[str, Any] = {"out": places} if request.into else {}
    if request.gradient:
        returned = backend.vjp(request.op, inputs, params, cotangents, list(request.needs), **into)  # type: ignore[misc]
    else:
        returned = backend.forward(request.op, inputs, params, **into)  # type: ignore[misc]
    if returned is NotImplemented:  # as Python's own operators decline
        raise Unsupported("the backend returned NotImplemented")
    if request.into:  # whatever else it returns: what counts lies in `out`
        return WireReply(CallOutcome.DONE, results=[None if y is None else _describe(y) for y in places])
    narrow = {x.dtype for x in inputs if x is not None and x.dtype.kind in "iu"}
    return WireReply(CallOutcome.DONE, results=take_results(returned, request.results, memory, narrow))


def _read_inputs(request: WireRequest, memory: Array) -> list[Array | None]:
    arrays: list[Array | None] = []
    for place in request.inputs:
        if isinstance(place, BufferRef):
            arrays.append(read_array_at(place, memory))
        else:
            arrays.append(None if place is None else arrays[place])
    return arrays


def _place_results(
    request: WireRequest, inputs: Sequence[Array | None], cotangents: Sequence[Array | None], memory: Array
) -> list[Array | None]:
    """Where results are to be written. One that lies where an input or a cotangent does is that very array."""
    given, arrays = (request.cotangents, cotangents) if request.gradient else (request.inputs, inputs)
    return [
        None if p is None else next((a for g, a in zip(given, arrays, strict=True) if g == p), read_array_at(p, memory))
        for p in request.results
    ]


def take_results(
    returned: Any, places: Sequence[BufferRef | None], memory: Array, narrow: Collection[np.dtype[Any]]
) -> list[WireResult | None]:
    """What came back, copied to its places as far as these reach; one more or one less is for the judge to tell.

    Integers in a wider type than `narrow` ones, which the inputs have, come as these where they fit.
    """
    arrays = list(returned) if isinstance(returned, tuple | list) else [returned]
    results: list[WireResult | None] = []
    for i, array in enumerate(arrays):
        place = places[i] if i < len(places) else None
        if array is None or (place is None and i < len(places)):
            results.append(None)
            continue
        plain = _to_plain(array)
        if place is not None and plain.dtype.kind in "iu" and dtype_of(place.dtype) in narrow:
            plain = _fit(plain, dtype_of(place.dtype))
        results.append(_describe(plain))
        if plain.dtype.hasobject:
            continue
        if place is not None and plain.shape == place.shape and plain.dtype.itemsize <= dtype_of(place.dtype).itemsize:
            room = memory[place.offset : place.offset + plain.nbytes]
            np.ndarray(plain.shape, plain.dtype, room.data)[...] = plain
    return results


def _fit(array: Array, dtype: np.dtype[Any]) -> Array:
    """`array` in `dtype` where that holds its numbers."""
    with np.errstate(all="ignore"):
        converted = array.astype(dtype)
    return converted if np.array_equal(converted, array) else array


def _to_plain(array: Any) -> Array:
    """An array of NumPy's own. Raises TypeError for what would compute later, or do anything else, when it is read."""
    if type(array) is np.ndarray:
        return array
    if isinstance(array, np.generic | bool | int | float | list):
        return np.asarray(array)
    kind = type(array)
    raise TypeError(
        f"the backend returned {kind.__module__}.{kind.__qualname__}; expected a NumPy array, "
        f"such as np.array(result) makes of it."
    )


def _describe(array: Array) -> WireResult:
    native = array.dtype.isnative
    return WireResult(name_of(array.dtype) if native else f"big-endian {array.dtype.name}", array.shape)


def to_metadata(given: WireReply) -> dict[str, str]:
    """The answer as the metadata of a frame."""
    if given.outcome is not CallOutcome.DONE:
        return {"kind": given.outcome, "message": given.message}
    results = [None if r is None else [r.dtype, r.shape] for r in given.results]
    return {"kind": given.outcome, "results": json.dumps(results), "impl": given.impl}


def from_metadata(metadata: Mapping[str, str]) -> WireReply:
    """The answer of a frame. Raises ValueError for what is none."""
    outcome = CallOutcome(metadata.get("kind", ""))
    listed = json.loads(metadata.get("results", "[]"))
    results = [None if r is None else WireResult(str(r[0]), tuple(int(n) for n in r[1])) for r in listed]
    if any(r is not None and len(r.shape) > _AXES for r in results):
        raise ValueError(f"an array of more than {_AXES} axes, which NumPy has not")
    return WireReply(outcome, str(metadata.get("message", "")), results, str(metadata.get("impl", "")))


#: From an array in the arena to what the backend is given for it.
Lend: TypeAlias = Callable[[Array | None], Any]


@contextmanager
def with_device_copies(
    device: DeviceMemory | None, memory: NDArray[np.uint8], zones: Collection[Range]
) -> Iterator[Lend]:
    """Lend arrays as they are, or, where there is a device, by copies on it which come back at the end.

    Raises MemoryError and DeviceLost.
    """
    if device is None:
        yield lambda array: array
        return
    handles: list[tuple[int, NDArray[np.uint8]]] = []
    try:
        for start, end in zones:
            handles.append((device.alloc(end - start), memory[start:end]))
            device.copy_in(*handles[-1])
        yield lambda array: None if array is None else _on_device(array, device.device_type, handles)
        for handle, zone in handles:
            device.copy_out(zone, handle)
    finally:
        for handle, _ in handles:
            device.free(handle)


def _on_device(array: Array, device_type: int, handles: Collection[tuple[int, NDArray[np.uint8]]]) -> DeviceArray:
    """The copy of `array`, which lies in one of the zones."""
    for handle, zone in handles:
        offset = _address_of(array) - _address_of(zone)
        if 0 <= offset <= zone.size:
            return DeviceArray(handle, offset, device_type, array.dtype, array.shape, array.strides)
    raise ValueError(f"an array of shape {array.shape} lies in none of the call's buffers.")


def _address_of(array: Array) -> int:
    return int(array.__array_interface__["data"][0])
