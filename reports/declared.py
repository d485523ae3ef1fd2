"""By what records were judged that their backend declares: a lower precision, another rounding, bits that vary."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from opproof.core.verdicts import Verdict
from opproof.reports._record import Result
from opproof.reports._text import format_count, format_line, name_backend, short_names_of


def describe_declared(results: Sequence[Result]) -> str:
    """One line: what is declared, in which dtype, of how many records; empty where nothing is."""
    counts: Counter[tuple[str, str, str]] = Counter()
    operators: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for r in results:
        if r.declared and r.verdict != Verdict.UNSUPPORTED:
            key = r.backend, r.declared, r.dtype
            counts[key] += 1
            operators[key].add(r.op)
    if not counts:
        return ""
    names = short_names_of({r.backend for r in results})
    named = [
        f"{name_backend(backend, names)}{format_line(said)} in {format_line(dtype)} "
        f"({format_count(count, 'record')} of {format_count(len(operators[backend, said, dtype]), 'operator')})"
        for (backend, said, dtype), count in sorted(counts.items(), key=lambda c: (c[0][0], -c[1], c[0]))
    ]
    return f"judged as declared: {'; '.join(named)}"
