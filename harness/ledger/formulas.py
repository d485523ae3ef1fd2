"""Changed references that lists of several libraries name: see harness/ledger/causes.py for what the functions take."""

from __future__ import annotations

from typing import Any

import numpy as np

from opproof.harness.truth.noise.array import Noisy
from opproof.harness.truth.rounded import FORMATS, Rounded, unwrap, wrap
from opproof.vocabulary.dtypes import round_to


def stored(x: Any, name: str) -> Any:
    """`x` stored in the format `name` (f16, bf16, f32), its range included, in whatever arithmetic it is."""
    kind = FORMATS[name]
    if isinstance(x, Noisy):
        exact = np.asarray(round_to(x.exact, kind))
        return Noisy(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    if isinstance(x, Rounded):
        return wrap(round_to(unwrap(x), kind), x.arithmetic)
    return np.asarray(round_to(np.asarray(x), kind))


def exact(x: Any) -> Any:
    """The numbers of `x` as a plain array, in whatever arithmetic it is: what is decided by them is decided once."""
    if isinstance(x, Noisy):
        return np.asarray(x.exact)
    return unwrap(x)


def floor_rounded_quotient(a: Any, b: Any) -> Any:
    """Floor the quotient after it is rounded: one too many where it is just below a whole number."""
    return np.floor(a / b)


def _cells(n: int, out: int) -> Any:
    scale = np.float32(n) / np.float32(out)
    return np.minimum(np.floor(np.arange(out, dtype=np.float32) * scale).astype(np.int64), n - 1)


def find_cells_in_float32(x: Any, *, size: tuple[int, int]) -> Any:
    """Read the cell at i times the scale, which float32 rounds below a whole number."""
    h, w = (_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    return x[:, :, h[:, None], w]


def find_cells_in_float32_of_gradient(g: Any, _y: Any, x: Any, *, size: tuple[int, int]) -> Any:
    """Add to the cells that `find_cells_in_float32` reads."""
    h, w = (_cells(n, out) for n, out in zip(x.shape[2:], size, strict=True))
    dx = np.zeros(x.shape, dtype=g.dtype, like=g)
    where: Any = (slice(None), slice(None), h[:, None], w)
    np.add.at(dx, where, g)
    return dx
