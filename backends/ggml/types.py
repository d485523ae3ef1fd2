"""Which types the CPU backend of ggml computes each function in, by the type of its first tensor.

ggml has no question to ask: a kernel that lacks a type aborts the process. The table follows
ggml-cpu/ops.cpp, unary-ops.cpp and binary-ops.cpp of ggml 0.13, with what newer versions add to it; what stands
nowhere takes f32.
"""

from __future__ import annotations

from opproof.backends.ggml.library import QUANTISED
from opproof.backends.ggml.versions import Release, is_since

_FLOATS = ("f32", "f16", "bf16")
_ANY = (*_FLOATS, "i32", "i64")
_QUANTISED = tuple(name for name in QUANTISED if name != "q8_1")  # which ggml only writes, for products with it

_THREE = """
    abs sgn neg step tanh elu relu sigmoid hardsigmoid hardswish exp expm1 softplus floor ceil round trunc xielu
    sqr sqrt sin cos log add add1 sub mul div sum repeat repeat_4d
"""
_TWO = """
    gelu gelu_erf gelu_quick silu leaky_relu reglu geglu swiglu geglu_erf geglu_quick
    reglu_swapped geglu_swapped swiglu_swapped geglu_erf_swapped geglu_quick_swapped
    reglu_split geglu_split swiglu_split geglu_erf_split geglu_quick_split
    clamp rope_ext rope_ext_back rope_multi rope_multi_back im2col im2col_3d conv_2d conv_3d
    conv_transpose_1d conv_transpose_2d_p0 pool_1d pool_2d silu_back get_rows_back
"""
_COPIES = (
    "cont dup concat reshape_1d reshape_2d reshape_3d reshape_4d permute transpose view_1d view_2d view_3d view_4d"
)
_MOVES = """
    cont dup reshape_1d reshape_2d reshape_3d reshape_4d permute transpose view_1d view_2d view_3d view_4d concat
    flash_attn_ext
"""

TABLE: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(_THREE.split(), _FLOATS),
    **dict.fromkeys(_TWO.split(), ("f32", "f16")),
    **dict.fromkeys(_MOVES.split(), _ANY),
    **dict.fromkeys(_COPIES.split(), (*_ANY, "i8", "i16")),
    **dict.fromkeys(("repeat", "repeat_4d"), (*_FLOATS, "i32", "i16")),
    "cast": (*_ANY, *_QUANTISED),
    "get_rows": (*_ANY, *_QUANTISED),
    "mul_mat": (*_FLOATS, *_QUANTISED),
    "out_prod": ("f32", *_QUANTISED),
    "mul_mat_id": (*_FLOATS, *_QUANTISED),
    "set_rows": (*_FLOATS, *QUANTISED),
    "conv_1d": ("f16",),
    "conv_2d_dw": ("f16",),
    "count_equal": ("i32",),
    "set": ("f32", "i32"),
    "get_rel_pos": ("f16", "bf16"),
}

_BF16 = """
    gelu gelu_erf gelu_quick silu scale scale_bias reglu geglu swiglu geglu_erf geglu_quick
    reglu_swapped geglu_swapped swiglu_swapped geglu_erf_swapped geglu_quick_swapped
    reglu_split geglu_split swiglu_split geglu_erf_split geglu_quick_split
"""

#: Types that a function takes from a release on.
ADDED: dict[str, tuple[Release, str]] = {"fill": ((0, 14), "f16"), **dict.fromkeys(_BF16.split(), ((0, 25), "bf16"))}


def types_of(function: str, version: str) -> tuple[str, ...]:
    """Names of the types that `function` (with its prefix ggml_) takes in this version."""
    name = function.removeprefix("ggml_")
    release, added = ADDED.get(name, ((0, 0), ""))
    return TABLE.get(name, ("f32",)) + ((added,) if added and is_since(version, release) else ())
