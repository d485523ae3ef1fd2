"""Cases a step simpler than a case: plainer, of fewer tensors and axes, with smaller sizes."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import replace

from opproof.cases import Case
from opproof.cases._case import Param, Shape
from opproof.cases._layouts import layouts_of
from opproof.reference_ops import Op


def simpler(case: Case, op: Op) -> Iterator[Case]:
    """Cases a step simpler than `case`, the greatest steps first."""
    yield from _plainer(case)
    yield from _fewer_tensors(case, op)
    yield from _parameters(case, op)
    yield from _fewer_axes(case)
    yield from _sizes(case)


def _plainer(case: Case) -> Iterator[Case]:
    plain = replace(case.apart.uniform, dtype="f32", fill="normal", layout="contiguous", needs=None, seed=0)
    for changed in (
        plain,
        case.apart,
        replace(case, layout="contiguous"),
        replace(case, fill="normal"),
        case.uniform,
        replace(case, dtype="f32"),
        replace(case, needs=None),
        replace(case, seed=0),
    ):
        if changed != case:
            yield changed
    layouts = layouts_of(case)
    strange = [n for n, layout in layouts.items() if layout != "contiguous"]
    if len(strange) > 1:  # one tensor alone, or all but one
        for name in strange:
            yield replace(case, layout=f"{name}:{layouts[name]}")
        for name in strange if len(strange) > 2 else ():
            yield replace(case, layout=",".join(f"{n}:{layouts[n]}" for n in strange if n != name))


def _fewer_tensors(case: Case, op: Op) -> Iterator[Case]:
    used = {shape for _, shape in case.tensors if isinstance(shape, str)}
    for name, _ in case.tensors:
        if (name in op.optional or (op.variadic and len(case.tensors) > 1)) and name not in used:
            yield _without(case, name)


def _without(case: Case, name: str) -> Case:
    layouts = layouts_of(case)
    kept = ",".join(f"{n}:{layout}" for n, layout in layouts.items() if n != name and layout != "contiguous")
    needs = None if case.needs is None else tuple(n for n in case.needs if n != name)
    return replace(
        case,
        tensors=tuple(t for t in case.tensors if t[0] != name),
        layout=(kept or "contiguous") if ":" in case.layout else case.layout,
        needs=needs or None,
    )


def _parameters(case: Case, op: Op) -> Iterator[Case]:
    """Defaults, which need not be written; then plainer values."""
    optional = [n for n, _ in case.params if op.params.get(n) is not inspect.Parameter.empty]
    if len(optional) > 1:
        yield replace(case, params=tuple(p for p in case.params if p[0] not in optional))
    for name in optional:
        yield replace(case, params=tuple(p for p in case.params if p[0] != name))
    for name, value in case.params:
        for plainer in _plainer_values(value):
            yield _with(case, name, plainer)


def _with(case: Case, name: str, value: Param) -> Case:
    return replace(case, params=tuple((n, value if n == name else v) for n, v in case.params))


def _plainer_values(value: Param) -> Iterator[Param]:
    if isinstance(value, tuple):
        if value and len(set(value)) == 1:
            yield value[0]
        for i, v in enumerate(value):
            yield from ((*value[:i], w, *value[i + 1 :]) for w in _plainer_values(v))
    elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
        yield from _smaller(value)


def _fewer_axes(case: Case) -> Iterator[Case]:
    """Without the first, or another, axis of all tensors of the highest rank, then of one tensor."""
    rank = max((len(s) for s in case.shapes.values()), default=0)
    for axis in range(rank):
        yield _map_shapes(case, lambda _, s, a=axis: (*s[:a], *s[a + 1 :]) if len(s) == rank else s)  # type: ignore[misc]
    for name, shape in case.tensors:
        if isinstance(shape, tuple):
            for axis in range(len(shape)):
                yield _map_shapes(case, lambda n, s, t=name, a=axis: (*s[:a], *s[a + 1 :]) if n == t else s)  # type: ignore[misc]


def _sizes(case: Case) -> Iterator[Case]:
    """A size smaller wherever it stands, shapes in parameters included; then in one place alone."""
    sizes = sorted({n for s in case.shapes.values() for n in s if n > 1}, reverse=True)
    for size in sizes:
        for new in _smaller(size):
            tied = _map_shapes(case, lambda _, s, a=size, b=new: tuple(b if n == a else n for n in s))  # type: ignore[misc]
            yield replace(tied, params=tuple((n, _resized(v, size, new)) for n, v in case.params))
            yield tied
    for name, shape in case.tensors:
        for axis, size in enumerate(shape if isinstance(shape, tuple) else ()):
            for new in _smaller(size) if size > 1 else ():
                yield _map_shapes(
                    case,
                    lambda n, s, t=name, a=axis, b=new: (*s[:a], b, *s[a + 1 :]) if n == t else s,  # type: ignore[misc]
                )


def _resized(value: Param, old: int, new: int) -> Param:
    return tuple(new if v == old else v for v in value) if isinstance(value, tuple) else value


def _smaller(size: int) -> list[int]:
    """1, 2, 3, then halves of what is left to `size`: a search that ends beside the smallest that fails."""
    steps = [1, 2, 3]
    gap = size
    while gap > 1:
        gap = (gap + 1) // 2
        steps.append(size - gap)
    return list(dict.fromkeys(s for s in steps if 0 < s < size))


def _map_shapes(case: Case, change: Callable[[str, Shape], Shape]) -> Case:
    return replace(case, tensors=tuple((n, s if isinstance(s, str) else change(n, s)) for n, s in case.tensors))
