"""autograd's functions by operator: reductions, scans, linear algebra, convolution. See pointwise.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import autograd.numpy as anp
import numpy as np
from autograd.scipy import linalg, signal, special

from opproof.backends.protocol import Unsupported

Sizes = int | tuple[int, ...]


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under NumPy's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _norm(x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
    """anp.linalg.norm of vectors; over several axes it is another norm, so one axis or a vector it is."""
    if (dim is None and x.ndim != 1) or isinstance(dim, tuple):
        raise Unsupported("NumPy's linalg.norm over several axes is a matrix norm")
    return anp.linalg.norm(x, p, dim, keepdims=True) if keepdim else anp.linalg.norm(x, p, dim)


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    y = anp.matmul(x, weight.T)
    return y if bias is None else y + bias


def _outer_product(a: Any, b: Any) -> Any:
    return anp.outer(a, b) if a.ndim == 1 else anp.einsum("...km,...kn->...mn", a, b)


def _mul_mat_id(a: Any, b: Any, ids: Any) -> Any:
    return anp.einsum("tumk,tuk->tum", a[ids], b if b.shape[1] == ids.shape[1] else anp.repeat(b, ids.shape[1], 1))


def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    if a.ndim != 2 or b.ndim > 2 or not left:
        raise Unsupported("SciPy's solve_triangular, as autograd differentiates it, solves one A X = B")
    if a.dtype == np.float16:
        raise Unsupported("LAPACK has no 16-bit floats")
    return linalg.solve_triangular(a, b, lower=not upper, unit_diagonal=unitriangular, check_finite=False)


def _cholesky(x: Any) -> Any:
    if x.dtype == np.float16:
        raise Unsupported("LAPACK has no 16-bit floats")
    return anp.linalg.cholesky(x)


def _causal(x: Any, n_past: int) -> Any:
    return np.tri(x.shape[-2], x.shape[-1], n_past, dtype=bool)


def _conv(n: int) -> Callable[..., Any]:
    def conv(
        x: Any, weight: Any, bias: Any = None, *, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
    ) -> Any:
        """signal.convolve turns the kernel, as a convolution in the mathematicians' sense does: it is turned before."""
        if any(v not in (1, (1,) * n) for v in (stride, dilation)) or groups != 1:
            raise Unsupported("autograd's signal.convolve has no stride, no dilation and no groups")
        pads = (padding,) * n if isinstance(padding, int) else padding
        if any(k > m + 2 * p for k, m, p in zip(weight.shape[2:], x.shape[2:], pads, strict=True)):
            raise Unsupported("autograd's signal.convolve exchanges the arrays where the kernel is the larger")
        wide = anp.pad(x, ((0, 0), (0, 0), *((p, p) for p in pads)), mode="constant") if any(pads) else x
        turned = weight[(slice(None), slice(None), *(slice(None, None, -1),) * n)]
        axes = list(range(2, n + 2))
        y = signal.convolve(wide, turned, axes=[axes, axes], dot_axes=[[1], [1]], mode="valid")
        return y if bias is None else y + anp.reshape(bias, (1, -1) + (1,) * n)

    return conv


TABLE: dict[str, Callable[..., Any]] = {
    # Reductions and scans
    "sum": _along(anp.sum),
    "mean": _along(anp.mean),
    "prod": _along(anp.prod),
    "amax": _along(anp.max),
    "amin": _along(anp.min),
    "all": _along(anp.all),
    "any": _along(anp.any),
    "argmax": _along(anp.argmax),
    "argmin": _along(anp.argmin),
    "var": lambda x, *, dim, correction, keepdim: anp.var(x, axis=dim, ddof=correction, keepdims=keepdim),
    "std": lambda x, *, dim, correction, keepdim: anp.std(x, axis=dim, ddof=correction, keepdims=keepdim),
    "norm": _norm,
    "logsumexp": _along(special.logsumexp),
    "cumsum": lambda x, *, dim: anp.cumsum(x, axis=dim),
    "cumprod": lambda x, *, dim: anp.cumprod(x, axis=dim),
    "count_equal": lambda a, b: anp.count_nonzero(a == b),
    # Linear algebra
    "matmul": anp.matmul,
    "bmm": anp.matmul,
    "dot": anp.dot,
    "linear": _linear,
    "outer_product": _outer_product,
    "mul_mat_id": _mul_mat_id,
    "add_id": lambda a, b, ids: a + b[ids],
    "tril": lambda x, *, diagonal: anp.tril(x, diagonal),
    "triu": lambda x, *, diagonal: anp.triu(x, diagonal),
    "diag": lambda x, *, diagonal: anp.diag(x, diagonal),
    "diag_mask_inf": lambda x, *, n_past: anp.where(_causal(x, n_past), x, -anp.inf),
    "diag_mask_zero": lambda x, *, n_past: anp.where(_causal(x, n_past), x, 0),
    "solve_triangular": _solve_triangular,
    "cholesky": _cholesky,
    # Convolution
    "conv1d": _conv(1),
    "conv2d": _conv(2),
    "conv3d": _conv(3),
}
