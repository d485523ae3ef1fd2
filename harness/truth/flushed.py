"""The reference as a machine computes it that takes numbers below the normal range for zero.

Processors and compilers may do so with what is read, with what is computed on the way, or with both
(flush-to-zero and denormals-are-zero of x86 and ARM; XLA and CUDA's -ftz=true as a matter of course).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.verdicts import Mode
from opproof.harness.truth import reference
from opproof.harness.truth.roundoff import least_normal

if TYPE_CHECKING:  # a posed case keeps what this file finds
    from opproof.harness.truth.posed import Posed


class Flushing(np.ndarray):
    """A float64 array of which every result smaller than `tiny` is zero."""

    tiny: float

    def __array_finalize__(self, origin: Any) -> None:
        self.tiny = getattr(origin, "tiny", 0.0)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        out = kwargs.get("out")
        if out is not None:
            kwargs["out"] = tuple(_plain(x) for x in out)
        results = getattr(ufunc, method)(*map(_plain, inputs), **kwargs)
        if out is not None:
            for array in out:
                _plain(array)[...] = _zeroed(_plain(array), self.tiny)
            return out[0] if len(out) == 1 else out
        if isinstance(results, tuple):
            return tuple(self._of(r) for r in results)
        return None if results is None else self._of(results)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        if isinstance(result, tuple | list):
            made = map(self._of, result)
            return result._make(made) if hasattr(result, "_make") else type(result)(made)
        return self._of(result)  # np.where and its kin give plain arrays, which would flush no more

    def _of(self, result: Any) -> Any:
        return flushing(result, self.tiny) if np.asarray(result).dtype.kind == "f" else result


def flushing(values: Any, tiny: float) -> Flushing:
    """`values`, those smaller than `tiny` zero, as an array whose results are treated alike."""
    array = _zeroed(np.asarray(values), tiny).view(Flushing)
    array.tiny = tiny
    return array


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Flushing) else x


def _zeroed(values: Array, tiny: float) -> Array:
    """With zeros of the numbers' own signs, as processors make them: 1 / -1e-39 is -inf."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(values) < tiny, np.copysign(0.0, values), values)


def answers(posed: Posed) -> Iterator[Sequence[Array | None]]:
    """Outputs, or gradients, with numbers below the normal range taken for zero: read, computed, or both."""
    kind = DTYPES[posed.case.dtype]
    interior = least_normal(kind)
    own = [DTYPES[posed.case.dtype_of(name)].tiny for name in posed.names] if posed.case.mixed else repeat(kind.tiny)
    read = posed.given(inputs=tuple(None if x is None else _read(x, tiny) for x, tiny in zip(posed.inputs, own)))  # noqa: B905
    pairs = zip(read.inputs, posed.inputs, strict=True)
    if any(x is not None and y is not None and np.any(x != y) for x, y in pairs if x is not y):
        yield _answer(read, 0.0)
        yield _answer(read, interior)
    yield _answer(posed, interior)


def _read(x: Array, tiny: float) -> Array:
    return _zeroed(x, tiny) if x.dtype.kind == "f" else x


def _answer(posed: Posed, tiny: float) -> Sequence[Array | None]:
    """What the operator gives where everything smaller than `tiny` is zero."""

    def wrap(x: Array | None) -> Array | None:
        return x if x is None or x.dtype.kind != "f" else flushing(x, tiny)

    inputs = [wrap(x) for x in posed.inputs]
    outputs = reference.forward(posed.op, inputs, posed.params)
    if posed.mode is Mode.FORWARD:
        return [_plain(y) for y in outputs]
    kind = DTYPES[posed.case.dtype]
    stored = [wrap(round_to(_plain(y), kind)) if y.dtype.kind == "f" else y for y in outputs]
    gradients = reference.vjp(posed.op, inputs, posed.params, [wrap(g) for g in posed.cotangents], stored)
    return [_plain(np.asarray(d)) if n else None for d, n in zip(gradients, posed.needs, strict=True)]
