"""What a program or a model called: cases of ours with how often and at what cost, and what is none of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opproof.cases import Case
from opproof.reference_ops._tape import Tape


@dataclass
class CallCounts:
    """How often a case was called, and what it cost."""

    calls: int = 0
    flops: int = 0


@dataclass
class CapturedCalls:
    """What a program called: cases of ours, and functions that are no operator of ours."""

    cases: dict[Case, CallCounts] = field(default_factory=dict)
    data: dict[Case, Mapping[str, Any]] | None = None  # the tensors of each case's first call, where they are kept
    unmapped: Counter[str] = field(default_factory=Counter)
    tape: Tape | None = None  # on which every call is noted, where they are to be made again

    @property
    def total(self) -> int:
        """How many calls there were."""
        return sum(c.calls for c in self.cases.values()) + self.unmapped.total()
