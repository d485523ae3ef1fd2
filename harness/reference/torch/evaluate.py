"""Values, gradients and error scale of a PyTorch function, by noise where PyTorch dispatches.

logsumexp by autograd through x - amax(x) has a backward of its own in PyTorch: there its result goes on with a part
that is 0, and whose gradient is what the largest element gets, 1 - sum(shares), all of it roundoff.
"""

from __future__ import annotations

import functools
import hashlib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES, Dtype
from opproof.core.tuples import tuple_of
from opproof.harness.reference.array_bias import is_narrow, measure_slope_spread, sample_elements
from opproof.harness.reference.question import Expected
from opproof.harness.reference.roundoff import (
    COMPUTE_U,
    DELTA,
    MAX_TRACED_RMS_UNITS,
    ONE_STORE_RMS,
    RUNS,
    compute_roundoff,
)
from opproof.harness.reference.torch import dtype_leaks
from opproof.harness.reference.torch.arithmetic import (
    Algorithm,
    Arithmetic,
    BranchTape,
    NoiseLevels,
    mark_cotangent_dependent,
)
from opproof.harness.reference.torch.dispatch import with_noise
from opproof.harness.reference.torch.dtype_leaks import Casts
from opproof.harness.reference.torch.formulas import roundoff_of
from opproof.harness.reference.torch.intercept import with_intercepted_functions, with_modes_off
from opproof.harness.reference.torch.stored_outputs import NarrowStore, read_again
from opproof.harness.reference.torch.sums import axes_of

if TYPE_CHECKING:
    from opproof.harness.reference.question import Question


#: A function of tensors that gives its outputs in order.
OutputsFn = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class TorchQuestion:
    """What a reference is asked. Arrays are float64, rounded to their dtype, or int64, bool; None where absent."""

    outputs: OutputsFn
    inputs: tuple[Array | None, ...]
    needs: tuple[bool, ...]  # of which inputs the gradient is asked for
    dtypes: tuple[str, ...]  # of the outputs, "" where it is no float
    kinds: tuple[str, ...]  # of the inputs, alike
    cotangents: tuple[Array | None, ...] = ()
    compute: str | tuple[str | None, ...] | None = None  # a declared lower precision; a tuple: by result
    seed: int = 0  # of the reference's own random numbers
    draws: tuple[Any, ...] = ()  # those that it drew in its own dtype
    casts: Casts = ()  # its own to and from 16 bits, where a candidate may round as it does
    saves: bool = True  # whether outputs are read again as they are stored, by a backward or by what comes after
    late: Callable[[], bool] = lambda: False  # whether evaluations are to raise OutOfTime

    @property
    def strictest(self) -> str | None:
        """The declared precision, of several none."""
        return None if isinstance(self.compute, tuple) else self.compute

    @property
    def results(self) -> tuple[str, ...]:
        """The dtype of every output, and of every input's gradient."""
        return (*self.dtypes, *self.kinds)


@dataclass(frozen=True)
class Truth:
    """What is expected of a question."""

    outputs: tuple[Expected, ...]
    gradients: tuple[Expected | None, ...]  # by input
    promoted: tuple[str, ...]  # lines at which the reference left float64
    taken: tuple[str, ...] = ()  # lines at which it took numbers out of tensors
    unordered: bool = False  # whether the reference chose places among numbers of which one is NaN
    open: tuple[Array | None, ...] = ()  # of outputs, then gradients: elements that equal elements elsewhere leave open


def compute_truth(question: TorchQuestion, runs: int = RUNS, algorithm: Algorithm = Algorithm.PLAIN) -> Truth:
    """Expected outputs and gradients. Raises OpError where an operation has no rule."""
    return next(iter_truths(question, (runs,), algorithm))


def iter_truths(
    question: TorchQuestion, stops: Sequence[int], algorithm: Algorithm = Algorithm.PLAIN
) -> Iterator[Truth]:
    """Yield the truth by each of so many noisy runs, those before among them. Raises OpError."""
    compute = question.compute
    if isinstance(compute, tuple):
        yield join_by_precision(question, lambda q: compute_truth(q, stops[-1], algorithm))
        return
    exact, values = evaluate_exactly(question)
    unit, count = amplitudes_of(question)[1], len(question.dtypes)
    for runs, (squares, few) in enumerate(iter_deviations(exact.tape, question, values, stops[-1], algorithm), 1):
        if runs not in stops:
            continue
        expected = [
            _make_expected(v, s, f, DTYPES.get(k), unit, runs, compute)
            for v, s, f, k in zip(values, squares, few, question.results, strict=True)
        ]
        outputs = tuple(e for e in expected[:count] if e is not None)
        left = tuple(exact.promoted), tuple(exact.tape.taken), exact.tape.unordered
        yield Truth(outputs, tuple(expected[count:]), *left)


def join_by_precision(question: TorchQuestion, truth_of: Callable[[TorchQuestion], Truth]) -> Truth:
    """The truth of a question whose results have a declared precision each: every result by its own."""
    assert isinstance(question.compute, tuple)
    made = {compute: truth_of(replace(question, compute=compute)) for compute in dict.fromkeys(question.compute)}
    every, count = [made[compute] for compute in question.compute], len(question.dtypes)
    return replace(
        every[0],
        outputs=tuple(truth.outputs[i] for i, truth in enumerate(every[:count])),
        gradients=tuple(truth.gradients[i] for i, truth in enumerate(every[count:])),
    )


def evaluate_exactly(question: TorchQuestion, algorithm: Algorithm = Algorithm.PLAIN) -> tuple[Arithmetic, list[Any]]:
    """The evaluation without noise, whose tape holds what it decided, and what it gives."""
    import torch

    exact = Arithmetic(torch, BranchTape(), algorithm=algorithm)
    return exact, evaluate_question(exact, question, 0.0)


def iter_deviations(
    tape: BranchTape, question: TorchQuestion, values: Sequence[Any], runs: int, algorithm: Algorithm = Algorithm.PLAIN
) -> Iterator[tuple[list[Any], list[list[Array]]]]:
    """Evaluate so often under noise of the least amplitude, and yield what each result was off by so far.

    That is the sum of squares, and by run that of some elements, of floats of fewer digits than float32.
    """
    import torch

    amplitudes, unit = amplitudes_of(question)
    squares = [np.zeros(v.shape) if v is not None and v.dtype.kind in "fc" else None for v in values]
    few: list[list[Array]] = [[] for _ in values]
    narrow = [k in DTYPES and is_narrow(v, DTYPES[k]) for v, k in zip(values, question.results, strict=True)]
    for run in range(runs):
        noise = Arithmetic(torch, tape.restart(), amplitudes, key_of(question, run), algorithm)
        found = evaluate_question(noise, question, unit)
        with np.errstate(all="ignore"):
            squares = [
                s if s is None else s + np.abs(y - x) ** 2 for s, x, y in zip(squares, values, found, strict=True)
            ]
            for kept, x, y in compress(zip(few, values, found, strict=True), narrow):
                kept.append(sample_elements(y) - sample_elements(x))
        yield squares, few


def amplitudes_of(question: TorchQuestion) -> tuple[NoiseLevels, float]:
    """Amplitudes of the noise, and of one roundoff: the largest of them all is DELTA."""
    floats = [DTYPES[d] for d in question.results if d] or [DTYPES["f32"]]
    compute = question.strictest
    most = max if compute == "storage" else min  # of a result in float32 what lies on the way is stored all the same
    interior = most(compute_roundoff(d, compute) for d in floats)
    unit = DELTA / max(interior, *(d.u for d in floats))
    summing = min(interior, COMPUTE_U["f32"]) if compute in ("storage", "q8") else interior
    finest = min(floats, key=lambda d: d.u)
    own = compute in ("storage", finest.name) or finest.name == "f64"
    tiny = finest.tiny if own else DTYPES["f32"].tiny
    return NoiseLevels(unit * interior, unit * summing, tiny, interior), unit


def true_amplitudes_of(question: TorchQuestion, times: float = 1.0) -> NoiseLevels:
    """Those of roundings of their true size, so many times; `evaluate_question` takes `times` as its unit then."""
    small, unit = amplitudes_of(question)
    return replace(small, interior=times * small.interior / unit, summing=times * small.summing / unit)


def iter_true_noise(
    question: TorchQuestion, runs: int, times: float = 1.0, algorithm: Algorithm = Algorithm.PLAIN
) -> Iterator[list[Any]]:
    """Results with roundings of so many times their true size, each run by the branches of the exact evaluation."""
    exact, _ = evaluate_exactly(question)
    true = true_amplitudes_of(question, times)
    for run in range(runs):
        noise = Arithmetic(exact.torch, exact.tape.restart(), true, key_of(question, run), algorithm)
        yield evaluate_question(noise, question, times)


def key_of(question: TorchQuestion, run: int) -> int:
    """The seed of a run's noise."""
    shapes = [None if x is None else x.shape for x in question.inputs]
    text = f"{shapes}|{question.kinds}|{question.seed}|{run}"
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=7).digest(), "little")


def evaluate_question(noise: Arithmetic, question: TorchQuestion, unit: float, *, scatter: bool = False) -> list[Any]:
    """Outputs, then gradients by input, as arrays; `scatter`: of gradients, with nothing cancelling in the backward."""
    torch, noise.late = noise.torch, question.late
    leaves = [None if x is None else torch.from_numpy(np.array(x, order="C")) for x in question.inputs]
    if noise.algorithm not in (Algorithm.GIVEN, Algorithm.FREE_BRANCHES):
        leaves = [noise.rounded(x) if x is not None and x.is_floating_point() and not _mask(x) else x for x in leaves]
    asked = any(question.needs) and bool(question.cotangents)
    for x, need in zip(leaves, question.needs, strict=True):
        if x is not None and need and asked:
            x.requires_grad_()
    with warnings.catch_warnings(), torch.random.fork_rng(devices=[]), torch.set_grad_enabled(asked):
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(question.seed)  # torch.manual_seed formats tracebacks, each time three
        noise.draws = list(question.draws)
        stored = noise.tape.stored.items() if question.saves else ()
        noise.operations.stores = {i: _make_store(question, DTYPES[d], unit) for i, d in stored}
        cast = {d: _make_store(question, DTYPES[d], unit) for _, d in question.casts}
        with (
            with_noise(noise),
            with_largest_roundoff(noise, roundoff_of),
            dtype_leaks.with_stored_casts(noise, question.casts, cast),
        ):
            outputs = list(question.outputs(*leaves))
        if noise.exact:
            noise.tape.stored = read_again(noise, outputs, question.dtypes)
        arrays = [_to_array(getattr(y, "unrounded", y)) for y in outputs]
        if not asked:
            return arrays + [None] * len(leaves)
        narrow = [(y, DTYPES[d]) for y, d in zip(outputs, question.dtypes, strict=True) if d in ("f16", "bf16")]
        noise.products.outputs = [y for y, _ in narrow]
        noise.saved = (
            max((_amplitude_of_store(question, d, unit) for _, d in narrow), default=0.0) if question.saves else 0.0
        )
        _store(noise, question, outputs, leaves, unit)
        noise.scattered = scatter
        cotangents = [
            None if g is None else mark_cotangent_dependent(noise.rounded(torch.from_numpy(g)))
            for g in question.cotangents
        ]
        pairs = [(y, g) for y, g in zip(outputs, cotangents, strict=True) if g is not None and y.requires_grad]
        wanted = [x for x, n in zip(leaves, question.needs, strict=True) if n]
        found: Any = iter([torch.zeros_like(x) for x in wanted])
        if pairs:
            noise.in_backward = True
            with with_noise(noise):
                ys, gs = zip(*pairs, strict=True)
                found = iter(torch.autograd.grad(ys, wanted, gs, allow_unused=True, materialize_grads=True))
    noise.products.outputs = []  # hooks of their graph hold `noise`: a circle that Python's collector does not see
    return arrays + [_to_array(next(found)) if n else None for n in question.needs]


def _mask(x: Any) -> bool:
    """Whether floats are 0 and 1 alone: nobody rounds them, and (1 - mask) * -1e9 is 0 where nothing is masked."""
    return bool(((x == 0) | (x == 1)).all())


def _store(
    noise: Arithmetic, question: TorchQuestion, outputs: Sequence[Any], leaves: Sequence[Any], unit: float
) -> None:
    """Round outputs as a backend saves them for its backward: to their dtype, to the spacing of subnormals below it."""
    if noise.exact or not question.saves:
        return
    torch = noise.torch
    taken = {x.untyped_storage().data_ptr() for x in leaves if x is not None}
    for y, name in zip(outputs, question.dtypes, strict=True):
        place = y.untyped_storage().data_ptr()
        expanded = any(n > 1 and step == 0 for n, step in zip(y.shape, y.stride(), strict=True))
        if not name or place in taken or not y.numel() or expanded or hasattr(y, "unrounded"):
            continue
        taken.add(place)
        with torch.no_grad():
            y.data.copy_(_make_store(question, DTYPES[name], unit).of(noise, y))


def _make_store(question: TorchQuestion, dtype: Dtype, unit: float) -> NarrowStore:
    return NarrowStore(_amplitude_of_store(question, dtype, unit), dtype.tiny)


def _amplitude_of_store(question: TorchQuestion, dtype: Dtype, unit: float) -> float:
    return unit * dtype.u * (ONE_STORE_RMS if compute_roundoff(dtype, question.strictest) < dtype.u else 1.0)


def _to_array(y: Any) -> Any:
    whole = y.detach().resolve_conj().resolve_neg()
    return np.array(whole.numpy(force=True))  # PyTorch has zeros without memory


def _make_expected(
    values: Any, squares: Any, few: Sequence[Array], dtype: Dtype | None, unit: float, runs: int, compute: str | None
) -> Expected | None:
    if values is None:
        return None
    if squares is None or dtype is None:
        whole = values if values.dtype.kind == "b" else values.astype(np.int64)
        return Expected(whole, np.zeros(values.shape), exact=True)
    scale = np.nan_to_num(np.sqrt(squares / runs) / (unit * dtype.u), nan=0.0, posinf=0.0)
    return Expected(
        values,
        scale,
        faithful=compute_roundoff(dtype, compute) < dtype.u,
        stored=MAX_TRACED_RMS_UNITS if compute == "storage" and dtype.narrow else None,
        spread=measure_slope_spread(few, values, scale) / unit if few else None,
    )


def question_of(posed: Question, declared: str | None) -> TorchQuestion:
    """The case as a question to its reference."""
    op, params, name = posed.op, dict(posed.params), posed.case.dtype
    assert op.reference is not None
    function = op.reference
    return TorchQuestion(
        outputs=lambda *tensors: tuple_of(function(*tensors, **params)),
        inputs=posed.inputs,
        needs=posed.needs,
        dtypes=tuple(name if y.dtype.kind == "f" else "" for y in posed.outputs),
        kinds=tuple(name if x is not None and np.asarray(x).dtype.kind == "f" else "" for x in posed.inputs),
        cotangents=posed.cotangents,
        compute=declared,
    )


def expect_results(posed: Question, declared: str | None) -> Truth:
    """Expected outputs and gradients. Raises OpError where an operation has no rule."""
    return compute_truth(question_of(posed, declared), posed.runs)


#: What rounding a tensor changes.
Roundoff = Callable[[Arithmetic, Callable[[], Any]], Any]


def with_largest_roundoff(noise: Arithmetic, roundoff: Roundoff) -> AbstractContextManager[Any]:
    """A block in which logsumexp has it, where other ways are measured."""
    if noise.exact or noise.algorithm is not Algorithm.OTHER:
        return nullcontext()
    torch = noise.torch
    named = (torch.logsumexp, torch.Tensor.logsumexp)

    def answered(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        y = func(*args, **kwargs)
        # Under vmap and grad of torch.func there is no such part: shares of theirs have the noise of the formula.
        if func not in named or not y.requires_grad or torch._C._functorch.peek_interpreter_stack() is not None:
            return y
        x, dim, keepdim = _parse_reduction(*args, **kwargs)
        sent = lambda x, y, g: _send_roundoffs(noise, roundoff, x, y, g, dim, keepdim)  # noqa: E731 - of the part's own tensors
        return y + _make_zero_part().apply(x, y.detach(), sent)

    return with_intercepted_functions(answered)


@functools.cache
def _make_zero_part() -> Any:
    """The class of a part that is 0, whose gradient is sent on by a function of x, y and its cotangent."""
    import torch

    class Part(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, x: Any, y: Any, sent: Callable[[Any, Any, Any], Any]) -> Any:
            ctx.save_for_backward(x, y)
            ctx.sent = sent
            with with_modes_off():
                return torch.zeros_like(y)

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            x, y = ctx.saved_tensors
            with with_modes_off():
                return ctx.sent(x, y, g), None, None

    return Part


def _parse_reduction(input: Any, dim: Any, keepdim: bool = False, **_: Any) -> tuple[Any, Any, bool]:  # noqa: A002 - PyTorch's name
    return input, dim, keepdim


def _send_roundoffs(noise: Arithmetic, roundoff: Roundoff, x: Any, y: Any, g: Any, dim: Any, keepdim: bool) -> Any:
    """The roundoffs of a row, at its largest element."""
    torch = noise.torch
    axes = sorted(axes_of(x, dim)) if x.dim() else []
    for a in axes if not keepdim else ():
        y, g = y.unsqueeze(a), g.unsqueeze(a)
    shares = (x.detach() - y).exp()
    off = roundoff(noise, lambda: g * shares).sum(axes, keepdim=True) + roundoff(noise, lambda: g)
    largest = shares == shares.amax(axes, keepdim=True)
    return torch.where(largest, off, torch.zeros_like(off))
