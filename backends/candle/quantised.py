"""candle's functions of ggml's quantised blocks. Blocks come and go as a GGUF file of one tensor."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import candle
import numpy as np

from opproof.backends.candle import open_file, to_arrays, to_tensors
from opproof.backends.protocol import Unsupported
from opproof.core.arrays import Array

#: Our names of the types that candle has, by candle's.
TYPES = {
    "q4_0": "q4_0", "q4_1": "q4_1", "q5_0": "q5_0", "q5_1": "q5_1", "q8_0": "q8_0", "q2_k": "q2k", "q3_k": "q3k",
    "q4_k": "q4k", "q5_k": "q5k", "q6_k": "q6k",
}  # fmt: skip
_ALIGNMENT = 32  # bytes, of tensors in a GGUF file
_NAME = b"y"


def _describe(type_name: str) -> tuple[int, int, int]:
    """The number of a type in GGUF, and the values and the bytes of its blocks. Raises Unsupported."""
    if type_name not in TYPES:
        raise Unsupported(f"candle has no {type_name}")
    import gguf

    number = gguf.GGMLQuantizationType[type_name.upper()]
    values, size = gguf.GGML_QUANT_SIZES[number]
    return int(number), values, size


def _of_bytes(function: Callable[..., Array]) -> Callable[..., Array]:
    """Mark a function that takes arrays, not candle's tensors."""
    function.takes_bytes = True  # type: ignore[attr-defined]
    return function


def _load(data: Array, type_name: str) -> Any:
    """Return candle's quantised matrix of these rows of blocks."""
    number, values, size = _describe(type_name)
    shape = (math.prod(data.shape[:-1]), data.shape[-1] // size * values)
    with open_file() as (file, path):
        file.write(_make_head(shape, number) + np.ascontiguousarray(data).tobytes())
        file.flush()
        return candle.utils.load_gguf(path)[0]["y"]


def _make_head(shape: tuple[int, ...], number: int) -> bytes:
    """What stands before the blocks in a GGUF file of one tensor of this shape, whose type has this number."""
    head = struct.pack("<4sIQQQ", b"GGUF", 2, 1, 0, len(_NAME)) + _NAME
    head += struct.pack(f"<I{len(shape)}QIQ", len(shape), *reversed(shape), number, 0)
    return head.ljust(-(-len(head) // _ALIGNMENT) * _ALIGNMENT, b"\0")


@_of_bytes
def _quantize(x: Array, *, type: str) -> Array:  # noqa: A002
    _, values, size = _describe(type)
    tensor = to_tensors(candle, {"x": x.astype(np.float32)})["x"]
    count = x.size // values * size
    with open_file() as (file, path):
        candle.utils.save_gguf(path, {"y": tensor.quantize(TYPES[type])}, {})
        file.seek(0)
        found = file.read()
    begin = len(_make_head(x.shape, 0))
    blocks = np.frombuffer(found[begin : begin + count], np.uint8)
    return blocks.reshape(*x.shape[:-1], x.shape[-1] // values * size)


@_of_bytes
def _dequantize(data: Array, *, type: str) -> Array:  # noqa: A002
    values = to_arrays(candle, {"y": _load(data, type).dequantize()})["y"]
    return values.reshape(*data.shape[:-1], values.shape[-1])


@_of_bytes
def _matmul_quantized(a: Array, b: Array, *, type: str) -> Array:  # noqa: A002
    if a.dtype != np.float32:
        raise Unsupported("candle's products of quantised weights are of f32")
    tensor = to_tensors(candle, {"a": np.ascontiguousarray(a)})["a"]
    return to_arrays(candle, {"y": _load(b, type).matmul_t(tensor)})["y"]


TABLE: dict[str, Callable[..., Any]] = {
    "quantize": _quantize,
    "dequantize": _dequantize,
    "matmul_quantized": _matmul_quantized,
}
