"""Requests and replies as frames of the exec protocol: a header as metadata, then the arrays. Nothing is executed."""

from __future__ import annotations

import enum
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from opproof.backends.worker.protocol import HEAD, decode, encode, length_of_frame
from opproof.core.arrays import Array
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import BeforeBackward, CallRequest, Reply, ReplyTensor, Setting
from opproof.harness.check.call.guard_regions import Fence
from opproof.harness.check.call.side_effects import SideEffect
from opproof.harness.check.call.subject import Generator
from opproof.harness.check.call.user_classes import find_importable
from opproof.harness.check.tensors import CallTensor

_DTYPES = {"float64", "int64", "bool"}


def write(stream: IO[bytes], header: dict[str, Any], arrays: Sequence[Array | None]) -> None:
    """One frame: the header, and the arrays by their places."""
    text = json.dumps({**header, "arrays": len(arrays)})
    stream.write(encode({"header": text}, {str(i): a for i, a in enumerate(arrays) if a is not None}))
    stream.flush()


def read(stream: IO[bytes]) -> tuple[dict[str, Any], list[Array | None]]:
    """The next frame. Raises EOFError where it is cut short, ValueError or KeyError where it is none."""
    head = _read_exactly(stream, HEAD)
    metadata, tensors = decode(head + _read_exactly(stream, length_of_frame(head) - HEAD))
    for a in tensors.values():
        if str(a.dtype) not in _DTYPES:
            raise ValueError(f"a frame holds an array of {a.dtype}")
    header = json.loads(metadata["header"])
    return header, [tensors.get(str(i)) for i in range(header["arrays"])]


def _read_exactly(stream: IO[bytes], count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError("the stream ended")
    return data


#: What a request and a reply have beside tensors, and what makes it of JSON.
_OF_REQUEST: dict[str, Callable[[Any], Any]] = {
    "needs": tuple, "after": tuple, "one": tuple, "inplace": tuple, "overwrites": tuple,
    "seed": int, "repeats": int, "device": str, "layout": str, "unseen": bool,
    "before": BeforeBackward, "setting": Setting, "fence": Fence,
}  # fmt: skip
_OF_REPLY: dict[str, Callable[[Any], Any]] = {
    "error": str, "declined": str, "failed": str, "overwritten": int, "seconds": float, "written": int,
    "own_backward": bool,
}  # fmt: skip


def write_request(stream: IO[bytes], request: CallRequest) -> None:
    tensors = [[t.name, t.dtype, t.param, t.buffer, t.layout] for t in request.tensors]
    rest = None if request.rest is None else [to_json(v) for v in request.rest]
    header = {"tensors": tensors, "rest": rest, **{name: getattr(request, name) for name in _OF_REQUEST}}
    write(stream, header, [*(t.values for t in request.tensors), *request.cotangents])


def read_request(stream: IO[bytes], own: Mapping[str, Any] = MappingProxyType({})) -> CallRequest:
    """The request of a frame. `own`: what the candidate's module has, by name."""
    header, arrays = read(stream)
    count = len(header["tensors"])
    tensors = tuple(
        CallTensor(name, np.asarray(a), dtype, param, buffer, layout)
        for (name, dtype, param, buffer, layout), a in zip(header["tensors"], arrays[:count], strict=True)
    )
    rest = None if header["rest"] is None else tuple(from_json(v, own) for v in header["rest"])
    named = {name: of(header[name]) for name, of in _OF_REQUEST.items()}
    return CallRequest(tensors, tuple(arrays[count:]), rest=rest, **named)


def write_reply(stream: IO[bytes], reply: Reply) -> None:
    both = (*reply.outputs, *reply.gradients)
    header = {
        "outputs": len(reply.outputs),
        "described": [None if y is None else [y.dtype, y.differentiable, y.shares, y.overlaps] for y in both],
        "harm": None if reply.harm is None else [reply.harm.verdict, reply.harm.text],
        **{name: getattr(reply, name) for name in _OF_REPLY},
    }
    write(stream, header, [*(None if y is None else y.values for y in both), *reply.left])


def read_reply(stream: IO[bytes]) -> Reply:
    """The reply of a frame; which inputs changed it does not say. Raises ValueError, KeyError or TypeError."""
    header, arrays = read(stream)
    if len(arrays) < len(header["described"]):
        raise ValueError("arrays are missing")
    both = [
        None if d is None or a is None else ReplyTensor(a, str(d[0]), bool(d[1]), int(d[2]), bool(d[3]))
        for d, a in zip(header["described"], arrays, strict=False)
    ]
    count, harm = int(header["outputs"]), header["harm"]
    outputs = tuple(y for y in both[:count] if y is not None)
    left = tuple(a for a in arrays[len(both) :] if a is not None)
    done = None if harm is None else SideEffect(Verdict(harm[0]), str(harm[1]))
    named = {name: of(header[name]) for name, of in _OF_REPLY.items()}
    return Reply(outputs, tuple(both[count:]), left=left, harm=done, **named)


#: Under which a value stands that JSON has no form for.
_KEY = "opproof"
#: Where functions are that do not say whence they come.
_MODULES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "math", "operator", "builtins", "numpy")


def to_json(value: Any) -> Any:
    """What `json` writes. Raises TypeError for what has no form."""
    import torch

    if isinstance(value, enum.Enum):
        return {_KEY: "enum", "of": _enum_to_json(value)}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.dtype | torch.layout | torch.memory_format):
        return {_KEY: str(value)}
    if isinstance(value, torch.device):
        return {_KEY: "device", "of": str(value)}
    if isinstance(value, complex):
        return {_KEY: "complex", "of": [value.real, value.imag]}
    if isinstance(value, slice | range):
        return {_KEY: type(value).__name__, "of": [to_json(v) for v in (value.start, value.stop, value.step)]}
    if isinstance(value, Generator):
        return {_KEY: "generator", "of": [value.device, value.state.hex()]}
    if isinstance(value, functools.partial):
        keywords = {name: to_json(v) for name, v in value.keywords.items()}
        return {_KEY: "partial", "of": [to_json(value.func), [to_json(v) for v in value.args], keywords]}
    if callable(value) and not isinstance(value, torch.nn.Module):
        return {_KEY: "function", "of": _place_of(value)}
    raise TypeError(f"a {type(value).__name__}")


def from_json(value: Any, own: Mapping[str, Any]) -> Any:
    """The value that was written so. `own`: what the candidate's module has, by name."""
    import torch

    if not isinstance(value, dict) or _KEY not in value:  # what a class's own is given may be a mapping
        return value
    name: str = value[_KEY]
    of: Any = value.get("of")
    if name == "partial":
        function, given, named = of
        keywords = {key: from_json(v, own) for key, v in named.items()}
        return functools.partial(from_json(function, own), *(from_json(v, own) for v in given), **keywords)
    makers: dict[str, Callable[..., Any]] = {
        "enum": lambda *_: _decode_enum(of, own),
        "function": find_importable,
        "generator": lambda device, state: Generator(device, bytes.fromhex(state)),
        "complex": complex,
        "slice": slice,
        "range": range,
    }
    if name in makers:
        return makers[name](*of)
    return torch.device(of) if name == "device" else getattr(torch, name.removeprefix("torch."))


def _place_of(function: Any) -> list[str]:
    """Module and name of a function or class that can be imported. Raises TypeError."""
    name: str = getattr(function, "__name__", "")
    modules: tuple[str | None, ...] = (getattr(function, "__module__", None), *_MODULES)
    for module in modules:
        if module is None or module == "__main__" or module.startswith("opproof_checked_"):
            continue  # of a file that the candidate's process has not
        if find_importable(module, name) is function:
            return [module, name]
    raise TypeError(f"the function {name or function!r}, which no library has")


def _enum_to_json(member: enum.Enum) -> list[Any]:
    kind = type(member)
    base = next((b.__name__ for b in (int, str) if issubclass(kind, b)), "")
    return [kind.__module__, kind.__name__, base, member.name, [[m.name, to_json(m.value)] for m in kind]]


def _decode_enum(of: list[Any], own: Mapping[str, Any]) -> Any:
    module, name, base, member, members = of
    for kind in (own.get(name), find_importable(module, name)):
        if isinstance(kind, enum.EnumMeta) and member in kind.__members__:
            return kind[member]
    return _make_enum(name, base, tuple((key, from_json(v, own)) for key, v in members))[member]


@functools.cache
def _make_enum(name: str, base: str, members: tuple[tuple[str, Any], ...]) -> Any:
    """One class for all members that come: they are compared by what they are."""
    mixed = {"int": int, "str": str}.get(base)
    return enum.Enum(name, members, type=mixed) if mixed else enum.Enum(name, members)
