"""A failing case made small: greedy steps, each kept while the case still fails in the same way.

As in delta debugging (Zeller, Hildebrandt, Simplifying and isolating failure-inducing input, 2002): the plainest dtype,
fill, layout and parameters first, then fewer tensors and axes, then smaller sizes, by a bisection. Sizes that are equal
are mostly tied (the k of a matmul, a norm's weight), so they shrink together; alone only where that gains nothing more.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations

from opproof.cases import Case, cases_of
from opproof.cases._case import Param, Shape
from opproof.cases._layouts import layouts_of, write_layouts
from opproof.core.bisection import bisect
from opproof.harness.reference.data import fill_parameters, inputs_of, order_arguments
from opproof.harness.reference.question import evaluate_forward
from opproof.reference_ops import Op


@dataclass(frozen=True)
class ShrunkCase:
    """The smallest case found, and how many candidates it took."""

    case: Case
    tried: int  # ran on the backend
    invalid: int  # rejected by the reference


def shrink(case: Case, op: Op, fails: Callable[[Case], bool], most: int = 2000) -> ShrunkCase:
    """The smallest case in reach of `case` for which `fails` holds; at most `most` candidates are run."""
    tried, invalid = 0, 0
    seen = {str(case)}
    allowed = make_allowed_test(case, op)
    while tried < most:
        for candidate in generate_simpler(case, op):
            if str(candidate) in seen:
                continue
            seen.add(str(candidate))
            if not (allowed(candidate) and is_valid(candidate, op)):
                invalid += 1
                continue
            tried += 1
            if fails(candidate):
                case = candidate
                break
            if tried >= most:
                return ShrunkCase(case, tried, invalid)
        else:
            break
    return ShrunkCase(case, tried, invalid)


def make_allowed_test(case: Case, op: Op) -> Callable[[Case], bool]:
    """What holds in all of the operator's own cases (and in `case`), since references accept more.

    Ranks are those that a tensor has there; sizes that are equal in each of them stay so.
    """
    own = cases_of(op.name, rows=op.rows)
    ranks = _find_ranks(case).union(*map(_find_ranks, own))
    ties = _find_ties([*map(_collect_sizes, own), _collect_sizes(case)])

    def allowed(candidate: Case) -> bool:
        sizes = _collect_sizes(candidate)
        tied = all(sizes[a] == sizes[b] for a, b in ties if a in sizes and b in sizes)
        return tied and _find_ranks(candidate) <= ranks

    return allowed


def _find_ranks(case: Case) -> set[tuple[str, int]]:
    return {(name, len(shape)) for name, shape in case.shapes.items()}


def _collect_sizes(case: Case) -> dict[tuple[str, int], object]:
    """Sizes of the axes of tensors, and the entries of parameters, counted from the last."""
    tuples = [*case.shapes.items(), *((n, v) for n, v in case.params if isinstance(v, tuple))]
    return {(name, i - len(values)): n for name, values in tuples for i, n in enumerate(values)}


def _find_ties(cases: Iterable[Mapping[tuple[str, int], object]]) -> list[tuple[tuple[str, int], tuple[str, int]]]:
    """Pairs of places that are equal wherever both are, at several values."""
    pairs: dict[tuple[tuple[str, int], tuple[str, int]], set[tuple[object, object]]] = {}
    for sizes in cases:
        for a, b in combinations(sizes, 2):
            pairs.setdefault((a, b), set()).add((sizes[a], sizes[b]))
    return [p for p, seen in pairs.items() if len(seen) > 2 and all(m == n for m, n in seen)]


def is_valid(case: Case, op: Op) -> bool:
    """Whether the reference accepts the case and gives it results."""
    try:
        outputs = evaluate_forward(op, order_arguments(case, op, inputs_of(case, op)), fill_parameters(case, op))
    except Exception:  # whatever the reference objects to, the candidate is no case of this operator
        return False
    return any(y.size for y in outputs)


def generate_simpler(case: Case, op: Op) -> Iterator[Case]:
    """Cases a step simpler than `case`, the greatest steps first."""
    yield from _simplify_case(case)
    yield from _remove_tensors(case, op)
    yield from _simplify_parameters(case, op)
    yield from _remove_axes(case)
    yield from _reduce_sizes(case)


def _simplify_case(case: Case) -> Iterator[Case]:
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
            yield replace(case, layout=write_layouts({**layouts, name: "contiguous"}))


def _remove_tensors(case: Case, op: Op) -> Iterator[Case]:
    for name in list_removable(case, op):
        yield remove_tensor(case, name)


def list_removable(case: Case, op: Op) -> list[str]:
    """Tensors that may be left out, and that no other one is again."""
    used = {shape for _, shape in case.tensors if isinstance(shape, str)}
    every = op.variadic and len(case.tensors) > 1
    return [name for name, _ in case.tensors if (every or name in op.optional) and name not in used]


def remove_tensor(case: Case, name: str) -> Case:
    """The case without one of its tensors, and what is said of that."""
    kept = write_layouts({n: layout for n, layout in layouts_of(case).items() if n != name})
    needs = None if case.needs is None else tuple(n for n in case.needs if n != name)
    return replace(
        case,
        tensors=tuple(t for t in case.tensors if t[0] != name),
        layout=kept if ":" in case.layout else case.layout,
        needs=needs or None,
        mixed=tuple(given for given in case.mixed if given[0] != name),
    )


def _simplify_parameters(case: Case, op: Op) -> Iterator[Case]:
    """Defaults, which need not be written; then plainer values."""
    optional = [n for n, _ in case.params if op.params.get(n) is not inspect.Parameter.empty]
    if len(optional) > 1:
        yield replace(case, params=tuple(p for p in case.params if p[0] not in optional))
    for name in optional:
        yield remove_parameter(case, name)
    for name, value in case.params:
        for plainer in _simplify_value(value):
            yield replace(case, params=tuple((n, plainer if n == name else v) for n, v in case.params))


def remove_parameter(case: Case, name: str) -> Case:
    """The case with a parameter left to its default."""
    return replace(case, params=tuple(p for p in case.params if p[0] != name))


def _simplify_value(value: Param) -> Iterator[Param]:
    if isinstance(value, tuple):
        if value and len(set(value)) == 1:
            yield value[0]
        for i, v in enumerate(value):
            yield from ((*value[:i], w, *value[i + 1 :]) for w in _simplify_value(v))
    elif isinstance(value, int) and not isinstance(value, bool) and value > 1:
        yield from _list_smaller(value)


def _remove_axes(case: Case) -> Iterator[Case]:
    """Without the first, or another, axis of all tensors of the highest rank, then of one tensor."""
    rank = max((len(s) for s in case.shapes.values()), default=0)
    for axis in range(rank):
        yield map_shapes(case, lambda _, s, a=axis: (*s[:a], *s[a + 1 :]) if len(s) == rank else s)  # type: ignore[misc]
    for name, shape in case.tensors:
        if isinstance(shape, tuple):
            for axis in range(len(shape)):
                yield map_shapes(case, lambda n, s, t=name, a=axis: (*s[:a], *s[a + 1 :]) if n == t else s)  # type: ignore[misc]


def _reduce_sizes(case: Case) -> Iterator[Case]:
    """A size smaller wherever it stands, shapes in parameters included; then in one place alone."""
    sizes = sorted({n for s in case.shapes.values() for n in s if n > 1}, reverse=True)
    for size in sizes:
        for new in _list_smaller(size):
            tied = map_shapes(case, lambda _, s, a=size, b=new: tuple(b if n == a else n for n in s))  # type: ignore[misc]
            yield replace(tied, params=tuple((n, replace_size(v, size, new)) for n, v in case.params))
            yield tied
    for name, shape in case.tensors:
        for axis, size in enumerate(shape if isinstance(shape, tuple) else ()):
            for new in _list_smaller(size) if size > 1 else ():
                yield map_shapes(
                    case,
                    lambda n, s, t=name, a=axis, b=new: (*s[:a], b, *s[a + 1 :]) if n == t else s,  # type: ignore[misc]
                )


def replace_size(value: Param, old: int, new: int) -> Param:
    """A parameter's value with another size where a tuple has the old one."""
    return tuple(new if v == old else v for v in value) if isinstance(value, tuple) else value


def _list_smaller(size: int) -> list[int]:
    """1, 2, 3, then what a bisection up to `size` tries while nothing fails: it ends beside the smallest that does."""
    steps = [1, 2, 3]

    def passes(n: int) -> bool:
        steps.append(n)
        return False

    bisect(size, 0, passes)
    return list(dict.fromkeys(s for s in steps if 0 < s < size))


def map_shapes(case: Case, change: Callable[[str, Shape], Shape]) -> Case:
    """The case with every shape changed by its name."""
    return replace(case, tensors=tuple((n, s if isinstance(s, str) else change(n, s)) for n, s in case.tensors))
