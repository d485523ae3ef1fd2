"""What is kept as bytes and back: MessagePack in front, the elements of arrays behind it. Nothing is ever executed.

An array that comes twice is written once and comes back as one; one of zero bytes alone takes no room; float64 numbers
that a smaller dtype holds as well lie in that one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

import msgspec
import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype

T = TypeVar("T")
#: Of one array: its dtype, that in which it lies here, its shape, where it begins, and how many bytes it takes.
_Described: TypeAlias = tuple[str, str, tuple[int, ...], int, int]

_DTYPES = {np.dtype(n).name: np.dtype(n) for n in ("bool", "int64", "float64")} | {
    np.dtype(d.numpy).name: np.dtype(d.numpy) for d in DTYPES.values()
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}
#: Holds scales, of 8 digits, and many whole numbers.
_SHORT = DTYPES["bf16"]
#: Arrays begin at a multiple of so many bytes.
_ALIGNED = 16
#: What reading bytes of something else raises.
_OTHER = (KeyError, IndexError, TypeError, ValueError, OverflowError, msgspec.DecodeError)
_FRONT = msgspec.msgpack.Decoder(tuple[list[_Described], msgspec.Raw])


class NotKept(Exception):
    """Something that has no form here, or bytes that are none of ours."""


def encoded(value: object, dtype: str) -> bytes:
    """`value`, of records, lists, mappings and arrays, as bytes; `dtype` may hold some arrays. Raises NotKept."""
    described: list[_Described] = []
    chunks: list[bytes] = []
    seen: dict[int, int] = {}
    alive: list[Any] = []  # an id is that of one object as long as it lives
    end = 0

    def number(found: Any) -> int:
        """That of an array; of what NumPy makes of arrays without axes, too."""
        nonlocal end
        if not isinstance(found, np.ndarray | np.generic):
            raise NotKept(f"a {type(found).__name__}")
        if id(found) not in seen:
            seen[id(found)] = len(described)
            alive.append(found)
            stored, data = _packed(np.asarray(found), DTYPES[dtype])
            described.append((_NAMES[found.dtype], stored, found.shape, end, len(data)))
            chunks.append(data + bytes(-len(data) % _ALIGNED))
            end += len(chunks[-1])
        return seen[id(found)]

    with np.errstate(all="ignore"):
        try:
            tree = msgspec.msgpack.encode(value, enc_hook=number)
        except TypeError as error:
            raise NotKept(str(error)) from None
    front = msgspec.msgpack.encode((described, msgspec.Raw(tree)))
    head = len(front).to_bytes(8, "little") + front
    return b"".join([head, bytes(-len(head) % _ALIGNED), *chunks])


@dataclass(frozen=True)
class Packed:
    """Bytes that `encoded` made, of which parts are read as they are asked for."""

    data: bytes
    described: list[_Described]
    tree: msgspec.Raw
    start: int  # of the first array
    arrays: dict[int, Array] = field(default_factory=dict)  # that were read, each once

    def read(self, kind: type[T], part: msgspec.Raw | None = None) -> T:
        """The value of this type, or of `part` of it, with its arrays, which are read-only. Raises NotKept."""
        try:
            tree = self.tree if part is None else part
            return msgspec.msgpack.decode(tree, type=kind, dec_hook=lambda _, number: self.array(number))
        except _OTHER as error:
            raise NotKept(str(error)) from None

    def array(self, number: int) -> Array:
        """That of a number; one that comes twice is one."""
        if number not in self.arrays:
            self.arrays[number] = _unpacked(self.described[number], self.data, self.start)
        return self.arrays[number]


def packed(data: bytes) -> Packed:
    """What `encoded` made, to be read. Raises NotKept."""
    try:
        end = 8 + int.from_bytes(data[:8], "little")
        described, tree = _FRONT.decode(memoryview(data)[8:end])
        return Packed(data, described, tree, end + -end % _ALIGNED)
    except _OTHER as error:
        raise NotKept(str(error)) from None


def decoded(data: bytes, kind: type[T]) -> T:
    """The whole value of this type that `encoded` made bytes of. Raises NotKept."""
    return packed(data).read(kind)


def _packed(value: Array, small: Dtype) -> tuple[str, bytes]:
    """The name of a dtype that holds the elements, and their bytes; none where all are zero."""
    if value.dtype not in _NAMES:
        raise NotKept(f"an array of {value.dtype}")
    plain = np.asarray(value, order="C")
    if plain.dtype != np.float64:
        data = plain.tobytes()
        return _NAMES[plain.dtype], data if data.strip(b"\0") else b""
    bits = int(np.bitwise_or.reduce(plain.reshape(-1).view(np.int64)))
    if not bits:
        return "float64", b""
    for dtype in (_SHORT, small):
        if dtype.digits < 53 and not bits & (2 ** (53 - dtype.digits) - 1):  # of no more digits, at least
            short = plain.astype(dtype.numpy)
            if short.astype(np.float64).tobytes() == plain.tobytes():
                return _NAMES[short.dtype], short.tobytes()
    return "float64", plain.tobytes()


def _unpacked(described: _Described, data: bytes, start: int) -> Array:
    name, stored, shape, offset, size = described
    if not size:
        zeros: Array = np.zeros(shape, _DTYPES[name])
        return zeros
    lies, count = _DTYPES[stored], math.prod(shape)
    if size != count * lies.itemsize or offset < 0:
        raise NotKept("an array of another size")
    array: Array = np.frombuffer(data, lies, count, start + offset).reshape(shape)
    if name == stored:
        return array
    with np.errstate(all="ignore"):
        return array.astype(_DTYPES[name])
