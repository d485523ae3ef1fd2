"""Changed references that lists of several libraries name: see harness/ledger/causes.py for what the functions take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from opproof.cases._layouts import Storage, layouts_of, storage_of
from opproof.harness.truth.noise.array import Noisy
from opproof.harness.truth.rounded import FORMATS, Arithmetic, Rounded, unwrap, wrap
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


def lies(question: Any, name: str) -> Storage:
    """Where the elements of the question's tensor of that name lie in memory."""
    return storage_of(question.inputs[question.names.index(name)].shape, layouts_of(question.case)[name])


def computed(function: Callable[[Any], Any], x: Any) -> Any:
    """What `function` makes of the numbers of `x`, once and for all, in whatever arithmetic they are."""
    if isinstance(x, Noisy):
        exact = np.asarray(function(np.asarray(x.exact)))
        return Noisy(exact, np.repeat(exact[None], x.source.runs, axis=0), x.source)
    return wrap(function(unwrap(x)), x.arithmetic) if isinstance(x, Rounded) else np.asarray(function(np.asarray(x)))


def cut_off(x: Any, name: str) -> Any:
    """`x` in the format `name`, digits past its last cut off; infinite from the power of two after its largest on."""
    kind = FORMATS[name]
    how = Arithmetic(kind, kind, truncates=True)

    def cut(values: Any) -> Any:
        past = np.abs(values) >= 2.0 ** (kind.max_exponent + 1)
        return np.where(past, np.copysign(np.inf, values), how.rounded(values))

    return computed(cut, x)


def multiply_in_turn(a: Any, b: Any, first: Any, step: int = 1) -> Any:
    """Add a @ b to `first`, `step` products at a time, in float32, every sum stored in the format of sums."""
    if not isinstance(b, Rounded):
        return first + np.matmul(a, b)
    left, right, total = unwrap(a), unwrap(b), unwrap(first)
    for k in range(0, right.shape[-2], step):
        products = left[..., k : k + step] @ right[..., k : k + step, :]
        total = b.arithmetic.summed(np.add(total, products, dtype=np.float32))
    return wrap(b.arithmetic.rounded(total), b.arithmetic)
