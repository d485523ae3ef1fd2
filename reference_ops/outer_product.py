"""outer_product: the sum over k of the outer products of rows k of a and b, which is aᵀ b; batches broadcast.

Shapes: a (..., k, m), b (..., k, n); y (..., m, n). Vectors a (m,) and b (n,): their one outer product (m, n).
Gradient: da = b gᵀ and db = a g, each summed over the batch axes along which it was broadcast.
Source: Giles, Collected matrix derivative results for forward and reverse mode AD (2008), 2.2.2.
PyTorch: torch.outer (of vectors). ONNX: none. ggml: ggml_out_prod (b first).
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.reference_ops._arrays import unbroadcast

SIGNATURE = "(...,k,m),(...,k,n) | (m),(n)"
ANALYTIC = True
MULTILINEAR = True
KINDS = ("signed", "unsigned")


def _rows(v: Array) -> Array:
    return np.reshape(v, (1, v.shape[0])) if v.ndim == 1 else v


def forward(a: Array, b: Array) -> Array:
    return np.matmul(np.swapaxes(_rows(a), -1, -2), _rows(b))  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array) -> tuple[Array, Array]:
    da = np.matmul(_rows(b), np.swapaxes(g, -1, -2))
    db = np.matmul(_rows(a), g)
    return (
        np.reshape(unbroadcast(da, _rows(a).shape), a.shape),
        np.reshape(unbroadcast(db, _rows(b).shape), b.shape),
    )


def torch(torch: Any, a: Any, b: Any) -> Any:
    return torch.outer(a, b) if a.ndim == 1 else torch.einsum("...km,...kn->...mn", a, b)
