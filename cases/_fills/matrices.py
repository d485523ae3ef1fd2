"""Matrices with an inverse or without one, of given singular values or eigenvalues, and rows to be put in order.

Singular values are powers of two or near them, mixed by reflections of four rows whose elements are halves: in float64
most of these matrices are exact, so that their condition is known.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from opproof.cases._case import Shape
from opproof.cases._fills.random_bits import Bits, Floats, choose, fill_normal
from opproof.core.dtypes import DTYPES, Dtype, round_to

#: Times that rows and columns are reflected in groups of four, each time in another order.
MIXING_ROUNDS = 3
#: Binary digits of the condition numbers 10⁴ and 10⁸.
DIGITS_OF_1E4 = 13.3
DIGITS_OF_1E8 = 26.6
#: What parts singular values of a cluster: a few roundings of float32.
CLUSTER_STEP = 2.0**-22
#: Of the largest element those that come first where pivots are small.
SMALL_PIVOT = 2.0**-20

MATRIX_PROFILES = (
    "well-conditioned", "condition 1e4", "condition 1e8", "clustered", "rank-deficient", "small pivots", "zeros",
)  # fmt: skip
#: All of them in one batch.
MIXED = "mixed"
ROW_PROFILES = ("normal", "ties", "all equal", "signed zeros", "infinities", "falling")
#: Sizes by kind of problem; at the first few every profile is tried, at the others the first one.
FULLY_TRIED_SHAPES = 4
MATRIX_SHAPES = (
    (24, 9), (9, 24), (16, 16), (2, 3, 12, 5), (33, 33), (1, 1), (1, 7), (7, 1), (2, 2), (0, 4), (4, 0), (0, 3, 3),
)  # fmt: skip
SYMMETRIC_SHAPES = ((16, 16), (9, 9), (33, 33), (2, 3, 5, 5), (1, 1), (2, 2), (0, 0), (0, 3, 3))
ROW_SHAPES = ((4, 33), (257,), (2, 3, 5), (1, 3), (5, 70), (0, 4))
SHAPES = {"matrices": MATRIX_SHAPES, "symmetric": SYMMETRIC_SHAPES, "rows": ROW_SHAPES}
#: How many elements topk takes where nobody says: no more than the shortest row has.
USUAL_OPTIONS: dict[str, tuple[int, ...]] = {"topk": (3,)}


def generate_trials(kind: str, first: tuple[int, ...], seed: int) -> Iterator[tuple[str, Floats, Floats]]:
    """Make arrays of every profile, of `first` and of other sizes: a name, the array, and another one like it."""
    profiles = ROW_PROFILES if kind == "rows" else (*MATRIX_PROFILES, MIXED)
    for place, shape in enumerate(dict.fromkeys((first, *SHAPES[kind]))):
        for profile in profiles if place < FULLY_TRIED_SHAPES else profiles[:1]:
            at = (len(MATRIX_PROFILES), *shape[-2:]) if profile == MIXED else shape
            drawn = [_make(kind, profile, at, np.random.default_rng([seed, place, salt])) for salt in (0, 1)]
            yield f"{profile} {'x'.join(map(str, at))}", drawn[0], drawn[1]


def _make(kind: str, profile: str, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    if kind == "rows":
        return make_rows(profile, shape, rng)
    return make_matrices(profile, shape, rng, symmetric=kind == "symmetric")


def make_matrices(profile: str, shape: tuple[int, ...], rng: np.random.Generator, *, symmetric: bool) -> Floats:
    """Matrices of a profile, each of its own; of `MIXED` the profiles come by turns along the leading axes."""
    count = int(np.prod(shape[:-2]))
    some = [MATRIX_PROFILES[i % len(MATRIX_PROFILES)] if profile == MIXED else profile for i in range(count)]
    made = [_make_matrix(p, shape[-2], shape[-1], rng, symmetric=symmetric) for p in some]
    return np.array(made).reshape(shape)


def _make_matrix(profile: str, rows: int, columns: int, rng: np.random.Generator, *, symmetric: bool) -> Floats:
    if profile == "small pivots":
        small = SMALL_PIVOT * rng.standard_normal((rows, columns))
        return np.eye(rows, columns)[::-1] + (small + small.T if symmetric else small)
    values = _list_singular_values(profile, min(rows, columns))
    diagonal = np.zeros((rows, columns))
    np.fill_diagonal(diagonal, values * rng.choice([-1.0, 1.0], values.size))
    if symmetric:
        turned = _rotate_rows(np.eye(rows), rng)
        whole = turned @ diagonal @ turned.T
        return (whole + whole.T) / 2
    return _rotate_rows(_rotate_rows(diagonal, rng).T, rng).T


def _list_singular_values(profile: str, count: int) -> Floats:
    """From the largest on."""
    part = np.arange(count) / max(count - 1, 1)
    if profile in ("condition 1e4", "condition 1e8"):
        return np.exp2(-np.round((DIGITS_OF_1E4 if profile[-1] == "4" else DIGITS_OF_1E8) * part))
    if profile == "clustered":
        return np.where(part <= 0.5, 1 + CLUSTER_STEP * np.arange(count)[::-1], 0.125)
    if profile == "rank-deficient":
        return np.where(part < 0.5, 1.0, 0.0)
    return np.zeros(count) if profile == "zeros" else 1 - 0.75 * np.round(4 * part) / 4


def _rotate_rows(a: Floats, rng: np.random.Generator) -> Floats:
    """The matrix times an orthogonal one from the left."""
    n = len(a)
    for _ in range(MIXING_ROUNDS):
        a = a[rng.permutation(n)] * rng.choice([-1.0, 1.0], n)[:, None]
        whole = n - n % 4
        groups = a[:whole].reshape(whole // 4, 4, a.shape[1])
        a[:whole] = (groups - groups.sum(1, keepdims=True) / 2).reshape(whole, a.shape[1])
        for i in range(whole, n - 1):  # by the angle of a triangle of 3, 4 and 5
            a[i], a[i + 1] = 0.6 * a[i] - 0.8 * a[i + 1], 0.8 * a[i] + 0.6 * a[i + 1]
    return a


def make_rows(profile: str, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Rows of a profile along the last axis."""
    values = rng.standard_normal(shape)
    if profile == "ties":
        return np.round(values)
    if profile == "all equal":
        return np.full(shape, 1.5)
    if profile == "signed zeros":
        return np.where(rng.random(shape) < 0.5, np.copysign(0.0, values), np.round(values))
    if profile == "infinities":
        return np.where(rng.random(shape) < 0.2, np.copysign(np.inf, values), values)
    return -np.sort(-values, axis=-1) if profile == "falling" else values


def fill_pivots(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw matrices of which the first column's largest element is not in the first row, but 0 or next to nothing."""
    values = fill_normal(bits, shape, dtype)
    if not values.size or len(shape) < 2 or shape[-1] < 2:
        return values
    rows, columns = shape[-2:]
    moved = values / 4 / columns + 3 * np.roll(np.eye(rows, columns), 1, axis=0)
    diagonal = np.arange(min(rows, columns))
    small = choose(bits, (*shape[:-2], 1), (0.0, 2.0**-14))
    small.flat[0] = 0
    moved[..., diagonal, diagonal] = small
    return moved


def fill_singular(bits: Bits, shape: Shape, dtype: Dtype) -> Floats:
    """Draw matrices in turn: a row of zeros, a column of zeros, one that has an inverse, zeros alone."""
    values = fill_normal(bits, shape, dtype)
    if not values.size or len(shape) < 2:
        return values
    matrices = values.reshape(-1, *shape[-2:])
    for i, matrix in enumerate(matrices):
        place = i // 4 % min(matrix.shape)
        if i % 4 == 2:
            matrix[:] += 3 * np.eye(*matrix.shape)
        matrix[((place, slice(None)), (slice(None), place), (slice(0), slice(0)), ...)[i % 4]] = 0
    return matrices.reshape(shape)


def make_definite(values: Floats) -> Floats:
    """Multiply each matrix with its transpose, and add a quarter of its largest element on the diagonal.

    So no rounding to 16 bits makes it indefinite. Sums of products of dyadic numbers are exact, whoever multiplies.
    """
    n = values.shape[-1]
    squares = np.matmul(values, np.swapaxes(values, -1, -2)) / 2 ** max(n - 1, 0).bit_length()
    most = np.max(squares, axis=(-2, -1), initial=0.0, keepdims=True)
    return squares + np.eye(n) * most / 4  # type: ignore[no-any-return]


def make_regular(values: Floats) -> Floats:
    """Keep matrices as they are; those without full rank, in bfloat16 or not, get a diagonal that dominates."""
    n = values.shape[-1]
    if not values.size:
        return values
    with np.errstate(all="ignore"):
        finite = np.where(np.isfinite(values), values, 1.0)
        rounded = np.asarray(round_to(finite, DTYPES["bf16"]), dtype=np.float64)
        least = np.minimum(np.linalg.matrix_rank(finite), np.linalg.matrix_rank(rounded))
    most = np.max(np.abs(values), axis=(-2, -1), keepdims=True)
    return np.where((least < n)[..., None, None], values + np.eye(n) * (n * most), values)
