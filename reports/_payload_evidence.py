"""What failures looked like, as the HTML page carries it: bare lists, for as many failures as there is room."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from opproof.reports._record import Evidence, Input, Picture, Result, Worst
from opproof.reports._summary import kind


def shown(results: Sequence[Result], room: int) -> dict[int, list[Any] | int]:
    """By the number of the record: inputs, worst elements, pictures; 0 behind the first `room` characters or so.

    Failures of every sort have their turn.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    turns = []
    for i, r in enumerate(results):
        if r.evidence is not None:
            sort = (r.op, r.mode, r.backend, r.verdict, r.diagnosis)
            seen[sort] += 1
            turns.append((kind(r) != "failed", seen[sort], i))
    found: dict[int, list[Any] | int] = {}
    for *_, i in sorted(turns):
        evidence = results[i].evidence
        assert evidence is not None
        packed = _packed(evidence)
        room -= len(json.dumps(packed))
        found[i] = packed if room >= 0 else 0
    return dict(sorted(found.items()))


def _packed(evidence: Evidence) -> list[Any]:
    return [list(map(_input, evidence.inputs)), list(map(_element, evidence.elements)), _all(evidence.pictures)]


def _input(x: Input) -> list[Any]:
    numbers = [x.low, x.high, x.size, x.nans, x.infs]
    return [x.name, list(x.shape), x.dtype, x.layout, list(x.strides), x.fill, *numbers, list(x.first)]


def _element(w: Worst) -> list[Any]:
    return [w.tensor, list(w.index), w.got, w.expected, w.bound]


def _all(pictures: Sequence[Picture]) -> list[Any]:
    return [[p.tensor, list(p.shape), list(p.rows), list(p.columns), list(p.grid), p.cells] for p in pictures]
