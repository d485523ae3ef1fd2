"""Right for other parameters: ignored, swapped, another axis."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterator
from itertools import combinations
from typing import Any

from opproof.cases._case import Param, format_param
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Op

#: Up to here a number keeps something from 0: authors take another power of ten.
FLOOR = 1e-3
#: Parameters that name axes.
_AXES = ("dim", "axis", "dim0", "dim1", "dims")


def wrong_axis(w: Wrong) -> str | None:
    ranks = {len(s) for s in w.case.shapes.values()}
    for name in (n for n in _AXES if n in w.params):
        now = w.params[name]
        others = [None, *range(max(ranks, default=0))]
        if isinstance(now, tuple) and len(now) == 1:
            others = [(o,) for o in others if o is not None]
        for other in others:
            if not same(other, now) and w.explained(params={**w.params, name: other}):
                return f"{w.what} is that of {name}={format_param(other)}, another axis than {name}={format_param(now)}"
    return None


def swapped(w: Wrong) -> str | None:
    """Two parameters for each other, or the entries of parameters that have one per axis."""
    params, given = w.params, w.case.kwargs
    for a, b in combinations(params, 2):
        if same(params[a], params[b]) or not (_one_is_none(params[a], params[b]) or {a, b} <= {*given}):
            continue
        if not (_one_is_none(params[a], params[b]) or _alike(params[a], params[b])):
            continue
        if w.explained(params={**params, a: params[b], b: params[a]}):
            return f"the parameters {a} and {b} are swapped"
    tuples = {n: v for n, v in params.items() if isinstance(v, tuple) and v != v[::-1]}
    for names in ([*tuples], *([n] for n in tuples)):
        if names and w.explained(params={**params, **{n: tuples[n][::-1] for n in names}}):
            return f"the entries of {' and '.join(names)} are swapped: the last axis's stands first"
    return None


def ignored(w: Wrong) -> str | None:
    """A parameter has its default whatever was asked for, or no effect at all; of two explanations both are named."""
    given = {n: v for n, v in w.params.items() if n not in _AXES}
    for name, now in given.items():
        instead = _instead(w, name, now)
        if instead:
            return _ignored(w, name, now, ", or of ".join(instead if len(instead) == 2 else instead[:1]))
    several = {n: w.op.params[n] for n, v in given.items() if _has_default(w.op, n) and not same(w.op.params[n], v)}
    if len(several) > 1 and w.explained(params={**w.params, **several}):
        return f"the parameters {' and '.join(several)} are ignored: {w.what} is that of their defaults"
    return None


def each_ignored(w: Wrong) -> list[str]:
    """Of values that explain it each by itself: of 1e-05, the default, and 0 another record tells one."""
    given = [(n, v) for n, v in w.params.items() if n not in _AXES]
    return [_ignored(w, name, now, text) for name, now in given for text in _instead(w, name, now)]


def _ignored(w: Wrong, name: str, now: Any, instead: str) -> str:
    return f"the parameter {name}={format_param(now)} is ignored: {w.what} is that of {instead}"


def _instead(w: Wrong, name: str, now: Any) -> list[str]:
    """What a parameter is as where it is ignored, as it is said, of every value that explains the error."""
    found: dict[str, str] = {}
    for value, why in without(w.op.params[name], now):
        text = f"{name}={format_param(value)}"
        if value == 0 and smaller_explains(w, name, now):  # then it need not be 0
            continue
        if not same(value, now) and text not in found and w.explained(params={**w.params, name: value}):
            found[text] = text + why
    return list(found.values())


def smaller_explains(w: Wrong, name: str, now: Any) -> bool:
    """Whether a tenth of a default that keeps something from 0 explains the error, as another default does."""
    floor = isinstance(now, float) and 0 < now <= FLOOR and same(w.op.params[name], now)
    return floor and w.explained(params={**w.params, name: now / 10})


def without(default: Any, now: Any) -> Iterator[tuple[Any, str]]:
    """Values that ignoring a parameter amounts to; one that is given as nothing, 0, is not ignored."""
    if is_number(now) and now == 0 and same(now, default):
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


def is_number(v: Any) -> bool:
    return isinstance(v, int | float) and not isinstance(v, bool)


def _alike(a: Any, b: Any) -> bool:
    return (is_number(a) and is_number(b)) or (type(a) is type(b) and a is not None)


def _one_is_none(a: Any, b: Any) -> bool:
    """A bound that is given and one that is not."""
    return (a is None and is_number(b)) or (b is None and is_number(a))


def _has_default(op: Op, name: str) -> bool:
    return op.params[name] is not inspect.Parameter.empty


def same(a: Param, b: Param) -> bool:
    """Equality of parameters in which nan equals itself."""
    return a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b))
