"""Factories whose draws differ in which arguments are tensors: a bias for some seeds, None for others.

Each form is a check of its own, by the seeds that have it, and has its share of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from opproof.core.errors import OpError, UsageError
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.check.questions import inputs as given_inputs
from opproof.harness.check.questions.crossed import Crossed, crossed
from opproof.harness.check.questions.longer import Longer, longer
from opproof.harness.check.refusals import is_complaint
from opproof.harness.check.report import Report, joined
from opproof.harness.check.wish import Wish
from opproof.harness.clock import ENDLESS, Allowed

#: Of the time of a check what meetings of options may take beside it.
_SHARE = 0.25
#: Seeds that are looked at for forms, as many as are drawn at first; forms at most; seeds for one draw more of a form.
_SEEDS, _FORMS, _LONGEST = 6, 4, 64
#: Later seeds that are looked at for other forms, in so much of the time; so many of these.
_LATER, _LOOKING, _RARE = 96, 0.05, 4


def of_each_form(
    judged: Callable[[Any, Wish], Report],
    inputs: Any,
    wish: Wish,
    met: Callable[[Special, Wish], Report],
    names: Sequence[str],
) -> Report:
    """The report of all forms of draws together, and of those few draws have, and of options that meet, by `met`.

    `names`: of the arguments.

    Raises UsageError as `judged` does; by `only` where all do.
    """
    if not callable(inputs):
        return judged(inputs, wish)
    if wish.only is None:
        report = _of_forms(judged, inputs, wish)
        if wish.modes or report.failures or not wish.neighbours:
            return report
        return joined([report, *_met(met, _special(inputs, wish, names), wish)])
    if (asked := next((one for one in _special(inputs, wish, names) if one.name == wish.only), None)) is not None:
        return met(asked, replace(wish, only=None))
    return _of_forms(judged, inputs, wish)


def _special(inputs: Any, wish: Wish, names: Sequence[str]) -> Iterator[Special]:
    """Options that meet, longer lists, and draws of later seeds in a form that the first have not."""
    seen = _Seen(inputs, wish.dtype)
    yield from longer(seen.made, wish.seed)
    yield from crossed(seen.made, wish.seed, names)
    yield from _rare_forms(seen, wish)


def _rare_forms(seen: _Seen, wish: Wish) -> Iterator[_OfForm]:
    looking = ENDLESS if wish.only else Allowed(_LOOKING * wish.seconds)
    known = [one.form for one in _forms(seen, wish)]
    for seed in range(wish.seed + _SEEDS, wish.seed + _LATER):
        if looking.over or len(known) > _FORMS + _RARE:
            return
        if (form := seen.form(seed)) not in known:
            known.append(form)
            yield _OfForm(seen, wish, form, [seed], f"draw of seed {seed}")


def _met(met: Callable[[Special, Wish], Report], meetings: Iterable[Special], wish: Wish) -> Iterator[Report]:
    """Reports of those that the reference takes, begun within a part of the time, until one is wrong."""
    allowed = Allowed(_SHARE * wish.seconds)
    for one in meetings:
        if allowed.over:
            return
        try:
            report = met(one, wish)
        except (UsageError, OpError):
            continue
        report = report if isinstance(one, _OfForm) else _but_refused(report, one.name)
        yield report
        if report.failures:
            return


def _but_refused(report: Report, name: str) -> Report:
    """The report; where the candidate refuses what no draw has, with that told, and no failure."""
    failed = [r for r in report.results if r.verdict in FAILED]
    if not failed or not all(r.verdict is Verdict.ERROR and is_complaint(r.message) for r in failed):
        return report
    said = f"{name}: the candidate declines: {failed[0].message}"
    return replace(report, results=(), tried=(), not_judged=(said, *report.not_judged))


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
        """Which leaves of the arguments are tensors, the tree that they stand in, and the dtype of each.

        A mask that is boolean in one draw and added to the scores in the next is two, which nothing joins.
        """
        if seed not in self.kept:
            self.kept[seed] = self(seed)
        arguments, tensors, _ = given_inputs.given(lambda: self.kept[seed], (), self.dtype, seed)
        return arguments.places, str(arguments.spec), tuple(t.dtype for t in tensors)


@dataclass(frozen=True)
class _OfForm:
    """A factory of the draws of one form: seed n gives the n-th, the first those that have been seen."""

    seen: _Seen
    wish: Wish
    form: Hashable
    seeds: list[int] = field(default_factory=list)
    name: str = ""  # of one that is asked apart

    def __call__(self, seed: int) -> Any:
        n = seed - self.wish.seed
        later = iter(range(max(self.seeds, default=-1) + 1, max(self.seeds, default=0) + _LONGEST))
        while len(self.seeds) <= n and (s := self._next(later)) is not None:
            self.seeds.append(s)
        return self.seen(self.seeds[n % len(self.seeds)])

    def _next(self, seeds: Iterator[int]) -> int | None:
        return next((s for s in seeds if self.seen.form(s) == self.form), None)


#: A factory that is asked apart, by a name of its own.
Special = Crossed | Longer | _OfForm


def _forms(seen: _Seen, wish: Wish) -> list[_OfForm]:
    """One factory for each form that the first seeds have."""
    forms: dict[Hashable, _OfForm] = {}
    for seed in range(wish.seed, wish.seed + _SEEDS):
        form = seen.form(seed)
        forms.setdefault(form, _OfForm(seen, wish, form)).seeds.append(seed)
    return list(forms.values())[:_FORMS]
