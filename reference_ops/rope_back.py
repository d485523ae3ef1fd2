"""rope_back: the gradient of rope with respect to its input, pairs of channels turned back.

Shapes: grad (n, tokens, heads, d), positions (tokens,) or (4, tokens) integers, freq_factors (pairs,) or none;
y as grad. The parameters are those of rope; attn_factor and YaRN scale as they do there, they are not undone.
Gradient: dgrad = g turned forward; dfreq_factors as in rope with the angle's sign changed. None for positions.
Source: ggml.h, ggml_rope_ext_back: the transpose of a rotation is its inverse.
PyTorch: none (autograd of rope). ONNX: none. ggml: ggml_rope_ext_back, ggml_rope_multi_back.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._rope import factors_vjp, rotate, torch_rotate, turn
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,t,h,2*p<257),(t),(p)?; n_dims=2*p"
ANALYTIC = True
TRAITS = ("long sum",)
NEIGHBOURS = ("rope",)
IN_PLACE = ("grad",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"positions": range(131072 if params.get("freq_base", 0) >= 1e5 else 200), "freq_factors": (0.5, 4.0)}


def forward(
    grad: Array,
    positions: Array,
    freq_factors: Array | None = None,
    *,
    n_dims: int,
    mode: str = "norm",
    freq_base: float = 10000.0,
    freq_scale: float = 1.0,
    ext_factor: float = 0.0,
    attn_factor: float = 1.0,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    n_ctx_orig: int = 0,
    sections: tuple[int, ...] = (0, 0, 0, 0),
) -> Array:
    by = turn(
        grad, positions, freq_factors, n_dims=n_dims, mode=mode, freq_base=freq_base, freq_scale=freq_scale,
        ext_factor=ext_factor, attn_factor=attn_factor, beta_fast=beta_fast, beta_slow=beta_slow,
        n_ctx_orig=n_ctx_orig, sections=sections,
    )  # fmt: skip
    return rotate(grad, by, n_dims, mode, -1)


def vjp(
    g: Array, y: Array, grad: Array, positions: Array, freq_factors: Array | None = None, **params: Any
) -> tuple[Array, None, Array | None]:
    by, n_dims, mode = turn(g, positions, freq_factors, **params), params["n_dims"], params["mode"]
    dfactors = None if freq_factors is None else factors_vjp(g, y, by, freq_factors, n_dims, mode, -1)
    return rotate(g, by, n_dims, mode, 1), None, dfactors


def torch(torch: Any, grad: Any, positions: Any, freq_factors: Any = None, **params: Any) -> Any:
    wide, factors = widened(torch, grad, freq_factors)
    return torch_rotate(torch, wide, positions, factors, -1, **params).to(grad.dtype)
