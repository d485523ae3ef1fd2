"""A Python function as a backend of one operator: NumPy arrays in and out, or PyTorch tensors."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.backends import Unsupported
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.tuples import tuple_of, unpack_single
from opproof.reference_ops import Op
from opproof.reference_ops._torch import autograd

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class FunctionBackend:
    """`fn(*tensors, **params)`, and `gradient(g, *tensors, **params)`, g a tuple where there are several outputs.

    That tuple holds None for an output of integers. Of optional tensors that are absent, those at the end are left out
    where the function has no place for them.
    """

    op: Op
    fn: Callable[..., Any]
    gradient: Callable[..., Any] | None  # None: `by_autograd`, or nothing to ask for
    device: str = ""  # of PyTorch tensors; "" for NumPy arrays
    precision: str | None = None  # in which it computes, where that is lower than honest
    repeated: str | None = None  # what its bits do when a call is made again, where they are not the same

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> Any:
        del op
        answer = self.fn(*_place_arguments(self.fn, self._given(inputs)), **self._select_params(self.fn, params))
        return [self._taken(y) for y in tuple_of(answer)]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Any]:  # fmt: skip
        del op
        tensors, gs = self._given(inputs), self._given(cotangents)
        if self.gradient is None:
            gradients = self._by_autograd(tensors, gs, needs, params)
        else:
            given = _place_arguments(self.gradient, [unpack_single(gs), *tensors])
            gradients = [*tuple_of(self.gradient(*given, **self._select_params(self.gradient, params)))]
        gradients += [None] * (len(inputs) - len(gradients))
        return [None if d is None else self._taken(d) for d in gradients]

    def compute(self, op: str, dtype: str, mode: str) -> str | None:
        """The precision declared for all its calls."""
        del op, dtype, mode
        return self.precision

    def bits(self, op: str, dtype: str, mode: str) -> str | None:
        """What is declared of the bits of all its calls."""
        del op, dtype, mode
        return self.repeated

    def _select_params(self, fn: Callable[..., Any], params: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that `fn` takes; one that it does not take may only have its default."""
        try:
            signature = inspect.signature(fn).parameters
        except ValueError:  # some built-in functions have none to look at
            return dict(params)
        if any(p.kind is p.VAR_KEYWORD for p in signature.values()):
            return dict(params)
        for name, value in params.items():
            default = self.op.params[name]
            if name not in signature and (default is inspect.Parameter.empty or value != default):
                raise Unsupported(f"{_name(fn)} has no parameter {name!r}")
        return {name: value for name, value in params.items() if name in signature}

    def _given(self, arrays: Sequence[Array | None]) -> list[Any]:
        """What the function gets; one array given twice is one tensor."""
        if not self.device:
            return list(arrays)
        made = {id(a): to_torch(a, self.device) for a in arrays if a is not None}
        return [None if a is None else made[id(a)] for a in arrays]

    def _taken(self, answer: Any) -> Any:
        return from_torch(answer) if self.device else answer

    def _by_autograd(
        self, tensors: Sequence[Any], gs: Sequence[Any], needs: Sequence[bool], params: Mapping[str, Any]
    ) -> list[Any]:
        import torch

        def outputs(*leaves: Any) -> tuple[Any, ...]:
            ys = tuple_of(self.fn(*_place_arguments(self.fn, leaves), **self._select_params(self.fn, params)))
            if not any(y.requires_grad for y in ys):
                raise RuntimeError(f"no output of {_name(self.fn)} requires grad: autograd cannot see through it")
            return ys

        return autograd(torch, outputs, tensors, needs, gs)


def _place_arguments(fn: Callable[..., Any], tensors: Sequence[Any]) -> list[Any]:
    """`tensors` without those at the end that are None and more than `fn` has places for."""
    kept = list(tensors)
    try:
        kinds = [p.kind for p in inspect.signature(fn).parameters.values()]
    except ValueError:  # some built-in functions have none to look at
        kinds = []
    places = len(kept) if inspect.Parameter.VAR_POSITIONAL in kinds else sum(k in _POSITIONAL for k in kinds)
    while len(kept) > places and kept[-1] is None:
        kept.pop()
    return kept


def to_torch(array: Array, device: str) -> Any:
    """A PyTorch tensor over the array's memory, strides kept, or a copy of it on another device."""
    import torch

    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16).to(device)
    return torch.from_numpy(array).to(device)


def from_torch(tensor: Any) -> Array:
    """The NumPy array of a tensor on any device; bfloat16 as ml_dtypes.bfloat16."""
    import torch

    tensor = tensor.detach().cpu().contiguous()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)  # type: ignore[no-any-return]
    return tensor.numpy()  # type: ignore[no-any-return]


def require_torch(device: str) -> None:
    """Raises BackendError with what to do where PyTorch, or the device, is missing."""
    try:
        import torch
    except ImportError:
        raise BackendError("device= needs PyTorch, which is not installed; pip install 'opproof[torch]'.") from None
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        reason = str(error).partition("\n")[0]
        raise BackendError(f"device={device!r}: {reason}; give another, or none for NumPy arrays.") from None


def _name(fn: Callable[..., Any]) -> str:
    return str(getattr(fn, "__name__", type(fn).__name__))
