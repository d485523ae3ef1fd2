"""Facts of a question as bytes and back: JSON in front, the elements of arrays behind it. Nothing is ever executed.

An array that comes twice is written once and comes back as one; one of zero bytes alone takes no room; float64 numbers
that a smaller dtype holds as well lie in that one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np

from opproof.harness.truth.differences import Estimated
from opproof.harness.truth.kinks import Kinked
from opproof.harness.truth.reference import Expected
from opproof.harness.truth.subgradient import Limits
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES

#: Records that may stand among facts.
_RECORDS: dict[str, type[Any]] = {r.__name__: r for r in (Expected, Kinked, Limits, Estimated)}
_DTYPES = {np.dtype(n).name: np.dtype(n) for n in ("bool", "int64", "float64")} | {
    np.dtype(d.numpy).name: np.dtype(d.numpy) for d in DTYPES.values()
}
#: Holds scales, of 8 digits, and many whole numbers.
_SHORT = np.dtype(DTYPES["bf16"].numpy)
#: Arrays begin at a multiple of so many bytes.
_ALIGNED = 16


class NotKept(Exception):
    """Something that has no form here, or bytes that are none of ours."""


def encoded(facts: Mapping[str, Any], dtype: str) -> bytes:
    """`facts`, nested in lists, tuples and mappings, as bytes. `dtype` may hold some arrays. Raises NotKept."""
    arrays: list[dict[str, Any]] = []
    chunks: list[bytes] = []
    seen: dict[int, int] = {}
    small = np.dtype(DTYPES[dtype].numpy)

    def array(value: Array) -> int:
        if id(value) not in seen:
            seen[id(value)] = len(arrays)
            described, data = _packed(value, small)
            offset = sum(map(len, chunks))
            arrays.append({**described, "offset": offset, "bytes": len(data)})
            chunks.append(data + bytes(-len(data) % _ALIGNED))
        return seen[id(value)]

    tree = _tree(facts, array)
    front = msgspec.json.encode({"facts": tree, "arrays": arrays})
    front += b" " * (-(len(front) + 8) % _ALIGNED)
    return b"".join([len(front).to_bytes(8, "little"), front, *chunks])


def decoded(data: bytes) -> dict[str, Any]:
    """The facts that `encoded` made bytes of; arrays are read-only. Raises NotKept."""
    try:
        length = int.from_bytes(data[:8], "little")
        front = msgspec.json.decode(data[8 : 8 + length])
        behind = memoryview(data)[8 + length :]
        arrays = [_unpacked(described, behind) for described in front["arrays"]]
        facts = _value(front["facts"], arrays)
    except (KeyError, IndexError, TypeError, ValueError, msgspec.DecodeError) as error:
        raise NotKept(str(error)) from None
    if not isinstance(facts, dict):
        raise NotKept("no facts")
    return facts


def _packed(value: Array, small: np.dtype[Any]) -> tuple[dict[str, Any], bytes]:
    if value.dtype.name not in _DTYPES:
        raise NotKept(f"an array of {value.dtype}")
    plain = np.asarray(value, order="C")
    data, stored = plain.tobytes(), plain.dtype
    if not data.strip(b"\0"):
        data = b""
    elif plain.dtype == np.float64:
        for dtype in {_SHORT: None, small: None}:
            if dtype.itemsize < 8 and _fits(plain.ravel()[:64], dtype) and _fits(plain, dtype):
                data, stored = _cast(plain, dtype).tobytes(), dtype
                break
    return {"dtype": plain.dtype.name, "stored": stored.name, "shape": plain.shape}, data


def _fits(plain: Array, dtype: np.dtype[Any]) -> bool:
    """Whether float64 numbers are, to the bit, those of a smaller dtype."""
    return _cast(_cast(plain, dtype), plain.dtype).tobytes() == plain.tobytes()


def _cast(plain: Array, dtype: np.dtype[Any]) -> Array:
    with np.errstate(all="ignore"):
        return plain.astype(dtype)


def _unpacked(described: Mapping[str, Any], behind: memoryview) -> Array:
    dtype, stored = _DTYPES[described["dtype"]], _DTYPES[described["stored"]]
    shape, offset, size = tuple(described["shape"]), described["offset"], described["bytes"]
    if not size:
        zeros: Array = np.zeros(shape, dtype)
        return zeros
    if size != math.prod(shape) * stored.itemsize or offset < 0:
        raise NotKept("an array of another size")
    with np.errstate(all="ignore"):
        array: Array = np.frombuffer(behind[offset : offset + size], stored).reshape(shape).astype(dtype, copy=False)
    return array


def _tree(value: Any, array: Callable[[Array], int]) -> Any:
    """JSON: a list, or a mapping with one key that says what it is of, for what JSON has no form for."""
    if isinstance(value, np.generic):  # what NumPy makes of arrays without axes; a float64 is a float, too
        value = np.asarray(value)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, np.ndarray):
        return {"array": array(value)}
    if isinstance(value, list):
        return [_tree(v, array) for v in value]
    if isinstance(value, tuple):
        return {"tuple": [_tree(v, array) for v in value]}
    if isinstance(value, dict):
        return {"pairs": [[_tree(k, array), _tree(v, array)] for k, v in value.items()]}
    name = type(value).__name__
    if _RECORDS.get(name) is not type(value):
        raise NotKept(f"a {name}")
    fields = {f.name: _tree(getattr(value, f.name), array) for f in dataclasses.fields(value)}
    return {"record": name, "fields": fields}


def _value(tree: Any, arrays: list[Array]) -> Any:
    if isinstance(tree, list):
        return [_value(v, arrays) for v in tree]
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]]
    if "float" in tree:
        return float.fromhex(tree["float"])
    if "tuple" in tree:
        return tuple(_value(v, arrays) for v in tree["tuple"])
    if "pairs" in tree:
        return {_value(k, arrays): _value(v, arrays) for k, v in tree["pairs"]}
    return _RECORDS[tree["record"]](**{n: _value(v, arrays) for n, v in tree["fields"].items()})
