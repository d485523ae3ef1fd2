"""What is tried beside the inputs given: other layouts, other values, other sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from opproof.harness.check.tensors import Tensor

#: The name of the inputs as they came.
GIVEN = "as given"
LAYOUTS = ("transposed", "sliced", "offset")
#: How values are changed: a factor and an offset.
FILLS = {"small": (2.0**-9, 0.0), "wide": (6.0, 0.0), "offset": (1.0, 10.0), "large": (100.0, 0.0)}


@dataclass(frozen=True)
class Variant:
    """One set of inputs to try, and the same of other data."""

    name: str
    fill: str
    layout: str
    asked: tuple[Tensor, ...]
    other: tuple[Tensor, ...]


def variants(asked: Sequence[Tensor], other: Sequence[Tensor], resized: bool) -> Iterator[Variant]:
    """The given inputs first; then layouts, values and, where `resized`, sizes."""
    yield Variant(GIVEN, "normal", "contiguous", tuple(asked), tuple(other))
    for fill, (factor, offset) in FILLS.items():
        yield Variant(
            f"{fill} values", fill, "contiguous", _filled(asked, factor, offset), _filled(other, factor, offset)
        )
    for layout in LAYOUTS:
        if layout != "transposed" or any(t.values.ndim >= 2 and not t.param for t in asked):
            yield Variant(layout, "normal", layout, _laid(asked, layout), _laid(other, layout))
    if resized:
        for old, new in _sizes(asked):
            yield Variant(
                f"{old} as {new}", "normal", "contiguous", _resized(asked, old, new, 0), _resized(other, old, new, 1)
            )


def _filled(tensors: Sequence[Tensor], factor: float, offset: float) -> tuple[Tensor, ...]:
    return tuple(t.holding(t.values * factor + offset) if t.kind and not t.param else t for t in tensors)


def _laid(tensors: Sequence[Tensor], layout: str) -> tuple[Tensor, ...]:
    return tuple(t if t.param else replace(t, layout=layout) for t in tensors)


def _sizes(tensors: Sequence[Tensor]) -> Iterator[tuple[int, int]]:
    """Every size among the shapes, and what to try in its place: all axes of one size change together."""
    sizes = list(dict.fromkeys(n for t in tensors if not t.param for n in t.values.shape if n > 1))
    for new_of in (lambda n: n + 1 if n % 2 == 0 else n + 2, lambda _: 1, lambda n: 3 * n // 2 + 1, lambda n: 2 * n):
        for n in sizes:
            new = new_of(n)
            if new != n and new not in sizes:
                yield n, new


def _resized(tensors: Sequence[Tensor], old: int, new: int, salt: int) -> tuple[Tensor, ...]:
    rng = np.random.default_rng([old, new, salt])
    made = []
    for t in tensors:
        shape = tuple(new if n == old else n for n in t.values.shape)
        kept = t.param or not t.kind or shape == t.values.shape
        made.append(t if kept else t.holding(rng.standard_normal(shape)))
    return tuple(made)
