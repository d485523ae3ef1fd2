"""Draws against probabilities: exact tests of counts and of pairs of rows, with Holm's correction.

What is rejected at SUSPICION_LEVEL is tested again on an independent series, at CONFIRMATION_LEVEL, and fails if it is
rejected there too. Binomial probabilities are exact; rows of several laws that are counted together vary less than a
binomial of their mean does (Hoeffding, 1956).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from scipy import special

from opproof.core.arrays import Array

#: The chance that an honest sampler is asked for a second series, over all tests of a check.
SUSPICION_LEVEL = 1e-4
#: The chance that the second series rejects too what the first did by chance.
CONFIRMATION_LEVEL = 1e-5
#: The chance that a check fails an honest sampler, by counts.
FALSE_ALARM_RATE = SUSPICION_LEVEL * CONFIRMATION_LEVEL
#: Draws that a bin of the G-test expects at least: with fewer chi-square is no tail of it.
MIN_EXPECTED_DRAWS = 16.0
#: Standard deviations below which a count is not looked at closely.
MIN_DEVIATIONS = 3.0
#: Draws of a row from which on wrong counts are explained.
MIN_TOLD_DRAWS = 1000
#: Part of 1 from which on a factor or a power explains wrong counts.
MIN_TOLD_CHANGE = 0.03
#: Parts of about equal probability into which a row's tokens are put for pairs of rows.
PARTS_OF_ROW = 4

#: A kind of test, and what it is of: a law and a token, a law, a number of ranks, or a distance and two parts.
TestKey: TypeAlias = tuple[str, int, *tuple[int, ...]]


@dataclass(frozen=True)
class Laws:
    """What rows are drawn from, a law a row, as the reference has it at the inputs and at others that rounding makes.

    Where these differ in which tokens are possible, a row is at the border of a cut: any of them is right there, and
    tokens of equal inputs (`groups` has the first of them) are counted together.
    """

    given: Array
    others: tuple[Array, ...] = ()
    groups: Array | None = None

    @cached_property
    def at_border(self) -> Array:
        """Rows in which rounding decides what is possible."""
        differs = [((p > 0) != (self.given > 0)).any(-1) for p in self.others]
        return np.any(differs, axis=0) if differs else np.zeros(len(self.given), bool)

    @cached_property
    def possible(self) -> Array:
        """Tokens that may be drawn: those of the reference, and at a border all that some rounding makes possible."""
        found = self.given > 0
        for row in map(int, np.flatnonzero(self.at_border)):
            some = np.any([p[row] > 0 for p in (self.given, *self.others)], axis=0)
            groups = self._groups_of(row)
            found[row] = np.isin(groups, groups[some])
        return found

    def list_alternatives(self, row: int) -> list[tuple[Array, Array]]:
        """Laws of a row, any of which is right, each with the tokens that stand for others: their sums are given."""
        groups = self._groups_of(row)
        if not self.at_border[row]:
            return [(self.given[row], np.arange(len(groups)))]
        some = [self.given[row], *(p[row] for p in self.others)]
        some += [_keep_ties(p, groups) for p in some]
        return [(np.bincount(groups, p, minlength=len(p)), groups) for p in some]

    def _groups_of(self, row: int) -> Array:
        return np.arange(self.given.shape[1]) if self.groups is None else self.groups[row]


def _keep_ties(p: Array, groups: Array) -> Array:
    """A law in which all tokens of equal inputs are kept, where some are."""
    kept = np.zeros(len(p))
    np.maximum.at(kept, groups, p)
    return np.asarray(kept[groups] / kept[groups].sum())


@dataclass
class DrawCounts:
    """One series of draws of rows with these laws: how often each token came, and pairs of parts by distance."""

    laws: Laws
    law_of: Array  # by place in a call; -1: not counted
    distances: tuple[int, ...]
    counts: Array = field(init=False)
    pairs: dict[int, Array] = field(init=False)
    calls: int = 0

    def __post_init__(self) -> None:
        self.counts = np.zeros(self.laws.given.shape, np.int64)
        self.pairs = {d: np.zeros((PARTS_OF_ROW, PARTS_OF_ROW), np.int64) for d in self.distances}

    @cached_property
    def _parts(self) -> Array:
        """The part of its row's probability that a token lies in, tokens in their order."""
        p = self.laws.given
        middle = np.cumsum(p, -1) - p / 2
        return np.clip((middle * PARTS_OF_ROW).astype(np.int64), 0, PARTS_OF_ROW - 1)

    @cached_property
    def _places(self) -> dict[int, tuple[Array, Array]]:
        """Pairs of places by distance, no place in two of them."""
        found, place = {}, np.arange(len(self.law_of))
        for d in self.distances:
            first = place[: len(place) - d]
            first = first[(first // d) % 2 == 0]
            first = first[(self.law_of[first] >= 0) & (self.law_of[first + d] >= 0)]
            found[d] = first, first + d
        return found

    def add(self, draws: Array) -> None:
        """Count the tokens of one call, by place."""
        self.calls += 1
        counted = self.law_of >= 0
        size = self.counts.shape[1]
        cells = self.law_of[counted] * size + draws[counted]
        self.counts += np.bincount(cells, minlength=self.counts.size).reshape(self.counts.shape)
        parts = np.zeros(len(draws), np.int64)
        parts[counted] = self._parts[self.law_of[counted], draws[counted]]
        for d, (a, b) in self._places.items():
            cells = parts[a] * PARTS_OF_ROW + parts[b]
            self.pairs[d] += np.bincount(cells, minlength=PARTS_OF_ROW**2).reshape(PARTS_OF_ROW, PARTS_OF_ROW)

    def find_impossible(self) -> tuple[int, int] | None:
        """The law and the token that came most often though it cannot; None where none did."""
        wrong = np.where(self.laws.possible, 0, self.counts)
        place = int(np.argmax(wrong)) if wrong.size else 0
        return None if not wrong.any() else divmod(place, wrong.shape[1])

    def expect_pairs(self, d: int) -> Array:
        """How many pairs of parts are to come at a distance, by how often each part came in rows of each law."""
        shares = np.zeros((len(self.counts), PARTS_OF_ROW))
        rows = np.repeat(np.arange(len(self.counts))[:, None], self.counts.shape[1], 1)
        np.add.at(shares, (rows, self._parts), self.counts)
        shares /= np.maximum(shares.sum(-1, keepdims=True), 1)
        a, b = self._places[d]
        return np.asarray(np.einsum("ia,ib->ab", shares[self.law_of[a]], shares[self.law_of[b]]) * self.calls)

    def has_shared_draws(self) -> bool:
        """Whether pairs depend on each other beyond doubt."""
        return any(key[0] == "pairs" and p < FALSE_ALARM_RATE for key, p in self.find_p_values().items())

    @property
    def test_count(self) -> int:
        """Tests that are made: of every token, every law, ranks from both ends, and pairs."""
        laws, tokens = map(int, self.counts.shape)
        return laws * (tokens + 1) + 2 * tokens.bit_length() + len(self.distances) * PARTS_OF_ROW**2

    def find_p_values(self) -> dict[TestKey, float]:
        """The p-values of tests whose counts are not near to what is expected; those of the others are 1."""
        found: dict[TestKey, float] = dict(self._test_laws())
        found |= dict(self._test_ranks())
        for d, observed in self.pairs.items():
            n = len(self._places[d][0]) * self.calls
            if n:
                p = _test_counts(observed, n, self.expect_pairs(d) / n)
                found |= {("pairs", d, int(a), int(b)): float(p[a, b]) for a, b in np.argwhere(p < 1)}
        return found

    def _test_laws(self) -> Iterator[tuple[TestKey, float]]:
        """The tests of one law each: of its tokens, and of all of them; at a border by the law that fits best."""
        for row, counts in enumerate(self.counts):
            best: dict[TestKey, float] | None = None
            for p, groups in self.laws.list_alternatives(row):
                merged = np.bincount(groups, counts, minlength=len(counts)).astype(np.int64)
                of_tokens = _test_counts(merged, int(counts.sum()), p)
                one: dict[TestKey, float] = {("row", row): measure_fit(merged, p)}
                one |= {("token", row, int(t)): float(of_tokens[t]) for t in np.flatnonzero(of_tokens < 1)}
                if best is None or min(one.values()) > min(best.values()):
                    best = one
            yield from (best or {}).items()

    def _test_ranks(self) -> Iterator[tuple[TestKey, float]]:
        """The tests of the most probable tokens of all rows, and of the least probable that are possible."""
        for kind in ("head", "tail"):
            ranks = [2**k for k in range(self.counts.shape[1].bit_length())]
            for one, came, expected, n in zip(ranks, *self.count_ranks(kind, ranks), strict=True):
                yield (kind, one), float(_test_counts(came, int(n), expected / max(n, 1)))

    def count_ranks(self, kind: str, ranks: Sequence[int]) -> tuple[Array, Array, Array]:
        """How often the first tokens by rank came in all rows, how often they should, and of how many draws."""
        sure = ~self.laws.at_border
        p, counts = self.laws.given[sure], self.counts[sure]
        order = np.argsort(-p if kind == "head" else np.where(p > 0, p, 2.0), -1)
        shares, came = (np.take_along_axis(x, order, -1).cumsum(-1)[:, np.array(ranks) - 1] for x in (p, counts))
        drawn = counts.sum(-1)
        return came.sum(0), drawn @ np.minimum(shares, 1.0), np.full(len(ranks), drawn.sum())


def _test_counts(counts: Array, n: int, p: Array) -> Array:
    """Two-sided exact binomial p-values of counts out of n; 1 where a count is near to what is expected."""
    found = np.ones(np.shape(counts))
    off = np.abs(counts - n * p) > MIN_DEVIATIONS * np.sqrt(n * p * (1 - np.minimum(p, 1))) + 1
    if not np.any(off):
        return found
    k, q = np.asarray(counts)[off].astype(float), np.clip(np.broadcast_to(p, np.shape(counts))[off], 0.0, 1.0)
    below = np.where(k < n, special.betaincc(k + 1, np.maximum(n - k, 0.5), q), 1.0)
    above = np.where(k > 0, special.betainc(np.maximum(k, 0.5), n - k + 1, q), 1.0)
    found[off] = np.minimum(2 * np.minimum(below, above), 1.0)
    return found


def measure_fit(counts: Array, p: Array) -> float:
    """The p-value of a G-test with Williams' correction, the least probable tokens taken together."""
    n = int(counts.sum())
    order = np.argsort(-p)
    expected, came = n * p[order], counts[order]
    alone = int(np.searchsorted(-expected, -MIN_EXPECTED_DRAWS, side="right"))
    expected, came = (np.append(x[:alone], x[alone:].sum()) for x in (expected, came))
    if expected[-1] < MIN_EXPECTED_DRAWS and len(expected) > 1:
        expected, came = (np.append(x[:-2], x[-2:].sum()) for x in (expected, came))
    if len(expected) < 2 or n == 0:
        return 1.0
    g = 2 * float(special.xlogy(came, came / expected).sum())
    freedom = len(expected) - 1
    correction = 1 + (float((n / expected).sum()) - 1) / (6 * n * freedom)
    return float(special.chdtrc(freedom, max(g, 0.0) / correction))


def select_rejected(p_values: Mapping[Any, float], count: int, level: float) -> list[Any]:
    """The tests that Holm's procedure rejects of `count`, the surest first; those without a p-value have 1."""
    ordered = sorted(p_values, key=lambda key: p_values[key])
    rejected = []
    for i, key in enumerate(ordered):
        if p_values[key] > level / (count - i):
            break
        rejected.append(key)
    return rejected


def measure_agreement(laws: Laws, law_of: Array) -> float:
    """The natural logarithm of the chance that two calls agree in every place."""
    agree = np.log(np.square(laws.given).sum(-1))
    return float(agree[law_of[law_of >= 0]].sum())


def _describe_deviation(counts: Array, p: Array) -> str:
    """What wrong sampler would leave these counts of one law, in words; empty where none of a few fits."""
    n = int(counts.sum())
    kept = np.flatnonzero(p > 0)
    if n < MIN_TOLD_DRAWS or len(kept) < 2:
        return ""
    last = kept[np.argmin(p[kept])]
    others = np.where(np.arange(len(p)) == last, 0, p)
    if counts[last] == 0 and n * p[last] > MIN_EXPECTED_DRAWS and _fits(counts, others):
        return f"token {last} is never drawn, the least probable of {len(kept)} that are possible: one fewer is kept"
    came = np.flatnonzero(counts)  # with another temperature a cut may keep fewer
    power = _find_power(counts[came], p[came]) if (p[came] > 0).all() else 1.0
    if len(came) > 2 and abs(power - 1) > MIN_TOLD_CHANGE and _fits(counts[came], p[came] ** power):
        return (
            f"the draws fit the probabilities to the power {power:.3g}, renormalised: as where a temperature is "
            "applied twice, or not at all"
        )
    excess = int(np.argmax(counts / n - p))
    rest = np.where(np.arange(len(p)) == excess, 0, p)
    share = (n - int(counts[excess])) / n / max(1 - p[excess], 1e-300)
    if len(kept) > 2 and share < 1 - MIN_TOLD_CHANGE and _fits(np.where(rest > 0, counts, 0), rest):
        return (
            f"all tokens but {excess} are drawn {share:.3g} × as often as they should, and {excess} gets what is left: "
            "as where probabilities are not renormalised after a cut"
        )
    return ""


def _fits(counts: Array, weights: Array) -> bool:
    """Whether counts may be of a law of these weights."""
    return not counts[weights == 0].any() and measure_fit(counts, weights / weights.sum()) > SUSPICION_LEVEL


def _find_power(counts: Array, p: Array) -> float:
    """The power of probabilities that draws fit best, by bisection of the likelihood's slope."""
    logs, low, high = np.log(p), 0.01, 100.0
    wanted = float(counts @ logs) / counts.sum()
    for _ in range(60):
        middle = float(np.sqrt(low * high))
        shares = special.softmax(middle * logs)
        low, high = (middle, high) if float(shares @ logs) < wanted else (low, middle)
    return float(np.sqrt(low * high))


def describe_test(series: DrawCounts, key: TestKey, numbers: str) -> str:
    """What a rejected test found, in words, with its p-values, and what would explain it."""
    rows = [] if key[0] == "pairs" else [key[1]] if key[0] in ("token", "row") else range(len(series.counts))
    told = (_describe_deviation(series.counts[row], series.laws.given[row]) for row in rows)
    return "; ".join(filter(None, (f"{_describe_counts(series, key)} ({numbers})", next(filter(None, told), ""))))


def _describe_counts(series: DrawCounts, key: TestKey) -> str:
    kind, *of = key
    if kind == "token":
        row, token = of
        drawn = int(series.counts[row].sum())
        expected = float(series.laws.given[row, token] * drawn)
        came = int(series.counts[row, token])
        return f"row {row}: token {token} came {came:,} times of {drawn:,}, expected {expected:,.1f}"
    if kind == "row":
        return f"row {of[0]}: the counts of all tokens do not fit in {int(series.counts[of[0]].sum()):,} draws"
    if kind == "pairs":
        d, a, b = of
        came, expected = int(series.pairs[d][a, b]), float(series.expect_pairs(d)[a, b])
        return (
            f"draws {d} apart depend on each other, as where rows share random numbers: parts {a} and {b} of their "
            f"probability come together {came:,} times, expected {expected:,.1f}"
        )
    found, wanted, draws = (float(x[0]) for x in series.count_ranks(kind, of))
    which = f"the {'most' if kind == 'head' else 'least'} probable {of[0] if of[0] > 1 else 'one'}"
    return f"of each row's possible tokens {which} came {found:,.0f} times of {draws:,.0f}, expected {wanted:,.1f}"
