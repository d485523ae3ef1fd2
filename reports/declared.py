"""By what records were judged that their backend declares: a lower precision, another rounding, bits that vary."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from opproof.reports._record import Result
from opproof.reports._text import line, plural, short_names
from opproof.vocabulary.verdicts import Verdict


def text(results: Sequence[Result]) -> str:
    """One line: what is declared, in which dtype, of how many records; empty where nothing is."""
    counts: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    operators: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for r in results:
        if r.declared and r.verdict != Verdict.UNSUPPORTED:
            key = r.backend, r.declared, r.dtype
            counts[key] += 1
            operators[key].add(r.op)
    if not counts:
        return ""
    names = short_names({r.backend for r in results})
    named = [
        f"{line(names[key[0]]) + ' ' if len(names) > 1 else ''}{line(key[1])} in {line(key[2])} "
        f"({plural(counts[key], 'record')} of {plural(len(operators[key]), 'operator')})"
        for key in sorted(counts, key=lambda k: (k[0], -counts[k], k))
    ]
    return f"judged as declared: {'; '.join(named)}"
