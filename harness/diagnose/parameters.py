"""Right for other parameters: ignored, swapped, another axis, another value, or rounded to fewer digits."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

import numpy as np

from opproof.cases import cases_of
from opproof.cases._case import Param, format_param
from opproof.core.arrays import Array, is_number
from opproof.core.dtypes import DTYPES, round_to
from opproof.harness.diagnose.wrong import MAX_EVALUATED_ELEMENTS, WrongTensor
from opproof.reference_ops import Op

#: Up to here a number keeps something from 0: authors take another power of ten.
MAX_FLOOR_VALUE = 1e-3
#: Parameters that name axes.
_AXIS_PARAMETERS = ("dim", "axis", "dim0", "dim1", "dims")


def find_wrong_axis(w: WrongTensor) -> str | None:
    ranks = {len(s) for s in w.case.shapes.values()}
    for name in (n for n in _AXIS_PARAMETERS if n in w.params):
        now = w.params[name]
        others = [None, *range(max(ranks, default=0))]
        if isinstance(now, tuple) and len(now) == 1:
            others = [(o,) for o in others if o is not None]
        for other in others:
            if not is_same(other, now) and w.explained(params={**w.params, name: other}):
                return f"{w.what} is that of {name}={format_param(other)}, another axis than {name}={format_param(now)}"
    return None


def find_swapped_parameters(w: WrongTensor) -> str | None:
    """Two parameters for each other, or the entries of parameters that have one per axis."""
    params, given = w.params, w.case.kwargs
    for a, b in combinations(params, 2):
        x, y = params[a], params[b]
        alike = (is_number(x) and is_number(y)) or (type(x) is type(y) and x is not None)
        has_one_none = (x is None and is_number(y)) or (y is None and is_number(x))
        if is_same(x, y) or not (has_one_none or ({a, b} <= {*given} and alike)):
            continue
        if w.explained(params={**params, a: params[b], b: params[a]}):
            return f"the parameters {a} and {b} are swapped"
    tuples = {n: v for n, v in params.items() if isinstance(v, tuple) and v != v[::-1]}
    for names in ([*tuples], *([n] for n in tuples)):
        if names and w.explained(params={**params, **{n: tuples[n][::-1] for n in names}}):
            return f"the entries of {' and '.join(names)} are swapped: the last axis's stands first"
    return None


def find_ignored_parameter(w: WrongTensor) -> str | None:
    """A parameter has its default whatever was asked for, or no effect at all; of two explanations both are named."""
    given = {n: v for n, v in w.params.items() if n not in _AXIS_PARAMETERS}
    for name, now in given.items():
        instead = _find_replacements(w, name, now)
        if instead:
            return _describe_ignored(w, name, now, ", or of ".join(instead if len(instead) == 2 else instead[:1]))
    defaults = {n: d for n in given if (d := w.op.params[n]) is not inspect.Parameter.empty}
    several = {n: v for n, v in defaults.items() if not is_same(v, given[n])}
    if len(several) > 1 and w.explained(params={**w.params, **several}):
        return f"the parameters {' and '.join(several)} are ignored: {w.what} is that of their defaults"
    return None


def list_ignored_parameters(w: WrongTensor) -> list[str]:
    """Of values that explain it each by itself: of 1e-05, the default, and 0 another record tells one."""
    given = [(n, v) for n, v in w.params.items() if n not in _AXIS_PARAMETERS]
    return [_describe_ignored(w, name, now, text) for name, now in given for text in _find_replacements(w, name, now)]


def _describe_ignored(w: WrongTensor, name: str, now: Any, instead: str) -> str:
    return f"the parameter {name}={format_param(now)} is ignored: {w.what} is that of {instead}"


def _find_replacements(w: WrongTensor, name: str, now: Any) -> list[str]:
    """What a parameter is as where it is ignored, as it is said, of every value that explains the error."""
    found: dict[str, str] = {}
    for value, why in iter_replacements(w.op.params[name], now):
        text = f"{name}={format_param(value)}"
        if value == 0 and is_explained_by_smaller(w, name, now):  # then it need not be 0
            continue
        if not is_same(value, now) and text not in found and w.explained(params={**w.params, name: value}):
            found[text] = text + why
    return list(found.values())


def is_explained_by_smaller(w: WrongTensor, name: str, now: Any) -> bool:
    """Whether a tenth of a default that keeps something from 0 explains the error, as another default does."""
    floor = isinstance(now, float) and 0 < now <= MAX_FLOOR_VALUE and is_same(w.op.params[name], now)
    return floor and w.explained(params={**w.params, name: now / 10})


def iter_replacements(default: Any, now: Any) -> Iterator[tuple[Any, str]]:
    """Values that ignoring a parameter amounts to; one that is given as nothing, 0, is not ignored."""
    if is_number(now) and now == 0 and is_same(now, default):
        return
    if default is not inspect.Parameter.empty:
        yield default, ", its default"
    if isinstance(now, tuple) and now and all(isinstance(v, int) for v in now):
        yield tuple(0 for _ in now), ""
        yield tuple(1 for _ in now), ""
    elif is_number(now):
        yield type(now)(0), ""
        yield type(now)(1), ""
        yield (math.inf if isinstance(now, float) else now), ""


def is_same(a: Param, b: Param) -> bool:
    """Equality of parameters in which nan equals itself."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))


#: How far off a value is that is to be told from the one that explains it, of the way to what was asked for: 1/16,
#: for what is wrong by something else is explained by some value of a parameter to a tenth or so.
_NEIGHBOUR_FRACTION = 1 / 16


def find_other_value(w: WrongTensor) -> str | None:
    """Another value that the operator's own cases use, the opposite, or a neighbour."""
    smaller = (n for n, now in w.params.items() if is_explained_by_smaller(w, n, now))
    if name := next((n for n in smaller if w.explained(params={**w.params, n: 0.0})), None):  # no such number at all
        return f"{w.what} is that of a smaller {name} than {format_param(w.params[name])}"
    found = _find_value(w)
    if found is None or not _is_blurred(w, *found):
        return None if found is None else _said_of(w, *found)
    name, value = found
    than = f"another {name} than {format_param(w.params[name])}"
    return f"{w.what} is that of {than}: {format_param(value)} explains it, and so do its neighbours"


def suggest_other_value(w: WrongTensor) -> str | None:
    """Another value that explains f16 and bf16 numbers no better than its neighbours do: other records may tell it."""
    found = _find_value(w)
    return _said_of(w, *found) if found is not None and _is_blurred(w, *found) else None


def _find_value(w: WrongTensor) -> tuple[str, Any] | None:
    """The parameter, and its value that explains what came."""
    for name, now in w.params.items():
        for value in (*_iter_alternatives(w.op, name, now), *_of_sizes(w, name, now)):
            if not is_same(value, now) and w.explained(params={**w.params, name: value}):
                return name, value
    return None


def _is_blurred(w: WrongTensor, name: str, value: Any) -> bool:
    """Whether f16 and bf16 numbers leave open which value it is, as one beside it explains them too."""
    if not DTYPES[w.dtype].narrow:
        return False
    beside = (v for v in _list_neighbours(value, w.params[name]) if not is_same(v, w.params[name]))
    return any(w.explained(params={**w.params, name: v}) for v in beside)


def _list_neighbours(value: Any, now: Any) -> tuple[Any, ...]:
    """Of an integer those next to it, of another the two that are nearer to what was asked for, and farther."""
    if not (is_number(value) and is_number(now)) or not (math.isfinite(value) and math.isfinite(now)):
        return ()
    if isinstance(value, int) and isinstance(now, int):
        return value - 1, value + 1
    return value + _NEIGHBOUR_FRACTION * (now - value), value - _NEIGHBOUR_FRACTION * (now - value)


def _said_of(w: WrongTensor, name: str, value: Any) -> str:
    return f"{w.what} is that of {name}={format_param(value)} instead of {name}={format_param(w.params[name])}"


def _iter_alternatives(op: Op, name: str, now: Any) -> Iterator[Any]:
    if isinstance(now, bool):
        yield not now
        return
    yield from _collect_used(op.name, tuple(op.rows.items()), name)
    if isinstance(now, int):
        yield from (now - 1, now + 1)
    if isinstance(now, tuple) and all(isinstance(v, int) for v in now):
        for i, v in enumerate(now):
            yield from ((*now[:i], v + step, *now[i + 1 :]) for step in (-1, 1))
    if isinstance(now, float):
        yield from (-now, now * now, math.sqrt(abs(now)))
        yield from (1 / now,) if now else ()
        yield from (now / 10, now * 10) if 0 < now <= MAX_FLOOR_VALUE else ()


def _of_sizes(w: WrongTensor, name: str, now: Any) -> Iterator[float]:
    """Of a factor, which an eps is none: 1, and 1 over a size or its root, as 1 / d in place of 1 / √d."""
    used = _collect_used(w.op.name, tuple(w.op.rows.items()), name)
    if name == "eps" or not (
        isinstance(now, float) or (now is None and used and all(isinstance(v, float) for v in used))
    ):
        return
    yield 1.0
    for n in sorted({n for shape in w.case.shapes.values() for n in shape if n > 1}):
        yield from (1 / n, 1 / math.sqrt(n))


@functools.cache
def _collect_used(op: str, rows: tuple[tuple[str, tuple[str, ...]], ...], name: str) -> tuple[Param, ...]:
    """The values that the operator's own cases give a parameter."""
    values = [c.kwargs[name] for c in cases_of(op, rows=dict(rows)) if name in c.kwargs]
    return tuple({format_param(v): v for v in values}.values())


#: Elements that are stored to another number because of it, at least, and the share of them that came so.
_MIN_CHANGED_ELEMENTS = 10
_MIN_CHANGED_SHARE = 0.95


def find_rounded_parameter(w: WrongTensor) -> str | None:
    """By one factor for all: within the bound of every element, and the store then seems to round to one side."""
    if w.expected.dtype.kind != "f" or w.got.size > MAX_EVALUATED_ELEMENTS:
        return None
    for name, now in w.params.items():
        if not isinstance(now, float) or not math.isfinite(now):
            continue
        for dtype in ("f16", "bf16"):
            value = float(round_to(np.float64(now), DTYPES[dtype]))
            if value == now or not math.isfinite(value) or DTYPES[dtype].digits > DTYPES[w.dtype].digits:
                continue
            params = {**w.params, name: value}
            if _is_stored(w, w.again(params=params)) or (w.failing.any() and w.explained(params=params)):
                instead = f"{format_param(value)} in place of {format_param(now)}"
                return f"{w.what} is that of {name} rounded to {dtype}, {instead}"
    return None


def _is_stored(w: WrongTensor, candidate: Array | None) -> bool:
    """Whether f16 and bf16 elements that are another number in `candidate` are that one."""
    if candidate is None or candidate.shape != w.got.shape or not DTYPES[w.dtype].narrow:
        return False
    this, other = (round_to(v, DTYPES[w.dtype]) for v in (candidate, w.expected))
    telling = np.isfinite(this) & np.isfinite(other) & (this != other)
    return bool(telling.sum() >= _MIN_CHANGED_ELEMENTS and np.mean((w.got == this)[telling]) >= _MIN_CHANGED_SHARE)
