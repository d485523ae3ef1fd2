"""What the fixture `opproof_check` asks for, told to pytest: subtests, and a line for what is not judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from opproof.core.errors import UsageError, suggest
from opproof.reports import Result

#: The name under which a test's report carries what was not judged: xdist sends it along.
PROPERTY = "opproof_not_judged"
#: How many of them the one line of a summary has.
SHOWN = 3


@dataclass(eq=False)  # pytest keeps plugins in sets, once a folder has a conftest.py of its own
class NotJudged:
    """A plugin that tells at the end what no test judged, and why."""

    lines: dict[str, None] = field(default_factory=dict)  # in the order in which they came

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep what the report carries; those of subtests and of the teardown carry the same."""
        for name, text in report.user_properties:
            if name == PROPERTY:
                self.lines.setdefault(str(text))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """One line, of the first of them and how many more there are; with `-v` a line each."""
        texts = list(self.lines)
        if terminalreporter.verbosity <= 0 and texts:
            more = [f"and {len(texts) - SHOWN} more, which pytest -v lists"] * (len(texts) > SHOWN)
            texts = ["; ".join([*texts[:SHOWN], *more])]
        for text in texts:
            terminalreporter.write_line(f"opproof: not judged: {text}")


def report_subtests(subtests: Any, results: Sequence[Any]) -> None:
    """Every record as a subtest by the id of its case: failed with its explanation, skipped where it proves nothing."""
    from opproof.core.verdicts import FAILED, Verdict
    from opproof.reports import terminal

    for r in results:
        with subtests.test(f"{r.mode}::{r.case}"):
            if r.verdict in FAILED:
                pytest.fail(terminal.format_failure(r), pytrace=False)
            if r.verdict is not Verdict.PASS:
                pytest.skip(f"{r.verdict}: {r.message}")


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
        request.node.user_properties.extend((PROPERTY, f"{self.name}: {reason}") for reason in self.not_judged)
        try:
            subtests = request.getfixturevalue("subtests")  # of pytest 9, or of pytest-subtests
        except pytest.FixtureLookupError:
            return self.objection
        report_subtests(subtests, self.results)
        return self.objection.partition("\n")[0]


def judge(fn: Callable[..., Any], op: str | None, options: Mapping[str, Any]) -> Found:
    """Judge `fn` by what the call names. Raises UsageError for a wrong call."""
    if options.get("like") is not None or op is None:
        from opproof.harness.check.api import judge_candidate
        from opproof.harness.check.contract import Contract
        from opproof.harness.check.options import CheckOptions

        wishes = [f.name for of in (CheckOptions, Contract) for f in fields(of) if f.name not in ("again", "contract")]
        _check_names(options, ("like", "inputs", "vjp", "isolate", *wishes))
        given = {"like": None, "inputs": None, "vjp": None, "dtype": None, "isolate": None, **options}
        report = judge_candidate(fn, op, **given)
        objection = "" if report.ok else repr(report)
        return Found(report.candidate, report.results, (*report.not_judged, *report.said_advisories), objection, report)
    from opproof.harness.check import by_operator

    _check_names(options, [f.name for f in fields(by_operator.FunctionCheck) if f.name not in ("fn", "op")])
    called = by_operator.make_function_check(fn, op, **options)
    name, results, left = by_operator.results_of(called)
    notes = by_operator.list_not_judged(called, results, left)
    return Found(name, results, notes, by_operator.failure_message_of(name, op, results), results)


def _check_names(options: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise UsageError where an option has another name."""
    for name in options:
        if name not in names:
            expected = ", ".join(sorted(names))
            raise UsageError(f"opproof_check has no option {name!r}: expected {expected}{suggest(name, names)}")
