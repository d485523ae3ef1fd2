"""Factorisations of matrices: backward stable, so the result is exact for a matrix off by roundings of its rows.

So are exponentials, pseudoinverses and least squares. An ill-conditioned matrix shows its condition. Singular vectors
and those of symmetric matrices come with any sign: what depends on it has a scale as large as itself.
"""

from __future__ import annotations

from typing import Any

from opproof.harness.truth.torch.arithmetic import Arithmetic
from opproof.harness.truth.torch.sums import Rule


def off(noise: Arithmetic, a: Any) -> Any:
    """What roundings of its rows add to a matrix."""
    assert noise.amplitudes is not None
    size = a.square().sum(-1, keepdim=True).sqrt().nan_to_num(0.0, 0.0, 0.0)
    return noise.amplitudes.summing * size * noise.drawn(a)


def factored(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """A function of one matrix: inverse, determinant, Cholesky's factor; whole numbers stay as they come."""
    if noise.exact:
        return func(a, *args, **options)
    found = func(a if noise.scattered else a + off(noise, a), *args, **options)
    return tuple(noise.rounded(y) if y.is_floating_point() else y for y in found)


def decomposed(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """_linalg_svd (u, s, vh) and _linalg_eigh (s, u)."""
    if noise.exact:
        return func(a, *args, **options)
    found = [noise.rounded(y) for y in func(a if noise.scattered else a + off(noise, a), *args, **options)]
    if noise.scattered:
        return tuple(found)
    values = found[1] if len(found) == 3 else found[0]
    signs, count = noise.signs(values).sign(), values.shape[-1]
    for i, columns in ((0, True), (2, False)) if len(found) == 3 else ((1, True),):
        if found[i].numel():
            some = found[i][..., :count] if columns else found[i][..., :count, :]
            some *= signs.unsqueeze(-2) if columns else signs.unsqueeze(-1)
    return tuple(found)


def mapped(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """A matrix made of one matrix: its exponential, its pseudoinverse."""
    if noise.exact or noise.scattered:
        return func(a, *args, **options)
    return noise.rounded(func(a + off(noise, a), *args, **options))


def fitted(noise: Arithmetic, func: Any, a: Any, b: Any, *args: Any, **options: Any) -> Any:
    """linalg_lstsq: the solution, and what is told of it; a rank is a whole number."""
    if noise.exact or noise.scattered:
        return func(a, b, *args, **options)
    found = func(a + off(noise, a), b, *args, **options)
    return tuple(noise.rounded(y) if y.is_floating_point() and y.numel() else y for y in found)


def solved(noise: Arithmetic, func: Any, a: Any, b: Any, **options: Any) -> Any:
    """_linalg_solve_ex."""
    if noise.exact or noise.scattered:
        return func(a, b, **options)
    x, *rest = func(a + off(noise, a), b, **options)
    return noise.rounded(x), *rest


def solved_by_factors(noise: Arithmetic, func: Any, lu: Any, pivots: Any, b: Any, **options: Any) -> Any:
    """linalg_lu_solve: x of a x = b is off by a^-1 (da x)."""
    x = func(lu, pivots, b, **options)
    if noise.exact or noise.scattered:
        return x
    p, lower, upper = noise.torch.lu_unpack(lu, pivots)
    da = off(noise, p @ lower @ upper)
    da = da.mH if options.get("adjoint") else da
    residual = da @ x if options.get("left", True) else x @ da
    return noise.rounded(x - func(lu, pivots, residual, **options))


def solved_by_factor(noise: Arithmetic, func: Any, b: Any, factor: Any, upper: bool = False) -> Any:
    """cholesky_solve."""
    if noise.exact or noise.scattered:
        return func(b, factor, upper)
    return noise.rounded(func(b, factor + off(noise, factor), upper))


MATRICES: dict[str, Rule] = {
    **dict.fromkeys(("linalg_inv_ex", "_linalg_det", "_linalg_slogdet", "linalg_cholesky_ex"), factored),
    **dict.fromkeys(("linalg_lu", "linalg_lu_factor_ex", "linalg_ldl_factor_ex", "linalg_qr"), factored),
    **dict.fromkeys(("_linalg_svd", "_linalg_eigh"), decomposed),
    **dict.fromkeys(("linalg_matrix_exp", "linalg_pinv"), mapped),
    "linalg_lstsq": fitted,
    "_linalg_solve_ex": solved,
    "linalg_lu_solve": solved_by_factors,
    "cholesky_solve": solved_by_factor,
}
