"""safetensors files, the same to the byte every time: the library's own writer orders metadata as it happens to."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping

import numpy as np

from opproof.backends.worker.protocol import name_of
from opproof.core.arrays import Array

_DTYPES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2",
}  # fmt: skip


def blob_of(tensors: Mapping[str, Array], metadata: Mapping[str, str] | None = None) -> bytes:
    """A safetensors file: tensors by size of their elements, the largest first, then by name; row by row."""
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
    parts: list[bytes] = []
    end = 0
    for name in sorted(tensors, key=lambda n: (-tensors[n].dtype.itemsize, n)):
        array = tensors[name]
        data = np.ascontiguousarray(array).tobytes()
        start, end = end, end + len(data)
        dtype = _DTYPES[name_of(array.dtype)]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [start, end]}
        parts.append(data)
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return b"".join([struct.pack("<Q", len(text)), text, *parts])
