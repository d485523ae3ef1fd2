"""What an audit of tests found, as text and as JSON: which planted defects they see, and which survive."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from opproof.reports._text import format_count


class Fate(StrEnum):
    """What became of a planted defect."""

    KILLED = "killed"
    SURVIVES = "survives"
    NO_DEFECT = "no defect here"  # it changes nothing that the function gives in these tests
    NOT_TRIED = "not tried"  # within the time


@dataclass(frozen=True)
class AuditedDefect:
    """One defect. `by`: the test that fails of it; `line`: one that would; `why`: what no test does."""

    name: str
    fate: Fate
    by: str = ""
    line: str = ""
    why: str = ""


@dataclass(frozen=True)
class AuditReport:
    """All defects of a function, and how many tests call it."""

    kernel: str
    tests: int
    seconds: float
    gradients: bool  # whether a test takes one
    defects: Sequence[AuditedDefect]

    def select(self, fate: Fate) -> list[AuditedDefect]:
        """Those with this fate."""
        return [d for d in self.defects if d.fate is fate]

    def to_json(self) -> str:
        """One JSON document."""
        return json.dumps(dataclasses.asdict(self), ensure_ascii=False)

    def __str__(self) -> str:
        killed, survivors, late = map(self.select, (Fate.KILLED, Fate.SURVIVES, Fate.NOT_TRIED))
        counted = format_count(len(killed) + len(survivors), "planted defect")
        called = f"{format_count(self.tests, 'test')} call{'s' * (self.tests == 1)} it"
        lines = [f"{self.kernel}: {len(killed)} of {counted} killed; {called}; {self.seconds:.0f} s"]
        for d in survivors:
            why = f" (no test {d.why})" * bool(d.why)
            lines += [f"  survives: {d.name}{why}", f"    {d.line}"]
        lines += [f"  killed: {'; '.join(d.name for d in killed)}"] * bool(killed)
        lines += ["  not planted: wrong gradients, since no test takes one"] * (not self.gradients)
        lines += [f"  not tried in the time: {'; '.join(d.name for d in late)}"] * bool(late)
        return "\n".join(lines)
