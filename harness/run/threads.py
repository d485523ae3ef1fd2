"""The same call with other numbers of threads: each answer is judged, and held against that of the first number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from opproof.core.arrays import Array
from opproof.core.verdicts import FAILED, Verdict
from opproof.harness.judge.judgement import Judgement
from opproof.harness.judge.outputs import Answer
from opproof.harness.run.determinism import difference
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.question import Settled, Wanted

#: What a host declines with where its backend cannot be told.
UNTOLD = "the backend cannot be told how many threads to use: it has no set_threads"


def with_each(
    counts: Sequence[int], judged: Callable[[int], tuple[Judgement, Answer]], wanted: Sequence[Wanted | None]
) -> Judgement:
    """The first judgement that is no PASS, which names its number of threads; else that of the first number.

    Sums that are taken apart have other bits with other numbers of threads: that passes within the bound, and is
    told. Raises Settled and HostFault, which name the number too.
    """
    passed: tuple[Judgement, Sequence[Array | None]] | None = None
    for count in counts:
        try:
            judgement, answer = judged(count)
        except Settled as settled:
            raise Settled(settled.verdict, _named(settled.verdict, count, settled.message)) from None
        except HostFault as fault:
            message = _named(fault.verdict, count, fault.message)
            raise HostFault(fault.verdict, message, guard=fault.guard) from None
        if judgement.verdict is not Verdict.PASS:
            return replace(judgement, message=_named(judgement.verdict, count, judgement.message))
        if passed is None:
            passed = judgement, answer.arrays
        elif where := difference(passed[1], answer.arrays, wanted):
            told = f"other bits with {_words(count)} than with {counts[0]}, within the bound: {where}"
            first = passed[0]
            passed = replace(first, message="; ".join(filter(None, (first.message, told)))), passed[1]
    assert passed is not None
    return passed[0]


def _named(verdict: Verdict, count: int, message: str) -> str:
    return f"with {_words(count)}: {message}" if verdict in FAILED else message


def _words(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
