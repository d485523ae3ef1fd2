"""Factorisations of matrices, which are backward stable, and contractions as they are called.

The result is exact for a matrix off by roundings of its rows. What turns rows into each other is stable for the whole
matrix alone: every element is off, zeros too, and each eigenvalue by the size of the largest (Weyl's inequality; Golub,
Van Loan, Matrix Computations, 8.1, 8.6). Singular vectors come with any sign: what depends on it has a scale of its
size. einsum and tensordot are asked before PyTorch decomposes them: they take an axis of size 1 for one of any size.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from opproof.harness.reference.torch.arithmetic import Arithmetic
from opproof.harness.reference.torch.intercept import with_intercepted_functions
from opproof.harness.reference.torch.sums import Rule, map_rules


def _draw_roundings(noise: Arithmetic, a: Any, squares: Any) -> Any:
    """What roundings add to a matrix, of sizes whose squares are given."""
    assert noise.amplitudes is not None
    return noise.amplitudes.summing * squares.sqrt().nan_to_num(0.0, 0.0, 0.0) * noise.drawn(a)


def draw_row_roundings(noise: Arithmetic, a: Any) -> Any:
    """What roundings of its rows add to a matrix."""
    return _draw_roundings(noise, a, a.square().sum(-1, keepdim=True))


def draw_elimination_roundings(noise: Arithmetic, a: Any) -> Any:
    """What Gaussian elimination adds: a rounding of rows, or of the products L U, |L| |U| of which may be far larger.

    A row of which one element is large leaves its rounding in others (Higham, Accuracy and Stability, theorem 9.3).
    """
    permuted, lower, upper = noise.torch.lu_unpack(*noise.torch.linalg.lu_factor_ex(a)[:2])
    products = (permuted @ lower).abs().square() @ upper.abs().square()
    rows = a.abs().square().sum(-1, keepdim=True)
    return _draw_roundings(noise, a, noise.torch.maximum(rows.expand(a.shape), products))


def draw_whole_roundings(noise: Arithmetic, a: Any) -> Any:
    """What roundings add to a matrix whose rows are turned into each other: as much as `draw_row_roundings` in all, to
    every row.
    """
    rows = a.square().sum(-1, keepdim=True)
    return _draw_roundings(noise, a, rows + rows.mean(-2, keepdim=True))


def draw_column_roundings(noise: Arithmetic, a: Any) -> Any:
    """What roundings of its columns add to a matrix, and of its rows (Higham, Accuracy and Stability, 19.4)."""
    squares = a.square()
    return _draw_roundings(noise, a, squares.sum(-1, keepdim=True) + squares.sum(-2, keepdim=True))


def norm_of(a: Any) -> Any:
    """The largest singular value of a matrix, or a little more: the fourth root of the sum of their fourth powers."""
    largest = a.abs().amax((-2, -1), keepdim=True)
    unit = (a / largest.where(largest > 0, 1.0)).nan_to_num(0.0, 0.0, 0.0)
    narrow = unit.mT @ unit if unit.shape[-1] <= unit.shape[-2] else unit @ unit.mT
    return (largest.squeeze(-1) * narrow.square().sum((-2, -1)).sqrt().sqrt().unsqueeze(-1)).nan_to_num(0.0, 0.0, 0.0)


def make_stable_rule(draw: Callable[[Arithmetic, Any], Any], at: int = 0, rounded: int | None = None) -> Rule:
    """The rule of a backward stable function: right for the argument `at`, a matrix, off by what `draw` adds.

    `rounded`: how many of its results are rounded, the first ones; of all those that are no integers.
    """

    def rule(noise: Arithmetic, func: Any, *args: Any, **options: Any) -> Any:
        if noise.exact or noise.scattered:
            return func(*args, **options)
        found = func(*args[:at], args[at] + draw(noise, args[at]), *args[at + 1 :], **options)
        if not isinstance(found, tuple | list):
            return noise.rounded(found)
        count = len(found) if rounded is None else rounded
        return tuple(noise.rounded(y) if i < count and y.is_floating_point() else y for i, y in enumerate(found))

    return rule


factor_symmetric_matrix = make_stable_rule(draw_row_roundings)
factor_by_elimination = make_stable_rule(draw_elimination_roundings)


def compute_qr(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """linalg_qr: rows of zeros are turned into others. Signs stay: that of a zero which leads is noise alone."""
    q, r = func(a if noise.exact or noise.scattered else a + draw_column_roundings(noise, a), *args, **options)
    own = r.diagonal(dim1=-2, dim2=-1).sign()
    turned = noise.decide("signs of linalg_qr", lambda: own) * own < 0
    if noise.exact:
        return q, r
    signs = 1.0 - 2.0 * turned.double()
    count = signs.shape[-1]
    if q.numel():
        q = noise.torch.cat([q[..., :count] * signs.unsqueeze(-2), q[..., count:]], -1)
    r = noise.torch.cat([r[..., :count, :] * signs.unsqueeze(-1), r[..., count:, :]], -2)
    return noise.rounded(q), noise.rounded(r)


def decompose_matrix(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """_linalg_svd (u, s, vh) and _linalg_eigh (s, u)."""
    if noise.exact:
        return func(a, *args, **options)
    moved = a if noise.scattered or not a.numel() else a + draw_whole_roundings(noise, a)
    found = [noise.rounded(y) for y in func(moved, *args, **options)]
    if noise.scattered or not a.numel():
        return tuple(found)
    assert noise.amplitudes is not None
    of = 1 if len(found) == 3 else 0
    values = found[of] = found[of] + noise.amplitudes.summing * norm_of(a) * noise.drawn(found[of])
    signs, count = noise.draw_signs(values).sign(), values.shape[-1]
    for i, columns in ((0, True), (2, False)) if len(found) == 3 else ((1, True),):
        if found[i].numel():
            some = found[i][..., :count] if columns else found[i][..., :count, :]
            some *= signs.unsqueeze(-2) if columns else signs.unsqueeze(-1)
    return tuple(found)


def invert_matrix(noise: Arithmetic, func: Any, a: Any, *args: Any, **options: Any) -> Any:
    """linalg_pinv: by singular vectors, so that its zeros are off by the size of the largest.

    Noise on rows of zeros would give the matrix another rank.
    """
    found = factor_symmetric_matrix(noise, func, a, *args, **options)
    if noise.exact or noise.scattered or not found.numel():
        return found
    assert noise.amplitudes is not None
    return found + noise.amplitudes.summing * norm_of(found).unsqueeze(-1) * noise.drawn(found)


def solve_by_lu(noise: Arithmetic, func: Any, lu: Any, pivots: Any, b: Any, **options: Any) -> Any:
    """linalg_lu_solve: x of a x = b is off by a^-1 (da x)."""
    x = func(lu, pivots, b, **options)
    if noise.exact or noise.scattered:
        return x
    p, lower, upper = noise.torch.lu_unpack(lu, pivots)
    da = draw_elimination_roundings(noise, p @ lower @ upper)
    da = da.mH if options.get("adjoint") else da
    residual = da @ x if options.get("left", True) else x @ da
    return noise.rounded(x - func(lu, pivots, residual, **options))


MATRICES: dict[str, Rule] = map_rules(
    (factor_by_elimination, "linalg_inv_ex _linalg_det _linalg_slogdet linalg_lu linalg_lu_factor_ex"),
    (factor_symmetric_matrix, "linalg_cholesky_ex linalg_ldl_factor_ex linalg_matrix_exp linalg_lstsq"),
    (compute_qr, "linalg_qr"),
    (decompose_matrix, "_linalg_svd _linalg_eigh"),
    (invert_matrix, "linalg_pinv"),
    (make_stable_rule(draw_elimination_roundings, rounded=1), "_linalg_solve_ex"),
    (solve_by_lu, "linalg_lu_solve"),
    (make_stable_rule(draw_row_roundings, at=1), "cholesky_solve"),
)


#: The name of a contraction, and the sizes that its operands have in each letter or pair of axes.
ReportSizes = Callable[[str, Sequence[Sequence[int]]], None]


def with_reported_contractions(told: ReportSizes) -> AbstractContextManager[Any]:
    """A block in which every contraction is told of."""

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        name = getattr(func, "__name__", "")  # of einsum there are two, one calls the other
        if name in SIZES:
            told(name, SIZES[name](*args, **kwargs))
        return y

    return with_intercepted_functions(answered)


def by_letter(equation: Any, *operands: Any) -> list[list[int]]:
    """Of every letter of an einsum that was accepted the sizes that its operands have there."""
    if not isinstance(equation, str):  # operands and lists of axes in turn
        given = (equation, *operands)
        return _collect_sizes(list(zip(given[0::2], given[1::2], strict=False)))
    flat = operands[0] if len(operands) == 1 and isinstance(operands[0], tuple | list) else operands
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    return _collect_sizes([(x, term.replace("...", ".")) for x, term in zip(flat, terms, strict=True)])


def _collect_sizes(pairs: Sequence[tuple[Any, Any]]) -> list[list[int]]:
    """Sizes by letter; axes that stand for any number are broadcast by all operations, which tell of it themselves."""
    found: dict[Any, list[int]] = {}
    for x, letters in pairs:
        rest = [i for i, c in enumerate(letters) if c in (".", Ellipsis)]
        after = letters[rest[0] + 1 :] if rest else ()
        before = letters[: rest[0]] if rest else letters
        sizes = [*x.shape[: len(before)], *x.shape[len(x.shape) - len(after) :]]
        for letter, n in zip((*before, *after), sizes, strict=True):
            found.setdefault(letter, []).append(n)
    return list(found.values())


def by_pair(a: Any, b: Any, dims: Any = 2, **_: Any) -> list[list[int]]:
    """Of every pair of axes that a tensordot sums over their two sizes."""
    if isinstance(dims, int):
        dims = range(-dims, 0), range(dims)
    one, two = (d.tolist() if hasattr(d, "tolist") else d for d in dims)
    return [[a.shape[i], b.shape[j]] for i, j in zip(one, two, strict=True)]


#: What is told of, by name.
SIZES: dict[str, Callable[..., list[list[int]]]] = {"einsum": by_letter, "tensordot": by_pair}
