"""bitcast: the bits of x, numbers of the dtype `of`, read as integers of `to`.

Shapes: x any; y as x where both are as wide; where `to` is narrower, with one axis more, the last, for the parts of
each number, that of the least value first. y holds integers, signed.
Gradient: none, the output is integers.
Source: IEEE 754-2019, section 3.4; StableHLO, bitcast_convert; ONNX, BitCast (as wide).
PyTorch: torch.Tensor.view (of a dtype). ONNX: BitCast. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES

SIGNATURE = "(...)"
EXACT = ("forward",)
#: Bytes of the integers.
_BYTES = {"i8": 1, "i16": 2, "i32": 4, "i64": 8}


def forward(x: Array, *, of: str, to: str) -> Array:
    stored = np.ascontiguousarray(x.astype(DTYPES[of].numpy)).reshape(x.shape)
    parts = stored.dtype.itemsize // _BYTES[to]
    if parts < 1:
        raise ValueError(f"{of} is narrower than {to}")
    bits = np.frombuffer(stored.tobytes(), dtype=f"<i{_BYTES[to]}")
    return bits.reshape(x.shape if parts == 1 else (*x.shape, parts)).astype(np.int64)


def torch(torch: Any, x: Any, *, of: str, to: str) -> Any:
    kinds = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    kinds |= {"i8": torch.int8, "i16": torch.int16, "i32": torch.int32, "i64": torch.int64}
    stored = x.to(kinds[of]).contiguous()
    wide = kinds[of].itemsize == kinds[to].itemsize
    return (stored.view(kinds[to]) if wide else stored[..., None].view(kinds[to])).to(torch.int64)
