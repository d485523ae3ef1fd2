"""Frames of the exec protocol, and the request of a call that travels in them as metadata.

A frame is a little-endian u64 length and that many bytes of safetensors: what a message says are strings in the
header's `__metadata__`, what it carries are the tensors (docs/reference/exec-protocol.md). A request says which
operator, which parameters, and where tensors lie in the arena; offsets, strides and sizes count bytes.
"""

from __future__ import annotations

import functools
import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import ml_dtypes
import numpy as np
import safetensors
from safetensors.numpy import save

from opproof.core.arrays import Array

#: Bytes before the tensors' header: the frame's length, and the header's.
HEAD = 16
#: No message of a test is that long; text on stdout, read as a length, is.
LONGEST = 2**32

_DTYPES: dict[str, Any] = {
    "F64": np.float64, "F32": np.float32, "F16": np.float16, "BF16": ml_dtypes.bfloat16,
    "I64": np.int64, "I32": np.int32, "I16": np.int16, "I8": np.int8, "U8": np.uint8, "BOOL": np.bool_,
    "F8_E4M3": ml_dtypes.float8_e4m3fn, "F8_E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


class FrameError(ValueError):
    """Bytes are no frame of the protocol; the text says what was expected and what came."""


def encode(metadata: Mapping[str, str], tensors: Mapping[str, Array]) -> bytes:
    """A frame. Tensors of any strides are written row by row."""
    if not tensors:  # most frames: safetensors itself is not needed for a header alone
        header = json.dumps({"__metadata__": metadata}).encode()
        return struct.pack("<QQ", 8 + len(header), len(header)) + header
    rows = {name: np.ascontiguousarray(a).reshape(a.shape) for name, a in tensors.items()}
    blob = save(rows, metadata=dict(metadata))
    return struct.pack("<Q", len(blob)) + blob


def length_of_frame(head: bytes, longest: int = LONGEST) -> int:
    """Bytes of the frame that begins with `head`, HEAD bytes of it, its length included. Raises FrameError."""
    length, header = struct.unpack("<QQ", head)
    if longest < length <= LONGEST:
        raise FrameError(f"the frame announces {length} bytes; no answer to this request has more than {longest}")
    if length > longest or length < 10:
        raise FrameError(f"expected a frame, beginning with its length as a little-endian u64; got {_to_text(head)}")
    if header > length - 8:
        raise FrameError(
            f"the frame announces {length} bytes, and its safetensors header {header}, which do not fit in; "
            f"its first bytes are {_to_text(head)}"
        )
    return 8 + int(length)


def decode(frame: bytes) -> tuple[dict[str, str], dict[str, Array]]:
    """Metadata and tensors of a whole frame. Raises FrameError."""
    blob = frame[8:]
    (size,) = struct.unpack("<Q", blob[:8])
    try:
        header = json.loads(blob[8 : 8 + size])
    except (ValueError, RecursionError) as error:  # the second: nested without end
        raise FrameError(f"the safetensors header is not JSON ({error}); it begins {_to_text(blob[8:40])}") from None
    metadata = header.get("__metadata__", {}) if isinstance(header, dict) else None
    if not isinstance(metadata, dict):
        raise FrameError(f"expected a JSON object as the safetensors header, got {_to_text(blob[8:40])}")
    for key, value in metadata.items():
        if not isinstance(value, str):
            raise FrameError(f"__metadata__ holds {key}: {value!r}; safetensors allows strings only, such as {key!r}: "
                             f"{json.dumps(json.dumps(value))}")  # fmt: skip
    if len(header) == ("__metadata__" in header) and len(blob) == 8 + size:
        return metadata, {}
    try:
        found = safetensors.deserialize(blob)  # type: ignore[no-untyped-call, unused-ignore]
    except safetensors.SafetensorError as error:
        raise FrameError(f"the blob of {len(blob)} bytes is not safetensors: {error}") from None
    return metadata, {name: _parse_array(name, view) for name, view in found}


def params_to_json(params: Mapping[str, Any]) -> str:
    """Parameters as JSON, whose numbers know no infinity: those are the strings Infinity, -Infinity and NaN."""
    return json.dumps({name: _to_plain(value) for name, value in params.items()})  # after which no number is infinite


def _to_plain(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return [_to_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _parse_array(name: str, view: Mapping[str, Any]) -> Array:
    if view["dtype"] not in _DTYPES:
        raise FrameError(f"tensor {name} has dtype {view['dtype']}; the protocol has {', '.join(_DTYPES)}")
    flat = np.frombuffer(bytearray(view["data"]), _DTYPES[view["dtype"]])
    try:
        return flat.reshape(view["shape"])
    except (ValueError, OverflowError) as error:  # so many axes, or so long ones, safetensors allows
        raise FrameError(f"tensor {name[:100]} has a shape that no array can have: {error}") from None


def _to_text(data: bytes) -> str:
    """Bytes as text where they are text, else in hexadecimal."""
    text = data.rstrip(b"\0").decode("ascii", errors="replace")
    if len(text) > 2 and all(c.isprintable() or c in "\r\n\t" for c in text) and "\ufffd" not in text:
        return f"the text {text!r}"
    return f"the bytes {data.hex(' ')}"


class BufferRef(NamedTuple):
    """Where an array lies: its first element `offset` bytes from the arena's beginning, strides in bytes."""

    dtype: str  # NumPy's name, or bfloat16
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


#: A part of the arena: its first byte, and the one past its last.
Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class WireRequest:
    """One call. An input that is an int is the same array as the input of that number."""

    op: str
    params: Mapping[str, Any]
    gradient: bool
    inputs: Sequence[BufferRef | int | None]
    cotangents: Sequence[BufferRef | None]
    results: Sequence[BufferRef | None]  # None: a gradient that is not asked for
    needs: Sequence[bool]
    size: int  # of the arena
    into: bool = False  # the backend is to write results to their places: over an input, or with strides
    guards: Sequence[Range] = ()  # to be unreadable during the call
    zones: Sequence[Range] = ()  # every buffer with the canaries on its sides
    threads: int = 0  # that the backend is to compute with; 0: as many as it likes


def to_metadata(request: WireRequest) -> dict[str, str]:
    """The request as the metadata of a frame; the judge's, who has msgspec at hand."""
    from msgspec import json as quick

    layout = {
        "inputs": request.inputs,
        "cotangents": request.cotangents,
        "results": request.results,
        "needs": list(request.needs),
        "size": request.size,
        "into": request.into,
        "guards": request.guards,
        "zones": request.zones,
        "threads": request.threads,
    }
    kind = "vjp" if request.gradient else "forward"
    return {
        "kind": kind,
        "op": request.op,
        "params": params_to_json(request.params),
        "layout": quick.encode(layout).decode(),
    }


def join_metadata(calls: Sequence[tuple[Mapping[str, str], int]]) -> dict[str, str]:
    """The metadata of one frame that asks for several calls of one operator and kind, each answered by a frame.

    Each stands with where its part of the arena begins. Of calls that are one object, the layout is written once.
    """
    distinct = list({id(metadata): metadata for metadata, _ in calls}.values())
    layouts, params = (",".join(metadata[key] for metadata in distinct) for key in ("layout", "params"))
    numbers = {id(metadata): i for i, metadata in enumerate(distinct)}
    at = [(numbers[id(metadata)], base) for metadata, base in calls]
    return {**distinct[0], "layout": f"[{layouts}]", "params": f"[{params}]", "calls": json.dumps(at)}


def several_of(metadata: Mapping[str, str]) -> list[tuple[WireRequest, int]]:
    """The requests of a frame, and where the part of the arena begins that each speaks of."""
    if "calls" not in metadata:
        return [(from_metadata(metadata), 0)]
    laid = zip(json.loads(metadata["layout"]), json.loads(metadata["params"]), strict=True)
    requests = [_request(metadata, layout, params) for layout, params in laid]
    return [(requests[number], base) for number, base in json.loads(metadata["calls"])]


def from_metadata(metadata: Mapping[str, str]) -> WireRequest:
    """The request of a frame that asks for one call."""
    return _request(metadata, json.loads(metadata["layout"]), json.loads(metadata["params"]))


def _request(metadata: Mapping[str, str], layout: Mapping[str, Any], params: Mapping[str, Any]) -> WireRequest:
    return WireRequest(
        op=metadata["op"],
        params={name: _to_value(value) for name, value in params.items()},
        gradient=metadata["kind"] == "vjp",
        inputs=[p if p is None or isinstance(p, int) else _place(p) for p in layout["inputs"]],
        cotangents=[None if p is None else _place(p) for p in layout["cotangents"]],
        results=[None if p is None else _place(p) for p in layout["results"]],
        needs=layout["needs"],
        size=layout["size"],
        into=layout.get("into", False),
        guards=layout["guards"],
        zones=layout["zones"],
        threads=layout.get("threads", 0),
    )


def params_of(text: str) -> dict[str, Any]:
    """Parameters from JSON: lists are tuples, and the strings Infinity, -Infinity and NaN numbers."""
    return {name: _to_value(value) for name, value in json.loads(text).items()}


@functools.cache
def name_of(dtype: np.dtype[Any]) -> str:
    """NumPy's name of a dtype, which takes NumPy long to tell."""
    return dtype.name


@functools.cache
def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of a name. Raises TypeError where there is none."""
    if name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        import ml_dtypes

        own: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
        return own
    return np.dtype(name)


def read_array_at(place: BufferRef, memory: Array) -> Array:
    """The array that lies at `place` in `memory`, the bytes of an arena; it borrows them."""
    return np.ndarray(place.shape, dtype_of(place.dtype), memory.data, place.offset, place.strides)


def _place(listed: Sequence[Any]) -> BufferRef:
    dtype, shape, strides, offset = listed
    return BufferRef(dtype, tuple(shape), tuple(strides), offset)


def _to_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_to_value, value))
    return float(value) if value in ("Infinity", "-Infinity", "NaN") else value
