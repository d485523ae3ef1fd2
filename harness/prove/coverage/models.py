"""The rule of sizes that models have: heads, rows and channels for which kernels are written, and no others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from opproof.cases import Case
from opproof.harness.prove.coverage import ops as on
from opproof.harness.prove.coverage.aligned import channels, judged_in
from opproof.harness.prove.coverage.case import Rule
from opproof.reference_ops import Op, Trait

_ROWS = (256, 1024, 4096)
_CHANNELS = (16, 32, 64)
_HEADS = (64, 128, 256)
_ROTATED = (64, 128)


def _attends(op: Op) -> bool:
    return "is_causal" in op.params


def _recurs(op: Op) -> bool:
    return "state" in op.tensors


def _rotates(op: Op) -> bool:
    return "positions" in op.tensors


def _rows(op: Op) -> bool:
    """Whether it takes a spread, a norm or a share of rows."""
    return on.being(Trait.ROWWISE)(op) and on.being(Trait.STATISTIC)(op)


def sized(op: Op) -> bool:
    """Whether models give it sizes of their own."""
    return any(kind(op) for kind in (_attends, _recurs, _rotates, _rows, channels))


def sizes(op: Op, cases: Sequence[Case]) -> Iterable[str]:
    """The sizes that an operator owes."""
    del cases
    if _attends(op):
        special = ("8 heads : 1", "32 heads : 8", "128 keys", "causal over more keys", "causal over kept keys")
        return [*(f"heads of {n}" for n in _HEADS), *special]
    if _recurs(op):
        return ["heads of 64"]
    if _rotates(op):
        return [f"heads of {n}" for n in _ROTATED]
    return [f"channels of {n}" for n in _CHANNELS] if channels(op) else [f"rows of {n}" for n in _ROWS]


def met(case: Case, op: Op) -> Iterable[str]:
    """The sizes that a case has of those that its operator owes, in the dtype in which tiles count."""
    return set(_all(case, op)).intersection(sizes(op, ()))


def _all(case: Case, op: Op) -> Iterable[str]:
    if case.dtype not in judged_in(op.name):
        return
    shapes = case.shapes
    if _attends(op):
        query, key, causal = shapes["query"], shapes["key"], case.kwargs.get("is_causal") is True
        yield f"heads of {query[-1]}"
        yield f"{query[-3]} heads : {key[-3]}"
        yield f"{key[-2]} keys"
        if causal and key[-2] > query[-2]:
            yield "causal over more keys"
        if causal and "keep" in shapes:
            yield "causal over kept keys"
    elif _recurs(op) or _rotates(op):
        yield from (f"heads of {n}" for n in {n for shape in shapes.values() for n in shape[-1:]})
    elif channels(op):
        yield from (f"channels of {n}" for n in (shapes["x"][1], shapes["weight"][0]))
    else:
        first = max(shapes.values(), key=math.prod)
        images = [math.prod(first[2:])] if len(first) > 2 else []
        groups = [math.prod(first[1:]) // int(str(n))] if (n := case.kwargs.get("num_groups")) else []
        yield from (f"rows of {n}" for n in (*first[-1:], *images, *groups))


MODELS = (
    Rule(
        *(
            "sizes of models",
            "heads of 64 to 256, 8 : 1 and 32 : 8; rows of 256 to 4096; channels of 16 to 64",
            0,
        ),
        *(sized, met, sizes),
    ),
)
