"""What is slower than before: where the intervals of two benches are apart, and by more than machines drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opproof.reports._text import format_count
from opproof.reports.bench.record import Bench, Time

#: By how much an interval has to be beyond the other: frequency and neighbours change that between two benches.
SLACK_SHARE = 0.05


@dataclass(frozen=True)
class TimeChange:
    """One case that takes another time than before."""

    before: Time
    after: Time
    factor: float  # of the medians: above 1 it is slower


@dataclass(frozen=True)
class BenchChanges:
    """What differs between two benches."""

    compared: int
    slower: tuple[TimeChange, ...]
    faster: tuple[TimeChange, ...]
    gone: tuple[Time, ...]  # measured before, and not any more

    @property
    def worse(self) -> bool:
        """Whether anything is slower, or cannot be measured any more."""
        return bool(self.slower or self.gone)


def compare_benches(before: Bench, after: Bench, slack: float = SLACK_SHARE) -> BenchChanges:
    """Times of the same case, mode, backend and caches side by side."""
    old = {_key_of(t): t for t in before.times if t.interval is not None}
    new = {_key_of(t): t for t in after.times if t.interval is not None}
    pairs = [(old[k], t) for k, t in new.items() if k in old]
    slower = [_change(a, b) for a, b in pairs if is_slower(a, b, slack)]
    faster = [_change(a, b) for a, b in pairs if is_slower(b, a, slack)]
    gone = [t for k, t in old.items() if k not in new and _is_asked(t, after.times)]
    return BenchChanges(len(pairs), _sort_worst_first(slower), tuple(reversed(_sort_worst_first(faster))), tuple(gone))


def is_slower(before: Time, after: Time, slack: float = SLACK_SHARE) -> bool:
    """Whether `after` is slower beyond both intervals and `slack`."""
    if before.interval is None or after.interval is None:
        return False
    return after.interval.low > before.interval.high * (1 + slack)


def format_changes(found: BenchChanges) -> str:
    """The comparison for a terminal."""
    lines = [
        f"{format_count(found.compared, 'time')} compared: {len(found.slower)} slower, {len(found.faster)} faster."
    ]
    for word, some in (("slower", found.slower), ("faster", found.faster)):
        lines += [f"{word} × {c.factor:.3g}  {_name_time(c.after)}" for c in some]
    lines += [f"not measured any more: {_name_time(t)}" for t in found.gone]
    return "\n".join(lines)


def _name_time(time: Time) -> str:
    return f"{time.backend} {time.mode} {time.case} ({time.caches})"


def _change(before: Time, after: Time) -> TimeChange:
    assert before.interval is not None
    assert after.interval is not None
    return TimeChange(before, after, after.interval.median / before.interval.median)


def _sort_worst_first(some: Sequence[TimeChange]) -> tuple[TimeChange, ...]:
    return tuple(sorted(some, key=lambda c: -c.factor))


def _is_asked(time: Time, times: Sequence[Time]) -> bool:
    """Whether the other bench tried it, and could not measure it."""
    return any(_key_of(t) == _key_of(time) for t in times)


def _key_of(time: Time) -> tuple[str, str, str, str]:
    return time.case, time.mode, time.backend, time.caches
