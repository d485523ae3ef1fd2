"""Arguments beside tensors, as steps, windows and flags: as other draws have them, changed, or named in code."""

from __future__ import annotations

import dis
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, islice, pairwise
from types import CodeType
from typing import Any

import numpy as np

from opproof.core.arrays import is_number
from opproof.harness.check.call.subject import Arguments
from opproof.harness.check.tensors import CONTIGUOUS, CallTensor
from opproof.harness.check.variants.variant import Variant, name_of

#: Of so many others each is tried once.
_MAX_OTHER_ARGUMENTS = 3
#: So many numbers are tried at a part of their value. Whole ones from five on: less is an axis, a step, a switch; and
#: where no tensor holds integers, whose largest it may be.
_MAX_OTHER_NUMBERS = 8
_REDUCED_SHARE = 0.75
_MIN_VARIED_INTEGER = 5
#: What is no larger than this is what keeps something from 0, and shows when it is so many times larger.
_MAX_EPSILON = 2.0**-9
_EPSILON_FACTOR = 1000.0
#: The least number that is taken for a block's, and what it is multiplied by.
_MIN_BLOCK = 4
_BLOCK_FACTORS = (2, 4, 16)
#: One draw: its arguments and its tensors.
Draw = tuple[Arguments, tuple[CallTensor, ...]]
#: Of draws with other arguments so many are put to the first one's; and so many later draws are looked at for its own.
_OTHER_DRAWS_ASKED = 3
_LATER_SEEDS = 128


def take_other_arguments(draws: Mapping[int, Draw]) -> tuple[Variant, ...]:
    """By seed a factory's draws, the given one first: those with other plain arguments, as they are drawn.

    What lies in memory before is another draw of the same shapes; where there is none, they are not tried.
    """
    (first, _), *_ = draws.values()
    seen, made = {repr(first.rest)}, list[Variant]()
    for seed, (arguments, tensors) in draws.items():
        like = arguments.places == first.places and arguments.spec == first.spec
        if not like or repr(arguments.rest) in seen:
            continue
        some = [(a, t) for s, (a, t) in draws.items() if s != seed and list_shapes(t) == list_shapes(tensors)]
        same = [t for a, t in some if repr(a.rest) == repr(arguments.rest)]
        other = next(iter([*same, *(t for _, t in some)]), None)
        if other is not None:
            seen.add(repr(arguments.rest))
            name = f"arguments of seed {seed}"
            made.append(Variant(name, f"arguments-{seed}", CONTIGUOUS, tensors, other, rest=arguments.rest))
    return tuple(made[:_MAX_OTHER_ARGUMENTS])


def change_numbers(draws: Mapping[int, Draw], names: Sequence[str]) -> tuple[Variant, ...]:
    """The first two draws with another number beside their tensors, each of those that are the same in all draws."""
    (first, tensors), (second, others), *_ = draws.values()
    if second.places != first.places or second.spec != first.spec or list_shapes(tensors) != list_shapes(others):
        return ()
    made, least = [], _MIN_VARIED_INTEGER if all(t.kind for t in tensors) else math.inf
    for i, name in _find_same_in_all(draws, names).items():
        value = first.rest[i]
        other = _change_number(value)
        if other and (type(value) is float or (type(value) is int and value >= least)):
            rest = (*first.rest[:i], other, *first.rest[i + 1 :])
            text = f"{name} as {other:g}"
            made.append(Variant(text, f"{name}-{other:g}", CONTIGUOUS, tensors, others, rest=rest, rare=True))
    return tuple(made[:_MAX_OTHER_NUMBERS])


def replace_negative_by_0(draws: Mapping[int, Draw], names: Sequence[str]) -> tuple[Variant, ...]:
    """The first two draws with 0 for a number below 0 that is given beside tensors and among integers in them.

    It says what is left out there, -100 as a rule, and may be any: who takes 0 for none given leaves nothing out.
    """
    (first, tensors), (_, others), *_ = draws.values()
    labels, made = first.labels(names), []
    for i, value in enumerate(first.rest):
        whole = {j for j, t in enumerate(tensors) if not t.kind and not t.param and t.values.dtype.kind == "i"}
        held = [j for j in whole if type(value) is int and value < 0 and (tensors[j].values == value).any()]
        if not held or list_shapes(tensors) != list_shapes(others):
            continue
        asked, other = (
            tuple(t.holding(np.where(t.values == value, 0, t.values)) if j in held else t for j, t in enumerate(some))
            for some in (tensors, others)
        )
        name = name_of(labels, i)
        rest = (*first.rest[:i], 0, *first.rest[i + 1 :])
        made.append(Variant(f"{name} as 0", f"{name}-0", CONTIGUOUS, asked, other, rest=rest, rare=True))
    return tuple(made)


def swap_numbers(draws: Mapping[int, Draw], names: Sequence[str]) -> tuple[Variant, ...]:
    """The first two draws with two integers beside their tensors exchanged, of which one is less in every draw.

    Sinks may be more than a window is long, which a kernel that is made of the usual ones has not met.
    """
    (first, tensors), (_, others), *_ = draws.values()
    if list_shapes(tensors) != list_shapes(others):
        return ()
    given = [arguments.rest for arguments, _ in draws.values()]
    whole = [i for i in range(len(first.rest)) if all(len(r) > i and type(r[i]) is int and r[i] > 0 for r in given)]
    labels, made = first.labels(names), list[Variant]()
    for i, j in combinations(whole, 2):
        if all(r[i] < r[j] for r in given) or all(r[i] > r[j] for r in given):
            rest = list(first.rest)
            rest[i], rest[j] = rest[j], rest[i]
            text = f"{name_of(labels, i)} and {name_of(labels, j)} exchanged"
            made.append(
                Variant(text, "exchanged", CONTIGUOUS, tensors, others, rest=tuple(rest), rare=True, apart=True)
            )
    return tuple(made[:_MAX_OTHER_ARGUMENTS])


def multiply_numbers(draws: Mapping[int, Draw], names: Sequence[str]) -> dict[str, dict[str, tuple[Any, ...]]]:
    """By name, what is given with a number that divides a size, as a block's, twice as large, and so on.

    Not where it is a size itself, which it may have to be, nor beside integers in tensors.
    """
    (first, tensors), *_ = draws.values()
    sizes = {n for t in tensors for n in t.shape}
    if not all(t.kind for t in tensors):
        return {}
    labels, found = first.labels(names), {}
    for i, value in enumerate(first.rest):
        if type(value) is int and value >= _MIN_BLOCK and value not in sizes and any(n % value == 0 for n in sizes):
            name = name_of(labels, i)
            found[name] = {
                f"{name} as {value * k}": (*first.rest[:i], value * k, *first.rest[i + 1 :]) for k in _BLOCK_FACTORS
            }
    return found


def _change_number(value: float) -> float:
    """Three quarters of a number, of a floor so many times it."""
    if type(value) is int:
        return int(value * _REDUCED_SHARE)
    return value * (_EPSILON_FACTOR if 0 < value <= _MAX_EPSILON else _REDUCED_SHARE)


def describe_unvaried_arguments(
    draws: Mapping[int, Draw], names: Sequence[str], tried: Sequence[str]
) -> tuple[str, ...]:
    """What is to be said of numbers and flags beside tensors of which no other was drawn, and none was `tried`."""
    (first, _), *_ = draws.values()
    return tuple(
        f"other values of {name} ({first.rest[i]!r}): inputs() gives the same for every seed"
        for i, name in _find_same_in_all(draws, names).items()
        if not any(one.startswith(f"{name} as ") for one in tried)
    )


def _find_same_in_all(draws: Mapping[int, Draw], names: Sequence[str]) -> dict[int, str]:
    """The places of numbers and flags that are the same in every draw, and their names."""
    (first, _), *others = draws.values()
    alike = [i for i, v in enumerate(first.rest) if isinstance(v, int | float)]
    alike = [i for i in alike if all(len(a.rest) > i and a.rest[i] == first.rest[i] for a, _ in others)]
    labels = first.labels(names)
    return {i: name_of(labels, i) for i in alike}


def of_one_rest(
    draws: Mapping[int, Draw], draw: Callable[[int], Draw], takes: Callable[[tuple[CallTensor, ...]], bool]
) -> list[tuple[CallTensor, ...]]:
    """The tensors of draws, which are all put to what the first is given beside tensors.

    Where what a draw gives beside them belongs to its tensors, as the longest of its lengths does, the reference may
    take no others: then of later draws those that give the same, as far as there are as many.
    """
    (seed, (first, _)), *_ = draws.items()
    others = [tensors for arguments, tensors in draws.values() if repr(arguments.rest) != repr(first.rest)]
    given = [tensors for _, tensors in draws.values()]
    if not others or all(map(takes, others[:_OTHER_DRAWS_ASKED])):
        return given
    later = (draw(s) for s in range(seed, seed + _LATER_SEEDS))
    alike = (tensors for arguments, tensors in later if repr(arguments.rest) == repr(first.rest))
    same = list(islice(alike, len(given)))
    return same if len(same) == len(given) else given


def list_shapes(tensors: tuple[CallTensor, ...]) -> list[tuple[int, ...]]:
    """Of all tensors of a draw."""
    return [t.shape for t in tensors]


#: How Python's versions write what COMPARE_OP asks.
_EQUALS = re.compile("[=!]=")


def numbers_of(subject: Any, rest: Sequence[Any]) -> frozenset[float]:
    """The numbers that a reference and its arguments name: constants of its code and what it calls, a module's own."""
    found = {float(v) for v in rest if is_number(v)} | set(_find_defaults(subject))
    for one in subject.modules() if hasattr(subject, "modules") else ():
        found |= {
            float(n) for v in vars(one).values() for n in (v if isinstance(v, tuple | list) else (v,)) if is_number(n)
        }
        found |= set(_find_constants(getattr(type(one).forward, "__code__", None), type(one).forward.__globals__))
    function = getattr(subject, "__wrapped__", subject)
    code = getattr(function, "__code__", None)
    cells = [c.cell_contents for c in getattr(function, "__closure__", None) or ()]
    found |= {float(v) for v in cells if is_number(v)}
    return frozenset(found | set(_find_constants(code, getattr(function, "__globals__", {}))))


def floors_of(subject: Any, rest: Sequence[Any]) -> frozenset[float]:
    """The same with those that functions of torch.nn.functional have by default, as normalize's 1e-12."""
    import torch

    functions = [type(m).forward for m in subject.modules()] if hasattr(subject, "modules") else [subject]
    found = set(numbers_of(subject, rest))
    for function in functions:
        code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
        for name in code.co_names if code is not None else ():
            called = getattr(torch.nn.functional, name, None)
            found |= set(_find_defaults(called))
    return frozenset(found)


def marks_of(subject: Any) -> frozenset[int]:
    """Integers that a reference asks numbers to be equal to, or not: -1 as a place that is none, 255 a label."""
    function = type(subject).forward if hasattr(subject, "modules") else getattr(subject, "__wrapped__", subject)
    globals_ = getattr(function, "__globals__", {})
    codes = _walk_codes(getattr(function, "__code__", None), globals_, set())
    return frozenset(n for code in codes for n in _find_compared_numbers(code, globals_))


def _walk_codes(code: CodeType | None, globals_: dict[str, Any], seen: set[CodeType]) -> Iterator[CodeType]:
    """A code, those inside it, and those of functions of its module that it calls."""
    if code is None or code in seen:
        return
    seen.add(code)
    yield code
    for value in code.co_consts:
        if isinstance(value, CodeType):
            yield from _walk_codes(value, globals_, seen)
    for name in code.co_names:
        value = globals_.get(name)
        if getattr(value, "__globals__", None) is globals_:
            yield from _walk_codes(value.__code__, globals_, seen)  # type: ignore[union-attr]


def _find_compared_numbers(code: CodeType, globals_: dict[str, Any]) -> Iterator[int]:
    """Integers on the right of == and !=, as they stand or by a name of the module."""
    for one, after in pairwise(dis.get_instructions(code)):
        value = globals_.get(one.argval) if one.opname == "LOAD_GLOBAL" else one.argval
        if after.opname == "COMPARE_OP" and _EQUALS.search(after.argrepr) and type(value) is int:
            yield value


def _find_defaults(function: Any) -> Iterator[float]:
    """The numbers that parameters of a function, or of a module's forward, have where nothing is given."""
    function = getattr(type(function), "forward", getattr(function, "__wrapped__", function))
    some = (getattr(function, "__defaults__", None) or (), (getattr(function, "__kwdefaults__", None) or {}).values())
    yield from (float(v) for values in some for v in values if is_number(v))


def _find_constants(code: CodeType | None, globals_: dict[str, Any]) -> Iterator[float]:
    for one in _walk_codes(code, globals_, set()):
        for value in one.co_consts:
            yield from (float(v) for v in (value if isinstance(value, tuple) else (value,)) if is_number(v))
        for value in map(globals_.get, one.co_names):
            if is_number(value):
                yield float(value)  # type: ignore[arg-type]
            elif getattr(value, "__globals__", None) is globals_:
                yield from _find_defaults(value)
