"""rope_offset: pairs of channels turned by an angle that grows with the token's place, the first of them `offset`.

Shapes: x (n, tokens, heads, d); y as x. Token t stands at offset + t; pair i turns by
freq_scale (offset + t) freq_base^(-2 i / n_dims).
mode: "norm" pairs channels 2 i and 2 i + 1, "neox" i and i + n_dims / 2; channels from n_dims on stay as they are.
Gradient: g turned back.
Source: Su et al., RoFormer (2021), equation 15; MLX, mx.fast.rope.
PyTorch: none. ONNX: none. ggml: none (ggml_rope with positions from offset on; ggml_rope of 2023, n_past).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops import rope
from opproof.reference_ops._rope import USUAL

SIGNATURE = "(n,t,h,2*p<257); n_dims=2*p"
ANALYTIC = True
TRAITS = ()
IN_PLACE = ("x",)


def independent(shapes: dict[str, tuple[int, ...]], **params: Any) -> list[dict[str, int]]:
    return [{"x": -4, "y": -4}, {"x": -2, "y": -2}]


def _places(x: Array, offset: int) -> Array:
    return np.arange(offset, offset + x.shape[1])


def forward(
    x: Array, *, n_dims: int, offset: int = 0, mode: str = "norm", freq_base: float = 10000.0, freq_scale: float = 1.0
) -> Array:
    return rope.forward(x, _places(x, offset), n_dims=n_dims, mode=mode, freq_base=freq_base, freq_scale=freq_scale)


def vjp(
    g: Array,
    y: Array,
    x: Array,
    *,
    n_dims: int,
    offset: int = 0,
    mode: str = "norm",
    freq_base: float = 10000.0,
    freq_scale: float = 1.0,
) -> Array:
    params = {**USUAL, "n_dims": n_dims, "mode": mode}
    return rope.vjp(g, y, x, _places(x, offset), **{**params, "freq_base": freq_base, "freq_scale": freq_scale})[0]


def torch(
    torch: Any,
    x: Any,
    *,
    n_dims: int,
    offset: int = 0,
    mode: str = "norm",
    freq_base: float = 10000.0,
    freq_scale: float = 1.0,
) -> Any:
    params = {**USUAL, "n_dims": n_dims, "mode": mode}
    places = torch.arange(offset, offset + x.shape[1])
    return rope.torch(torch, x, places, **{**params, "freq_base": freq_base, "freq_scale": freq_scale})
