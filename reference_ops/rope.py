"""rope: pairs of channels turned by an angle that grows with the token's position.

Shapes: x (n, tokens, heads, d), positions (tokens,) integers, or (4, tokens) in the multimodal modes; freq_factors
(pairs,), which divide the angles; y as x. Pair i turns by position freq_base^(-2 i / n_dims).
mode: "norm" pairs channels 2 i and 2 i + 1, "neox" i and i + n_dims / 2; channels from n_dims on stay as they are.
"mrope" and "imrope" pair as neox and follow the four rows of positions by `sections`, in blocks or interleaved.
"vision" has n_dims = d / 2 pairs (i, i + n_dims) and begins each section with the fastest frequency.
freq_scale slows all angles; where ext_factor is not 0, YaRN's ramp does so for slow pairs only, and scales by
1 + 0.1 log(1 / freq_scale); attn_factor scales the result.
Gradient: dx = g turned back; dfreq_factors from the angle's, -angle / freq_factors sum(g · y turned a quarter).
None for positions.
Source: Su et al., RoFormer (2021), equation 15; Peng et al., YaRN (2023); Wang et al., Qwen2-VL (2024), section 2.1;
ggml.h, ggml_rope_ext and ggml_rope_multi.
PyTorch: none. ONNX: RotaryEmbedding (from tables of cosines and sines). ggml: ggml_rope_ext, ggml_rope_multi.
"""

from typing import Any

from opproof.core.arrays import Array
from opproof.reference_ops._rope import factors_vjp, rotate, torch_rotate, turn
from opproof.reference_ops._torch import widened

SIGNATURE = "(n,t,h,2*p<257),(t),(p)?; n_dims=2*p"
ANALYTIC = True
TRAITS = ("long sum",)
NEIGHBOURS = ("rope_back",)
IN_PLACE = ("x",)


def domain(shapes: dict[str, tuple[int, ...]], **params: Any) -> dict[str, Any]:
    return {"positions": range(131072 if params.get("freq_base", 0) >= 1e5 else 200), "freq_factors": (0.5, 4.0)}


def forward(
    x: Array,
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
        x, positions, freq_factors, n_dims=n_dims, mode=mode, freq_base=freq_base, freq_scale=freq_scale,
        ext_factor=ext_factor, attn_factor=attn_factor, beta_fast=beta_fast, beta_slow=beta_slow,
        n_ctx_orig=n_ctx_orig, sections=sections,
    )  # fmt: skip
    return rotate(x, by, n_dims, mode, 1)


def vjp(
    g: Array, y: Array, x: Array, positions: Array, freq_factors: Array | None = None, **params: Any
) -> tuple[Array, None, Array | None]:
    by, n_dims, mode = turn(g, positions, freq_factors, **params), params["n_dims"], params["mode"]
    dfactors = None if freq_factors is None else factors_vjp(g, y, by, freq_factors, n_dims, mode, 1)
    return rotate(g, by, n_dims, mode, -1), None, dfactors


def torch(torch: Any, x: Any, positions: Any, freq_factors: Any = None, **params: Any) -> Any:
    wide, factors = widened(torch, x, freq_factors)
    return torch_rotate(torch, wide, positions, factors, 1, **params).to(x.dtype)
