"""Few patterns that cover some cases and no other."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Sequence

from opproof.core.dtypes import DTYPES
from opproof.harness.ledger.patterns import covers_all, pattern_regex

#: Parts of an id that a pattern may name at once.
_PARTS = 2
_SHAPE = re.compile(r"\w+=(0d|\d+,|\d+(x\d+)+|@\w+)")


def cover(op: str, cases: Sequence[str], others: Collection[str], *, wide: bool) -> list[tuple[str, tuple[str, ...]]]:
    """Patterns, and which of `cases`, ids of `op` without seeds, each covers; the whole operator if it may be `wide`.

    Greedily the widest pattern that touches none of `others`, until all of `cases` are covered. Of equally wide ones
    that which names most parameters, the dtype, fill or layout among them, and fewest shapes.
    """
    ranks = {p: rank for p, rank in _candidates(op, cases).items() if wide or not covers_all(p)}
    candidates = [(p, rank, pattern_regex(p)) for p, rank in ranks.items()]
    candidates = [c for c in candidates if not any(map(c[2].fullmatch, others))]
    left = list(cases)
    covered: list[tuple[str, tuple[str, ...]]] = []
    while left:
        sized = [(sum(regex.fullmatch(case) is not None for case in left), rank, p) for p, rank, regex in candidates]
        size, _, pattern = max(sized, default=(0, 0, ""))
        if size < 2:  # no pattern says more than the ids themselves
            return covered + [(case, (case,)) for case in left]
        regex = pattern_regex(pattern)
        covered.append((pattern, tuple(case for case in left if regex.fullmatch(case))))
        left = [case for case in left if not regex.fullmatch(case)]
    return covered


def _candidates(op: str, cases: Sequence[str]) -> dict[str, int]:
    """Patterns from the parts that ids share, each with its rank among equally wide ones."""
    ranks = {f"{op}[*": 0}
    ids = [case.partition("[")[2].removesuffix("]").split(";") for case in cases]
    shared = Counter(part for parts in ids for part in parts)
    for parts in ids:
        often = [i for i, part in enumerate(parts) if shared[part] > 1]
        for count in range(1, _PARTS + 1):
            for some in itertools.combinations(often, count):
                rank = sum(-1 if _SHAPE.fullmatch(parts[i]) else 1 for i in some)
                ranks |= dict.fromkeys(_patterns(op, parts, some), rank)
    return ranks


def _patterns(op: str, parts: Sequence[str], some: Sequence[int]) -> list[str]:
    """`some` of the parts of an id, each whole, anything between them; as they end the id, and with more behind."""
    text, last = f"{op}[", -1
    for i in some:
        text += "" if i == last + 1 == 0 else ";" if i == last + 1 else "*;" if last < 0 else ";*;"
        text, last = text + parts[i], i
    if parts[last] in DTYPES:  # no name of a dtype begins another's
        return [f"{text}]", f"{text}*"]
    return [f"{text}]" if last == len(parts) - 1 else f"{text};*"]
