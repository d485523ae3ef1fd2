"""Draws of a factory in several forms, each a check of its own, and options that meet which no draw has together.

A bias for some seeds and None for others are two forms. An argument of one draw is put into another, and lists are made
longer than any draw has them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, product
from typing import Any

from opproof.core.errors import OpError, UsageError
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.check.call.exchange import is_complaint
from opproof.harness.check.call.subject import replace_generator
from opproof.harness.check.options import CheckOptions
from opproof.harness.check.summary import add_left_out
from opproof.harness.check.variants import inputs as given_inputs
from opproof.harness.check.variants.variant import name_of
from opproof.harness.clock import ENDLESS, Allowed
from opproof.harness.reference.torch.arithmetic import OutOfTime
from opproof.reports.check import Report, join_reports

#: So many meetings are tried, of draws of so many seeds; and so many seeds are looked at for draws like one.
_MAX_MEETINGS = 6
_MEETING_SEEDS = 6
_MAX_SEEDS_LIKE_ONE = 24


@dataclass(frozen=True)
class Crossed:
    """A factory of draws with the options of one seed, but some arguments as they are drawn for others."""

    name: str  # what the meeting is called
    draw: Callable[[int], Any]
    seeds: tuple[int, ...]  # of draws with the same options
    instead: Mapping[Any, Any]
    first: int  # the seed that counts as the first

    def __call__(self, seed: int) -> Any:
        made = self.draw(self.seeds[(seed - self.first) % len(self.seeds)])
        given: Any = dict(made) if isinstance(made, Mapping) else list(made)
        for key, value in self.instead.items():
            given[key] = value
        return given


def combine_options(draw: Callable[[int], Any], first: int, names: Sequence[str]) -> list[Crossed]:
    """Meetings of options that draws of the first seeds have apart."""
    return list(islice(_generate_meetings(draw, first, names), _MAX_MEETINGS))


def _generate_meetings(draw: Callable[[int], Any], first: int, names: Sequence[str]) -> Iterator[Crossed]:
    some = {seed: draw(seed) for seed in range(first, first + _MEETING_SEEDS)}
    if len({tuple(keys_of(made)) for made in some.values()}) > 1:
        return
    options = {seed: _describe_options(made) for seed, made in some.items()}
    later = functools.cache(lambda seed: _describe_options(draw(seed)))  # each seed is drawn once
    seen = {tuple(of.values()) for of in options.values()}

    def meeting(a: int, instead: Mapping[Any, int]) -> Crossed:
        """The draws of seed `a`, with some arguments of other seeds."""
        others = (s for s in range(first, first + _MAX_SEEDS_LIKE_ONE) if s != a)
        alike = [a, *(s for s in others if (options[s] if s in options else later(s)) == options[a])]
        labels = {key: key if isinstance(key, str) else name_of(names, key) for key in instead}
        text = " and ".join(f"{labels[key]} of seed {b}" for key, b in instead.items())
        values = {key: some[b][key] for key, b in instead.items()}
        return Crossed(f"seed {a} with {text}", draw, tuple(alike), values, first)

    every = {
        key: next(b for b in some if options[b][key] != option)
        for key, option in options[first].items()
        if any(options[b][key] != option for b in some)
    }
    together = tuple({**options[first], **{key: options[b][key] for key, b in every.items()}}.values())
    if len(set(every.values())) > 1 and together not in seen:
        seen.add(together)
        yield meeting(first, every)
    for a, b in product(some, repeat=2):
        differing = [key for key, option in options[a].items() if option != options[b][key]]
        for key in differing if len(differing) > 1 else ():
            met = tuple({**options[a], key: options[b][key]}.values())
            if met in seen:
                continue
            seen.add(met)
            yield meeting(a, {key: b})


def keys_of(made: Any) -> list[Any]:
    """Names or places of the arguments of a draw; none where it is neither a mapping nor a list."""
    if isinstance(made, Mapping):
        return list(made)
    return list(range(len(made))) if isinstance(made, list | tuple) else []


def _describe_options(made: Any) -> dict[Any, str]:
    return {key: _describe_option(made[key]) for key in keys_of(made)}


def _describe_option(value: Any) -> str:
    """What an argument is beside the numbers in its tensors, in words that are equal where it is."""
    from torch.utils._pytree import tree_flatten

    leaves, spec = tree_flatten(value)
    return repr((["a tensor" if hasattr(leaf, "shape") else replace_generator(leaf) for leaf in leaves], str(spec)))


#: So many tensors at least; draws of so many seeds tell whether lengths differ.
_MIN_LIST_LENGTH = 20
_LENGTH_SEEDS = 6


@dataclass(frozen=True)
class Longer:
    """A factory of draws whose lists are those of several seeds, one after the other."""

    name: str  # what it is called
    draw: Callable[[int], Any]
    keys: tuple[Any, ...]  # of the lists, which have as many tensors each

    def __call__(self, seed: int) -> Any:
        made = self.draw(seed)
        given: Any = dict(made) if isinstance(made, Mapping) else list(made)
        while len(given[self.keys[0]]) < _MIN_LIST_LENGTH:
            seed += _LENGTH_SEEDS
            more = self.draw(seed)
            for key in self.keys:
                given[key] = type(given[key])([*given[key], *more[key]])
        return given


def make_longer_lists(draw: Callable[[int], Any], first: int) -> list[Longer]:
    """The draws with longer lists, one factory; none where all draws have lists of one length, or one is empty."""
    some = [draw(seed) for seed in range(first, first + _LENGTH_SEEDS)]
    keys = [key for key in keys_of(some[0]) if all(key in keys_of(made) and _is_list(made[key]) for made in some)]
    lengths = {key: [len(made[key]) for made in some] for key in keys}
    varying = [key for key in keys if len(set(lengths[key])) > 1]
    alike = tuple(key for key in varying if lengths[key] == lengths[varying[0]])
    if not alike or max(lengths[alike[0]]) >= _MIN_LIST_LENGTH:
        return []
    return [Longer(f"lists of {_MIN_LIST_LENGTH} tensors or more", draw, alike)]


def _is_list(value: Any) -> bool:
    return type(value) in (list, tuple) and len(value) > 0 and all(hasattr(x, "shape") for x in value)


#: Of the time of a check what meetings of options may take beside it.
_MEETINGS_TIME_SHARE = 0.25
#: Seeds that are looked at for forms, as many as are drawn at first; forms at most; seeds for one draw more of a form.
_FORM_SEEDS = 6
_MAX_FORMS = 4
_MAX_SEEDS_PER_DRAW = 64
#: Later seeds that are looked at for other forms, in so much of the time; so many of these.
_LATER_FORM_SEEDS = 96
_LATER_FORMS_TIME_SHARE = 0.05
_MAX_RARE_FORMS = 4


def check_each_form(
    judged: Callable[[Any, CheckOptions], Report],
    inputs: Any,
    wish: CheckOptions,
    met: Callable[[Special, CheckOptions], Report],
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
        return join_reports([report, *_check_meetings(met, _generate_special(inputs, wish, names), wish)])
    if (
        asked := next((one for one in _generate_special(inputs, wish, names) if one.name == wish.only), None)
    ) is not None:
        return met(asked, replace(wish, only=None))
    return _of_forms(judged, inputs, wish)


def _generate_special(inputs: Any, wish: CheckOptions, names: Sequence[str]) -> Iterator[Special]:
    """Options that meet, longer lists, and draws of later seeds in a form that the first have not."""
    seen = _Seen(inputs, wish.dtype)
    yield from make_longer_lists(seen.made, wish.seed)
    yield from combine_options(seen.made, wish.seed, names)
    yield from _find_rare_forms(seen, wish)


def _find_rare_forms(seen: _Seen, wish: CheckOptions) -> Iterator[_OfForm]:
    looking = ENDLESS if wish.only else Allowed(_LATER_FORMS_TIME_SHARE * wish.seconds)
    known = [one.form for one in _find_forms(seen, wish)]
    for seed in range(wish.seed + _FORM_SEEDS, wish.seed + _LATER_FORM_SEEDS):
        if looking.over or len(known) > _MAX_FORMS + _MAX_RARE_FORMS:
            return
        if (form := seen.form(seed)) not in known:
            known.append(form)
            yield _OfForm(seen, wish, form, [seed], f"draw of seed {seed}")


def _check_meetings(
    met: Callable[[Special, CheckOptions], Report], meetings: Iterable[Special], wish: CheckOptions
) -> Iterator[Report]:
    """Reports of those that the reference takes, begun within a part of the time, until one is wrong."""
    allowed = Allowed(_MEETINGS_TIME_SHARE * wish.seconds)
    for one in meetings:
        if allowed.over or wish.calls.over:
            return
        try:
            report = met(one, wish)
        except (UsageError, OpError, OutOfTime):
            continue
        report = report if isinstance(one, _OfForm) else _allow_refusal(report, one.name)
        yield report
        if report.failures:
            return


def _allow_refusal(report: Report, name: str) -> Report:
    """The report; where the candidate refuses what no draw has, with that told, and no failure."""
    failed = [r for r in report.results if r.verdict in FAILED]
    if not failed or not all(r.verdict is Verdict.ERROR and is_complaint(r.message) for r in failed):
        return report
    said = f"{name}: the candidate declines: {failed[0].message}"
    return replace(report, results=(), tried=(), not_judged=(said, *report.not_judged))


def _of_forms(judged: Callable[[Any, CheckOptions], Report], inputs: Any, wish: CheckOptions) -> Report:
    seen = _Seen(inputs, wish.dtype)
    some = _find_forms(seen, wish)
    if len(some) < 2:
        return judged(seen, wish)
    reports, refused, left = list[Report](), list[UsageError](), list[str]()
    for i, one in enumerate(some, 1):
        try:
            reports.append(judged(one, replace(wish, seconds=wish.seconds / len(some))))
        except OutOfTime:
            left.append(f"form {i} of the inputs")
        except UsageError as error:
            if wish.only is None:
                raise
            refused.append(error)
    if not reports:
        raise refused[0]
    return add_left_out(join_reports(reports), left, wish.seconds)


@dataclass(frozen=True)
class _Seen:
    """The factory; a draw whose form was looked at is handed out once, not made again."""

    factory: Callable[..., Any]
    dtype: str | None
    kept: dict[int, Any] = field(default_factory=dict)

    def __call__(self, seed: int) -> Any:
        return self.kept.pop(seed) if seed in self.kept else given_inputs.call_factory(self.factory, seed, self.dtype)

    def made(self, seed: int) -> Any:
        """The draw of a seed, again."""
        return given_inputs.call_factory(self.factory, seed, self.dtype)

    def form(self, seed: int) -> Hashable:
        """Which leaves of the arguments are tensors, the tree that they stand in, and the dtype of each.

        A mask that is boolean in one draw and added to the scores in the next is two, which nothing joins.
        """
        if seed not in self.kept:
            self.kept[seed] = self(seed)
        arguments, tensors, _ = given_inputs.take_inputs(lambda: self.kept[seed], (), self.dtype, seed)
        return arguments.places, str(arguments.spec), tuple(t.dtype for t in tensors)


@dataclass(frozen=True)
class _OfForm:
    """A factory of the draws of one form: seed n gives the n-th, the first those that have been seen."""

    seen: _Seen
    wish: CheckOptions
    form: Hashable
    seeds: list[int] = field(default_factory=list)
    name: str = ""  # of one that is asked apart

    def __call__(self, seed: int) -> Any:
        n = seed - self.wish.seed
        later = iter(range(max(self.seeds, default=-1) + 1, max(self.seeds, default=0) + _MAX_SEEDS_PER_DRAW))
        while len(self.seeds) <= n and (s := self._next(later)) is not None:
            self.seeds.append(s)
        return self.seen(self.seeds[n % len(self.seeds)])

    def _next(self, seeds: Iterator[int]) -> int | None:
        return next((s for s in seeds if self.seen.form(s) == self.form), None)


#: A factory that is asked apart, by a name of its own.
Special = Crossed | Longer | _OfForm


def _find_forms(seen: _Seen, wish: CheckOptions) -> list[_OfForm]:
    """One factory for each form that the first seeds have."""
    forms: dict[Hashable, _OfForm] = {}
    for seed in range(wish.seed, wish.seed + _FORM_SEEDS):
        form = seen.form(seed)
        forms.setdefault(form, _OfForm(seen, wish, form)).seeds.append(seed)
    return list(forms.values())[:_MAX_FORMS]
