"""What is slower than before: where the intervals of two benches are apart, and by more than machines drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from opproof.reports._text import plural
from opproof.reports.bench.record import Bench, Time

#: By how much an interval has to be beyond the other: frequency and neighbours change that between two benches.
SLACK = 0.05


@dataclass(frozen=True)
class Change:
    """One case that takes another time than before."""

    before: Time
    after: Time
    factor: float  # of the medians: above 1 it is slower


@dataclass(frozen=True)
class Changes:
    """What differs between two benches."""

    compared: int
    slower: tuple[Change, ...]
    faster: tuple[Change, ...]
    gone: tuple[Time, ...]  # measured before, and not any more

    @property
    def worse(self) -> bool:
        """Whether anything is slower, or cannot be measured any more."""
        return bool(self.slower or self.gone)


def changes(before: Bench, after: Bench, slack: float = SLACK) -> Changes:
    """Times of the same case, mode, backend and caches side by side."""
    old = {_key(t): t for t in before.times if t.interval is not None}
    new = {_key(t): t for t in after.times if t.interval is not None}
    pairs = [(old[k], t) for k, t in new.items() if k in old]
    slower = [_change(a, b) for a, b in pairs if apart(a, b, slack)]
    faster = [_change(a, b) for a, b in pairs if apart(b, a, slack)]
    gone = [t for k, t in old.items() if k not in new and _asked(t, after.times)]
    return Changes(len(pairs), _worst_first(slower), tuple(reversed(_worst_first(faster))), tuple(gone))


def apart(before: Time, after: Time, slack: float = SLACK) -> bool:
    """Whether `after` is slower beyond both intervals and `slack`."""
    if before.interval is None or after.interval is None:
        return False
    return after.interval.low > before.interval.high * (1 + slack)


def text(found: Changes) -> str:
    """The comparison for a terminal."""
    lines = [f"{plural(found.compared, 'time')} compared: {len(found.slower)} slower, {len(found.faster)} faster."]
    for word, some in (("slower", found.slower), ("faster", found.faster)):
        lines += [f"{word} × {c.factor:.3g}  {_named(c.after)}" for c in some]
    lines += [f"not measured any more: {_named(t)}" for t in found.gone]
    return "\n".join(lines)


def _named(time: Time) -> str:
    return f"{time.backend} {time.mode} {time.case} ({time.caches})"


def _change(before: Time, after: Time) -> Change:
    assert before.interval is not None
    assert after.interval is not None
    return Change(before, after, after.interval.median / before.interval.median)


def _worst_first(some: Sequence[Change]) -> tuple[Change, ...]:
    return tuple(sorted(some, key=lambda c: -c.factor))


def _asked(time: Time, times: Sequence[Time]) -> bool:
    """Whether the other bench tried it, and could not measure it."""
    return any(_key(t) == _key(time) for t in times)


def _key(time: Time) -> tuple[str, str, str, str]:
    return time.case, time.mode, time.backend, time.caches
