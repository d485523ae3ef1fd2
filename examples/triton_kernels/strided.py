"""Where elements lie: every tensor is taken as one of four axes, of any strides, its shorter shapes padded in front."""

import torch
import triton
import triton.language as tl  # noqa: F401 - the interpreter asks that a kernel's module has it

from opproof.backends import Unsupported


def as4d(x: torch.Tensor) -> torch.Tensor:
    """A view of `x` with four axes. Raises Unsupported when it has more."""
    if x.ndim > 4:
        raise Unsupported(f"tensors of {x.ndim} axes; these kernels take at most 4")
    return x[(None,) * (4 - x.ndim)]


@triton.jit
def element(i, sizes, strides):
    """Offset of the i-th element, in row-major order, of a tensor of `sizes` (n0, n1, n2, n3)."""
    i3 = i % sizes[3]
    i2 = i // sizes[3] % sizes[2]
    i1 = i // (sizes[3] * sizes[2]) % sizes[1]
    i0 = i // (sizes[3] * sizes[2] * sizes[1])
    return i0 * strides[0] + i1 * strides[1] + i2 * strides[2] + i3 * strides[3]


@triton.jit
def row_start(row, sizes, strides):
    """Offset of the first element of row `row` of a tensor of `sizes` (n0, n1, n2, n3), a row being n3 elements."""
    i2 = row % sizes[2]
    i1 = row // sizes[2] % sizes[1]
    i0 = row // (sizes[2] * sizes[1])
    return i0 * strides[0] + i1 * strides[1] + i2 * strides[2]


def block_of(n: int, most: int = 1024) -> int:
    """The power of two that a row of `n` elements is taken in: all of it, or `most` at a time."""
    return min(triton.next_power_of_2(max(n, 1)), most)
