"""What the fixture `opproof_check` asks for: records by an operator's cases, or by a reference of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pytest

from opproof.core.errors import UsageError, meant
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
        from opproof.harness.check.api import judged
        from opproof.harness.check.options import Wish

        _known(options, ("like", "inputs", "vjp", "isolate", *(f.name for f in fields(Wish) if f.name != "again")))
        given = {"like": None, "inputs": None, "vjp": None, "dtype": None, "isolate": False, **options}
        report = judged(fn, op, **given)
        objection = "" if report.ok else repr(report)
        return Found(report.candidate, report.results, report.not_judged, objection, report)
    from opproof.harness.check import by_operator

    _known(options, [f.name for f in fields(by_operator.Called) if f.name not in ("fn", "op")])
    called = by_operator.called(fn, op, **options)
    name, results, left = by_operator.results_of(called)
    notes = by_operator.not_judged(called, results, left)
    return Found(name, results, notes, by_operator.objection(name, op, results), results)


def _known(options: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise UsageError where an option has another name."""
    for name in options:
        if name not in names:
            expected = ", ".join(sorted(names))
            raise UsageError(f"opproof_check has no option {name!r}: expected {expected}{meant(name, names)}")
