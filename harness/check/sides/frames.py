"""Requests and replies as frames of the exec protocol: a header as metadata, then the arrays. Nothing is executed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from opproof.backends.worker.protocol import HEAD, decode, encode, frame_length
from opproof.core.arrays import Array
from opproof.core.verdicts import Verdict
from opproof.harness.check.sides import encoding
from opproof.harness.check.sides.exchange import Answered, Before, Reply, Request
from opproof.harness.check.sides.fences import Fence
from opproof.harness.check.sides.harm import Harm
from opproof.harness.check.sides.settings import Setting
from opproof.harness.check.tensors import Tensor

_DTYPES = {"float64", "int64", "bool"}


def write(stream: IO[bytes], header: dict[str, Any], arrays: Sequence[Array | None]) -> None:
    """One frame: the header, and the arrays by their places."""
    text = json.dumps({**header, "arrays": len(arrays)})
    stream.write(encode({"header": text}, {str(i): a for i, a in enumerate(arrays) if a is not None}))
    stream.flush()


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[Array | None]]:
    """The next frame. Raises EOFError where it is cut short, ValueError or KeyError where it is none."""
    head = _exactly(stream, HEAD)
    metadata, tensors = decode(head + _exactly(stream, frame_length(head) - HEAD))
    for a in tensors.values():
        if str(a.dtype) not in _DTYPES:
            raise ValueError(f"a frame holds an array of {a.dtype}")
    header = json.loads(metadata["header"])
    return header, [tensors.get(str(i)) for i in range(header["arrays"])]


def _exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError("the stream ended")
    return data


def request_out(stream: IO[bytes], request: Request) -> None:
    """A request."""
    tensors = [[t.name, t.dtype, t.param, t.buffer, t.layout] for t in request.tensors]
    rest = None if request.rest is None else [encoding.to_json(v) for v in request.rest]
    header = {"tensors": tensors, "needs": request.needs, "after": request.after, "seed": request.seed,
              "device": request.device, "layout": request.layout, "rest": rest,
              "before": request.before, "setting": request.setting, "fence": request.fence,
              "one": request.one, "unseen": request.unseen}  # fmt: skip
    write(stream, header, [*(t.values for t in request.tensors), *request.cotangents])


def request_in(stream: IO[bytes], own: Mapping[str, Any] = MappingProxyType({})) -> Request:
    """The request of a frame. `own`: what the candidate's module has, by name."""
    header, arrays = read(stream)
    count = len(header["tensors"])
    tensors = tuple(
        Tensor(name, np.asarray(a), dtype, param, buffer, layout)
        for (name, dtype, param, buffer, layout), a in zip(header["tensors"], arrays[:count], strict=True)
    )
    needs, after = tuple(header["needs"]), tuple(header["after"])
    rest = None if header["rest"] is None else tuple(encoding.from_json(v, own) for v in header["rest"])
    named = {key: header[key] for key in ("seed", "device", "layout")}
    return Request(
        tensors,
        tuple(arrays[count:]),
        needs,
        after,
        rest=rest,
        before=Before(header["before"]),
        setting=Setting(header["setting"]),
        fence=Fence(header["fence"]),
        one=tuple(header["one"]),
        unseen=header["unseen"],
        **named,
    )


def reply_out(stream: IO[bytes], reply: Reply) -> None:
    """A reply."""
    both = (*reply.outputs, *reply.gradients)
    header = {
        "outputs": len(reply.outputs),
        "described": [None if y is None else [y.dtype, y.differentiable, y.shares, y.overlaps] for y in both],
        "error": reply.error,
        "declined": reply.declined,
        "failed": reply.failed,
        "overwritten": reply.overwritten,
        "seconds": reply.seconds,
        "written": reply.written,
        "own_backward": reply.own_backward,
        "harm": None if reply.harm is None else [reply.harm.verdict, reply.harm.text],
    }
    write(stream, header, [*(None if y is None else y.values for y in both), *reply.left])


def reply_in(stream: IO[bytes]) -> Reply:
    """The reply of a frame; which inputs changed it does not say. Raises ValueError, KeyError or TypeError."""
    header, arrays = read(stream)
    if len(arrays) < len(header["described"]):
        raise ValueError("arrays are missing")
    both = [
        None if d is None or a is None else Answered(a, str(d[0]), bool(d[1]), int(d[2]), bool(d[3]))
        for d, a in zip(header["described"], arrays, strict=False)
    ]
    count = int(header["outputs"])
    outputs = tuple(y for y in both[:count] if y is not None)
    left = tuple(a for a in arrays[len(both) :] if a is not None)
    found = Reply(outputs, tuple(both[count:]), left=left)
    return replace(
        found,
        error=str(header["error"]),
        declined=str(header["declined"]),
        failed=str(header["failed"]),
        overwritten=int(header["overwritten"]),
        seconds=float(header["seconds"]),
        written=int(header["written"]),
        own_backward=bool(header["own_backward"]),
        harm=None if header["harm"] is None else Harm(Verdict(header["harm"][0]), str(header["harm"][1])),
    )
