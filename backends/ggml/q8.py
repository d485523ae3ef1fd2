"""ggml's q8_0 and q8_1 as its AVX2 code makes them (quantize_row_q8_0, quantize_row_q8_1, arch/x86/quants.c)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def make_q8_blocks(rows: NDArray[np.float32], *, summed: bool) -> NDArray[np.uint8]:
    """Blocks of 32 values (blocks, 32): the scale, the sum where it is asked for, and codes with halves to even."""
    top = np.max(np.abs(rows), axis=-1, keepdims=True)
    with np.errstate(all="ignore"):
        factor = np.where(top != 0, np.float32(127) / top, np.float32(0)).astype(np.float32)
        codes = np.rint(rows * factor).astype(np.int8)
        scale = (top / np.float32(127)).astype(np.float32)
        parts = [scale.astype("<f2")]
        if summed:
            parts.append((scale * codes.astype(np.int32).sum(axis=-1, keepdims=True).astype(np.float32)).astype("<f2"))
    return np.concatenate([*(p.view(np.uint8) for p in parts), codes.view(np.uint8)], axis=-1)
