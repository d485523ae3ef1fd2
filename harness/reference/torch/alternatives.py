"""What other honest ways of computing the same may be off by; measured before a failure is believed.

The noise of `truth` is that of the formula in which the reference is written. A candidate may choose another:

- softmax by a logsumexp saved per row, as attention's backward and merged chunks have it: the roundoff of a large
  logsumexp is in all shares of the row alike, and their sum stands where 1 stood;
- attention's backward by its output, sum(g o), with o as it was stored in 16 bits, and by scores that it computes
  again, which round otherwise where the keys are scaled and not the product (stored_outputs.py): the gradients of a
  row's scores do not add up to 0 then;
- softmax of two by s = sigmoid(a - b) and 1 - s, which has a roundoff of 1 where a share is small; so has its
  backward;
- softmax of x - max(x) by autograd, which goes through the largest element too: there the roundoffs of a whole row
  come together, in a row of equal shares n times what one of them has;
- sigmoid by its complement, so that y (1 - y) has a roundoff of 1 at either end;
- a backward in other steps. y (g - sum(g y)) of a saturated row cancels where another formula has nothing to cancel, so
  an element may be off by a roundoff of what its terms amount to. How much that is, a backward tells in which every
  rounded result draws its sign: nothing cancels, neither of the terms of y (g - sum(g y)) nor of another formula's;
- where something saturates by a formula that is not known here (1 / (1 + exp(-x)), tanh of its own), the derivative
  by another is off by a roundoff of the largest one; not of softmax, where it would be 650 times what elements need;
- of equal terms, as the gradient of a bias before a mean has them, a sum term after term rounds to the same side each
  time: its error grows with their number, not with the root of it. It is measured by such a sum in float32;
- 1 - b in float32 has the roundoff of b, where a reference has 1 - 0.999 from Python (`torch/rounding.py`);
- 0.9999 in float32 is another number, and 1 - 0.9999 another one by 1.6e-4 of it (`torch/rounding.py`);
- some arithmetic takes subnormals of float32 for 0 between operations too, and x sigmoid(x) of -89 with it; exp(90) is
  infinite in all, and what it divides 0;
- a state that fades step by step, in chunks (`torch/stored_outputs.py`);
- of elements that are equal, sort and topk may take any;
- the gradient of what is not chosen is 0 where the chosen are softmaxed, and 0 but for a roundoff where shares of all
  are chosen from and divided by their sum, as routers do: it has a few roundoffs of the largest gradient.

How far honest rounding moves results where it decides otherwise: a sum that is compared, a ratio that is rounded.
Bounds are measured with the decisions of the exact evaluation. Noise larger than of true roundings decides anew here;
beside it stands the same noise with the exact decisions, and what the two differ by is what deciding is worth, element
by element. Inputs come as they are: whoever compares one with a constant has nothing to round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.harness.reference.array_bias import fit_slope, measure_slope_spread
from opproof.harness.reference.question import Expected
from opproof.harness.reference.roundoff import compute_roundoff
from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic, NoiseLevels
from opproof.harness.reference.torch.evaluate import (
    TorchQuestion,
    Truth,
    amplitudes_of,
    evaluate_exactly,
    evaluate_question,
    iter_deviations,
    join_by_precision,
    key_of,
    true_amplitudes_of,
)

#: Evaluations in which the other formulas have noise, and in which signs are drawn: of two terms every second of these
#: cancels, of two such stages three of four, and of the rest each row needs some. And how many roundoffs of what terms
#: amount to make one unit of scale.
_NOISY_RUNS = 8
_SIGN_RUNS = 32
UNITS_PER_TERM_ROUNDOFF = 1 / 2
#: Roundoffs of the largest gradient that another formula leaves where a gradient is 0: terms cancel to make it.
_LEFT_ROUNDOFFS = 8.0
#: Interior arithmetic without noise, its decisions from the tape.
_SILENT = NoiseLevels(0.0, 0.0, 0.0)


def widen_truth(question: TorchQuestion, known: Truth) -> Truth:
    """The truth with the bounds of other honest ways where they are wider, and what equal elements leave open."""
    *_, wider = iter_wider_truths(question, known)
    return wider


def iter_wider_truths(question: TorchQuestion, known: Truth) -> Iterator[Truth]:
    """Yield the truth with the bounds of other formulas, then with those of other backwards too, which take longest."""
    compute, kinds, count = question.compute, question.results, len(known.outputs)
    if isinstance(compute, tuple):
        yield join_by_precision(question, lambda q: widen_truth(q, known))
        return
    exact, values = evaluate_exactly(question)
    *_, (squares, few) = iter_deviations(exact.tape, question, values, _NOISY_RUNS, Algorithm.OTHER)
    amplitudes, unit = amplitudes_of(question)
    ranged = replace(_SILENT, tiny=amplitudes.tiny)
    flushed, overflown = (
        _evaluate_again(question, exact, ranged, algorithm=a) for a in (Algorithm.FLUSHED, Algorithm.OVERFLOWN)
    )
    lost = [_measure_lost(*each, amplitudes.tiny) for each in zip(values, flushed, overflown, strict=True)]
    summed = _evaluate_again(question, exact, algorithm=Algorithm.SEQUENTIAL)
    every = (*known.outputs, *known.gradients), squares, few, lost, summed, values, kinds
    left = _open(question, values)

    def widen_one(t: Any, e: Expected | None, s: Any, some: Any, f: Any, a: Any, v: Any, k: str) -> Expected | None:
        if e is None or s is None or not k:
            return e
        if e.spread is not None:  # the factor that other ways give the whole
            e = replace(e, spread=max(e.spread, measure_slope_spread(some, e.values, e.scale) / unit))
        e = _widen_scale(e, np.sqrt(s / _NOISY_RUNS) / unit, t, f, k, compute)
        return _widen_by_sums(e, a - v, k)

    def widen(terms: Sequence[Array | None]) -> Truth:
        with np.errstate(all="ignore"):
            expected = list(map(widen_one, terms, *every))
        outputs = tuple(e for e in expected[:count] if e is not None)
        gradients = map(partial(_of_zero_gradients, compute=compute), expected[count:], kinds[count:])
        return replace(known, outputs=outputs, gradients=tuple(gradients), open=left)

    yield widen([None] * len(values))
    terms = _size_of_terms(exact, question, values)
    yield widen([None if t is None else np.maximum(t, _largest_of(t)) for t in terms] if exact.saturates else terms)


def _evaluate_again(
    question: TorchQuestion, exact: Arithmetic, levels: NoiseLevels = _SILENT, run: int | None = None, *,
    algorithm: Algorithm = Algorithm.PLAIN,
) -> list[Any]:  # fmt: skip
    """Evaluate by what the exact evaluation decided; with a `run` nothing cancels in the backward."""
    seed = 0 if run is None else key_of(question, run)
    noise = Arithmetic(exact.torch, exact.tape.restart(), levels, seed, algorithm)
    return evaluate_question(noise, question, 0.0, scatter=run is not None)


def _of_zero_gradients(e: Expected | None, kind: str, compute: str | None) -> Expected | None:
    """With roundoffs of the largest gradient where a gradient is 0 and has none, as of what is not chosen."""
    if e is None or e.exact or not kind:
        return e
    zero = (e.values == 0) & (e.scale == 0)
    size = compute_roundoff(DTYPES[kind], compute) / DTYPES[kind].u * _LEFT_ROUNDOFFS * _largest_of(e.values)
    return replace(e, scale=np.where(zero, size, e.scale))


def _measure_lost(v: Array | None, flushed: Array, overflown: Array, tiny: float) -> Array | None:
    """What an end of the range takes: of any number what is flushed, and what is divided by an infinity of small ones.

    weights / max(norm, exp(-top)) is 0 in float32 where it is 1e-36, for exp(90) is beyond.
    """
    if v is None or v.dtype.kind not in "fc":
        return None
    with np.errstate(all="ignore"):
        beyond = np.where(np.abs(v) < np.sqrt(tiny), np.abs(overflown - v), 0.0)
        return np.asarray(np.fmax(np.abs(flushed - v), beyond))


def _largest_of(values: Array) -> float:
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


def _widen_scale(
    e: Expected, rounding: Array, terms: Array | None, lost: Array, kind: str, compute: str | None
) -> Expected:
    dtype = DTYPES[kind]
    scale = np.maximum(e.scale, np.nan_to_num(rounding / dtype.u, nan=0.0, posinf=0.0))
    if terms is not None:
        scale = np.maximum(scale, UNITS_PER_TERM_ROUNDOFF * compute_roundoff(dtype, compute) / dtype.u * terms)
    lost = np.nan_to_num(lost / dtype.u / 16, nan=0.0, posinf=0.0)
    return replace(e, scale=np.maximum(scale, lost))


def _widen_by_sums(e: Expected, off: Array, kind: str) -> Expected:
    """With the scale of sums term after term, where these are further off in the RMS than one unit."""
    size = e.scale + np.abs(e.values)
    if e.spread is not None:
        e = replace(e, spread=max(e.spread, abs(fit_slope(off, e.values, e.scale))))
    with np.errstate(all="ignore"):
        units = np.abs(off) / DTYPES[kind].u / size
    units = units[np.isfinite(units)]
    most = float(np.sqrt(np.mean(np.square(units)))) if units.size and kind != "f64" else 0.0
    with np.errstate(all="ignore"):
        scale = np.nan_to_num(most * size - np.abs(e.values), nan=0.0, posinf=0.0)
    return e if most <= 1 else replace(e, scale=scale)


def _size_of_terms(exact: Arithmetic, question: TorchQuestion, values: Sequence[Any]) -> list[Array | None]:
    """Of every gradient, per element, what its terms amount to: the RMS of gradients in which nothing cancels."""
    count = len(question.dtypes)
    squares: list[Any] = [None] * len(values)
    if not (any(question.needs) and question.cotangents):
        return squares
    for run in range(_SIGN_RUNS):
        found = _evaluate_again(question, exact, run=run)
        with np.errstate(all="ignore"):
            squares[count:] = [
                None if y is None else np.abs(y) ** 2 + (0.0 if s is None else s)
                for s, y in zip(squares[count:], found[count:], strict=True)
            ]
    return [None if s is None else np.nan_to_num(np.sqrt(s / _SIGN_RUNS), nan=0.0, posinf=0.0) for s in squares]


def _open(question: TorchQuestion, values: Sequence[Any]) -> tuple[Array | None, ...]:
    """Of every output and gradient the elements that are others where sort and topk take the last of equals."""
    _, others = evaluate_exactly(question, Algorithm.LAST_OF_TIES)
    with np.errstate(all="ignore"):
        return tuple(
            None
            if x is None or x.shape != y.shape
            else (np.abs(x - y) > 1e-9 * np.abs(x) if x.dtype.kind in "fc" else x != y)
            for x, y in zip(values, others, strict=True)
        )


#: Evaluations, and by what their roundings are larger than true ones: a decision that true ones flip once in 30,000
#: times, at four standard deviations, is flipped by one in six of these.
_BRANCH_RUNS = 16
_BRANCH_NOISE_FACTOR = 4.0
#: What may come lies so many times the span of what came beyond its ends: many decisions meet in one sum.
_SPANS_BEYOND = 1.0
#: Decisions that take some elements by their order.
_SELECTIONS = frozenset("ordered argmax argmin argsort median searchsorted bucketize unique".split())


@dataclass(frozen=True)
class BranchEffect:
    """Of one result, by how much it may be lower and higher by deciding otherwise.

    `offs`: by how much it was off in each evaluation that decided otherwise.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    offs: tuple[NDArray[np.float64], ...] = ()

    def widen(self, low: Array, high: Array) -> BranchEffect:
        """The same where by something else it may be lower and higher too."""
        return replace(self, low=self.low + np.minimum(low, 0.0), high=self.high + np.maximum(high, 0.0))

    def find_reached(self, off: Array, bound: Array) -> NDArray[np.bool_]:
        """Which elements that are `off` by so much are so by deciding otherwise, and by no more than a bound beside.

        Where it is integers that are decided, the bound is 0, and none but what came may come.
        """
        with np.errstate(all="ignore"):
            beyond = np.where(bound > 0, bound + _SPANS_BEYOND * (self.high - self.low), 0.0)
            within = (off >= self.low - beyond) & (off <= self.high + beyond)
        return np.asarray(within & ((self.low < 0) | (self.high > 0)))


def selects(question: TorchQuestion) -> bool:
    """Whether the reference takes some elements for their size, as topk and argmax do."""
    return any(name in _SELECTIONS for name, _ in evaluate_exactly(question)[0].tape.entries)


def measure_branch_flips(question: TorchQuestion) -> list[BranchEffect | None]:
    """Of every output and gradient; None where it is no number, or nothing is decided otherwise.

    An output is not stored here: a maximum is found again by its own value. Raises OpError where the reference takes
    other ways then, so that nothing is known.
    """
    question = replace(question, saves=False)
    exact, _ = evaluate_exactly(question)
    torch, tape = exact.torch, exact.tape
    large = true_amplitudes_of(question, _BRANCH_NOISE_FACTOR)
    ends: list[BranchEffect | None] = [None] * len(question.results)
    for run in range(_BRANCH_RUNS):
        seed = key_of(question, run)
        free = Arithmetic(torch, tape.restart(), large, seed, Algorithm.FREE_BRANCHES)
        try:
            others = evaluate_question(free, question, _BRANCH_NOISE_FACTOR)
        except (RuntimeError, IndexError):  # what is decided otherwise points past an end
            continue
        if free.otherwise:
            kept = evaluate_question(
                Arithmetic(torch, tape.restart(), large, seed, Algorithm.GIVEN), question, _BRANCH_NOISE_FACTOR
            )
            ends = [_widen_end(end, x, y) for end, x, y in zip(ends, kept, others, strict=True)]
    return ends


def _widen_end(end: BranchEffect | None, kept: Any, other: Any) -> BranchEffect | None:
    if kept is None or np.array_equal(kept, other, equal_nan=kept.dtype.kind in "fc"):
        return end
    with np.errstate(all="ignore"):
        off = np.nan_to_num(_numbers_of(other) - _numbers_of(kept), nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = np.minimum(off, 0.0), np.maximum(off, 0.0)
    if end is None:
        return BranchEffect(low, high, (off,))
    return BranchEffect(np.minimum(end.low, low), np.maximum(end.high, high), (*end.offs, off))


def _numbers_of(values: Array) -> Array:
    return np.asarray(values.real if values.dtype.kind == "c" else values, dtype=np.float64)
