"""MLX's functions by operator: pointwise, reductions, linear algebra, losses. See also _mlx_moves and _mlx_nn.

An entry takes the operator's tensors and parameters by our names and calls MLX's own function, nothing
of ours in its place; what MLX has no function for is not here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
from mlx import nn
from mlx.nn import losses

from opproof.backends._protocol import Unsupported


def _along(function: Callable[..., Any]) -> Callable[..., Any]:
    """`dim` and `keepdim` under MLX's names."""
    return lambda x, *, dim=None, keepdim=False: function(x, axis=dim, keepdims=keepdim)


def _softplus(x: Any, *, beta: float, threshold: float) -> Any:
    # Past 20 MLX's and the thresholded one agree to 2e-9, which float64 alone sees.
    if beta != 1 or threshold < 20 or (threshold != math.inf and x.dtype == mx.float64):
        raise Unsupported("MLX's softplus has neither beta nor threshold")
    return nn.softplus(x)


def _prelu(x: Any, weight: Any) -> Any:
    return nn.prelu(x, weight.reshape((-1,) + (1,) * (x.ndim - 2)) if x.ndim > 1 else weight.reshape(()))


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


def _solve_triangular(a: Any, b: Any, *, upper: bool, left: bool, unitriangular: bool) -> Any:
    if not left or unitriangular:
        raise Unsupported("MLX's solve_triangular solves A X = B with the diagonal as it stands")
    if a.dtype not in (mx.float32, mx.float64):
        raise Unsupported("MLX's solve_triangular has no 16-bit floats")
    return mx.linalg.solve_triangular(a, b, upper=upper)


def _causal(x: Any, n_past: int) -> Any:
    return mx.tri(*x.shape[-2:], n_past, dtype=mx.bool_)


def _loss(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x, target, *, reduction, **given: function(x, target, **given, reduction=reduction)


def _cross_entropy(
    x: Any, target: Any, weight: Any = None, *, ignore_index: int, label_smoothing: float, reduction: str
) -> Any:
    if weight is not None or ignore_index >= 0:
        raise Unsupported("MLX's cross_entropy has no class weights and ignores no class")
    axis = 1 if x.ndim > 1 else 0
    return losses.cross_entropy(x, target, axis=axis, label_smoothing=label_smoothing, reduction=reduction)


def _nll_loss(x: Any, target: Any, weight: Any = None, *, ignore_index: int, reduction: str) -> Any:
    if weight is not None or ignore_index >= 0:
        raise Unsupported("MLX's nll_loss has no class weights and ignores no class")
    return losses.nll_loss(x, target, axis=1 if x.ndim > 1 else 0, reduction=reduction)


def _bce(x: Any, target: Any, weight: Any = None, pos_weight: Any = None, *, reduction: str) -> Any:
    if pos_weight is not None or (weight is not None and weight.shape != x.shape):
        raise Unsupported("MLX's binary_cross_entropy has no pos_weight, and weights in the shape of x only")
    return losses.binary_cross_entropy(x, target, weight, with_logits=True, reduction=reduction)


TABLE: dict[str, Callable[..., Any]] = {
    # Pointwise
    "abs": mx.abs,
    "neg": mx.negative,
    "sign": mx.sign,
    "square": mx.square,
    "sqrt": mx.sqrt,
    "rsqrt": mx.rsqrt,
    "reciprocal": mx.reciprocal,
    "log": mx.log,
    "log2": mx.log2,
    "log1p": mx.log1p,
    "exp": mx.exp,
    "expm1": mx.expm1,
    "sin": mx.sin,
    "cos": mx.cos,
    "tan": mx.tan,
    "tanh": mx.tanh,
    "sinh": mx.sinh,
    "cosh": mx.cosh,
    "asin": mx.arcsin,
    "acos": mx.arccos,
    "atan": mx.arctan,
    "erf": mx.erf,
    "floor": mx.floor,
    "ceil": mx.ceil,
    "round": mx.round,
    "trunc": mx.trunc,
    "sigmoid": mx.sigmoid,
    "logsigmoid": nn.log_sigmoid,
    "relu": nn.relu,
    "relu6": nn.relu6,
    "leaky_relu": lambda x, *, negative_slope: nn.leaky_relu(x, negative_slope),
    "prelu": _prelu,
    "elu": lambda x, *, alpha: nn.elu(x, alpha),
    "celu": lambda x, *, alpha: nn.celu(x, alpha),
    "selu": nn.selu,
    "gelu": lambda x, *, approximate: nn.gelu_approx(x) if approximate == "tanh" else nn.gelu(x),
    "gelu_quick": nn.gelu_fast_approx,
    "silu": nn.silu,
    "mish": nn.mish,
    "hardswish": nn.hardswish,
    "hardtanh": lambda x, *, min_val, max_val: nn.hard_tanh(x, min_val, max_val),
    "hardshrink": lambda x, *, lambd: nn.hard_shrink(x, lambd),
    "softshrink": lambda x, *, lambd: nn.softshrink(x, lambd),
    "softplus": _softplus,
    "softsign": nn.softsign,
    "clamp": lambda x, *, min, max: mx.clip(x, min, max),
    "scale": lambda x, *, s, b: s * x + b,
    # Two and three tensors
    "add": mx.add,
    "add1": lambda a, b: mx.add(a, b.reshape(())),
    "sub": mx.subtract,
    "mul": mx.multiply,
    "div": mx.divide,
    "pow": lambda a, b=None, *, exponent: mx.power(a, exponent if b is None else b),
    "remainder": mx.remainder,
    "floor_divide": mx.floor_divide,
    "atan2": mx.arctan2,
    "maximum": mx.maximum,
    "minimum": mx.minimum,
    "where": lambda condition, a, b: mx.where(condition != 0, a, b),
    "masked_fill": lambda x, mask, *, value: mx.where(mask != 0, mx.array(value, x.dtype), x),
    "eq": mx.equal,
    "ne": mx.not_equal,
    "lt": mx.less,
    "le": mx.less_equal,
    "gt": mx.greater,
    "ge": mx.greater_equal,
    "logical_and": mx.logical_and,
    "logical_or": mx.logical_or,
    "logical_not": mx.logical_not,
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
    "count_equal": lambda a, b: mx.count_nonzero(a == b),
    # Linear algebra
    "matmul": mx.matmul,
    "bmm": mx.matmul,
    "dot": mx.inner,
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
    # Losses
    "cross_entropy": _cross_entropy,
    "nll_loss": _nll_loss,
    "mse_loss": _loss(losses.mse_loss),
    "l1_loss": _loss(losses.l1_loss),
    "smooth_l1_loss": _loss(losses.smooth_l1_loss),
    "huber_loss": _loss(losses.huber_loss),
    "bce_with_logits": _bce,
}
