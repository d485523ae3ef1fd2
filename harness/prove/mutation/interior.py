"""Mutants whose inside is less precise than it may be: intermediates or constants in the dtype, or in a lower one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from opproof.core.dtypes import DTYPES, Dtype
from opproof.harness.prove.mutation.arrays import mapped
from opproof.harness.prove.mutation.call import seen_as
from opproof.harness.prove.mutation.mutant import Mutant, Profile
from opproof.harness.prove.mutation.precision import LOWER

Change = Callable[[Any], Any]


def mutants(profile: Profile) -> Iterator[Mutant]:
    """Mutants of one operator in one mode."""
    if not profile.moving or profile.op.is_exact(profile.mode):
        return
    own = (profile.dtype,) if profile.dtype != "f32" else ()
    for name in (*own, *LOWER.get(profile.dtype, ())):
        kind = DTYPES[name]
        yield Mutant(f"intermediates stored in {name}", seen_as(_stored(kind)), must_show=False)
        yield Mutant(f"constants rounded to {name}", seen_as(_constants(kind)), must_show=False)


def _stored(kind: Dtype) -> Change:
    """Arrays of which every operation's result is rounded; sums are accumulated in float32 before."""
    return lambda x: _interior(x, result=lambda y: _rounded(y, kind), constant=lambda c: c)


def _constants(kind: Dtype) -> Change:
    """Arrays that meet numbers, the operator's own and its parameters, rounded."""
    return lambda x: _interior(x, result=lambda y: y, constant=lambda c: float(_rounded(np.float32(c), kind)))


def _rounded(y: Any, kind: Dtype) -> Any:
    array = np.asarray(y)
    return array.astype(kind.numpy).astype(array.dtype) if array.dtype.kind == "f" else y


class Interior(np.ndarray):
    """A float array with a change for every operation's result, and one for the constants it meets."""

    result: Change
    constant: Change

    def __array_finalize__(self, origin: Any) -> None:
        self.result = getattr(origin, "result", _same)
        self.constant = getattr(origin, "constant", _same)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        given = [self._given(x) for x in inputs]
        out = kwargs.pop("out", None)
        if method == "at":
            getattr(ufunc, method)(*given, **kwargs)
            return None
        found = self._wrapped(self.result(getattr(ufunc, method)(*given, **kwargs)))
        if out is None:
            return found
        np.asarray(out[0])[...] = found
        return out[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func in (np.mean, np.cumsum, np.einsum):  # each is one kernel
            bare = [np.asarray(x) if isinstance(x, Interior) else x for x in args]
            return self._wrapped(self.result(func(*bare, **kwargs)))
        return mapped(self._wrapped, super().__array_function__(func, types, args, kwargs))

    def _given(self, x: Any) -> Any:
        if isinstance(x, Interior):
            return np.asarray(x)
        return self.constant(x) if isinstance(x, float | np.floating) else x

    def _wrapped(self, y: Any) -> Any:
        return _interior(y, result=self.result, constant=self.constant)


def _same(x: Any) -> Any:
    return x


def _interior(x: Any, *, result: Change, constant: Change) -> Any:
    if not isinstance(x, np.ndarray | np.generic) or np.asarray(x).dtype.kind != "f":
        return x
    seen = np.asarray(x).view(Interior)
    seen.result, seen.constant = result, constant
    return seen
