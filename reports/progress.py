"""What a run shows while it runs: on a terminal a live table of operators, elsewhere a line every ten seconds.

The first operator that fails is told in full as soon as it is known, with the command that repeats it.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from opproof.reports import Result
from opproof.reports._kinds import COLUMNS, LABELS, ResultKind, result_kind_of
from opproof.reports._text import cut_text, format_count, format_line
from opproof.reports.terminal import format_failure

if TYPE_CHECKING:
    from rich.console import RenderableType


#: Seconds between two lines where there is no terminal.
EVERY = 10.0
#: Kinds of failures that are told as they come; the summary has all.
_TOLD = 12
_STYLES = {
    ResultKind.FAILED: "red",
    ResultKind.KNOWN: "yellow",
    ResultKind.HARNESS_ERROR: "magenta",
    ResultKind.PASSED: "green",
}


class Observer(Protocol):
    """Who is told of each record as it comes; `earlier` is the one that it replaces."""

    def __call__(self, result: Result, earlier: Result | None) -> object:
        """Take note."""


@dataclass
class ProgressCounts:
    """What is known so far."""

    planned: int
    ops: dict[str, Counter[ResultKind]] = field(default_factory=dict)  # the one with the latest record last
    kinds: Counter[ResultKind] = field(default_factory=Counter)
    told: set[tuple[str, ...]] = field(default_factory=set)  # failures that were told of
    started: float = field(default_factory=lambda: time.monotonic())  # noqa: PLW0108
    before: int = 0  # records of the run that is resumed
    seconds: float = 0.0  # that a run has which draws on
    failed: bool = False  # an operator was told of that fails

    def add(self, result: Result, earlier: Result | None) -> bool:
        """Count a record; whether it is a failure of a kind not yet told of."""
        of_op = self.ops.pop(result.op, Counter())
        self.ops[result.op] = of_op
        for count in (of_op, self.kinds):
            if earlier is not None:
                count[result_kind_of(earlier)] -= 1
            count[result_kind_of(result)] += 1
        group = (result.backend, result.op, str(result.mode), str(result.verdict))
        new = (
            result_kind_of(result) in (ResultKind.FAILED, ResultKind.HARNESS_ERROR)
            and group not in self.told
            and len(self.told) < _TOLD
        )
        self.told.update([group] if new else [])
        return new

    def is_first(self, result: Result) -> bool:
        """Whether no record was asked about before that fails, and this one does as no ledger knows."""
        first = not self.failed and result_kind_of(result) is ResultKind.FAILED
        self.failed = self.failed or first
        return first

    def describe_so_far(self) -> str:
        """1,204 of 8,210 records, 3 fail, 2 min left"""
        done = self.kinds.total()
        bad = [f"{self.kinds[k]:,} {LABELS[k]}" for k in (ResultKind.FAILED, ResultKind.HARNESS_ERROR) if self.kinds[k]]
        met = f"{done:,} of " if self.planned else ""
        records = format_count(self.planned or done, "record")
        return ", ".join([f"{met}{records}", *bad, self._left(done)]).rstrip(", ")

    def _left(self, done: int) -> str:
        fresh = done - self.before
        if self.seconds:
            return f"{max(0.0, self.started + self.seconds - time.monotonic()):.0f} s left"
        if fresh <= 0 or done >= self.planned:
            return ""
        seconds = (time.monotonic() - self.started) * (self.planned - done) / fresh
        return f"{seconds:.0f} s left" if seconds < 100 else f"{seconds / 60:.0f} min left"


def describe_failure(result: Result) -> str:
    """A failure in one line: WRONG_VALUE softmax[x=2x3;dim=-1;f32] forward: why"""
    why = format_line(result.diagnosis or result.message)
    return f"{result.verdict} {format_line(result.case)} {result.mode}{': ' * bool(why)}{why}"


def describe_first_failure(result: Result) -> str:
    """The first operator that fails: its name, then the record in full, the command that repeats it last."""
    return f"first failing operator: {format_line(result.op)}\n{format_failure(result)}"


@contextmanager
def show_progress(planned: int, finished: list[Result], *, quiet: bool, seconds: float = 0.0) -> Iterator[Observer]:
    """Gives whom to tell of each record. Nothing is shown where `quiet`, nothing is written to stdout."""
    counts = ProgressCounts(planned, before=len(finished), seconds=seconds)
    for result in finished:
        counts.add(result, None)
    if quiet:
        yield counts.add
        return
    for result in finished:  # by the run that is resumed: whoever sees this one may not have seen that
        if counts.is_first(result):
            sys.stderr.write(f"{describe_first_failure(result)}\n")
    if sys.stderr.isatty():
        with _show_table(counts) as observer:
            yield observer
    else:
        yield _show_lines(counts)


def _show_lines(counts: ProgressCounts) -> Observer:
    """The first failure, and a line every ten seconds, so that a log is not silent for minutes."""
    last = time.monotonic()

    def observer(result: Result, earlier: Result | None) -> None:
        nonlocal last
        counts.add(result, earlier)
        if counts.is_first(result):
            sys.stderr.write(f"{describe_first_failure(result)}\n")
            sys.stderr.flush()
        if time.monotonic() - last >= EVERY:
            last = time.monotonic()
            sys.stderr.write(f"opproof: {counts.describe_so_far()}; at {cut_text(format_line(result.op), 60)}\n")
            sys.stderr.flush()

    return observer


@contextmanager
def _show_table(counts: ProgressCounts) -> Iterator[Observer]:
    """A table that is drawn anew four times a second, below the failures that have come."""
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    room = max(3, console.size.height - 6)
    with Live(_render_table(counts, room), console=console, transient=True, refresh_per_second=4) as live:

        def observer(result: Result, earlier: Result | None) -> None:
            new = counts.add(result, earlier)
            if counts.is_first(result):  # whole, however long: its last line is to be copied
                console.print(describe_first_failure(result), style="red", markup=False, soft_wrap=True)
            elif new:
                console.print(describe_failure(result), style="red", markup=False, overflow="ellipsis", no_wrap=True)
            live.update(_render_table(counts, room))

        yield observer


def _render_table(counts: ProgressCounts, room: int) -> RenderableType:
    """Operators that fail first, then those of the latest records, as many as there is room for."""
    from rich.table import Table
    from rich.text import Text

    shown = [k for k in COLUMNS if k in (ResultKind.PASSED, ResultKind.FAILED) or counts.kinds[k]]
    table = Table(box=None, pad_edge=False, caption=counts.describe_so_far(), caption_justify="left")
    table.add_column("operator")
    for k in ("records", *(LABELS[k] for k in shown)):
        table.add_column(k, justify="right")
    latest = list(reversed(counts.ops.items()))
    rows = sorted(latest, key=lambda pair: not pair[1][ResultKind.FAILED])[:room]
    for op, count in rows:
        cells = [Text(f"{count[k]:,}" if count[k] else "", style=_STYLES.get(k, "")) for k in shown]
        table.add_row(Text(format_line(op)), f"{count.total():,}", *cells)
    return table
