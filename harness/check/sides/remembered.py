"""What a reference remembers between calls: tables of angles, masks by length, memoised functions.

Every call begins with what was there before and leaves nothing behind. Else a table would be that of the first call: of
another dtype than is asked for, or without the noise of an evaluation that finds it made.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

_ABSENT = object()
_NEVER = (ModuleType, type, BuiltinFunctionType, str, bytes, int, float, complex, tuple)

#: A dictionary; with the one name in it that may be set, or None for all of them.
Place = tuple[dict[Any, Any], str | None]


@contextlib.contextmanager
def forgetting(subject: Any) -> Iterator[Callable[[], bool]]:
    """A block after which a function or module holds what it held before; memoised functions are empty in it.

    It is given what says whether something else is held now.
    """
    found = list(_kept(subject, set()))
    memoised = [one for one in found if not isinstance(one, tuple)]
    held = [(place, name, _held(place, name)) for place, name in (one for one in found if isinstance(one, tuple))]
    for function in memoised:
        function.cache_clear()
    try:
        yield lambda: any(not _is(_held(place, name), before) for place, name, before in held)
    finally:
        for function in memoised:
            function.cache_clear()
        for place, name, before in held:
            _restore(place, name, before)


def _held(place: dict[Any, Any], name: str | None) -> Mapping[Any, Any]:
    """What is in a place now, all of it or under one name."""
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


def _kept(value: Any, seen: set[int]) -> Iterator[Any]:
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
            yield from _kept(type(one).forward, seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(getattr(value, "__dict__", None), dict):
        yield vars(value), None
        for name in ("__call__", "__wrapped__", "__func__"):
            yield from _kept(getattr(type(value) if name == "__call__" else value, name, None), seen)


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[Any]:
    """Its attributes, what it closes over, and the globals of its own file that it names."""
    yield vars(function), None
    for cell in function.__closure__ or ():
        with contextlib.suppress(ValueError):  # an empty cell
            yield from _kept(cell.cell_contents, seen)
    for name in _named(function.__code__):
        value = function.__globals__.get(name, _ABSENT)
        if value is _ABSENT or value is None or hasattr(value, "untyped_storage"):
            yield function.__globals__, name
        elif not isinstance(value, FunctionType) or value.__globals__ is function.__globals__:
            yield from _kept(value, seen)


def _named(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _named(value)
