"""An answer held to what must hold of it: residuals that should be zero, and the bound that is measured for each.

Honest answers to the same input in the same dtype are measured. Where nobody has one, the candidate's own answer in
float64 is, or a tolerance is given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, round_to
from opproof.core.errors import UsageError
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, ReplyTensor
from opproof.harness.check.call.reference import CallFn, Reference
from opproof.harness.check.call.subject import Arguments
from opproof.harness.check.tensors import PARTS, kind_of
from opproof.harness.judge.judgement import Judgement, number
from opproof.reference_ops._problems import Problem
from opproof.reports import Worst

#: What an answer may leave, in what honest ones leave. Of 18 solvers (LAPACK by PyTorch, NumPy, SciPy and JAX; MLX;
#: Householder, Givens, Jacobi), f32 and f64, six profiles, none leaves more than 4.3, Jacobi's rotations 9.6.
SAFETY = 16.0
#: Roundings of its size that an honest answer may leave, though those that were measured are exact by chance.
MIN_ROUNDINGS = 1.0
#: A candidate's residual in float64, as a part of that in its dtype: above the first it is no rounding, and up to the
#: second it may be one: √(2⁻⁵³ / 2⁻²⁴). Between them it measures nothing.
MIN_SYSTEMATIC_PART = 0.25
MAX_ROUNDING_PART = 2.0**-14.5


@dataclass(frozen=True)
class ResidualRule:
    """What should be zero of an answer, and by whom its bound is measured."""

    arguments: Arguments
    problem: Problem | None = None
    properties: Callable[..., Any] | None = None  # of inputs and outputs, where there is no problem known here
    honest: Sequence[Reference] = ()
    tolerance: float | None = None

    def measure(self, request: CallRequest, outputs: Sequence[ReplyTensor]) -> dict[str, Array]:
        """The residuals of an answer; not finite where the answer is not."""
        pairs = ([(t.values, t.dtype in PARTS) for t in some] for some in (request.tensors, outputs))
        given, ys = ([x[..., 0] + 1j * x[..., 1] if parts else x for x, parts in some] for some in pairs)
        with np.errstate(all="ignore"):
            if self.problem is not None:
                long = any(t.kind == "f64" for t in request.tensors)
                return self.problem.measure(ys, *self.arguments.split(given), long=long)
            import torch

            given, ys = ([torch.from_numpy(np.array(x)) for x in some] for some in (given, ys))
            assert self.properties is not None
            return _take_figures(self.properties(self.arguments.filled(given), tuple(ys)))

    def ask_solvers(self, request: CallRequest) -> list[Reply]:
        """Honest answers in every form; of a request that no solver takes the reply that says so."""
        replies = [_round_reply(one.call_native(request)) for one in self.honest]
        return [r for r in replies if not r.error] or replies[:1]

    def judge(self, request: CallRequest, alike: Sequence[CallRequest], ask: CallFn, reply: Reply) -> Judgement:
        """Judge an answer of the right form. `alike`: requests by which a bound is measured too."""
        got = self.measure(request, reply.outputs)
        bounds = self._find_bounds(request, alike, ask, got)
        if unknown := next((name for name, bound in bounds.items() if np.isnan(bound).any()), ""):
            text = f"{unknown} is neither rounding nor wrong by what it is in float64: give like= or tolerance="
            return Judgement(Verdict.INCONCLUSIVE, text)
        shares = {name: _find_share(left, bounds[name]) for name, left in got.items()}
        name = max(shares, key=lambda n: float(np.max(shares[n], initial=0.0)))
        largest, scale = float(np.max(shares[name], initial=0.0)), 1.0 if self.tolerance is not None else SAFETY
        if largest > 1:
            at = tuple(int(i) for i in np.unravel_index(int(np.argmax(shares[name])), shares[name].shape))
            most = float(np.broadcast_to(bounds[name], shares[name].shape)[at])
            text = "it is no smaller in float64: no rounding leaves it" if most < 0 else ""
            worst = Worst(tensor=name, index=at, got=number(got[name][at]), expected=0.0, bound=number(max(most, 0.0)))
            return Judgement(Verdict.WRONG_VALUE, text, scale * largest, scale, worst=worst)
        if all(t.values.size for t in request.tensors) and any(y.values.size for y in reply.outputs):
            zeros = self.measure(request, [replace(y, values=np.zeros_like(y.values)) for y in reply.outputs])
            if all(np.max(_find_share(zeros[n], bounds[n]), initial=0.0) <= 1 for n in bounds):
                return Judgement(Verdict.VACUOUS, "zeros would pass as well")
        return Judgement(Verdict.PASS, units=scale * largest, limit=scale)

    def _find_bounds(
        self, request: CallRequest, alike: Sequence[CallRequest], ask: CallFn, got: Mapping[str, Array]
    ) -> dict[str, Array]:
        if self.tolerance is not None:
            return dict.fromkeys(got, np.asarray(self.tolerance))
        rounding = max((DTYPES[t.kind].u for t in request.tensors if t.kind), default=0.0)
        if not self.honest:
            return self._measure_in_float64((request, *alike), ask, rounding / DTYPES["f64"].u)
        floors = {n: self.problem is not None and n not in self.problem.exact for n in got}
        units = {n: np.full(np.shape(left), MIN_ROUNDINGS * rounding * floors[n]) for n, left in got.items()}
        for one in (request, *alike):
            for reply in self.ask_solvers(one):
                for name, left in self.measure(one, reply.outputs).items():
                    units[name] = np.maximum(units[name], left)
        return {name: SAFETY * unit for name, unit in units.items()}

    def _measure_in_float64(self, requests: Sequence[CallRequest], ask: CallFn, growth: float) -> dict[str, Array]:
        """Bounds of answers in float64; -1 where these are as large, NaN where nothing follows."""
        if growth <= 1:
            raise UsageError("properties= of float64 are measured by no other dtype: give like= or tolerance=.")
        found: tuple[dict[str, Array], dict[str, Array]] = {}, {}
        for one in requests:
            tensors = tuple(replace(t, dtype="float64") if t.kind else t for t in one.tensors)
            for largest, asked in zip(found, (one, replace(one, tensors=tensors)), strict=True):
                reply = ask(asked)
                if reply.error:
                    raise UsageError(f"the candidate in float64: {reply.error}: give like= or tolerance=.")
                for name, left in self.measure(asked, reply.outputs).items():
                    largest[name] = np.maximum(largest.get(name, 0.0), left)
        own, precise = found
        unknown = {n: np.where(e > MAX_ROUNDING_PART * own[n], np.nan, e) for n, e in precise.items()}
        lasting = {n: e > MIN_SYSTEMATIC_PART * own[n] for n, e in precise.items()}
        return {n: np.where(lasting[n], -1.0, SAFETY * growth * e) for n, e in unknown.items()}


def _find_share(left: Array, bound: Array) -> Array:
    """Of what is allowed; infinite where nothing is, or where it is no number."""
    with np.errstate(all="ignore"):
        share = np.where(left == 0, 0.0, np.asarray(left, dtype=np.float64) / np.maximum(bound, 0.0))
    return np.where(np.isnan(share) | ((bound < 0) & (left != 0)), np.inf, share)


def _round_reply(reply: Reply) -> Reply:
    """An honest answer as it is stored: PyTorch has some in float32 alone."""
    kinds = [kind if (kind := kind_of(y.dtype)) in ("f16", "bf16") else "" for y in reply.outputs]
    pairs = zip(reply.outputs, kinds, strict=True)
    return replace(reply, outputs=tuple(replace(y, values=round_to(y.values, DTYPES[k])) if k else y for y, k in pairs))


def _take_figures(found: Any) -> dict[str, Array]:
    """What a user's function returned, of each name the largest. Raises UsageError where it is no mapping."""
    if not isinstance(found, Mapping) or not found:
        raise UsageError(
            f"properties returned {'nothing' if found is None else f'a {type(found).__name__}'}: expected a dict of "
            "names and numbers that should be zero, such as {'A - Q R': (a - q @ r).norm()}."
        )
    try:
        arrays = {str(name): np.abs(np.asarray(left, dtype=np.float64)) for name, left in found.items()}
    except (TypeError, ValueError) as error:
        raise UsageError(f"properties returned what is no number ({error}): expected numbers or tensors.") from None
    return {name: np.asarray(np.max(left, initial=0.0)) for name, left in arrays.items()}
