"""Candidates of every kind as functions of PyTorch tensors: torch.autograd.Function, NumPy functions, symbols of C.

A symbol of C gets pointers to the inputs, to the outputs, then sizes:

    void add(const float *a, const float *b, float *y, int64_t rows, int64_t columns);

Tensors lie row by row in their dtype. The sizes are those of the first tensor's axes, as int64_t; where a ctypes
function declares its argument types and these have one number alone, it is the number of the first tensor's elements.
Whatever it returns but 0 or nothing is an error.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from opproof.core.copies import run_in_copy
from opproof.core.errors import UsageError
from opproof.harness.check.call.array_libraries import convert_to_numpy, convert_to_torch, with_tensors
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.call.forked import MAX_CALL_SECONDS, forked
from opproof.harness.check.call.isolated import Located, isolated
from opproof.harness.check.call.other_calls import ReusedBuffers
from opproof.harness.check.call.perform import Ended, Pull, perform
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.side_effects import settings_kept
from opproof.harness.check.call.subject import Arguments, Lasting, is_module
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.tensors import CallTensor, to_torch


@dataclass(frozen=True)
class Callee:
    """A candidate and its gradient as they are called with tensors."""

    function: Any
    vjp: Callable[..., Any] | None


def make_callee(
    candidate: Any, vjp: Callable[..., Any] | None, reference: Any, arguments: Arguments, tensors: Sequence[CallTensor],
    wish: CheckOptions,
) -> Callee:  # fmt: skip
    """`candidate` as a function of tensors. `tensors` are tried to find out whether it takes NumPy arrays instead.

    That is the first of its calls.

    Raises UsageError where a symbol of C cannot be found or called.
    """
    import torch

    if isinstance(candidate, type) and issubclass(candidate, torch.autograd.Function):
        function: Any = candidate
        return Callee(_name_function(function.apply, function.__name__), vjp)
    if is_symbol(candidate):
        symbol = load_symbol(candidate)
        return Callee(_name_function(functools.partial(call, symbol, reference), symbol.name), vjp)
    function = with_tensors(candidate)
    if function is not candidate:
        return Callee(function, with_tensors(vjp))
    if is_module(candidate) or wish.device != "cpu":
        return Callee(candidate, vjp)
    tried = functools.partial(_takes_arrays, torch, candidate, arguments, tensors)
    if not wish.calls.measure(lambda: run_in_copy(tried, MAX_CALL_SECONDS) if wish.forked else tried()):
        return Callee(candidate, vjp)
    name = getattr(candidate, "__name__", type(candidate).__name__)
    return Callee(_name_function(_of_arrays(candidate), name), None if vjp is None else _of_arrays(vjp))


def _takes_arrays(torch: Any, candidate: Any, arguments: Arguments, tensors: Sequence[CallTensor]) -> bool:
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
    found = attempt([convert_to_numpy(t) for t in drawn()])
    leaves = found if isinstance(found, tuple | list) else [found]
    return all(isinstance(y, np.ndarray | np.generic | float | int) for y in leaves)


def _of_arrays(fn: Callable[..., Any]) -> Callable[..., Any]:
    """A function of NumPy arrays as one of tensors, which share their memory."""

    def function(*given: Any, **named: Any) -> Any:
        from torch.utils._pytree import tree_map

        with np.errstate(all="ignore"):
            found = fn(*tree_map(convert_to_numpy, given), **tree_map(convert_to_numpy, named))
        return tree_map(convert_to_torch, found)

    return function


def _name_function(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def named(*given: Any, **by_name: Any) -> Any:
        return function(*given, **by_name)

    named.__name__ = name
    return named


_PREFIX = "c:"
_FUNCTION = type(ctypes.pythonapi.Py_IsInitialized).__mro__[1]  # of all functions that ctypes finds in libraries
_WHOLE = tuple(getattr(ctypes, f"c_{name}") for name in "int uint long ulong longlong ulonglong size_t ssize_t".split())


@dataclass(frozen=True)
class Symbol:
    """A function of C; `sizes`: the types of the numbers behind the pointers, None: int64_t, one an axis."""

    name: str
    function: Any
    sizes: tuple[Any, ...] | None


def is_symbol(candidate: Any) -> bool:
    """Whether it is a ctypes function, or text such as "c:./libmine.so:my_kernel"."""
    return isinstance(candidate, _FUNCTION) or (isinstance(candidate, str) and candidate.startswith(_PREFIX))


def load_symbol(candidate: Any) -> Symbol:
    """The function. Raises UsageError where the library or the symbol is not there."""
    if not isinstance(candidate, str):
        types = candidate.argtypes
        return Symbol(candidate.__name__, candidate, None if types is None else tuple(t for t in types if t in _WHOLE))
    path, _, name = candidate.removeprefix(_PREFIX).rpartition(":")
    try:
        library = ctypes.CDLL(str(Path(path).resolve()))
    except OSError as error:
        raise UsageError(f"cannot load the library {path!r} ({error}): give 'c:./libmine.so:my_kernel'.") from None
    try:
        function = library[name]
    except AttributeError:
        raise UsageError(f"{path} has no symbol {name!r}: give one that it exports.") from None
    function.restype = None
    return Symbol(name, function, None)


def call(symbol: Symbol, reference: Callable[..., Any], *given: Any) -> Any:
    """Call it with outputs shaped as the reference's, filled with NaN or the like beforehand."""
    import torch

    tensors = [t for t in given if isinstance(t, torch.Tensor)]
    if len(tensors) != len(given):
        raise UsageError(f"{symbol.name} is a symbol of C: expected tensors alone as inputs; wrap it in Python.")
    with torch.no_grad():
        wanted = reference(*(t.detach().clone() for t in tensors))
    several = isinstance(wanted, tuple | list)
    outputs = [_make_poisoned(torch, y) for y in (wanted if several else [wanted])]
    rows = [t.detach().contiguous() for t in tensors]
    sizes = _make_sizes(symbol, rows[0])
    status = symbol.function(*(ctypes.c_void_p(t.data_ptr()) for t in (*rows, *outputs)), *sizes)
    if status:
        raise RuntimeError(f"{symbol.name} returned {status}")
    return tuple(outputs) if several else outputs[0]


def _make_sizes(symbol: Symbol, first: Any) -> Sequence[Any]:
    types = symbol.sizes
    if types is None:
        return [ctypes.c_int64(n) for n in first.shape]
    if len(types) == 1:
        return [types[0](first.numel())]
    if len(types) != first.dim():
        raise UsageError(
            f"{symbol.name} takes {len(types)} sizes and the first tensor has {first.dim()} axes: expected one number, "
            f"or one an axis; wrap it in Python."
        )
    return [kind(n) for kind, n in zip(types, first.shape, strict=True)]


def _make_poisoned(torch: Any, like: Any) -> Any:
    made = torch.empty(like.shape, dtype=like.dtype)
    return made.fill_(float("nan")) if made.is_floating_point() else made.fill_(1)


#: Of opcheck's tests those that compile nothing.
TESTS = ("test_schema", "test_autograd_registration", "test_faketensor")


def is_custom(candidate: Any) -> bool:
    """Whether it is an operator of torch.library, in any of its three forms."""
    from torch._library.custom_ops import CustomOpDef
    from torch._ops import OpOverload, OpOverloadPacket

    return isinstance(candidate, OpOverload | OpOverloadPacket | CustomOpDef)


def run_opcheck(candidate: Any, arguments: Arguments, tensors: Sequence[CallTensor], gradients: bool) -> list[str]:
    """What opcheck has against it, a sentence a test."""
    import torch

    made = [to_torch(torch, t, "cpu") for t in tensors]
    given, named = arguments.split([t.requires_grad_() if gradients and t.is_floating_point() else t for t in made])
    said = torch.library.opcheck(candidate, given, named, test_utils=TESTS, raise_exception=False)
    raised = {name: (type(found).__name__, " ".join(str(found).split())) for name, found in said.items()}
    failed = {name: raised[name] for name, found in said.items() if found != "SUCCESS"}
    return [f"torch.library.opcheck, {name}: {kind}: {text[:300]}" for name, (kind, text) in failed.items()]


def open_candidate(
    candidate: Any, reference: Reference, wish: CheckOptions, *, lasts: bool = False
) -> AbstractContextManager[CallFn]:
    """A block in which requests can be put to a candidate, in this process, in a copy of it or in one of its own."""
    if isinstance(candidate, Located):
        return isolated(candidate, reference, wish.seed, lasts=lasts)
    ask = _make_call_fn(Lasting(candidate, reference.form, lasts), wish)
    return forked(ask) if wish.forked else nullcontext(ask)


def _make_call_fn(candidate: Lasting, wish: CheckOptions) -> CallFn:
    pull: Pull | None = None
    vjp = wish.vjp
    if vjp is not None:

        def pull(gs: Sequence[Any], tensors: Sequence[Any]) -> Sequence[Any]:
            found = vjp(gs[0] if len(gs) == 1 else tuple(gs), *tensors)
            return found if isinstance(found, tuple | list) else (found,)

    kept = ReusedBuffers()

    def ask(request: CallRequest) -> Reply:
        request = replace(request, device=wish.device)
        return perform(candidate.call_for(request), request, pull, kept)

    return ask
