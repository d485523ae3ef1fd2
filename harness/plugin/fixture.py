"""What the fixture `opproof_check` asks for: records by an operator's cases, or by a reference of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from opproof.harness.plugin.subtests import not_judged, reported, subtests_of
from opproof.reports import Result


@dataclass(frozen=True)
class Found:
    """What was found of a function, and what the test gets."""

    name: str
    results: Sequence[Result]
    not_judged: tuple[str, ...]
    objection: str  # with every failure explained; empty where it is right
    answer: Any

    def told(self, request: pytest.FixtureRequest) -> str:
        """Report it to pytest; returns why the test fails, in one sentence where subtests have explained it."""
        not_judged(request, self.name, self.not_judged)
        subtests = subtests_of(request)
        if subtests is None:
            return self.objection
        reported(subtests, self.results)
        return self.objection.partition("\n")[0]


def judge(fn: Callable[..., Any], op: str | None, options: Mapping[str, Any]) -> Found:
    """Judge `fn` by what the call names. Raises UsageError for a wrong call."""
    if options.get("like") is not None or op is None:
        from opproof.harness.check.front import judged

        given = {"like": None, "inputs": None, "vjp": None, "dtype": None, "isolate": False, **options}
        report = judged(fn, op, **given)
        objection = "" if report.ok else repr(report)
        return Found(report.candidate, report.results, report.not_judged, objection, report)
    from opproof.harness.plugin import function

    called = function.called(fn, op, **options)
    name, results, left = function.results_of(called)
    notes = function.not_judged(called, results, left)
    return Found(name, results, notes, function.objection(name, op, results), results)
