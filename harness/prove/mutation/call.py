"""One call of the reference backend: what a mutant changes, or answers in another way."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.backends.numpy import Store, gradients, nearest, values
from opproof.core.arrays import Array
from opproof.harness.prove.mutation.arrays import Arrays, mapped
from opproof.reference_ops import Op


@dataclass(frozen=True)
class Call:
    """One call of a backend, and what the honest one answers."""

    op: Op
    dtype: str
    inputs: Sequence[Array | None]  # as they lie in memory
    params: Mapping[str, Any]
    cotangents: Sequence[Array | None] | None  # None in forward mode, and for an output not of floats
    needs: Sequence[bool]
    stored: Mapping[int, NDArray[np.uint8]] = field(default_factory=dict)  # whole storage, by id of the array in it
    kept: dict[Any, Any] = field(default_factory=dict)  # what the mutant remembers from call to call
    answer: Callable[[], Arrays] | None = None  # the honest answer, where it is known already
    unrounded: Callable[[], Arrays] | None = None  # the honest answer before it was stored, where it is known already
    before: Callable[[], Arrays] | None = None  # the honest answer to the call before, which had other data
    store: Store = nearest

    @property
    def right(self) -> Arrays:
        """The honest answer."""
        return self.again() if self.answer is None else self.answer()

    @property
    def exact(self) -> Arrays:
        """The honest answer before it is stored in the dtype: in float32, of 16 bits too."""
        return self.again(store=unrounded) if self.unrounded is None else self.unrounded()

    def again(self, **changes: Any) -> Arrays:
        """The honest answer to the call with `changes`."""
        c = replace(self, **changes)
        if c.cotangents is None:
            return list(values(c.op, c.inputs, c.params, c.store))
        return gradients(c.op, c.inputs, c.params, c.cotangents, c.needs, c.store)


def unrounded(y: Any, dtype: np.dtype[Any]) -> Array:  # noqa: ARG001
    """A result as it was computed."""
    return np.asarray(y)


def seen_as(wrapped: Callable[[Any], Any]) -> Callable[[Call], Arrays]:
    """The reference evaluated on tensors of another class: `wrapped` of each, plain arrays again in the end."""

    def results(call: Call) -> Arrays:
        op = call.op

        def forward(*tensors: Any, **params: Any) -> Any:
            return mapped(_plain, op.forward(*mapped(wrapped, tensors), **params))

        def vjp(g: Any, y: Any, *tensors: Any, **params: Any) -> Any:
            assert op.vjp is not None
            given = mapped(wrapped, (g, y, *tensors))
            return mapped(_plain, op.vjp(*given, **params))

        return call.again(op=replace(op, forward=forward, vjp=None if op.vjp is None else vjp))

    return results


def _plain(y: Any) -> Any:
    return np.asarray(y) if isinstance(y, np.ndarray) else y
