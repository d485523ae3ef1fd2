"""Results judged by a standard's own limits: how much of what it allows the worst element takes, and by which clause.

A limit is a number of ULP, "correctly rounded", "exact", or an absolute error by a formula over the expected value, the
inputs and their sizes. What the standard's file has no row for, gradients and what is no float it says nothing about.
"""

from __future__ import annotations

import ast
import functools
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from opproof.core.dtypes import DTYPES, Dtype, round_to
from opproof.core.ulp import measure_errors, measure_ulp
from opproof.reports._record import StandardVerdict
from opproof.reports.profiles import BEYOND, SILENT, WITHIN

Array = NDArray[Any]

#: The limit of a correctly rounded result, in ULP; the truth has roundings of its own, in float64.
ROUNDED = 0.5
#: By which share of itself a limit is wider, for those roundings.
SLACK = 1e-6
_FOLDER = Path(__file__).parent


class Limit(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One row of a standard: what it allows of some operators."""

    ops: tuple[str, ...] = ()  # none: those of the file
    named: str = ""  # what the standard calls them, where another name
    ulp: float | str | None = None
    bound: str = ""  # an absolute error
    rounded: bool = False  # correctly
    exact: bool = False
    says: str = ""

    def __str__(self) -> str:
        if self.rounded or self.exact:
            return "correctly rounded" if self.rounded else "exact"
        return self.says or f"{self.ulp:g} ulp"


class Clause(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A part of a standard: its name, where it can be read, and the limits that it states for some dtypes."""

    name: str
    link: str
    dtypes: tuple[str, ...]
    limits: tuple[Limit, ...]


class Profile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A standard."""

    title: str
    version: str
    link: str
    against: str  # "truth", or "stored": the truth rounded to the dtype
    clause: tuple[Clause, ...]
    ops: tuple[str, ...] = ()
    smaller_side: bool = False  # at a power of two the ULP is that of the numbers below
    flushes: bool = False  # subnormal numbers may be taken for zero
    steps: bool = False  # a ULP is a step from one number to the next

    def find(self, op: str, dtype: str) -> tuple[Clause, Limit] | None:
        """The clause and limit of an operator in a dtype."""
        for clause in self.clause:
            for limit in clause.limits if dtype in clause.dtypes else ():
                if op in (limit.ops or self.ops):
                    return clause, limit
        return None


@functools.cache
def read_profile(name: str) -> Profile:
    """The standard of that name."""
    return msgspec.convert(tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")), Profile)


@dataclass(frozen=True)
class JudgedCall:
    """What a result answers: an operator, its inputs by name and parameters, and how its truth is evaluated."""

    op: str
    dtype: str
    inputs: Mapping[str, Array | None]
    params: Mapping[str, Any]
    evaluate: Callable[..., Sequence[Array]]  # the outputs of other inputs, in order


@dataclass(frozen=True)
class JudgedResult:
    """One output: what came, what is expected in float64, and which elements pass our own judge."""

    name: str
    number: int
    got: Array
    values: Array
    passed: NDArray[np.bool_]


def judge_by_standard(profile: str, call: JudgedCall | None, results: Sequence[JudgedResult]) -> StandardVerdict:
    """The verdict of a standard on the results of a call; None of a call that standards do not speak of."""
    standard = read_profile(profile)
    found = None if call is None else standard.find(call.op, call.dtype)
    if call is None or found is None:
        return StandardVerdict(verdict=SILENT)
    clause, limit = found
    worst: tuple[float, str, tuple[int, ...]] | None = None
    for result in results:
        if result.values.dtype != np.float64 or not result.values.size:
            continue
        try:
            shares = _measure_shares(standard, limit, call, result)
        except NotStatedError:
            return StandardVerdict(verdict=SILENT)
        at = int(np.argmax(shares))
        if worst is None or shares.flat[at] > worst[0]:
            index = tuple(int(i) for i in np.unravel_index(at, shares.shape))
            worst = float(shares.flat[at]), result.name, index
    if worst is None:
        return StandardVerdict(verdict=SILENT)
    share, tensor, index = worst
    return StandardVerdict(
        verdict=WITHIN if share <= 1 else BEYOND,
        share=float(f"{share:.4g}") if math.isfinite(share) else str(share),
        limit=str(limit),
        clause=clause.name,
        tensor=tensor,
        index=index,
    )


class NotStatedError(Exception):
    """A form of the operator that the row does not speak of, as without a tensor that its formula names."""


def _measure_shares(standard: Profile, limit: Limit, call: JudgedCall, result: JudgedResult) -> Array:
    """The error of every element as a share of what it is allowed; 0 where nothing is asked of it."""
    kind = DTYPES[call.dtype]
    shares = _compare_with(standard, limit, call, result, result.values)
    if standard.flushes and (shares > 1).any():
        with np.errstate(all="ignore"):
            got = np.asarray(result.got, dtype=np.float64)
        shares = np.where((got == 0) & (np.abs(result.values) < kind.tiny), 0.0, shares)
        flushed = {n: _flush(v, kind) for n, v in call.inputs.items()}
        if any(v is not call.inputs[n] for n, v in flushed.items()):
            other = np.asarray(call.evaluate(*flushed.values())[result.number])
            shares = np.minimum(shares, _compare_with(standard, limit, call, result, other))
    return shares


def _flush(value: Array | None, kind: Dtype) -> Array | None:
    """The input with its subnormal numbers taken for zero; itself where it has none."""
    if value is None or value.dtype != np.float64:
        return value
    subnormal = (np.abs(value) < kind.tiny) & (value != 0)
    return np.where(subnormal, np.copysign(0.0, value), value) if subnormal.any() else value


def _compare_with(standard: Profile, limit: Limit, call: JudgedCall, result: JudgedResult, values: Array) -> Array:
    kind = DTYPES[call.dtype]
    stored = standard.against == "stored" or limit.exact
    with np.errstate(all="ignore"):
        expected = round_to(values, kind) if stored else values
        if standard.steps and (limit.ulp is not None):
            error = count_steps(result.got, expected, kind)
            allowed = np.asarray(_evaluate(limit.ulp, call, values, kind), dtype=np.float64)
        else:
            error = measure_errors(result.got, expected, kind)
            allowed = _allow(standard, limit, call, values, kind)
        allowed = np.broadcast_to(allowed, error.shape) * (1 + SLACK)
        shares = np.where(error == 0, 0.0, np.where(allowed > 0, error / allowed, np.inf))
        convention = result.passed & ~np.isfinite(error)
        return np.where(convention | ~np.isfinite(allowed), 0.0, shares)


def _allow(standard: Profile, limit: Limit, call: JudgedCall, values: Array, kind: Dtype) -> Array:
    """The absolute error that each element is allowed."""
    if limit.exact:
        return np.zeros(())
    if limit.bound:
        return np.asarray(_evaluate(limit.bound, call, values, kind), dtype=np.float64)
    count = ROUNDED if limit.rounded else _evaluate(limit.ulp, call, values, kind)
    return np.asarray(count * measure_ulp(values, kind, smaller_side=standard.smaller_side))


def count_steps(got: Array, expected: Array, kind: Dtype) -> NDArray[np.float64]:
    """How many numbers of the dtype one has to go from what came to what is expected; inf where one is no number."""
    places = []
    for values in (np.asarray(got, dtype=np.float64), expected):
        patterns = np.abs(values).astype(kind.numpy).view(f"i{kind.numpy.itemsize}").astype(np.float64)
        places.append(np.where(np.signbit(values), -patterns, patterns))
    steps = np.abs(places[0] - places[1])
    nans = np.isnan(np.asarray(got, dtype=np.float64)), np.isnan(expected)
    return np.where(nans[0] & nans[1], 0.0, np.where(nans[0] | nans[1], np.inf, steps))


#: What a formula may be made of.
_NODES = (
    *(ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Name, ast.Load, ast.Constant),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.USub, ast.Gt),
)
_FUNCTIONS: Mapping[str, Any] = {
    "abs": np.abs, "max": np.maximum, "sqrt": np.sqrt, "log": np.log, "ceil": np.ceil, "where": np.where,
    "size": np.size, "length": lambda x, axis: x.shape[axis], "infinity": math.inf,
    "volume": lambda kernel, axes: math.prod(kernel) if isinstance(kernel, list | tuple) else kernel**axes,
    "given": lambda tensor: 0 if tensor is None else 1,
}  # fmt: skip


@functools.cache
def _compile(formula: str) -> CodeType:
    """The code of a formula. Raises SyntaxError for one that does more than compute."""
    tree = ast.parse(formula, mode="eval")
    foreign = [type(node).__name__ for node in ast.walk(tree) if not isinstance(node, _NODES)]
    if foreign:
        raise SyntaxError(f"a limit may not have {foreign[0]}: {formula}")
    return compile(tree, "limit", "eval")


@dataclass
class _Sizes:
    """The operator of absolute values: no rounding error of a sum of products is larger than a share of it."""

    call: JudgedCall
    tiny: float
    number: int = 0
    known: dict[str, Any] = field(default_factory=dict)

    def __call__(self, largest: str = "") -> Any:
        """Outputs of the sizes of all inputs, that of the input `largest` its largest everywhere."""
        given = {n: v if v is None else np.maximum(np.abs(v), self.tiny) for n, v in self.call.inputs.items()}
        if largest:
            sizes = np.asarray(given[largest])
            given[largest] = np.full_like(sizes, np.max(sizes, initial=self.tiny))
        return self.call.evaluate(*given.values())[self.number]


def _evaluate(formula: float | str | None, call: JudgedCall, values: Array, kind: Dtype) -> Any:
    """A number, or one for each element. Raises NotStatedError where it is of a tensor that is not given."""
    if not isinstance(formula, str):
        return formula
    names = {"y": values, "eps": 2 * kind.u, "tiny": kind.tiny, "sizes": _Sizes(call, kind.tiny)}
    try:
        code = _compile(formula)
        return eval(code, {"__builtins__": {}}, {**call.params, **call.inputs, **_FUNCTIONS, **names})  # noqa: S307 - arithmetic of our own files
    except (NameError, AttributeError, TypeError) as error:
        raise NotStatedError(str(error)) from None
