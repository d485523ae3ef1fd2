"""What a program or a model called: cases of ours with how often and at what cost, and what is none of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from opproof.cases import Case
from opproof.reference_ops._tape import Tape
from opproof.reference_ops._taped_graphs import NotExpressible, express_neighbourhoods, express_whole


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
    no_whole: str = ""  # why the whole is no graph, where it was to be one and is none
    tape: Tape | None = None  # on which every call is noted, where they are to be made again

    @property
    def total(self) -> int:
        """How many calls there were."""
        return sum(c.calls for c in self.cases.values()) + self.unmapped.total()

    def add_graphs(self, tape: Tape) -> None:
        """Add the neighbourhoods of a model on tape and the whole of it as graphs, with their tensors if asked for."""
        found = [*express_neighbourhoods(tape)]
        try:
            found.append(express_whole(tape))
        except NotExpressible as error:
            self.no_whole = str(error)
        for case, tensors in found:
            if self.data is not None:
                self.data.setdefault(case, {n: t.detach().clone() for n, t in tensors.items()})
            self.cases.setdefault(case, CallCounts()).calls += 1
