"""A run in a history: one small JSON file, with a row for every operator and backend."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from opproof.core.errors import ResultsError
from opproof.reports._kinds import ResultKind, share
from opproof.reports._record import Header, Result
from opproof.reports._summary import Tally, make_table
from opproof.reports._text import number
from opproof.reports.files import write

RUNS = "runs"
SCHEMA = 1


class HistoryRow(msgspec.Struct, frozen=True, omit_defaults=True):
    """The records of one operator on one backend, counted."""

    op: str
    backend: str
    passed: int = 0
    failed: int = 0
    known: int = 0
    harness_error: int = 0
    share: float | None = None  # the largest error of those that pass, as a share of its limit
    rms: float | None = None  # the largest of an array that passes, in units

    @property
    def judged(self) -> int:
        """Records that say something of the backend."""
        return self.passed + self.failed + self.known


class HistoryRun(msgspec.Struct, frozen=True):
    """One run."""

    commit: str  # of what was tested; empty where nobody said
    started: str  # ISO 8601, UTC
    opproof: str
    backends: tuple[dict[str, str], ...]
    asked: str  # which cases: level, seed and filters, in words
    rows: tuple[HistoryRow, ...]
    planned: int
    records: int
    schema: int = SCHEMA

    @property
    def name(self) -> str:
        """Of its file: when, and of which commit; sorts by time."""
        when = re.sub(r"[^0-9]", "", self.started.partition("+")[0])
        return "-".join(filter(None, (when or "0", re.sub(r"[^0-9A-Za-z]", "", self.commit)[:12])))

    def count(self, backend: str = "") -> HistoryRow:
        """All rows of one backend, or of all, added up."""
        rows = [r for r in self.rows if backend in ("", r.backend)]
        return HistoryRow(
            op="",
            backend=backend,
            passed=sum(r.passed for r in rows),
            failed=sum(r.failed for r in rows),
            known=sum(r.known for r in rows),
            harness_error=sum(r.harness_error for r in rows),
            share=max((r.share for r in rows if r.share is not None), default=None),
            rms=max((r.rms for r in rows if r.rms is not None), default=None),
        )


def make_history_run(header: Header, results: Sequence[Result], commit: str) -> HistoryRun:
    """What a history keeps of a run."""
    return HistoryRun(
        commit=commit,
        started=header.started,
        opproof=header.opproof,
        backends=tuple(header.backends),
        asked=_describe_selection(header),
        rows=tuple(_make_row(r.op, r.backend, r.tally) for r in make_table(results)),
        planned=header.cases,
        records=len(results),
    )


def _make_row(op: str, backend: str, tally: Tally) -> HistoryRow:
    return HistoryRow(
        op=op,
        backend=backend,
        passed=tally.kinds[ResultKind.PASSED],
        failed=tally.kinds[ResultKind.FAILED],
        known=tally.kinds[ResultKind.KNOWN],
        harness_error=tally.kinds[ResultKind.HARNESS_ERROR],
        share=None if tally.passing is None else round(share(tally.passing), 4),
        rms=None if tally.rms is None else round(tally.rms, 4),
    )


def _describe_selection(header: Header) -> str:
    selection = header.options.get("selection", {})
    seed = selection.get("seed", 0)
    words = [f"{selection.get('level', '?')} level", *[f"seed {seed}"] * bool(seed)]
    narrowed = ("ops", "keyword", "dtypes", "cases", "case_files", "shard")
    return ", ".join([*words, *(f"some {name.replace('_', ' ')}" for name in narrowed if selection.get(name))])


def add(history: Path, run: HistoryRun) -> Path:
    """Write the run's file; the same run again replaces it. Raises UsageError."""
    path = history / RUNS / f"{run.name}.json"
    text = msgspec.json.format(msgspec.json.encode(run), indent=0).decode()
    write(path, f"{text}\n", instead="give a folder that can be written to.")
    return path


def read(history: Path) -> list[HistoryRun]:
    """Every run, the oldest first. Raises ResultsError where there is none, or one of them cannot be read."""
    files = sorted((history / RUNS).glob("*.json"))
    if not files:
        raise ResultsError(f"{history} holds no run: add one with `opproof history add RUN {history}`.")
    return sorted(map(_read, files), key=lambda run: (run.started, run.commit))


def _read(path: Path) -> HistoryRun:
    try:
        run = msgspec.json.decode(path.read_bytes(), type=HistoryRun)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise ResultsError(f"{path} is no run of a history ({error}); remove it, or add its run anew.") from None
    if run.schema != SCHEMA:
        raise ResultsError(f"{path} has schema {run.schema}, expected {SCHEMA}; add its run anew.")
    return run


def rate(row: HistoryRow) -> float | None:
    """The share of what was judged that passes; None where nothing was."""
    return row.passed / row.judged if row.judged else None


def format_percent(row: HistoryRow) -> str:
    """The pass rate in words: never 100 % where something fails."""
    part = rate(row)
    if part is None:
        return "no evidence"
    return "100 %" if part == 1 else f"{number(min(100 * part, 99.99), 4)} %"
