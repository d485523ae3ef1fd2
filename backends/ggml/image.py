"""ggml's operators of image models on whole rows of channels: windows, relative positions, interpolation."""

from __future__ import annotations

import ctypes
import math
from typing import Any

from opproof.backends.ggml.graph import Graph, Tensor
from opproof.backends.ggml.views import ensure_contiguous
from opproof.backends.protocol import Unsupported

_SCALE_MODE_NEAREST, _SCALE_MODE_BILINEAR, _SCALE_MODE_BICUBIC, _SCALE_FLAG_ALIGN_CORNERS = (
    0,
    1,
    2,
    256,
)  # enum ggml_scale_mode and ggml_scale_flag


def _call_interpolate(g: Graph, x: Tensor, size: tuple[int, int], mode: int) -> Tensor:
    shape = (*x.shape[:2], *size)
    return g.call("ggml_interpolate", x, *(ctypes.c_int64(n) for n in reversed(shape)), mode, shape=shape)


def upsample_nearest(g: Graph, x: Tensor, *, size: tuple[int, int]) -> Tensor:
    return _call_interpolate(g, x, size, _SCALE_MODE_NEAREST)


def upsample_bilinear(g: Graph, x: Tensor, *, size: tuple[int, int], align_corners: bool) -> Tensor:
    return _call_interpolate(g, x, size, _SCALE_MODE_BILINEAR | (_SCALE_FLAG_ALIGN_CORNERS if align_corners else 0))


def upsample_bicubic(g: Graph, x: Tensor, *, size: tuple[int, int], align_corners: bool) -> Tensor:
    return _call_interpolate(g, x, size, _SCALE_MODE_BICUBIC | (_SCALE_FLAG_ALIGN_CORNERS if align_corners else 0))


def window_partition(g: Graph, x: Tensor, *, window_size: int) -> Tensor:
    n, h, w, c = x.shape
    if n != 1:
        raise Unsupported("ggml_win_part takes one image")
    count = -(-h // window_size) * -(-w // window_size)
    return g.call("ggml_win_part", ensure_contiguous(g, x), window_size, shape=(count, window_size, window_size, c))


def window_unpartition(g: Graph, x: Tensor, *, size: tuple[int, int]) -> Tensor:
    h, w = size
    window = x.shape[1]
    if x.shape[0] != -(-h // window) * -(-w // window):
        raise Unsupported("ggml_win_unpart makes one image")
    return g.call("ggml_win_unpart", ensure_contiguous(g, x), w, h, window, shape=(1, h, w, x.shape[-1]))


def get_rel_pos(g: Graph, x: Tensor, *, q_size: int, k_size: int) -> Tensor:
    if q_size != k_size:
        raise Unsupported("ggml_get_rel_pos takes as many queries as keys")
    return g.call("ggml_get_rel_pos", ensure_contiguous(g, x), q_size, k_size, shape=(q_size, k_size, x.shape[-1]))


def add_rel_pos(g: Graph, x: Tensor, rel_w: Tensor, rel_h: Tensor) -> Tensor:
    if rel_w.shape != rel_h.shape or math.prod(rel_w.shape[-1:]) ** 2 != x.shape[-1]:
        raise Unsupported("ggml_add_rel_pos takes square windows of keys")
    return g.call("ggml_add_rel_pos", ensure_contiguous(g, x), ensure_contiguous(g, rel_w), ensure_contiguous(g, rel_h))


TABLE: dict[str, Any] = {
    f.__name__: f
    for f in (
        upsample_nearest, upsample_bilinear, upsample_bicubic, window_partition, window_unpartition, get_rel_pos,
        add_rel_pos,
    )
}  # fmt: skip
