"""The rules that say which cases an operator needs, ranked by how many catalogued bugs need each (the design's list).

A rule has parts (for layouts: every tensor that can lie so); an operator keeps it when every part is met by some
case. Rules that the runner itself obeys in every case stand in `ALWAYS`. Two of the design's have no case: an output
in the memory of an input, and a strided destination, for neither of which the backend protocol has a call.
"""

from __future__ import annotations

from opproof.harness.prove.coverage.case import Rule
from opproof.harness.prove.coverage.shapes import LAYOUTS, RANKS, SIZES, WINDOWS
from opproof.harness.prove.coverage.values import CONJUNCTIONS, PARAMETERS, VALUES

#: What every case is run under, with the number of bugs that need it.
ALWAYS: tuple[tuple[str, int], ...] = (
    ("random, row-varying cotangents", 8),
    ("guard zones around every buffer", 8),
    ("poisoned outputs", 7),
    ("a second call on live state", 5),
    ("the same call again, bit for bit", 3),
)

RULES: tuple[Rule, ...] = tuple(
    sorted((*PARAMETERS, *SIZES, *LAYOUTS, *VALUES, *RANKS, *WINDOWS, *CONJUNCTIONS), key=lambda rule: -rule.bugs)
)

__all__ = ["ALWAYS", "RULES", "Rule"]
