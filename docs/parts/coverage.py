"""Which rule is exercised by how many cases of each operator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from case_rules.rules import ALWAYS, RULES, Rule

from opproof.cases import Case, cases_of, left_out, short
from opproof.reference_ops import Op, load, names
from parts.tables import row, table


def conditions() -> str:
    """Return what every case is run under."""
    return "Every case is run under: " + ", ".join(f"{text} ({bugs})" for text, bugs in ALWAYS) + "."


def rules(ops: Sequence[str] = ()) -> str:
    """Return the rules, and of how many operators each is owed."""
    owing = _owing(tuple(ops))
    rows = (
        (i, rule.name, rule.text, rule.bugs or "", len(owing[rule.name]), rule.level) for i, rule in enumerate(RULES, 1)
    )
    return table((">", "rule", "a case has", ">bugs", ">operators", "level"), rows)


def left() -> str:
    """Return the rules that apply to operators which yet have no row for them, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for name in names():
        for rule, why in left_out(name).items():
            reasons.setdefault((rule, why), []).append(name)
    ranks = {part: k for k, rule in enumerate(RULES) for part, _ in reasons if f"{part} ".startswith(f"{rule.name} ")}
    found = sorted(reasons.items(), key=lambda item: (ranks[item[0][0]], -len(item[1])))
    return table(("rule", "operators", "why"), ((rule, some, why) for (rule, why), some in found))


def axes() -> str:
    """Return the axes that no row makes long, how long they are at most, and why."""
    reasons: dict[tuple[int, str], list[str]] = {}
    for name in names():
        for axis, limit in short(name).items():
            reasons.setdefault((limit.longest, limit.why), []).append(f"{name} {axis}")
    rows = ((some, longest or "", why) for (longest, why), some in reasons.items())
    return table(("axes", ">no longer than", "why"), rows)


def counts(ops: Sequence[str] = ()) -> str:
    """Return how many cases of each operator meet each rule; `ops` names them, all where it names none."""
    owing = _owing(tuple(ops))
    heads = row(("operator", *range(1, len(RULES) + 1)))
    lines = [heads, "| --- |" + " ---: |" * len(RULES)]
    for name in ops or names():
        op = load(name)
        lines.append(row([name, *(_met(rule, op) if op in owing[rule.name] else "" for rule in RULES)]))
    return "\n".join(lines)


@cache
def _owing(ops: tuple[str, ...]) -> dict[str, list[Op]]:
    found = [load(name) for name in ops or names()]
    return {rule.name: [op for op in found if rule.owed(op, _cases(op.name, rule.level))] for rule in RULES}


@cache
def _cases(name: str, level: str) -> list[Case]:
    return list(cases_of(name, level))


def _met(rule: Rule, op: Op) -> int:
    cases: Iterable[Case] = _cases(op.name, rule.level)
    return sum(rule.matches(case, op) for case in cases)
