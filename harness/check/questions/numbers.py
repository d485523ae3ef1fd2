"""The numbers that a reference names: a size among them is left as it is, and a small one is a floor."""

from __future__ import annotations

import dis
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from types import CodeType
from typing import Any

#: How Python's versions write what COMPARE_OP asks.
_EQUALS = re.compile("[=!]=")


def numbers_of(subject: Any, rest: Sequence[Any]) -> frozenset[float]:
    """The numbers that a reference and its arguments name: constants of its code and what it calls, a module's own."""
    found = {float(v) for v in rest if _number(v)} | set(_defaults(subject))
    for one in subject.modules() if hasattr(subject, "modules") else ():
        found |= {
            float(n) for v in vars(one).values() for n in (v if isinstance(v, tuple | list) else (v,)) if _number(n)
        }
        found |= set(_constants(getattr(type(one).forward, "__code__", None), type(one).forward.__globals__))
    function = getattr(subject, "__wrapped__", subject)
    code = getattr(function, "__code__", None)
    cells = [c.cell_contents for c in getattr(function, "__closure__", None) or ()]
    found |= {float(v) for v in cells if _number(v)}
    return frozenset(found | set(_constants(code, getattr(function, "__globals__", {}))))


def floors_of(subject: Any, rest: Sequence[Any]) -> frozenset[float]:
    """The same with those that functions of torch.nn.functional have by default, as normalize's 1e-12."""
    import torch

    functions = [type(m).forward for m in subject.modules()] if hasattr(subject, "modules") else [subject]
    found = set(numbers_of(subject, rest))
    for function in functions:
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        for name in code.co_names if code is not None else ():
            called = getattr(torch.nn.functional, name, None)
            found |= set(_defaults(called))
    return frozenset(found)


def marks_of(subject: Any) -> frozenset[int]:
    """Whole numbers that a reference asks numbers to be equal to, or not: -1 as a place that is none, 255 a label."""
    function = type(subject).forward if hasattr(subject, "modules") else getattr(subject, "__wrapped__", subject)
    globals_ = getattr(function, "__globals__", {})
    codes = _codes(getattr(function, "__code__", None), globals_, set())
    return frozenset(n for code in codes for n in _equalled(code, globals_))


def _codes(code: CodeType | None, globals_: dict[str, Any], seen: set[CodeType]) -> Iterator[CodeType]:
    """A code, those inside it, and those of functions of its module that it calls."""
    if code is None or code in seen:
        return
    seen.add(code)
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _codes(value, globals_, seen)
    for name in code.co_names:
        value = globals_.get(name)
        if getattr(value, "__globals__", None) is globals_:
            yield from _codes(value.__code__, globals_, seen)  # type: ignore[union-attr]


def _equalled(code: CodeType, globals_: dict[str, Any]) -> Iterator[int]:
    """Whole numbers on the right of == and !=, as they stand or by a name of the module."""
    for one, after in pairwise(dis.get_instructions(code)):
        value = globals_.get(one.argval) if one.opname == "LOAD_GLOBAL" else one.argval
        if after.opname == "COMPARE_OP" and _EQUALS.search(after.argrepr) and type(value) is int:
            yield value


def _defaults(function: Any) -> Iterator[float]:
    """The numbers that parameters of a function, or of a module's forward, have where nothing is given."""
    function = getattr(type(function), "forward", getattr(function, "__wrapped__", function))
    some = (getattr(function, "__defaults__", None) or (), (getattr(function, "__kwdefaults__", None) or {}).values())
    yield from (float(v) for values in some for v in values if _number(v))


def _constants(code: CodeType | None, globals_: dict[str, Any]) -> Iterator[float]:
    for one in _codes(code, globals_, set()):
        for value in one.co_consts:
            yield from (float(v) for v in (value if isinstance(value, tuple) else (value,)) if _number(v))
        for value in map(globals_.get, one.co_names):
            if _number(value):
                yield float(value)  # type: ignore[arg-type]
            elif getattr(value, "__globals__", None) is globals_:
                yield from _defaults(value)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
