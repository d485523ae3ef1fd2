"""MLX's functions by operator: reductions, scans, linear algebra. See pointwise.py."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx

from opproof.backends.protocol import Unsupported

_FFT = "MLX's fft is of float32, and divides the inverse by n"


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under MLX's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _norm(x: Any, *, p: float, dim: Any, keepdim: bool) -> Any:
    """mx.linalg.norm of vectors; over several axes it is a matrix norm, so they are joined first."""
    if dim is None:
        dims: tuple[int, ...] = tuple(range(x.ndim))
    else:
        dims = (dim % x.ndim,) if isinstance(dim, int) else tuple(d % x.ndim for d in dim)
    rest = [d for d in range(x.ndim) if d not in dims]
    rows = x.transpose([*rest, *dims]).reshape([*(x.shape[d] for d in rest), math.prod(x.shape[d] for d in dims)])
    y = mx.linalg.norm(rows, ord=p, axis=-1)
    return y.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keepdim else y


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    return x @ weight.T if bias is None else mx.addmm(bias, x, weight.T)


def _outer_product(a: Any, b: Any) -> Any:
    return mx.outer(a, b) if a.ndim == 1 else mx.swapaxes(a, -1, -2) @ b


def _mul_mat_id(a: Any, b: Any, ids: Any) -> Any:
    tokens, used = ids.shape
    rows = mx.broadcast_to(mx.arange(tokens * b.shape[1]).reshape(tokens, b.shape[1]), (tokens, used))
    y = mx.gather_mm(b.reshape(-1, 1, b.shape[-1]), mx.swapaxes(a, 1, 2), rows.astype(mx.uint32), ids.astype(mx.uint32))
    return y.reshape(tokens, used, a.shape[1])


def _decline_16_bits(x: Any, name: str) -> None:
    if x.dtype not in (mx.float32, mx.float64):
        raise Unsupported(f"MLX's {name} has no 16-bit floats")


def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    if not left or unitriangular:
        raise Unsupported("MLX's solve_triangular solves A X = B with the diagonal as it stands")
    _decline_16_bits(a, "solve_triangular")
    return mx.linalg.solve_triangular(a, b, upper=upper)


def _addmm(x: Any, a: Any, b: Any, *, beta: float, alpha: float) -> Any:
    return mx.addmm(x, a, b, alpha=alpha, beta=beta)


def _inverse(x: Any) -> Any:
    _decline_16_bits(x, "linalg.inv")
    return mx.linalg.inv(x)


def _cholesky(x: Any) -> Any:
    _decline_16_bits(x, "linalg.cholesky")
    return mx.linalg.cholesky(x)


def _slogdet(x: Any) -> Any:
    _decline_16_bits(x, "linalg.slogdet")
    return mx.linalg.slogdet(x)


def _split_planes(y: Any, dtype: Any, norm: str) -> tuple[Any, Any]:
    if dtype != mx.float32 or norm != "backward":
        raise Unsupported(_FFT)
    return mx.real(y), mx.imag(y)


def _fft(re: Any, im: Any, *, dim: int, norm: str, inverse: bool) -> tuple[Any, Any]:
    transform = mx.fft.ifft if inverse else mx.fft.fft
    return _split_planes(transform(re + mx.array(1j) * im, axis=dim), re.dtype, norm)


def _rfft(x: Any, *, dim: int, norm: str) -> tuple[Any, Any]:
    return _split_planes(mx.fft.rfft(x, axis=dim), x.dtype, norm)


def _kron(a: Any, b: Any) -> Any:
    if not (a.size and b.size):
        raise Unsupported("MLX's kron refuses what is empty")
    return mx.kron(a, b)


def _fftn(re: Any, im: Any, *, dim: Any, norm: str, inverse: bool) -> tuple[Any, Any]:
    transform = mx.fft.ifftn if inverse else mx.fft.fftn
    return _split_planes(transform(re + mx.array(1j) * im, axes=_axes(dim, re.ndim)), re.dtype, norm)


def _rfftn(x: Any, *, dim: Any, norm: str) -> tuple[Any, Any]:
    return _split_planes(mx.fft.rfftn(x, axes=_axes(dim, x.ndim)), x.dtype, norm)


def _irfft(re: Any, im: Any, *, n: int | None, dim: int, norm: str) -> Any:
    if re.dtype != mx.float32 or norm != "backward":
        raise Unsupported(_FFT)
    return mx.fft.irfft(re + mx.array(1j) * im, n=n, axis=dim)


def _axes(dim: Any, rank: int) -> list[int]:
    if not rank:
        raise Unsupported("MLX's transforms ask for an axis")
    return list(range(rank)) if dim is None else [dim] if isinstance(dim, int) else list(dim)


def _causal(x: Any, n_past: int) -> Any:
    return mx.tri(x.shape[-2], x.shape[-1], n_past, dtype=mx.bool_)


TABLE: dict[str, Callable[..., Any]] = {
    # Reductions and scans
    "sum": _along(mx.sum),
    "mean": _along(mx.mean),
    "prod": _along(mx.prod),
    "amax": _along(mx.max),
    "amin": _along(mx.min),
    "all": _along(mx.all),
    "any": _along(mx.any),
    "argmax": _along(mx.argmax),
    "argmin": _along(mx.argmin),
    "var": lambda x, *, dim, correction, keepdim: mx.var(x, axis=dim, keepdims=keepdim, ddof=correction),
    "std": lambda x, *, dim, correction, keepdim: mx.std(x, axis=dim, keepdims=keepdim, ddof=correction),
    "norm": _norm,
    "logsumexp": _along(mx.logsumexp),
    "cumsum": lambda x, *, dim: mx.cumsum(x, axis=dim),
    "cumprod": lambda x, *, dim: mx.cumprod(x, axis=dim),
    "logcumsumexp": lambda x, *, dim: mx.logcumsumexp(x, axis=dim),
    "count_equal": lambda a, b: mx.count_nonzero(a == b),
    # Linear algebra
    "matmul": mx.matmul,
    "bmm": mx.matmul,
    "dot": mx.inner,
    "addmm": _addmm,
    "baddbmm": _addmm,
    "einsum": lambda a, b, *, equation: mx.einsum(equation, a, b),
    "hadamard": lambda x, *, scale: mx.hadamard_transform(x, scale),
    "inverse": _inverse,
    "cholesky": _cholesky,
    "slogdet": _slogdet,
    "fft": _fft,
    "rfft": _rfft,
    "fftn": _fftn,
    "rfftn": _rfftn,
    "irfft": _irfft,
    "kron": _kron,
    "tensordot": lambda a, b, *, axes: mx.tensordot(a, b, axes),
    "eye": lambda *, n, m, k: mx.eye(n, m, k),
    "linear": _linear,
    "outer_product": _outer_product,
    "mul_mat_id": _mul_mat_id,
    "add_id": lambda a, b, ids: a + mx.take(b, ids, axis=0),
    "tril": lambda x, *, diagonal: mx.tril(x, diagonal),
    "triu": lambda x, *, diagonal: mx.triu(x, diagonal),
    "diag": lambda x, *, diagonal: mx.diag(x, diagonal),
    "diag_mask_inf": lambda x, *, n_past: mx.where(_causal(x, n_past), x, mx.array(-math.inf, x.dtype)),
    "diag_mask_zero": lambda x, *, n_past: mx.where(_causal(x, n_past), x, mx.array(0, x.dtype)),
    "solve_triangular": _solve_triangular,
}
