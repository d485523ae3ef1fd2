"""Factories whose draws differ in which arguments are tensors: a bias for some seeds, None for others.

Each form is a check of its own, by the seeds that have it, and has its share of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from opproof.harness.check.questions import inputs as given_inputs
from opproof.harness.check.report import Report, joined
from opproof.harness.check.wish import Wish
from opproof.vocabulary.errors import UsageError

#: Seeds that are looked at for forms, as many as are drawn at first; forms at most; seeds for one draw more of a form.
_SEEDS, _FORMS, _LONGEST = 6, 4, 64


def of_each_form(judged: Callable[[Any, Wish], Report], inputs: Any, wish: Wish) -> Report:
    """The report of all forms of draws together. Raises UsageError as `judged` does; by `only` where all do."""
    some = _forms(inputs, wish) if callable(inputs) else []
    if len(some) < 2:
        return judged(inputs, wish)
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
class _OfForm:
    """A factory of the draws of one form: seed n gives the n-th, the first those that have been seen."""

    factory: Callable[..., Any]
    wish: Wish
    form: Hashable
    seeds: list[int] = field(default_factory=list)

    def __call__(self, seed: int) -> Any:
        n = seed - self.wish.seed
        later = iter(range(max(self.seeds, default=-1) + 1, max(self.seeds, default=0) + _LONGEST))
        while len(self.seeds) <= n and (s := self._next(later)) is not None:
            self.seeds.append(s)
        return given_inputs.made(self.factory, self.seeds[n % len(self.seeds)], self.wish.dtype)

    def _next(self, seeds: Iterator[int]) -> int | None:
        return next((s for s in seeds if _form(self.factory, s, self.wish) == self.form), None)


def _forms(factory: Callable[..., Any], wish: Wish) -> list[_OfForm]:
    """One factory for each form that the first seeds have."""
    seen: dict[Hashable, _OfForm] = {}
    for seed in range(wish.seed, wish.seed + _SEEDS):
        form = _form(factory, seed, wish)
        seen.setdefault(form, _OfForm(factory, wish, form)).seeds.append(seed)
    return list(seen.values())[:_FORMS]


def _form(factory: Callable[..., Any], seed: int, wish: Wish) -> Hashable:
    """Which leaves of the arguments are tensors, and the tree that they stand in."""
    arguments, _, _ = given_inputs.given(factory, (), wish.dtype, seed)
    return arguments.places, str(arguments.spec)
