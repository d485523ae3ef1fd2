"""What failures looked like, as the HTML page carries it: bare lists, for as many failures as there is room."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from opproof.core.text import escape_unprintable
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._record import Evidence, Input, Picture, Result, Worst


def encode_pictures(results: Sequence[Result], room: int) -> dict[int, list[Any] | int]:
    """By the number of the record: inputs, worst elements, pictures; 0 behind the first `room` characters or so.

    Failures of every sort have their turn.
    """
    counts: Counter[tuple[str, ...]] = Counter()
    turns = []
    for i, r in enumerate(results):
        if r.evidence is not None:
            sort = (r.op, r.mode, r.backend, r.verdict, r.diagnosis)
            counts[sort] += 1
            turns.append((result_kind_of(r) is not ResultKind.FAILED, counts[sort], i, r.evidence))
    shown: dict[int, list[Any] | int] = {}
    for _, _, i, evidence in sorted(turns, key=lambda turn: turn[:3]):
        packed = _pack_evidence(evidence)
        room -= len(json.dumps(packed))
        shown[i] = packed if room >= 0 else 0
    return dict(sorted(shown.items()))


def _pack_evidence(evidence: Evidence) -> list[Any]:
    return [
        list(map(_pack_input, evidence.inputs)),
        list(map(_pack_element, evidence.elements)),
        _pack_pictures(evidence.pictures),
    ]


def _pack_input(x: Input) -> list[Any]:
    name, dtype, layout, fill = map(escape_unprintable, (x.name, x.dtype, x.layout, x.fill))
    numbers = [x.low, x.high, x.size, x.nans, x.infs]
    return [name, list(x.shape), dtype, layout, list(x.strides), fill, *numbers, list(map(_number, x.first))]


def _pack_element(w: Worst) -> list[Any]:
    return [escape_unprintable(w.tensor), list(w.index), *map(_number, (w.got, w.expected, w.bound))]


def _number(value: float | str) -> float | str:
    return escape_unprintable(value) if isinstance(value, str) else value


def _pack_pictures(pictures: Sequence[Picture]) -> list[Any]:
    return [
        [escape_unprintable(p.tensor), list(p.shape), list(p.rows), list(p.columns), list(p.grid), p.cells]
        for p in pictures
    ]
