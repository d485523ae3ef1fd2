"""table: a function of 16-bit integers, looked up in a table and interpolated between its places.

Shapes: x any, of integers in [-2¹⁵, 2¹⁵); table (513,) of integers in [-2¹⁴, 2¹⁴]; y int64 as x: with i the upper 9
bits of x + 2¹⁵ and r the lower 7, table_i 2⁷ + (table_(i+1) - table_i) r. A table of 256 places has the result of each
integer in [-2⁷, 2⁷) as it is; larger ones are at its ends.
Gradient: none, the inputs are integers.
Source: the TOSA specification 1.0, TABLE and apply_lookup_s.
PyTorch: none. ONNX: none. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array, Whole
from opproof.reference_ops._bits import on_bits

SIGNATURE = "(...),(513) | (...),(256)"
EXACT = ("forward",)
_PLACES, _BYTES = 513, 256  # of tables for 16 bits, and for 8


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    inputs = 2**15 if shapes["table"][0] == _PLACES else 2**7
    return {"x": Whole(range(-inputs, inputs)), "table": Whole(range(-(2**14), 2**14 + 1))}


def _looked_up(x: Array, table: Array) -> Array:
    if table.shape[0] == _BYTES:
        return table[np.clip(x, -128, 127) + 128]  # type: ignore[no-any-return]
    place = np.clip(x, -(2**15), 2**15 - 1) + 2**15
    i, r = place >> 7, place & 0x7F
    return table[i] * 128 + (table[i + 1] - table[i]) * r  # type: ignore[no-any-return]


def _ask_for_places(table: Any) -> None:
    if tuple(table.shape) not in ((_PLACES,), (_BYTES,)):
        raise ValueError(f"a table of {tuple(table.shape)} has neither {_PLACES} places nor {_BYTES}")


def forward(x: Array, table: Array) -> Array:
    _ask_for_places(table)
    return on_bits(_looked_up, x, table)


def torch(torch: Any, x: Any, table: Any) -> Any:
    _ask_for_places(table)
    if table.shape[0] == _BYTES:
        return torch.take(table, x.clamp(-128, 127) + 128)
    place = x.clamp(-(2**15), 2**15 - 1) + 2**15
    i, r = torch.div(place, 128, rounding_mode="floor"), torch.remainder(place, 128)
    return torch.take(table, i) * (128 - r) + torch.take(table, i + 1) * r
