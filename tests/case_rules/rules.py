"""The rules that say which cases an operator needs, those first that most of the catalogued bugs need.

A rule applies to operators by their signatures and facts (case_rules/operators.py). It has parts where one case is not
enough: every tensor that can lie so, every parameter, each 16-bit dtype. An operator keeps a rule when every part is
met by some case, or when its cases file says under WITHOUT why no row could show anything. Conjunctions of rules have
no number of bugs of their own and stand last. What the runner does in every case stands in `ALWAYS`.
"""

from __future__ import annotations

from case_rules.kernel_paths import PATHS
from case_rules.long_axes import LONG, REACH
from case_rules.parameters import PAIRS
from case_rules.predicates import Rule
from case_rules.shapes import DESTINATIONS, LAYOUTS, RANKS, SIZES, WINDOWS
from case_rules.tiles import ALIGNED, MODELS
from case_rules.values import CONJUNCTIONS, LIMITS, PARAMETERS, VALUES, WHOLES

#: What every case is run under, with the number of bugs that need it.
ALWAYS: tuple[tuple[str, int], ...] = (
    ("random, row-varying cotangents", 8),
    ("guard zones around every buffer", 8),
    ("poisoned outputs", 7),
    ("a second call on live state", 5),
    ("the same call again, bit for bit", 3),
)

RULES: tuple[Rule, ...] = tuple(
    sorted(
        (
            *(*PARAMETERS, *SIZES, *LAYOUTS, *DESTINATIONS, *VALUES, *RANKS, *WINDOWS),
            *(*ALIGNED, *MODELS, *LONG, *CONJUNCTIONS, *PAIRS, *LIMITS, *REACH, *WHOLES, *PATHS),
        ),
        key=lambda rule: -rule.bugs,
    )
)

__all__ = ["ALWAYS", "RULES", "Rule"]
