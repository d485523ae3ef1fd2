"""What the judge asks a host: an operator, its parameters, and where its tensors lie in the arena.

A request travels as the metadata of a frame, strings alone; offsets, strides and sizes count bytes.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from opproof.backends.host.frames import params_text
from opproof.core.arrays import Array


class Place(NamedTuple):
    """Where an array lies: its first element `offset` bytes from the arena's beginning, strides in bytes."""

    dtype: str  # NumPy's name, or bfloat16
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


#: A part of the arena: its first byte, and the one past its last.
Range: TypeAlias = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Request:
    """One call. An input that is an int is the same array as the input of that number."""

    op: str
    params: Mapping[str, Any]
    gradient: bool
    inputs: Sequence[Place | int | None]
    cotangents: Sequence[Place | None]
    results: Sequence[Place | None]  # None: a gradient that is not asked for
    needs: Sequence[bool]
    size: int  # of the arena
    into: bool = False  # the backend is to write results to their places: over an input, or with strides
    guards: Sequence[Range] = ()  # to be unreadable during the call
    zones: Sequence[Range] = ()  # every buffer with the canaries on its sides
    threads: int = 0  # that the backend is to compute with; 0: as many as it likes


def to_metadata(request: Request) -> dict[str, str]:
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
        "params": params_text(request.params),
        "layout": quick.encode(layout).decode(),
    }


def several_metadata(calls: Sequence[tuple[Mapping[str, str], int]]) -> dict[str, str]:
    """The metadata of one frame that asks for several calls of one operator and kind, each answered by a frame.

    Each stands with where its part of the arena begins. Of calls that are one object, the layout is written once.
    """
    distinct = list({id(metadata): metadata for metadata, _ in calls}.values())
    layouts, params = (",".join(metadata[key] for metadata in distinct) for key in ("layout", "params"))
    numbers = {id(metadata): i for i, metadata in enumerate(distinct)}
    at = [(numbers[id(metadata)], base) for metadata, base in calls]
    return {**distinct[0], "layout": f"[{layouts}]", "params": f"[{params}]", "calls": json.dumps(at)}


def several_of(metadata: Mapping[str, str]) -> list[tuple[Request, int]]:
    """The requests of a frame, and where the part of the arena begins that each speaks of."""
    if "calls" not in metadata:
        return [(from_metadata(metadata), 0)]
    laid = zip(json.loads(metadata["layout"]), json.loads(metadata["params"]), strict=True)
    requests = [_request(metadata, layout, params) for layout, params in laid]
    return [(requests[number], base) for number, base in json.loads(metadata["calls"])]


def from_metadata(metadata: Mapping[str, str]) -> Request:
    """The request of a frame that asks for one call."""
    return _request(metadata, json.loads(metadata["layout"]), json.loads(metadata["params"]))


def _request(metadata: Mapping[str, str], layout: Mapping[str, Any], params: Mapping[str, Any]) -> Request:
    return Request(
        op=metadata["op"],
        params={name: _value(value) for name, value in params.items()},
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
    return {name: _value(value) for name, value in json.loads(text).items()}


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


def array_at(place: Place, memory: Array) -> Array:
    """The array that lies at `place` in `memory`, the bytes of an arena; it borrows them."""
    return np.ndarray(place.shape, dtype_of(place.dtype), memory.data, place.offset, place.strides)


def _place(listed: Sequence[Any]) -> Place:
    dtype, shape, strides, offset = listed
    return Place(dtype, tuple(shape), tuple(strides), offset)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    return float(value) if value in ("Infinity", "-Infinity", "NaN") else value
