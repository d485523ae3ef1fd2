"""Which of its implementations computed a backend's answers, where it says so, and what another had to compute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from opproof.core.verdicts import OPEN, Verdict
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._record import Result
from opproof.reports._text import format_count, format_line, name_backend, short_names_of

#: Operators that are named of an implementation, at most.
NAMED = 3


def require_impl(result: Result, pattern: str) -> Result:
    """The record; an ERROR where its right answer was not computed by what `pattern` names, if it names anything."""
    if not pattern or result.verdict != Verdict.PASS:
        return result
    others = [name for name in result.impl if not fnmatchcase(name, pattern)]
    if result.impl and not others:
        return result
    by = f"it was computed by {' and '.join(others)}" if others else "the backend does not say what computed it"
    command = f"{result.repro} --require-impl {pattern!r}"
    return replace(result, verdict=Verdict.ERROR, message=f"{by}, where {pattern} is required", repro=command)


def describe_implementations(results: Sequence[Result]) -> str:
    """One line: how many records each implementation computed, how many of them fail, of which operators."""
    groups: defaultdict[tuple[str, tuple[str, ...]], list[Result]] = defaultdict(list)
    for r in results:
        if r.verdict not in OPEN and r.verdict != Verdict.UNSUPPORTED:
            groups[r.backend, r.impl].append(r)
    telling = {backend for backend, impl in groups if impl}
    if not telling:
        return ""
    names = short_names_of({r.backend for r in results})
    listed = sorted((g for g in groups if g[0] in telling), key=lambda g: (g[0], -len(groups[g]), g[1]))
    told = (f"{name_backend(g[0], names)}{_describe_group(g[1], groups[g])}" for g in listed)
    return f"computed by: {'; '.join(told)}"


def _describe_group(impl: tuple[str, ...], records: Sequence[Result]) -> str:
    operators = sorted({r.op for r in records})
    more = f" and {len(operators) - NAMED} more" if len(operators) > NAMED else ""
    failing = sum(result_kind_of(r) is ResultKind.FAILED for r in records)
    fails = f", {failing} {'fails' if failing == 1 else 'fail'}" if failing else ""
    by = " and ".join(map(format_line, impl)) or "what it does not say"
    return f"{by} ({format_count(len(records), 'record')}{fails}: {', '.join(operators[:NAMED])}{more})"
