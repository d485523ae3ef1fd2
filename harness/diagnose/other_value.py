"""Right for another value of a parameter: one that is documented, the opposite, a neighbour."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

from opproof.cases import cases_of
from opproof.cases._case import Param, format_param
from opproof.core.dtypes import DTYPES
from opproof.harness.diagnose.params import FLOOR, is_number, same, smaller_explains
from opproof.harness.diagnose.wrong import Wrong
from opproof.reference_ops import Op

#: How far off a value is that is to be told from the one that explains it, of the way to what was asked for: 1/16,
#: for what is wrong by something else is explained by some value of a parameter to a tenth or so.
_NEARER = 1 / 16


def other_value(w: Wrong) -> str | None:
    """Another value that the operator's own cases use, the opposite, or a neighbour."""
    if name := next((n for n, now in w.params.items() if smaller_explains(w, n, now) and _is_none(w, n)), None):
        return f"{w.what} is that of a smaller {name} than {format_param(w.params[name])}"
    found = _other(w)
    if found is None or not _is_blurred(w, *found):
        return None if found is None else _said_of(w, *found)
    name, value = found
    than = f"another {name} than {format_param(w.params[name])}"
    return f"{w.what} is that of {than}: {format_param(value)} explains it, and so do its neighbours"


def _is_none(w: Wrong, name: str) -> bool:
    """Whether no such number at all explains it too."""
    return w.explained(params={**w.params, name: 0.0})


def perhaps(w: Wrong) -> str | None:
    """Another value that explains numbers of 16 bits no better than its neighbours do: other records may tell it."""
    found = _other(w)
    return _said_of(w, *found) if found is not None and _is_blurred(w, *found) else None


def _other(w: Wrong) -> tuple[str, Any] | None:
    """The parameter, and its value that explains what came."""
    for name, now in w.params.items():
        for value in (*_alternatives(w.op, name, now), *_of_sizes(w, name, now)):
            if not same(value, now) and w.explained(params={**w.params, name: value}):
                return name, value
    return None


def _is_blurred(w: Wrong, name: str, value: Any) -> bool:
    """Whether numbers of 16 bits leave open which value it is, as one beside it explains them too."""
    if not DTYPES[w.dtype].narrow:
        return False
    beside = (v for v in _beside(value, w.params[name]) if not same(v, w.params[name]))
    return any(w.explained(params={**w.params, name: v}) for v in beside)


def _beside(value: Any, now: Any) -> tuple[Any, ...]:
    """Of a whole number those next to it, of another the two that are nearer to what was asked for, and farther."""
    if not (is_number(value) and is_number(now)) or not (math.isfinite(value) and math.isfinite(now)):
        return ()
    if isinstance(value, int) and isinstance(now, int):
        return value - 1, value + 1
    return value + _NEARER * (now - value), value - _NEARER * (now - value)


def _said_of(w: Wrong, name: str, value: Any) -> str:
    return f"{w.what} is that of {name}={format_param(value)} instead of {name}={format_param(w.params[name])}"


def _alternatives(op: Op, name: str, now: Any) -> Iterator[Any]:
    if isinstance(now, bool):
        yield not now
        return
    yield from _used(op.name, tuple(op.rows.items()), name)
    if isinstance(now, int):
        yield from (now - 1, now + 1)
    if isinstance(now, tuple) and all(isinstance(v, int) for v in now):
        for i, v in enumerate(now):
            yield from ((*now[:i], v + step, *now[i + 1 :]) for step in (-1, 1))
    if isinstance(now, float):
        yield from (-now, now * now, math.sqrt(abs(now)))
        yield from (1 / now,) if now else ()
        yield from (now / 10, now * 10) if 0 < now <= FLOOR else ()


def _of_sizes(w: Wrong, name: str, now: Any) -> Iterator[float]:
    """Of a factor, which an eps is none: 1, and 1 over a size or its root, as 1 / d in place of 1 / √d."""
    used = _used(w.op.name, tuple(w.op.rows.items()), name)
    if name == "eps" or not (
        isinstance(now, float) or (now is None and used and all(isinstance(v, float) for v in used))
    ):
        return
    yield 1.0
    for n in sorted({n for shape in w.case.shapes.values() for n in shape if n > 1}):
        yield from (1 / n, 1 / math.sqrt(n))


@functools.cache
def _used(op: str, rows: tuple[tuple[str, tuple[str, ...]], ...], name: str) -> tuple[Param, ...]:
    """The values that the operator's own cases give a parameter."""
    values = [c.kwargs[name] for c in cases_of(op, rows=dict(rows)) if name in c.kwargs]
    return tuple({format_param(v): v for v in values}.values())
