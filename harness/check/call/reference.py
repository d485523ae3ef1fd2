"""The reference of a check: a PyTorch function or module, asked in the dtypes of a request or in float64.

Every call begins with what was there before and leaves nothing behind, as tables of angles and memoised functions: else
a table would be of the first call's dtype, or without the noise of an evaluation that finds it made.
"""

from __future__ import annotations

import contextlib
import ctypes
import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any, Protocol

from opproof.core.errors import OpError
from opproof.harness.check.call.exchange import CallRequest, Reply
from opproof.harness.check.call.perform import perform
from opproof.harness.check.call.subject import Form, as_call, call_for, in_dtype, in_float64
from opproof.harness.check.tensors import PARTS, by_parts, flatten_outputs
from opproof.harness.clock import Allowed, Clock
from opproof.harness.reference.torch import dtype_leaks
from opproof.harness.reference.torch.intercept import TAKES_FUNCTIONS
from opproof.harness.reference.torch.random_draws import with_recorded_draws

#: How a candidate is asked: in this process, or in its own.
CallFn = Callable[[CallRequest], Reply]


#: What PyTorch's compiler raises where it meets another one who looks at every operation.
_UNTRACED = ("Unsupported:", "InternalTorchDynamoError:")


class Native(Protocol):
    """What gives an answer in the dtypes of a request."""

    def call_native(self, request: CallRequest) -> Reply:
        """The answer."""
        ...


@dataclass(frozen=True)
class Reference:
    """A function or module of PyTorch, and what its tensors are.

    `patience`: seconds after which a call in the dtypes of a request is given up.
    """

    subject: Any
    form: Form
    patience: float = math.inf

    def call_native(self, request: CallRequest) -> Reply:
        """What it gives in the dtypes of the request; where PyTorch has it in float32 alone, in that.

        Raises OpError where the reference has PyTorch's compiler look at the steps of a function, as the judge does.
        """
        reply = self._perform(request)
        narrow = {t.dtype for t in request.tensors if t.kind in ("f16", "bf16")}
        if not reply.error or not narrow:
            return reply
        wide = tuple(replace(t, dtype="float32") if t.dtype in narrow else t for t in request.tensors)
        again = self._perform(replace(request, tensors=wide))
        named = min(narrow)
        outputs = tuple(replace(y, dtype=named) if y.dtype == "float32" else y for y in again.outputs)
        return replace(again, outputs=outputs)

    def _perform(self, request: CallRequest, *, whole: bool = False) -> Reply:
        """The reply with the call's own draws and casts; `whole`: with the draws of all that is around it too.

        All PyTorch does in such a block takes some times as long, and more of it is around a small call than in it.
        """
        call, given, draws, cast = call_for(self.subject, self.form, request), set[int](), list[Any](), dict[int, str]()

        def noted(tensors: Sequence[Any]) -> Any:
            given.update(t.untyped_storage().data_ptr() for t in tensors if not t.is_sparse)
            drawn = contextlib.nullcontext() if whole else with_recorded_draws(draws)
            with drawn, dtype_leaks.with_recorded_casts(given, cast), deadline(self.patience):
                return call(tensors)

        with restored_state(self.subject), with_recorded_draws(draws) if whole else contextlib.nullcontext():
            reply = perform(noted, request)
        if request.cotangents and not whole and (draws or reply.own_backward):  # as a checkpoint draws again
            return self._perform(request, whole=True)
        if reply.error.startswith(_UNTRACED):
            raise OpError(TAKES_FUNCTIONS.format("what the reference calls (flex_attention, cond, while_loop)"))
        error = reply.error.removeprefix(f"{DeadlineExceeded.__name__}: ")
        return replace(reply, error=error, draws=tuple(draws), casts=tuple(cast.items()))

    def keeps(self, request: CallRequest) -> bool:
        """Whether a call leaves something in it that was not there, as a table or a count, beside its buffers."""
        subject = in_dtype(self.subject, request.tensors)
        with restored_state(subject) as changed:
            perform(as_call(subject, self.form.with_rest(request.rest)), request)
            return changed()

    def outputs(self, request: CallRequest) -> Callable[..., Sequence[Any]]:
        """The reference as a function of float64 tensors that gives all outputs, updated tensors among them.

        Complex tensors are given, and come, by their parts.
        """
        import torch

        subject = in_float64(self.subject)
        call = as_call(subject, self.form.with_rest(request.rest))
        own = [t.dtype if not t.kind and t.dtype != "bool" else "" for t in request.tensors]
        whole = [t.dtype in PARTS for t in request.tensors]

        def outputs(*tensors: Any) -> Sequence[Any]:
            given = [torch.view_as_complex(t.clone()) if c else t.clone() for t, c in zip(tensors, whole, strict=True)]
            given = [t.to(getattr(torch, d)) if d else t for t, d in zip(given, own, strict=True)]
            with restored_state(subject):
                found = flatten_outputs(call(given))
            return [by_parts(y) for y in (*found, *(given[i] for i in request.after))]

        return outputs


_ABSENT = object()
_NEVER = (ModuleType, type, BuiltinFunctionType, str, bytes, int, float, complex, tuple)

#: A dictionary; with the one name in it that may be set, or None for all of them.
Place = tuple[dict[Any, Any], str | None]


@contextlib.contextmanager
def restored_state(subject: Any) -> Iterator[Callable[[], bool]]:
    """A block after which a function or module holds what it held before; memoised functions are empty in it.

    It is given what says whether something else is held now.
    """
    found = list(_find_places(subject, set()))
    memoised = [one for one in found if not isinstance(one, tuple)]
    held = [(place, name, _read_place(place, name)) for place, name in (one for one in found if isinstance(one, tuple))]
    for function in memoised:
        function.cache_clear()
    try:
        yield lambda: any(not _is(_read_place(place, name), before) for place, name, before in held)
    finally:
        for function in memoised:
            function.cache_clear()
        for place, name, before in held:
            _restore(place, name, before)


def _read_place(place: dict[Any, Any], name: str | None) -> Mapping[Any, Any]:
    return dict(place) if name is None else {name: place.get(name, _ABSENT)}


def _is(now: Mapping[Any, Any], before: Mapping[Any, Any]) -> bool:
    return now.keys() == before.keys() and all(now[k] is v for k, v in before.items())


def _restore(place: dict[Any, Any], name: str | None, before: Mapping[Any, Any]) -> None:
    if name is None:
        if not _is(place, before):
            place.clear()
            place.update(before)
    elif before[name] is _ABSENT:
        place.pop(name, None)
    else:
        place.update(before)


def _find_places(value: Any, seen: set[int]) -> Iterator[Any]:
    """Where something may be kept by a value that a reference's code names: places, and memoised functions."""
    if isinstance(value, _NEVER) or hasattr(value, "untyped_storage") or id(value) in seen:
        return
    seen.add(id(value))
    if hasattr(value, "cache_clear") and hasattr(value, "__wrapped__"):
        yield value
    if isinstance(value, dict):
        yield value, None
    elif hasattr(value, "named_parameters") and hasattr(value, "modules"):
        for one in value.modules():
            yield vars(one), None
            yield one._buffers, None  # noqa: SLF001
            yield from _find_places(type(one).forward, seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield vars(value), None
        for name in ("__call__", "__wrapped__", "__func__"):
            yield from _find_places(getattr(type(value) if name == "__call__" else value, name, None), seen)


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[Any]:
    """Its attributes, what it closes over, and the globals of its own file that it names."""
    yield vars(function), None
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield from _find_places(cell.cell_contents, seen)
    for name in _list_names(function.__code__):
        value = function.__globals__.get(name, _ABSENT)
        if value is _ABSENT or value is None or hasattr(value, "untyped_storage"):
            yield function.__globals__, name
        elif not isinstance(value, FunctionType) or value.__globals__ is function.__globals__:
            yield from _find_places(value, seen)


def _list_names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _list_names(value)


#: Seconds added to what is waited for, so that little that is left is no hundred waits.
_WAIT_ROUNDING_SECONDS = 0.001
#: The name of the threads that wait for the end.
WATCHING = "opproof-patience"


class DeadlineExceeded(BaseException):
    """It took too long. No Exception, which the code that it ends may catch and go on."""

    def __str__(self) -> str:
        """How long, as far as it is known: one that strikes between the end and this module's own says nothing."""
        return super().__str__() or "it did not end in time"


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raises NoEnd in what is inside once it has taken so many seconds, as soon as that runs Python's own code.

    Of its processors, as `Clock` counts them.
    """
    if math.isinf(seconds):
        yield
        return
    thread, lock, ended = threading.get_ident(), threading.Lock(), threading.Event()

    allowed = Allowed(seconds, Clock(alone=True))

    def end() -> None:
        while (left := allowed.left) > 0:
            if ended.wait(min(left + _WAIT_ROUNDING_SECONDS, threading.TIMEOUT_MAX)):
                return
        with lock:
            if not ended.is_set():
                _raise(thread, DeadlineExceeded)

    threading.Thread(target=end, name=WATCHING, daemon=True).start()
    try:
        yield
    except DeadlineExceeded:
        raise DeadlineExceeded(f"it did not end within {seconds:g} s") from None
    finally:
        with lock:
            ended.set()
            _raise(thread, None)  # one that has not come yet would end what follows


def _raise(thread: int, error: type[BaseException] | None) -> None:
    given = None if error is None else ctypes.py_object(error)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), given)
