"""A bug that shipped, as a backend: the references everywhere, and what the kernel computed instead where it did.

A `Bug` names the operator, the thread that tells of it and the function; that is given a `Call` and gives the arrays
that the kernel gave, or None where it was right. Functions change what the references are asked (other inputs, other
parameters) wherever that is all that went wrong.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from opproof.backends.numpy import NumPy, compute_gradients, compute_values
from opproof.backends.table import write_results
from opproof.reference_ops import Op, load


@dataclass(frozen=True)
class Call:
    """What a kernel is given: tensors and parameters by name, where results are to lie, cotangents of a gradient."""

    op: Op
    tensors: Mapping[str, Any]
    params: Mapping[str, Any]
    out: Sequence[Any] | None = None
    cotangents: Sequence[Any] | None = None
    needs: Sequence[bool] = ()

    def __getitem__(self, name: str) -> Any:
        return self.tensors[name] if name in self.tensors else self.params[name]

    @property
    def dtype(self) -> np.dtype[Any]:
        return next(t.dtype for t in self.tensors.values() if t is not None)

    @property
    def g(self) -> Any:
        """The first cotangent."""
        assert self.cotangents is not None
        return self.cotangents[0]

    def but(self, **changed: Any) -> Call:
        """The call with other tensors or parameters."""
        tensors = {n: changed.pop(n, t) for n, t in self.tensors.items()}
        return replace(self, tensors=tensors, params={**self.params, **changed})

    def honest(self, **changed: Any) -> list[Any]:
        """What the references answer, to the call or to another."""
        call = self.but(**changed)
        inputs = list(call.tensors.values())
        if call.cotangents is None:
            return compute_values(call.op, inputs, call.params)
        return compute_gradients(call.op, inputs, call.params, call.cotangents, call.needs)

    def stored(self, *arrays: Any) -> list[Any]:
        """Arrays in the dtype of the call."""
        with np.errstate(all="ignore"):
            return [np.asarray(a).astype(self.dtype) for a in arrays]

    def instead(self, name: str, array: Any) -> list[Any]:
        """The honest gradients, that of `name` replaced where it is asked for."""
        found = self.honest()
        i = list(self.tensors).index(name)
        return [*found[:i], *(self.stored(array) if self.needs[i] else [None]), *found[i + 1 :]]


Wrong = Callable[[Call], "list[Any] | None"]


class Bug(NamedTuple):
    op: str
    link: str  # where it is told of, without https://github.com/
    what: str  # what the kernel did instead, and where
    wrong: Wrong
    mode: str = "forward"
    dtypes: str = "f32"


class Apart(NamedTuple):
    """A bug that no case can show here."""

    op: str
    link: str
    what: str
    why: str


@dataclass(frozen=True)
class Shipped(NumPy):
    """The backend that has one bug."""

    bug: Bug = field(kw_only=True)
    name = "shipped"

    def forward(self, op: str, inputs: Any, params: Any, out: Any = None) -> list[Any]:
        call = _call(op, inputs, params, out)
        return write_results(self._of(call, "forward"), out)

    def vjp(self, op: str, inputs: Any, params: Any, cotangents: Any, needs: Any, out: Any = None) -> list[Any]:
        call = replace(_call(op, inputs, params, out), cotangents=cotangents, needs=needs)
        return write_results(self._of(call, "gradient"), out)

    def _of(self, call: Call, mode: str) -> list[Any]:
        with np.errstate(all="ignore"):
            found = self.bug.wrong(call) if (call.op.name, mode) == (self.bug.op, self.bug.mode) else None
        return call.honest() if found is None else found


def _call(op: str, inputs: Any, params: Any, out: Any) -> Call:
    loaded = load(op)
    listed = inspect.signature(loaded.forward).parameters.values()
    names = [p.name for p in listed if p.kind is p.POSITIONAL_OR_KEYWORD] or [f"x{i}" for i in range(len(inputs))]
    defaults = {p.name: p.default for p in listed if p.kind is p.KEYWORD_ONLY and p.default is not p.empty}
    tensors = dict(zip(names, [*inputs, *[None] * (len(names) - len(inputs))], strict=True))
    return Call(loaded, tensors, {**defaults, **params}, out)
