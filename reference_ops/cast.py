"""cast: x copied into the dtype `to` and back, so rounded to it, to even, and overflowing to inf.

Shapes: x any; y as x, in the dtype of x. `to` is a float of 8, 16 or 32 bits; of integers also i8, i16 or i32.
Gradient: g through the same two copies, as it comes back in `to` (the staircase itself has none).
What is past the largest number of 8 bits is that number in f8e4m3, which has no infinity, and infinite in f8e5m2, as
PyTorch has them; NaN and the largest one are as right (there are saturating conversions and others, both in use).
Source: IEEE 754-2019, sections 4.3.1 and 5.4.2; bfloat16 as float32 with 8 significant bits; OCP 8-bit floating point
specification (OFP8), 2023, section 5.2.
PyTorch: torch.Tensor.to. ONNX: Cast. ggml: ggml_cast, ggml_cpy between types.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Kind

EXACT = ("forward", "vjp")
TRIVIAL = {"forward": ("copy",), "vjp": ("copy",)}  # into a wider dtype
TRAITS = ("pointwise",)
KINDS = ("float8", "signed", "unsigned")


def _there_and_back(x: Array, to: str) -> Array:
    return x.astype(DTYPES[to].numpy).astype(x.dtype)


def _saturated(x: Array, to: str) -> Array:
    return _there_and_back(np.clip(x, DTYPES[to].min, DTYPES[to].max), to)


def forward(x: Array, *, to: str) -> Array:
    return _there_and_back(x, to) if DTYPES[to].has_infinity else _saturated(x, to)


def conventions(x: Array, *, to: str) -> Iterator[Array]:
    if DTYPES[to].kind is Kind.FLOAT8:
        yield _there_and_back(x, to)
        yield _saturated(x, to)
        yield np.where(np.isinf(x), _there_and_back(x, to), _saturated(x, to))


def vjp(g: Array, y: Array, x: Array, *, to: str) -> Array:
    return _there_and_back(g, to)


def torch(torch: Any, x: Any, *, to: str) -> Any:
    return x.to(getattr(torch, DTYPES[to].numpy.name)).to(x.dtype)
