"""Factories whose draws differ in which arguments are tensors: a bias for some seeds, None for others.

Each form is a check of its own, by the seeds that have it, and has its share of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opproof.harness.check.questions import inputs as given_inputs
from opproof.harness.check.questions.crossed import Crossed, crossed
from opproof.harness.check.report import Report, joined
from opproof.harness.check.wish import Wish
from opproof.vocabulary.errors import OpError, UsageError

#: Of the time of a check what meetings of options may take beside it.
_SHARE = 0.25
#: Seeds that are looked at for forms, as many as are drawn at first; forms at most; seeds for one draw more of a form.
_SEEDS, _FORMS, _LONGEST = 6, 4, 64


def of_each_form(
    judged: Callable[[Any, Wish], Report],
    inputs: Any,
    wish: Wish,
    met: Callable[[Crossed, Wish], Report],
    names: Sequence[str],
) -> Report:
    """The report of all forms of draws together, and of their options where these meet, by `met`.

    `names`: of the arguments.

    Raises UsageError as `judged` does; by `only` where all do.
    """
    if not callable(inputs):
        return judged(inputs, wish)
    if wish.only is None:
        report = _of_forms(judged, inputs, wish)
        if wish.modes or report.failures or not wish.neighbours:
            return report
        return joined([report, *_met(met, crossed(_Seen(inputs, wish.dtype).made, wish.seed, names), wish)])
    meetings = crossed(_Seen(inputs, wish.dtype).made, wish.seed, names)
    if (asked := next((one for one in meetings if one.name == wish.only), None)) is not None:
        return met(asked, replace(wish, only=None))
    return _of_forms(judged, inputs, wish)


def _met(met: Callable[[Crossed, Wish], Report], meetings: Sequence[Crossed], wish: Wish) -> Iterator[Report]:
    """Reports of meetings that the reference takes, begun within a part of the time, until one is wrong."""
    ends = time.monotonic() + _SHARE * wish.seconds
    for one in meetings:
        if time.monotonic() > ends:
            return
        try:
            report = met(one, wish)
        except (UsageError, OpError):
            continue
        yield report
        if report.failures:
            return


def _of_forms(judged: Callable[[Any, Wish], Report], inputs: Any, wish: Wish) -> Report:
    seen = _Seen(inputs, wish.dtype)
    some = _forms(seen, wish)
    if len(some) < 2:
        return judged(seen, wish)
    reports, refused = list[Report](), list[UsageError]()
    for one in some:
        try:
            reports.append(judged(one, replace(wish, seconds=wish.seconds / len(some))))
        except UsageError as error:
            if wish.only is None:
                raise
            refused.append(error)
    if not reports:
        raise refused[0]
    return joined(reports)


@dataclass(frozen=True)
class _Seen:
    """The factory; a draw whose form was looked at is handed out once, not made again."""

    factory: Callable[..., Any]
    dtype: str | None
    kept: dict[int, Any] = field(default_factory=dict)

    def __call__(self, seed: int) -> Any:
        return self.kept.pop(seed) if seed in self.kept else given_inputs.made(self.factory, seed, self.dtype)

    def made(self, seed: int) -> Any:
        """The draw of a seed, again."""
        return given_inputs.made(self.factory, seed, self.dtype)

    def form(self, seed: int) -> Hashable:
        """Which leaves of the arguments are tensors, and the tree that they stand in."""
        if seed not in self.kept:
            self.kept[seed] = self(seed)
        arguments, _, _ = given_inputs.given(lambda: self.kept[seed], (), self.dtype, seed)
        return arguments.places, str(arguments.spec)


@dataclass(frozen=True)
class _OfForm:
    """A factory of the draws of one form: seed n gives the n-th, the first those that have been seen."""

    seen: _Seen
    wish: Wish
    form: Hashable
    seeds: list[int] = field(default_factory=list)

    def __call__(self, seed: int) -> Any:
        n = seed - self.wish.seed
        later = iter(range(max(self.seeds, default=-1) + 1, max(self.seeds, default=0) + _LONGEST))
        while len(self.seeds) <= n and (s := self._next(later)) is not None:
            self.seeds.append(s)
        return self.seen(self.seeds[n % len(self.seeds)])

    def _next(self, seeds: Iterator[int]) -> int | None:
        return next((s for s in seeds if self.seen.form(s) == self.form), None)


def _forms(seen: _Seen, wish: Wish) -> list[_OfForm]:
    """One factory for each form that the first seeds have."""
    forms: dict[Hashable, _OfForm] = {}
    for seed in range(wish.seed, wish.seed + _SEEDS):
        form = seen.form(seed)
        forms.setdefault(form, _OfForm(seen, wish, form)).seeds.append(seed)
    return list(forms.values())[:_FORMS]
