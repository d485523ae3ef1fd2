"""`opproof.check`, `bound` and `assert_close`: their arguments read, and handed to the check that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from opproof.core.dtypes import DTYPES, VARY
from opproof.core.errors import UsageError
from opproof.core.verdicts import MODES, Mode, Verdict
from opproof.harness.check.call.array_libraries import find_library, with_tensors
from opproof.harness.check.call.candidates import is_custom, is_symbol, make_callee, run_opcheck
from opproof.harness.check.call.exchange import CallRequest, are_all_near
from opproof.harness.check.call.forked import explain_no_fork, find_native
from opproof.harness.check.call.isolated import function_of
from opproof.harness.check.call.reference import Reference
from opproof.harness.check.call.reference_reply import ReferenceReply, ask_reference
from opproof.harness.check.call.subject import Form, is_module, list_owned, name_of
from opproof.harness.check.contract import Contract, make_contract
from opproof.harness.check.judge.compare import compare
from opproof.harness.check.options import SAMPLING, CheckOptions
from opproof.harness.check.run import check_candidate
from opproof.harness.check.tensors import as_array, flatten_outputs, kind_of
from opproof.harness.check.variants.inputs import names_of, take_inputs
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import bound_of as allowed
from opproof.harness.precision.tolerance import DrawnResult, name_lower_precisions
from opproof.harness.reference.question import Expected
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth, iter_true_noise
from opproof.reports.check import Report

#: What is said where a candidate in this process has patched a function, or left a setting, that the reference uses.
_MOVED = (
    "the reference gives other answers than before the candidate was first called, which has changed what it uses: "
    "nothing is proved; in a process of its own (isolate=True) it cannot"
)
#: What is said where a candidate may end this process.
_IN_PROCESS = "where it ends its process: the candidate calls {}, and is called in this one, since {}"
#: What a check by an operator's name does not take, and why.
_OF_LIKE = {
    "inputs": "the operator {!r} has cases of its own", "only": "the operator {!r} has cases of its own",
    "reuses_outputs": "of the operator {!r} every result is copied at once",
    "beyond": "the cases of the operator {!r} are all given",
    "advise": "of the operator {!r} nothing is tried beside its cases",
    "time": "of the operator {!r} `opproof bench` measures the time",
}  # fmt: skip
_DEFAULTS = {"seconds": 20.0, "device": "cpu", "gradients": True, "compute": None, "dtype": None, "bits": None}


def judge_candidate(
    candidate: Any, op: str | None, *, like: Any, inputs: Any, vjp: Callable[..., Any] | None, isolate: bool | None,
    **wishes: Any,
) -> Report:  # fmt: skip
    """The report on `candidate`. Raises UsageError for a wrong call."""
    further = _parse_modes(wishes.pop("modes", ()))
    declared = {f.name: wishes.pop(f.name, None) for f in fields(Contract)}
    check_bits(wishes.get("bits"))
    seconds = wishes.get("seconds")
    if seconds is not None and not (isinstance(seconds, int | float) and seconds >= 0):
        raise UsageError(f"seconds={seconds!r}: expected a number, of seconds of processors.")
    by_properties = isinstance(like, str) or wishes.get("properties") is not None
    if wishes.get("probabilities") is not None and like != SAMPLING:
        raise UsageError(f"probabilities belongs to like={SAMPLING!r}: give that.")
    if (op is None) == (like is None and not by_properties):
        raise UsageError("check needs one reference: give the name of an operator, or like= a function or module.")
    if op is not None:
        if further:
            raise UsageError(f"modes={further[0]} belongs to like=: operators by name have forward and gradient.")
        if name := next(filter(declared.get, declared), None):
            raise UsageError(f"{name} belongs to like=: the cases of the operator {op!r} have their own.")
        for name, why in _OF_LIKE.items():
            given = inputs if name == "inputs" else wishes.pop(name, None)
            if given is not None and given is not False:
                raise UsageError(f"{name} belongs to like=: {why.format(op)}.")
        asked = {k: v for k, v in wishes.items() if v is not None}
        return _by_name(candidate, str(op), vjp, {**_DEFAULTS, **asked})
    if not callable(candidate) and not is_symbol(candidate):
        raise UsageError(f"the candidate is {candidate!r:.60}: expected a function, a module or 'c:./lib.so:symbol'.")
    for side, given in (("the candidate", candidate), ("like", like)):
        if isinstance(given, type) and not hasattr(given, "setup_context"):  # which a torch.autograd.Function has
            raise UsageError(f"{side} is the class {given.__name__}: give one of it, as {given.__name__}().")
    if not callable(like) and not (by_properties and isinstance(like, str | None)):
        raise UsageError(f"like is {like!r:.60}: expected a function or a module of PyTorch.")
    library = None if is_module(like) else find_library(like)
    if library is not None:
        raise UsageError(f"like is a function of {library.name}: expected one of PyTorch; a candidate may be of both.")
    if inputs is None and not by_properties:
        raise UsageError("like= needs inputs: give a list of shapes or tensors, or a function that makes them.")
    wishes["contract"] = contract = make_contract(**declared)
    wishes["again"] = _format_retry_call(candidate, like, isolate, {**wishes, **contract.given}, further)
    if isolate:
        wishes["device"] = wishes.get("device") or "cpu"
        return check_candidate(function_of(candidate), like, inputs, CheckOptions(**wishes, modes=further))
    wishes["device"] = device_of(candidate, inputs, wishes.get("device"))
    native = find_native(candidate) if isolate is None else ""
    why = explain_no_fork(wishes["device"]) if native else ""
    check = check_candidate if by_properties else _check_against_torch
    wish = CheckOptions(vjp=vjp, **wishes, modes=further, forked=bool(native) and not why)
    report = check(candidate, like, inputs, wish)
    return replace(report, not_judged=(*report.not_judged, _IN_PROCESS.format(native, why))) if why else report


def _format_retry_call(
    candidate: Any, like: Any, isolate: bool | None, wishes: dict[str, Any], modes: Sequence[Mode]
) -> str:
    """The call that tries one variant again; of modules after the seed of their weights."""
    kept = ("dtype", "compute", "seed", "reuses_outputs", "bits", "beyond", *(f.name for f in fields(Contract)))
    named = {k: wishes[k] for k in kept if wishes.get(k)}
    if modes:
        named["modes"] = tuple(map(str, modes))
    options = "".join(f", {k}={v!r}" for k, v in {**named, **({"isolate": True} if isolate else {})}.items())
    if not is_module(like):
        sides = {"like": like, **{k: wishes.get(k) for k in ("properties", "tolerance", "probabilities")}}
        texts = {k: name_of(v) if callable(v) else repr(v) for k, v in sides.items() if v is not None}
        by = ", ".join(f"{k}={text}" for k, text in texts.items())
        return f"opproof.check({name_of(candidate)}, {by}, inputs=..., only='{{}}'{options})"
    import torch

    made = f"opproof.check({name_of(candidate)}(...), like={name_of(like)}(...), inputs=..., only='{{}}'{options})"
    return f"torch.manual_seed({torch.initial_seed()}); {made}"


def check_bits(bits: str | None) -> None:
    """Raises UsageError for a word that means nothing."""
    if bits not in (None, VARY):
        raise UsageError(f"bits={bits!r}: expected {VARY!r}, for bits that differ from call to call, or None.")


def _parse_modes(modes: Sequence[str]) -> tuple[Mode, ...]:
    """The modes beside values and gradients, which are always judged. Raises UsageError for an unknown one."""
    for mode in modes:
        if mode not in tuple(Mode):
            raise UsageError(f"unknown mode {mode!r}: expected {', '.join(Mode)}.")
    return tuple(Mode(m) for m in dict.fromkeys(modes) if m not in MODES)


def _by_name(candidate: Any, op: str, vjp: Callable[..., Any] | None, wishes: dict[str, Any]) -> Report:
    from opproof.harness.check.by_operator import by_backend, by_function

    if isinstance(candidate, str) or (_is_backend(candidate) and not is_module(candidate)):
        return by_backend(candidate, op, wishes)
    if not callable(candidate):
        raise UsageError(f"the candidate is {candidate!r:.60}: expected a function, a module or a backend.")
    return by_function(with_tensors(candidate), op, vjp, wishes)


def _is_backend(candidate: Any) -> bool:
    given = (getattr(candidate, name, None) for name in ("forward", "forward_into"))
    return not isinstance(candidate, type) and any(map(callable, given))


def _check_against_torch(candidate: Any, like: Any, inputs: Any, wish: CheckOptions) -> Report:
    """By a function or module of PyTorch; with operators of torch.library its own checks too."""
    names, wish = names_of(like), wish.begin()
    arguments, tensors, _ = take_inputs(inputs, names, wish.dtype, wish.seed)
    # The first call is of the other data: what a candidate keeps of it is then no answer to the judged call.
    probe = take_inputs(inputs, names, wish.dtype, wish.seed + 1)[1]
    reference = Reference(like, Form(arguments, len(tensors), (), ()))
    before = reference.call_native(CallRequest(tensors, seed=wish.seed))
    taken = make_callee(candidate, wish.vjp, like, arguments, probe, wish)
    report = check_candidate(taken.function, like, inputs, replace(wish, vjp=taken.vjp))
    after = reference.call_native(CallRequest(tensors, seed=wish.seed))
    if not are_all_near(before.outputs, after.outputs):
        report = _add_failures(report, Verdict.INPUT_CHANGED, [_MOVED])
    if not is_custom(candidate):
        return report
    said = run_opcheck(candidate, arguments, tensors, wish.gradients)
    report = _add_failures(report, Verdict.ERROR, said)
    return replace(report, tried=(*report.tried, "torch.library.opcheck"))


def _add_failures(report: Report, verdict: Verdict, said: Sequence[str]) -> Report:
    """The report with failures of the inputs as given that are none of its values."""
    first = replace(report.results[0], verdict=verdict, worst=None, evidence=None, diagnosis="", units=None)
    return replace(report, results=(*report.results, *(replace(first, message=text) for text in said)))


@dataclass(frozen=True)
class Bound:
    """What is expected, and how far each element may be off: an array, or a tuple of them where there are several."""

    values: Any  # float64, int64 or bool
    bound: Any  # float64


@dataclass(frozen=True)
class Evaluated:
    """What a reference gives at some tensors: every output under noise, and what PyTorch itself computes."""

    expected: Sequence[Expected]
    native: ReferenceReply

    @property
    def bounds(self) -> Iterator[Any]:
        """How far each element of every output may be off."""
        for e, y in zip(self.expected, self.native.outputs, strict=True):
            yield allowed(e, DTYPES[kind_of(y.dtype) or "f32"])


def bound_of(reference: Callable[..., Any], tensors: Sequence[Any], dtype: str | None, compute: str | None) -> Bound:
    """Of every output of `reference(*tensors)`."""
    found = evaluate_outputs(reference, tensors, dtype, compute)
    values, bounds = tuple(e.values for e in found.expected), tuple(found.bounds)
    return Bound(values[0], bounds[0]) if len(values) == 1 else Bound(values, bounds)


def explain_difference(actual: Any, found: Evaluated) -> str:
    """Why `actual` is not what the reference gives; empty where it is."""
    got = flatten_outputs(actual)
    if len(got) != len(found.expected):
        return f"{len(got)} tensors came, the reference has {len(found.expected)}"
    for i, (y, e, native) in enumerate(zip(got, found.expected, found.native.outputs, strict=True)):
        values, dtype = as_array(y)
        if values.shape != e.values.shape:
            return f"y{i} has shape {values.shape}: expected {e.values.shape}"
        if dtype != native.dtype:
            return f"y{i} has dtype {dtype}: expected {native.dtype}"
        kind = kind_of(dtype) or "f32"
        comparison = compare(values, e, kind)
        if not comparison.right:
            at = comparison.worst or ()
            count = int((~comparison.passed).sum())
            return (
                f"{count} of {comparison.passed.size} elements of y{i} are out of their bounds: at {list(at)} "
                f"got {values[at]:.9g}, expected {e.values[at]:.9g}, bound {comparison.bound[at]:.3g}"
            )
        if text := measure_array(values, e, comparison, kind).fault(declarable=False):
            return f"y{i}: {text}"
    return ""


def evaluate_outputs(
    reference: Callable[..., Any], tensors: Sequence[Any], dtype: str | None = None, compute: str | None = None
) -> Evaluated:
    """The outputs of `reference(*tensors)` under noise. Raises UsageError where it does not take them."""
    found, question = _pose(reference, list(tensors), dtype, 0, compute, gradients=False)
    return Evaluated(compute_truth(question).outputs, found)


def _pose(
    reference: Callable[..., Any], inputs: Any, dtype: str | None, seed: int, compute: str | None, *, gradients: bool
) -> tuple[ReferenceReply, TorchQuestion]:
    arguments, asked, _ = take_inputs(inputs, names_of(reference), dtype, seed)
    owned = list_owned(reference, dtype) if is_module(reference) else ()
    parameters, buffers = (tuple(t.name for t in owned if t.buffer is b) for b in (False, True))
    side = Reference(reference, Form(arguments, len(asked), parameters, buffers))
    found = ask_reference(side, (*asked, *owned), seed, gradients=gradients)
    if isinstance(found, str):
        raise UsageError(f"the reference: {found}: give tensors that it takes.")
    return found, found.make_question(side.outputs(found.request), compute)


def draw_results_of(
    reference: Callable[..., Any], inputs: Any, mode: Mode, draws: int, dtype: str | None = None,
    compute: str | None = None, *, eager: bool = False,
) -> Iterator[DrawnResult]:  # fmt: skip
    """Yield results of a function of PyTorch for `opproof tolerance`; `eager`: with what PyTorch itself gives.

    Raises UsageError where it does not take its inputs.
    """
    forward = mode is Mode.FORWARD
    for seed in range(draws):
        found, question = _pose(reference, inputs, dtype, seed, compute, gradients=not forward)
        truth = compute_truth(question)
        first = 0 if forward else len(question.dtypes)
        names = found.names if forward else [t.name for t in found.request.tensors]
        kinds, native = question.results[first:], found.reply.outputs if forward else found.reply.gradients
        known = [d for d in kinds if d]
        lower = {
            name: next(iter_true_noise(replace(question, compute=digits), 1))[first:]
            for name, digits in (name_lower_precisions(known[0]) if known else {}).items()
        }
        for i, (name, want) in enumerate(zip(names, truth.outputs if forward else truth.gradients, strict=True)):
            y = native[i] if eager and i < len(native) else None
            yield DrawnResult(
                name, kinds[i], want, None if y is None else y.values, {n: z[i] for n, z in lower.items()}
            )


def device_of(candidate: Any, inputs: Any, asked: str | None) -> str:
    """A device by PyTorch's name. Raises BackendError where it is not there."""
    from opproof.harness.check.function_backend import require_torch

    if asked is not None:
        require_torch(asked)
        return asked
    owned = [*candidate.parameters()] if is_module(candidate) else []
    given = [v for v in inputs if hasattr(v, "device")] if isinstance(inputs, list | tuple) else []
    return next((str(t.device) for t in (*owned, *given)), "cpu")
