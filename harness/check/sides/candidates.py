"""Candidates of every kind as functions of PyTorch tensors: torch.autograd.Function, NumPy functions, symbols of C."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.harness.check.sides import c_symbol
from opproof.harness.check.sides.harm import settings_kept
from opproof.harness.check.sides.modes import Ended
from opproof.harness.check.sides.subject import Arguments, is_module
from opproof.harness.check.tensors import Tensor, to_torch


@dataclass(frozen=True)
class Callee:
    """A candidate and its gradient as they are called with tensors."""

    function: Any
    vjp: Callable[..., Any] | None


def callee(
    candidate: Any, vjp: Callable[..., Any] | None, like: Any, arguments: Arguments, tensors: Sequence[Tensor],
    device: str,
) -> Callee:  # fmt: skip
    """`candidate` as a function of tensors. `tensors` are tried to find out whether it takes NumPy arrays instead.

    Raises UsageError where a symbol of C cannot be found or called.
    """
    import torch

    if isinstance(candidate, type) and issubclass(candidate, torch.autograd.Function):
        function: Any = candidate
        return Callee(_named(function.apply, function.__name__), vjp)
    if c_symbol.is_symbol(candidate):
        symbol = c_symbol.found(candidate)
        return Callee(_named(functools.partial(c_symbol.call, symbol, like), symbol.name), vjp)
    if is_module(candidate) or device != "cpu" or not _takes_arrays(torch, candidate, arguments, tensors):
        return Callee(candidate, vjp)
    name = getattr(candidate, "__name__", type(candidate).__name__)
    return Callee(_named(_of_arrays(candidate), name), None if vjp is None else _of_arrays(vjp))


def _takes_arrays(torch: Any, candidate: Any, arguments: Arguments, tensors: Sequence[Tensor]) -> bool:
    """Whether it raises for tensors that require grad and does not for arrays."""
    if isinstance(candidate, np.ufunc):
        return True

    def attempt(made: Sequence[Any]) -> Any:
        try:
            with settings_kept(torch), torch.random.fork_rng(devices=[]), np.errstate(all="ignore"):
                return Ended(lambda some: arguments.call(candidate, some))(made)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # of whatever kind: what it raises when it is judged is told then
            return error

    def drawn() -> list[Any]:
        return [to_torch(torch, t, "cpu") for t in tensors]

    if not isinstance(attempt([t.requires_grad_() if t.is_floating_point() else t for t in drawn()]), BaseException):
        return False
    if attempt(drawn()) is None:  # what it updates requires no grad
        return False
    found = attempt([_array(t) for t in drawn()])
    leaves = found if isinstance(found, tuple | list) else [found]
    return all(isinstance(y, np.ndarray | np.generic | float | int) for y in leaves)


def _of_arrays(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as one of tensors, which share their memory."""

    def function(*given: Any, **named: Any) -> Any:
        from torch.utils._pytree import tree_map

        with np.errstate(all="ignore"):
            found = fn(*tree_map(_array, given), **tree_map(_array, named))
        return tree_map(_tensor, found)

    return function


def _array(value: Any) -> Any:
    import torch

    if not isinstance(value, torch.Tensor):
        return value
    plain = value.detach().cpu()
    if plain.dtype == torch.bfloat16:
        import ml_dtypes

        return plain.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return plain.numpy()


def _tensor(value: Any) -> Any:
    if not isinstance(value, np.ndarray | np.generic):
        return value
    from opproof.harness.plugin.function_backend import to_torch as taken

    array = np.ascontiguousarray(value) if np.ndim(value) else np.array(value)
    return taken(array, "cpu")


def _named(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def named(*given: Any, **by_name: Any) -> Any:
        return function(*given, **by_name)

    named.__name__ = name
    return named
