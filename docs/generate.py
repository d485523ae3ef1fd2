"""Writes the pages of docs/ that list what is in the code; `--check` says which are out of date.

python docs/generate.py            writes docs/operators.md, docs/coverage.md and docs/reference/versions.md
python docs/generate.py --check    exit status 1 when a page differs
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from opproof.cases import Case, cases_of, left_out, short
from opproof.harness.prove.coverage.rules import ALWAYS, RULES, Rule
from opproof.reference_ops import Op, load, names
from opproof.reference_ops._elsewhere import LIBRARIES, equivalents

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))
from _lists import section  # noqa: E402 - beside this script, wherever it is run from
from _versions import page as versions_page  # noqa: E402


def operators_page() -> str:
    """docs/operators.md."""
    ops = [load(n) for n in names()]
    with_gradient = sum(op.vjp is not None for op in ops)
    lines = [
        "# Operators",
        "",
        "Generated from the docstrings in `reference_ops/` by `docs/generate.py`; do not edit.",
        "",
        f"{len(ops)} operators, {with_gradient} with a gradient. The file named after an operator holds its formula,",
        "shapes, gradient, kinks, conventions and sources.",
        "",
        "| operator | formula | gradient | PyTorch | ONNX | ggml |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    return "\n".join([*lines, *map(_row, ops), "", *section(ops)]) + "\n"


def _row(op: Op) -> str:
    formula = op.doc.split("\n\n", 1)[0].partition(": ")[2]
    other = equivalents(op.doc)
    cells = [
        f"[{op.name}](../reference_ops/{op.name}.py)",
        formula,
        "yes" if op.vjp is not None else "",
        *(other.get(k, "") for k in LIBRARIES),
    ]
    return "| " + " | ".join(" ".join(c.split()).replace("|", "\\|") for c in cells) + " |"


def coverage_page() -> str:
    """docs/coverage.md."""
    found = [load(n) for n in names()]
    numbered = list(enumerate(RULES, 1))
    cases = {(op.name, level): cases_of(op.name, level) for op in found for level in {rule.level for rule in RULES}}
    owing = {rule.name: [op for op in found if rule.owed(op, cases[op.name, rule.level])] for rule in RULES}
    lines = [
        "# Coverage",
        "",
        "Generated from the cases by `docs/generate.py`; do not edit.",
        "",
        "Which rule is exercised by how many cases of each operator (dtypes counted apart), empty where none is owed.",
        "A test fails where an operator misses a rule that applies to it, or a part of one: a layout is owed by every",
        "tensor, and every parameter another value. Rules are ranked by the number of catalogued bugs that need them;",
        "those without a number are conjunctions, and limits that no bug of the catalogue needed.",
        "",
        "Every case is run under: " + ", ".join(f"{text} ({bugs})" for text, bugs in ALWAYS) + ".",
        "",
        "At standard level one axis of every tensor is over 65,536 long; at full level every axis is, and 131,073 too:",
        "those are 1,500 more cases, each of a tenth of a second and more, for which nobody would wait.",
        "",
        "| | rule | a case has | bugs | operators | level |",
        "| ---: | --- | --- | ---: | ---: | --- |",
    ]
    for i, rule in numbered:
        cells = (str(i), rule.name, rule.text, str(rule.bugs) if rule.bugs else "",
                 str(len(owing[rule.name])), rule.level)  # fmt: skip
        lines.append(_cells(cells))
    lines += [
        "",
        *_left_out(found),
        "",
        *_short(found),
        "",
        _cells(["operator", *(str(i) for i, _ in numbered)]),
        "| --- |" + " ---: |" * len(RULES),
    ]
    for op in found:
        met = (str(_met(r, op, cases[op.name, r.level])) if op in owing[r.name] else "" for r in RULES)
        lines.append(_cells([op.name, *met]))
    return "\n".join(lines) + "\n"


def _left_out(ops: Iterable[Op]) -> list[str]:
    """The rules that apply to operators which yet have no row for them, and why."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for op in ops:
        for rule, why in left_out(op.name).items():
            reasons.setdefault((rule, why), []).append(op.name)
    ranks = [rule.name for rule in RULES]
    found = sorted(reasons.items(), key=lambda item: (ranks.index(item[0][0]), -len(item[1])))
    lines = ["Left out, since no row could show anything:", "", _cells(("rule", "operators", "why"))]
    return [*lines, "| --- | --- | --- |", *(_cells((rule, ", ".join(names), why)) for (rule, why), names in found)]


def _short(ops: Iterable[Op]) -> list[str]:
    """The axes that no row makes long, how long they are at most, and why."""
    reasons: dict[tuple[int, str], list[str]] = {}
    for op in ops:
        for axis, limit in short(op.name).items():
            reasons.setdefault((limit.longest, limit.why), []).append(f"{op.name} {axis}")
    lines = ["Axes that are never long, or no longer than said:", "", _cells(("axes", "no longer than", "why"))]
    rows = (_cells((", ".join(named), str(longest or ""), why)) for (longest, why), named in reasons.items())
    return [*lines, "| --- | ---: | --- |", *rows]


def _met(rule: Rule, op: Op, cases: list[Case]) -> int:
    return sum(rule.matches(case, op) for case in cases)


def _cells(cells: Iterable[str]) -> str:
    return "| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |"


PAGES = {
    "operators.md": operators_page,
    "coverage.md": coverage_page,
    "reference/versions.md": lambda: versions_page(DOCS.parent),
}


def main(check: bool) -> int:
    """Write the pages, or compare them; the exit status."""
    stale = []
    for name, make in PAGES.items():
        path, text = DOCS / name, make()
        if check and (not path.is_file() or path.read_text(encoding="utf-8") != text):
            stale.append(name)
        if not check:
            path.write_text(text, encoding="utf-8")
    for name in stale:
        print(f"docs/{name} is out of date: run `python docs/generate.py`.")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
