"""What rounds many times at once: sums, products of matrices, scans, additions by index.

A rule takes the arithmetic, the operation and its arguments. The size of the error of a sum of n terms is that of a
sequential one, as montecarlo/array.py derives it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from opproof.core.errors import OpError
from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic

Rule = Callable[..., Any]


def map_rules(*rows: tuple[Rule, str]) -> dict[str, Rule]:
    """Rules by operation, from rules and the names, in words, of the operations that each is of."""
    return {name: rule for rule, names in rows for name in names.split()}


def differentiate_steps(noise: Arithmetic, made: Callable[..., Any], inputs: Sequence[Any], g: Any) -> tuple[Any, ...]:
    """The gradients of what is `made` of the inputs in steps, by autograd: each step of its backward rounds too."""
    from torch.overrides import enable_reentrant_dispatch

    with enable_reentrant_dispatch(), noise.torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in inputs]
        found: tuple[Any, ...] = noise.torch.autograd.grad(made(*leaves), leaves, g, materialize_grads=True)
    return found


def accumulate_error(total: Any, squares: Any, terms: int) -> Any:
    """RMS rounding error, in roundings, of a sequential sum of `terms` terms."""
    if terms <= 1:
        return total.abs() * 0
    return (terms * (total.abs().square() / 3 + squares / 2)).sqrt_()


def compute_squares(x: Any) -> Any:
    """|x|^2, real."""
    return x.abs().square() if x.is_complex() else x.square()


def axes_of(x: Any, dim: Any) -> list[int]:
    """The axes that `dim` names; all for None and ()."""
    if dim is None or (isinstance(dim, Sequence) and not dim):
        return list(range(x.dim()))
    return [d % max(1, x.dim()) for d in ([dim] if isinstance(dim, int) else dim)]


def count(x: Any, axes: Sequence[int]) -> int:
    """Elements along `axes`."""
    return math.prod(x.shape[a] for a in axes) if x.dim() else 1


def sum_one_by_one(x: Any, axes: Sequence[int]) -> Any:
    """The sum along `axes`, which stay, in float32, term after term: of equal terms all roundings may go one way."""
    last = x.movedim(list(axes), list(range(-len(axes), 0))).flatten(-len(axes))
    terms = last.detach().numpy().astype("complex64" if x.is_complex() else "float32")
    found = last.new_tensor(np.add.accumulate(terms, axis=-1)[..., -1])
    for axis in sorted(axes):
        found = found.unsqueeze(axis)
    return found


def sum_elements(noise: Arithmetic, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
    del func, options
    axes = axes_of(x, dim)
    y = x.sum(axes, keepdim=keepdim)
    terms = count(x, axes)
    if terms <= 1:
        return y
    size = noise.size("sum", lambda: accumulate_error(y, compute_squares(x).sum(axes, keepdim=keepdim), terms))
    return (
        noise.summed(y, size)
        if noise.algorithm is not Algorithm.SEQUENTIAL
        else sum_one_by_one(x, axes).reshape(y.shape)
    )


def take_mean(noise: Arithmetic, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
    """The mean; of one element rounded once all the same: some fold x - mean(x) into x a - mean(x) a."""
    terms = count(x, axes_of(x, dim))
    y = sum_elements(noise, func, x, dim, keepdim, **options)
    return noise.rounded(y / terms if terms else y / 0)


def sum_without_nan(
    noise: Arithmetic, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **options: Any
) -> Any:
    """Nansum."""
    missing = noise.decide("isnan", x.isnan)
    return sum_elements(noise, func, x.masked_fill(missing, 0), dim, keepdim, **options)


def multiply_elements(
    noise: Arithmetic, func: Any, x: Any, dim: Any = None, keepdim: bool = False, **options: Any
) -> Any:
    del options
    y = func(x) if dim is None else x.prod(dim, keepdim=keepdim)
    terms = count(x, axes_of(x, dim))
    return noise.summed(y, noise.size("prod", lambda: y.abs() * math.sqrt(max(terms - 1, 0))))


def multiply_matrices(noise: Arithmetic, func: Any, a: Any, b: Any, *_: Any) -> Any:
    """mm, bmm, mv, dot."""
    y, terms = func(a, b), a.shape[-1]
    if noise.exact:
        noise.products.met(a, y)
    size = noise.size(
        "mm", lambda: accumulate_error(y, func(compute_squares(a), compute_squares(b)), terms if terms != 1 else 2)
    )
    return noise.summed(y, size)


def make_addmm_rule(product_of: str) -> Rule:
    """Addmm and its kin: beta c + alpha a b."""

    def rule(noise: Arithmetic, func: Any, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
        del func
        inner = getattr(noise.torch.ops.aten, product_of).default
        y = multiply_matrices(noise, inner, a, b)
        y = y if alpha == 1 else noise.rounded(y * alpha)
        c = c if beta == 1 else noise.rounded(c * beta)
        return y if beta == 0 else noise.rounded(y + c)

    return rule


def add_batches(noise: Arithmetic, func: Any, c: Any, a: Any, b: Any, **options: Any) -> Any:
    """addbmm: products of matrices added up, which is one product of them side by side."""
    del func
    side = a.transpose(0, 1).reshape(a.shape[1], -1)
    return make_addmm_rule("mm")(noise, None, c, side, b.reshape(-1, b.shape[2]), **options)


def add_outer_product(noise: Arithmetic, func: Any, c: Any, a: Any, b: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Addr."""
    del func
    y = noise.rounded(a[:, None] * b[None] * alpha)
    return noise.rounded(y + c * beta) if beta else y


def accumulate_sum(noise: Arithmetic, func: Any, x: Any, dim: int, **options: Any) -> Any:
    del func, options
    y = x.cumsum(dim)

    def size() -> Any:
        terms = _count_along(noise, x, dim)
        return ((terms * (terms > 1)) * (compute_squares(y) / 3 + compute_squares(x).cumsum(dim) / 2)).sqrt()

    return noise.summed(y, noise.size("cumsum", size))


def accumulate_product(noise: Arithmetic, func: Any, x: Any, dim: int, **options: Any) -> Any:
    del func, options
    y = x.cumprod(dim)
    return noise.summed(y, noise.size("cumprod", lambda: y.abs() * (_count_along(noise, x, dim) - 1).sqrt()))


def accumulate_log_sum(noise: Arithmetic, func: Any, x: Any, dim: int, **options: Any) -> Any:
    """logcumsumexp: a sum of shares of the last, whose logarithm is added to the largest so far."""
    del options
    y = func(x, dim)
    return noise.summed(y, noise.size("logcumsumexp", lambda: _count_along(noise, x, dim).sqrt() + y.abs()))


def _count_along(noise: Arithmetic, x: Any, dim: int) -> Any:
    if not x.dim():
        return noise.torch.ones((), dtype=noise.torch.float64)
    shape = [1] * x.dim()
    shape[dim] = -1
    return noise.torch.arange(1, x.shape[dim] + 1, dtype=noise.torch.float64).reshape(shape)


def by_index(noise: Arithmetic, func: Any, target: Any, *args: Any, **options: Any) -> Any:
    """index_add, scatter_add, index_put(accumulate): additions to places; the values are the last tensor."""
    at = max(i for i, v in enumerate(args) if hasattr(v, "shape"))
    y = func(target, *args, **options)

    def size() -> Any:
        plain = {k: v for k, v in options.items() if k != "alpha"}
        others = [compute_squares(v) if i == at else v for i, v in enumerate(args)]
        squares = func(compute_squares(target), *others, **plain)
        counts = [noise.torch.ones_like(squares.new_empty(v.shape)) if i == at else v for i, v in enumerate(args)]
        terms = func(noise.torch.ones_like(squares), *counts, **plain)
        return ((terms * (terms > 1)) * (compute_squares(y) / 3 + squares / 2)).sqrt()

    return noise.summed(y, noise.size("by_index", size))


def put(noise: Arithmetic, func: Any, x: Any, indices: Any, values: Any, accumulate: bool = False, *_: Any) -> Any:
    """index_put: movement, or additions."""
    del func
    y = noise.torch.ops.aten.index_put.default
    if not accumulate:
        return y(x, indices, values, False)
    return by_index(noise, y, x, indices, values, True)


def put_at(noise: Arithmetic, func: Any, x: Any, index: Any, values: Any, accumulate: bool = False) -> Any:
    """aten::put, by positions in the whole tensor."""
    flat, at = x.reshape(-1), index.reshape(-1)
    return put(noise, func, flat, [at], values.reshape(-1), accumulate).reshape(x.shape)


def differentiate_embedding(
    noise: Arithmetic, func: Any, g: Any, indices: Any, rows: int, padding: int, by_count: bool
) -> Any:
    """embedding_dense_backward."""
    del func
    if by_count:
        raise OpError("embedding_dense_backward of scale_grad_by_freq=True has no rule under noise: leave it out.")
    flat, places = g.reshape(-1, g.shape[-1]), indices.reshape(-1)
    kept = places != padding
    target = noise.torch.zeros(rows, g.shape[-1], dtype=g.dtype)
    return by_index(noise, noise.torch.ops.aten.index_add.default, target, 0, places[kept], flat[kept])


def transform_fourier(noise: Arithmetic, func: Any, x: Any, dim: Sequence[int], normalization: int, *rest: Any) -> Any:
    """_fft_c2c, _fft_r2c, _fft_c2r: every result is a sum over all elements along `dim`."""
    y = func(x, dim, normalization, *rest)
    terms = max(count(x, dim), count(y, dim))

    def size() -> Any:
        each = compute_squares(x).sum(list(dim), keepdim=True) * (1.0, 1 / terms, 1 / terms**2)[normalization]
        return (terms * (compute_squares(y) / 3 + each / 2)).sqrt()

    return noise.summed(y, noise.size("fft", size))


def solve_triangular(
    noise: Arithmetic, func: Any, a: Any, b: Any, *, upper: bool, left: bool = True, **options: Any
) -> Any:
    """linalg_solve_triangular: substitution, in which every row is a sum of what is known by then."""
    y = func(a, b, upper=upper, left=left, **options)

    def size() -> Any:
        inside = compute_squares(a).triu() if upper else compute_squares(a).tril()
        squares = inside @ compute_squares(y) if left else compute_squares(y) @ inside
        return accumulate_error(b, squares, max(2, a.shape[-1]))

    rows = noise.summed(b.expand(y.shape), noise.size("solve", size))
    return y if noise.exact else noise.rounded(func(a, rows, upper=upper, left=left, **options))


SUMS = map_rules(
    (sum_elements, "sum"),
    (take_mean, "mean"),
    (sum_without_nan, "nansum"),
    (multiply_elements, "prod"),
    (multiply_matrices, "mm bmm mv dot vdot"),
    (make_addmm_rule("mm"), "addmm"),
    (make_addmm_rule("bmm"), "baddbmm"),
    (make_addmm_rule("mv"), "addmv"),
    (add_outer_product, "addr"),
    (add_batches, "addbmm"),
    (accumulate_sum, "cumsum"),
    (accumulate_product, "cumprod"),
    (accumulate_log_sum, "logcumsumexp"),
    (by_index, "index_add scatter_add"),
    (put, "index_put _index_put_impl _unsafe_index_put"),
    (put_at, "put"),
    (differentiate_embedding, "embedding_dense_backward"),
    (solve_triangular, "linalg_solve_triangular"),
    (transform_fourier, "_fft_c2c _fft_r2c _fft_c2r"),
)
