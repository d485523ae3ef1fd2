"""gelu: x Φ(x), or its tanh form x σ(2u) with u = √(2/π) (x + 0.044715 x³), and its derivative times g.

(1 + tanh u) / 2 = σ(2u): written so, nothing cancels where x is far below 0.
"""

import triton
import triton.language as tl
from strided import as4d, element

BLOCK = 1024


@triton.jit
def tanh_argument(x):
    """2u, and its derivative."""
    return 1.5957691216057308 * (x + 0.044715 * x * x * x), 1.5957691216057308 * (1 + 0.134145 * x * x)


@triton.jit
def gelu_forward(x, y, count, sizes, x_strides, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    v = tl.load(x + element(i, sizes, x_strides), mask=inside, other=0.0).to(tl.float32)
    if TANH:
        u, _ = tanh_argument(v)
        result = v * tl.sigmoid(u)
    else:
        result = 0.5 * v * (1 + tl.erf(v * 0.7071067811865476))
    tl.store(y + i, result.to(y.dtype.element_ty), mask=inside)


@triton.jit
def gelu_backward(g, x, dx, count, sizes, g_strides, x_strides, TANH: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = i < count
    v = tl.load(x + element(i, sizes, x_strides), mask=inside, other=0.0).to(tl.float32)
    cotangent = tl.load(g + element(i, sizes, g_strides), mask=inside, other=0.0).to(tl.float32)
    if TANH:
        u, du = tanh_argument(v)
        s = tl.sigmoid(u)
        slope = s + v * (s * tl.sigmoid(-u) * du)
    else:
        slope = 0.5 * (1 + tl.erf(v * 0.7071067811865476)) + v * (0.3989422804014327 * tl.exp(-0.5 * v * v))
    tl.store(dx + i, (cotangent * slope).to(dx.dtype.element_ty), mask=inside)


def forward(x, y, *, approximate):
    x = as4d(x)
    grid = (triton.cdiv(x.numel(), BLOCK),)
    gelu_forward[grid](x, y, x.numel(), x.shape, x.stride(), approximate == "tanh", BLOCK)


def backward(g, x, dx, *, approximate):
    g, x = as4d(g), as4d(x)
    grid = (triton.cdiv(x.numel(), BLOCK),)
    gelu_backward[grid](g, x, dx, x.numel(), x.shape, g.stride(), x.stride(), approximate == "tanh", BLOCK)
