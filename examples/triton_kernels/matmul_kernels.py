"""matmul: one program per tile of the product and batch, sums in float32 over tiles of k.

Batches have two axes. Those of the result are `batch`; those in `summed` are added up inside the program, which is
how the gradient of a broadcast operand is made: da = g bᵀ and db = aᵀ g, both by this kernel, the transposes by
strides alone.
"""

import triton
import triton.language as tl
from strided import as4d

TILE_M, TILE_N, TILE_K = 32, 32, 64


@triton.jit
def matmul_kernel(
    a, b, c, m, n, k, batch1, summed0, summed1, a_strides, b_strides, c_strides,
    WIDEN: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr, TILE_K: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)
    j = tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)
    batch = tl.program_id(2).to(tl.int64)
    a += batch // batch1 * a_strides[0] + batch % batch1 * a_strides[1]
    b += batch // batch1 * b_strides[0] + batch % batch1 * b_strides[1]
    c += batch // batch1 * c_strides[0] + batch % batch1 * c_strides[1]
    total = tl.zeros((TILE_M, TILE_N), tl.float32)
    for s in range(summed0 * summed1):
        a_part = a + s // summed1 * a_strides[0] + s % summed1 * a_strides[1]
        b_part = b + s // summed1 * b_strides[0] + s % summed1 * b_strides[1]
        for start in range(0, k, TILE_K):
            l = start + tl.arange(0, TILE_K)
            at_a = i[:, None] * a_strides[2] + l[None, :] * a_strides[3]
            at_b = l[:, None] * b_strides[2] + j[None, :] * b_strides[3]
            left = tl.load(a_part + at_a, mask=(i[:, None] < m) & (l[None, :] < k), other=0.0)
            right = tl.load(b_part + at_b, mask=(l[:, None] < k) & (j[None, :] < n), other=0.0)
            if WIDEN:
                left, right = left.to(tl.float32), right.to(tl.float32)
            total = tl.dot(left, right, total, input_precision="ieee")
    at_c = i[:, None] * c_strides[2] + j[None, :] * c_strides[3]
    tl.store(c + at_c, total.to(c.dtype.element_ty), mask=(i[:, None] < m) & (j[None, :] < n))


def product(a, b, c):
    """Write a b to c, all of four axes; batch axes in which c is 1 and a or b is more are summed."""
    full = [max(s, t) if s and t else 0 for s, t in zip(a.shape[:2], b.shape[:2], strict=True)]
    summed = [f if s == 1 else 1 for f, s in zip(full, c.shape[:2], strict=True)]
    a, b = a.expand(*full, -1, -1), b.expand(*full, -1, -1)
    m, n, k = c.shape[2], c.shape[3], a.shape[3]
    grid = (triton.cdiv(m, TILE_M), triton.cdiv(n, TILE_N), c.shape[0] * c.shape[1])
    strides = (a.stride(), b.stride(), c.stride())
    widen = not isinstance(matmul_kernel, triton.JITFunction)  # the interpreter has no arithmetic in bf16
    matmul_kernel[grid](a, b, c, m, n, k, c.shape[1], *summed, *strides, widen, TILE_M, TILE_N, TILE_K)


def matrices(a, b, c):
    """The three as batches of matrices of four axes: a vector a is a row, a vector b is a column."""
    if b.ndim == 1:
        b, c = b[:, None], c[..., None]
    if a.ndim == 1:
        a, c = a[None, :], c[..., None, :]
    return as4d(a), as4d(b), as4d(c)


def forward(a, b, c):
    product(*matrices(a, b, c))


def backward(g, a, b, da, db):
    a4, b4, g4 = matrices(a, b, g)
    if da is not None:
        product(g4, b4.mT, as4d(da[None, :] if a.ndim == 1 else da))
    if db is not None:
        product(a4.mT, g4, as4d(db[:, None] if b.ndim == 1 else db))
