"""Problems whose answers are not unique: what must hold of any answer, and functions of PyTorch that give one.

A residual is zero where the answer is right. Of rounding it is relative to the size of what it is a part of, a number
a matrix, so that a backward stable algorithm leaves a few unit roundoffs (Higham, Accuracy and Stability, 19.3; Golub,
Van Loan, Matrix Computations, 5.2, 8.1). Of order and of choices it is a count, and nothing excuses one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from opproof.core.arrays import Array

#: What is to be zero, by name.
Residuals: TypeAlias = dict[str, Array]


#: Multiplications up to which residuals in float64 are computed in the longer floats of NumPy, which has no fast ones.
MAX_LONG_PRODUCTS = 1 << 24


@dataclass(frozen=True)
class Problem:
    """A problem by the arguments of its functions: the first is an array, the others are options."""

    residuals: Callable[..., Residuals]  # of the outputs, then of the arguments
    solvers: Callable[[Any], Sequence[Callable[..., Any]]]  # of torch: an answer in every form that is in use
    kind: str = "matrices"  # or "symmetric", "rows"
    exact: frozenset[str] = frozenset()  # residuals of which rounding excuses nothing
    renumber: Callable[[Array, np.random.Generator], Array] | None = None  # the same problem in another order

    def measure(
        self, outputs: Sequence[Array], given: Sequence[Any], named: dict[str, Any], *, long: bool
    ) -> Residuals:
        """The residuals; `long`: of float64, which are not to be rounded as what they measure."""
        work = max((y.size * max(y.shape, default=1) for y in outputs), default=0)
        if long and work <= MAX_LONG_PRODUCTS:
            outputs, given = [_widen(y) for y in outputs], [_widen(x) for x in given]
            named = {name: _widen(x) for name, x in named.items()}
        return self.residuals(outputs, *given, **named)

    @property
    def names(self) -> list[str]:
        """Of its arguments."""
        return list(inspect.signature(self.residuals).parameters)[1:]

    def describe_misfit(self, given: Sequence[Any], named: dict[str, Any]) -> str:
        """What is wrong with arguments, in words; empty where they fit."""
        try:
            bound = inspect.signature(self.residuals).bind((), *given, **named).arguments
        except TypeError as error:
            return f"{error}: expected {', '.join(self.names)}"
        name, *options = list(bound)[1:]
        x = bound[name]
        if wrong := next((o for o in options if isinstance(bound[o], np.ndarray)), None):
            return f"{wrong} is a tensor: expected one, {name}"
        if not isinstance(x, np.ndarray) or (self.kind != "rows" and x.ndim < 2):
            return f"{name} is no {'array' if self.kind == 'rows' else 'matrix, nor a batch of them'}"
        if self.kind == "symmetric" and (x.shape[-1] != x.shape[-2] or not np.array_equal(x, _t(x), equal_nan=True)):
            return f"{name} is not symmetric: expected a matrix that is, as (a + a.mT) / 2"
        return ""


def _widen(x: Any) -> Any:
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    return x.astype({"f": np.longdouble, "c": np.clongdouble}[kind]) if kind in ("f", "c") and kind else x


def _t(m: Array) -> Array:
    return np.conj(np.swapaxes(m, -1, -2))


def _size(m: Array) -> Array:
    return np.sqrt(np.sum(np.square(np.abs(m)), axis=(-2, -1)))  # type: ignore[no-any-return]


def _part(residual: Array, size: Array | float) -> Array:
    """The size of a residual as a part of another; of nothing nothing may be left."""
    left = _size(residual)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(left == 0, left, left / size)


def _off_orthogonal(q: Array) -> Array:
    """How far columns are from orthonormal ones."""
    count = q.shape[-1]
    return _part(np.matmul(_t(q), q) - np.eye(count), max(1.0, count**0.5))


def _count_steps(values: Array, down: bool) -> Array:
    """How many numbers of a row stand out of order."""
    steps = np.diff(values, axis=-1)
    return np.sum(~(steps <= 0 if down else steps >= 0), axis=-1)  # type: ignore[no-any-return]


def _of_qr(outputs: Sequence[Array], a: Array) -> Residuals:
    q, r = outputs
    return {
        "A - Q R": _part(a - np.matmul(q, r), _size(a)),
        "QᵀQ - I": _off_orthogonal(q),
        "R below its diagonal": _part(np.tril(r, -1), _size(a)),
    }


def _of_svd(outputs: Sequence[Array], a: Array) -> Residuals:
    u, s, vh = outputs
    k = s.shape[-1]
    return {
        "A - U S Vᵀ": _part(a - np.matmul(u[..., :k] * s[..., None, :], vh[..., :k, :]), _size(a)),
        "UᵀU - I": _off_orthogonal(u),
        "VᵀV - I": _off_orthogonal(_t(vh)),
        "negative singular values": np.sum(~(s >= 0), axis=-1),
        "singular values out of order": _count_steps(s, down=True),
    }


def _of_eigh(outputs: Sequence[Array], a: Array) -> Residuals:
    w, v = outputs
    return {
        "A V - V w": _part(np.matmul(a, v) - v * w[..., None, :], _size(a)),
        "VᵀV - I": _off_orthogonal(v),
        "eigenvalues out of order": _count_steps(w, down=False),
    }


def _of_lu(outputs: Sequence[Array], a: Array) -> Residuals:
    """`P` is a matrix, or the rows of L in the order of A's."""
    p, lower, upper = outputs
    rows = a.shape[-2]
    if p.ndim == a.ndim:
        ones = (np.sort(p, axis=-1) == np.eye(rows)[rows - 1 :]).all(-1) & (p.sum(-2) == 1) if rows else p.any(-1)
        product = np.matmul(p, np.matmul(lower, upper))
    else:
        ones = np.sort(p, axis=-1) == np.arange(rows)
        places = np.clip(p, 0, max(rows - 1, 0)).astype(np.int64)
        product = np.take_along_axis(np.matmul(lower, upper), places[..., None], axis=-2)
    above, diagonal = np.triu(lower, 1), np.diagonal(lower, axis1=-2, axis2=-1)
    return {
        "A - P L U": _part(a - product, _size(a)),
        "L above its diagonal": _part(above, _size(lower)),
        "the diagonal of L - 1": _part(diagonal[..., None] - 1, _size(lower)),
        "U below its diagonal": _part(np.tril(upper, -1), _size(a)),
        "rows that P does not permute": np.sum(~ones, axis=-1),
    }


def _lines(x: Array, dim: int) -> Array:
    return np.moveaxis(x, dim, -1) if x.ndim else x.reshape(1)


def _of_choice(values: Array, indices: Array, x: Array, wanted: Array) -> Residuals:
    """Of chosen elements: lines of what came, of all that there is, and of the values that are to come, in order."""
    inside = (indices >= 0) & (indices < x.shape[-1])
    taken = np.take_along_axis(x, np.where(inside, indices, 0).astype(np.int64), axis=-1) if x.size else values
    same = inside & ((taken == values) | (np.isnan(taken) & np.isnan(values)))
    among = np.sort(values, axis=-1)
    right = (among == wanted) | (np.isnan(among) & np.isnan(wanted))
    return {
        "values that are none of those asked for": np.sum(~right, axis=-1),
        "indices of other values": np.sum(~same, axis=-1),
        "indices that come twice": np.sum(np.diff(np.sort(indices, axis=-1), axis=-1) == 0, axis=-1),
    }


def _count_disorder(values: Array, down: bool) -> Array:
    """Values out of order, NaN as the largest."""
    a, b = (values[..., 1:], values[..., :-1]) if down else (values[..., :-1], values[..., 1:])
    return np.sum(~((a <= b) | np.isnan(b)), axis=-1)  # type: ignore[no-any-return]


def _of_topk(
    outputs: Sequence[Array], x: Array, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Residuals:
    values, indices = (_lines(y, dim) for y in outputs)
    lines = _lines(x, dim)
    every = np.sort(lines, axis=-1)
    wanted = every[..., max(0, every.shape[-1] - k) :] if largest else every[..., :k]
    found = _of_choice(values, indices, lines, wanted)
    return {**found, "values out of order": _count_disorder(values, largest)} if sorted else found


def _of_sort(
    outputs: Sequence[Array], x: Array, dim: int = -1, descending: bool = False, stable: bool = False
) -> Residuals:
    values, indices = (_lines(y, dim) for y in outputs)
    lines = _lines(x, dim)
    found = _of_choice(values, indices, lines, np.sort(lines, axis=-1))
    found["values out of order"] = _count_disorder(values, descending)
    if stable:
        equal = (values[..., 1:] == values[..., :-1]) | (np.isnan(values[..., 1:]) & np.isnan(values[..., :-1]))
        turned = equal & (indices[..., 1:] < indices[..., :-1])
        found["equal elements that changed places"] = np.sum(turned, axis=-1)
    return found


def _renumber_rows(a: Array, rng: np.random.Generator) -> Array:
    """The matrix with its rows and its columns in another order, some with another sign."""
    rows, columns = (rng.permutation(n) for n in a.shape[-2:])
    signs = np.outer(*(rng.choice([-1.0, 1.0], n) for n in a.shape[-2:]))
    return a[..., rows, :][..., columns] * signs  # type: ignore[no-any-return]


def _renumber_both(a: Array, rng: np.random.Generator) -> Array:
    """The same of a symmetric matrix, which stays one."""
    order, signs = rng.permutation(a.shape[-1]), rng.choice([-1.0, 1.0], a.shape[-1])
    return a[..., order, :][..., order] * np.outer(signs, signs)


def _solve_qr(torch: Any) -> Sequence[Callable[..., Any]]:
    return (torch.linalg.qr, lambda a: torch.linalg.qr(a, mode="complete"))


def _solve_svd(torch: Any) -> Sequence[Callable[..., Any]]:
    return (lambda a: torch.linalg.svd(a, full_matrices=False), torch.linalg.svd)


def _solve_eigh(torch: Any) -> Sequence[Callable[..., Any]]:
    """By divide and conquer, and as SciPy does by default: these vectors are less orthogonal, as is well known of them
    (Demmel, Marques, Parlett, Vömel, SIAM J. Sci. Comput. 30, 2008).
    """

    def by_representations(a: Any) -> Any:
        import scipy.linalg  # slow to import

        found = [scipy.linalg.eigh(m.numpy(), driver="evr") for m in a.reshape(-1, *a.shape[-2:])]
        w, v = (torch.from_numpy(np.stack(some)) for some in zip(*found, strict=True))
        return w.reshape(a.shape[:-1]), v.reshape(a.shape)

    return (torch.linalg.eigh, by_representations)


def _solve_lu(torch: Any) -> Sequence[Callable[..., Any]]:
    def by_rows(a: Any) -> Any:
        p, lower, upper = torch.linalg.lu(a)
        return p.argmax(-1) if p.shape[-1] else p.new_zeros(p.shape[:-1], dtype=torch.int64), lower, upper

    return (torch.linalg.lu, by_rows)


def _solve_topk(torch: Any) -> Sequence[Callable[..., Any]]:
    def topk(x: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
        return torch.topk(x, k, dim, largest, sorted)

    return (topk,)


def _solve_sort(torch: Any) -> Sequence[Callable[..., Any]]:
    def sort(x: Any, dim: int = -1, descending: bool = False, stable: bool = False) -> Any:
        return torch.sort(x, dim=dim, descending=descending, stable=stable)

    return (sort,)


_COUNTS = frozenset(
    (
        "negative singular values", "singular values out of order", "eigenvalues out of order",
        "rows that P does not permute", "values that are none of those asked for", "indices of other values",
        "indices that come twice", "values out of order", "equal elements that changed places",
    )
)  # fmt: skip
#: By the name under which `opproof.check` knows them.
PROBLEMS = {
    "qr": Problem(_of_qr, _solve_qr, renumber=_renumber_rows),
    "svd": Problem(_of_svd, _solve_svd, exact=_COUNTS, renumber=_renumber_rows),
    "eigh": Problem(_of_eigh, _solve_eigh, "symmetric", _COUNTS, _renumber_both),
    "lu": Problem(_of_lu, _solve_lu, exact=_COUNTS, renumber=_renumber_rows),
    "topk": Problem(_of_topk, _solve_topk, "rows", _COUNTS),
    "sort": Problem(_of_sort, _solve_sort, "rows", _COUNTS),
}
