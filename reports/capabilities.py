"""Operators × vector capabilities: what passes and fails where a library was told how much of a processor to use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from opproof.core.capabilities import add_capability, backend_of, capability_of
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._text import escape_cell, format_count, format_line, short_names_of

#: The column of records without a capability: the library chose for itself.
ITS_OWN = "its own"
#: Where an operator has no record under a capability.
NOT_RUN = "–"


@dataclass(frozen=True, slots=True)
class OperatorRow:
    """One operator: its records under each capability, by kind."""

    op: str
    kinds: tuple[Counter[ResultKind], ...]

    @property
    def fails(self) -> bool:
        """Whether something fails unexpectedly under one of them."""
        return any(kinds[ResultKind.FAILED] for kinds in self.kinds)

    @property
    def differs(self) -> bool:
        """Whether the counts are not the same under all of them."""
        return any(kinds != self.kinds[0] for kinds in self.kinds)

    @property
    def cells(self) -> list[str]:
        """Passed/failed under each, and failures that are known: 118/2, 120/0 +3"""
        return [_format_cell(kinds) if kinds else NOT_RUN for kinds in self.kinds]


@dataclass(frozen=True, slots=True)
class CapabilityMatrix:
    """A backend under its capabilities: operators that fail first, then those that differ, then the others."""

    backend: str  # its short name
    capabilities: tuple[str, ...]  # in the order of the run
    variables: tuple[str, ...]  # what was set for each; empty where the run does not say
    rows: tuple[OperatorRow, ...]

    @property
    def told(self) -> list[OperatorRow]:
        """The operators of which there is something to say: they fail, or differ from one capability to another."""
        return [row for row in self.rows if row.fails or row.differs]

    @property
    def title(self) -> str:
        """What the table is of."""
        return f"{self.backend} by vector capability: records that pass/fail, + those known to fail"

    @property
    def alike(self) -> str:
        """How many operators the table may leave out; empty where none."""
        count = len(self.rows) - len(self.told)
        if not count:
            return ""
        return f"{format_count(count, 'operator')} {'has' if count == 1 else 'have'} the same counts, without a failure"


def make_matrices(header: Header, results: Iterable[Result]) -> list[CapabilityMatrix]:
    """One for each backend that has records under a capability."""
    counts: dict[tuple[str, str], Counter[ResultKind]] = {}
    for result in results:
        counts.setdefault((result.backend, result.op), Counter())[result_kind_of(result)] += 1
    met = dict.fromkeys([*(b.get("spec", "") for b in header.backends), *sorted({spec for spec, _ in counts})])
    specs = [spec for spec in met if any(spec == backend for backend, _ in counts)]
    names = short_names_of({backend_of(spec) for spec in specs})
    said = {b.get("spec", ""): b.get("variables", "") for b in header.backends}
    found = []
    for backend in dict.fromkeys(backend_of(spec) for spec in specs if capability_of(spec)):
        capabilities = tuple(capability_of(spec) for spec in specs if backend_of(spec) == backend)
        each = [add_capability(backend, capability) for capability in capabilities]
        ops = sorted({op for spec, op in counts if spec in each})
        rows = [OperatorRow(format_line(op), tuple(counts.get((spec, op), Counter()) for spec in each)) for op in ops]
        rows.sort(key=lambda row: (not row.fails, not row.differs))
        heads = tuple(format_line(capability) if capability else ITS_OWN for capability in capabilities)
        variables = tuple(format_line(said.get(spec, "")) for spec in each)
        found.append(CapabilityMatrix(format_line(names[backend]), heads, variables, tuple(rows)))
    return found


def format_matrix(matrix: CapabilityMatrix, rows: Sequence[OperatorRow]) -> str:
    """Some rows of a matrix as a table of Markdown."""
    heads = [escape_cell(capability, 60) for capability in matrix.capabilities]
    lines = [f"| operator | {' | '.join(heads)} |", "|:--|" + "--:|" * len(heads)]
    lines += [f"| {escape_cell(row.op)} | {' | '.join(row.cells)} |" for row in rows]
    return "\n".join(lines)


def _format_cell(kinds: Counter[ResultKind]) -> str:
    known = f" +{kinds[ResultKind.KNOWN]:,}" if kinds[ResultKind.KNOWN] else ""
    return f"{kinds[ResultKind.PASSED]:,}/{kinds[ResultKind.FAILED]:,}{known}"
