"""Requests and replies as bytes: a header of JSON, then the arrays. Nothing of a reply is executed."""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from dataclasses import replace
from typing import IO, Any

import numpy as np

from opproof.harness.check.call import Answered, Reply, Request
from opproof.harness.check.tensors import Tensor
from opproof.vocabulary.arrays import Array

_LENGTHS = struct.Struct("<QQ")
_DTYPES = {"float64", "int64", "bool"}


def write(stream: IO[bytes], header: dict[str, Any], arrays: Sequence[Array | None]) -> None:
    """One frame: lengths of header and arrays, the header, the arrays in order."""
    described = [None if a is None else [str(a.dtype), list(a.shape)] for a in arrays]
    header = {**header, "arrays": described}
    text, body = json.dumps(header).encode(), b"".join(a.tobytes() for a in arrays if a is not None)
    stream.write(_LENGTHS.pack(len(text), len(body)) + text + body)
    stream.flush()


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[Array | None]]:
    """The next frame. Raises EOFError where it is cut short, ValueError where it is none."""
    head, body_length = _LENGTHS.unpack(_exactly(stream, _LENGTHS.size))
    header = json.loads(_exactly(stream, head))
    body, at = _exactly(stream, body_length), 0
    arrays: list[Array | None] = []
    for described in header["arrays"]:
        if described is None:
            arrays.append(None)
            continue
        dtype, shape = described
        if dtype not in _DTYPES:
            raise ValueError(f"a frame holds an array of {dtype}")
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        arrays.append(np.frombuffer(body[at : at + size], dtype).reshape(shape).copy())
        at += size
    return header, arrays


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError("the stream ended")
    return data


def request_out(stream: IO[bytes], request: Request) -> None:
    """A request."""
    tensors = [[t.name, t.dtype, t.param, t.layout] for t in request.tensors]
    header = {"tensors": tensors, "needs": request.needs, "after": request.after, "seed": request.seed,
              "device": request.device}  # fmt: skip
    write(stream, header, [*(t.values for t in request.tensors), *request.cotangents])


def request_in(stream: IO[bytes]) -> Request:
    """The request of a frame."""
    header, arrays = read(stream)
    count = len(header["tensors"])
    tensors = tuple(
        Tensor(name, np.asarray(a), dtype, param, layout)
        for (name, dtype, param, layout), a in zip(header["tensors"], arrays[:count], strict=True)
    )
    needs, after = tuple(header["needs"]), tuple(header["after"])
    return Request(tensors, tuple(arrays[count:]), needs, after, header["seed"], header["device"])


def reply_out(stream: IO[bytes], reply: Reply) -> None:
    """A reply."""
    both = (*reply.outputs, *reply.gradients)
    header = {
        "outputs": len(reply.outputs),
        "described": [None if y is None else [y.dtype, y.differentiable, y.shares] for y in both],
        "changed": reply.changed,
        "error": reply.error,
        "declined": reply.declined,
        "failed": reply.failed,
        "seconds": reply.seconds,
    }
    write(stream, header, [None if y is None else y.values for y in both])


def reply_in(stream: IO[bytes]) -> Reply:
    """The reply of a frame. Raises ValueError, KeyError or TypeError where it is none."""
    header, arrays = read(stream)
    both = [
        None if d is None or a is None else Answered(a, str(d[0]), bool(d[1]), int(d[2]))
        for d, a in zip(header["described"], arrays, strict=True)
    ]
    count = int(header["outputs"])
    outputs = tuple(y for y in both[:count] if y is not None)
    found = Reply(outputs, tuple(both[count:]), tuple(map(int, header["changed"])))
    return replace(
        found,
        error=str(header["error"]),
        declined=str(header["declined"]),
        failed=str(header["failed"]),
        seconds=float(header["seconds"]),
    )
