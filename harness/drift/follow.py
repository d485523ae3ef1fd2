"""A model on tape computed by a backend, call after call, beside the same in float64."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import OpError, UsageError
from opproof.core.graph import Edge
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.capture.captured import case_of
from opproof.harness.reference.chunks.question import LargeQuestionPair, make_fitting_question
from opproof.harness.reference.data import list_arguments
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import Expected, Question
from opproof.harness.run.attempt import Attempt, run_task
from opproof.harness.run.hosts.host import Host
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.record import record
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import Op
from opproof.reference_ops._tape import Replay, Tape, TapedCall, measure_distance, measure_effects, measure_noise
from opproof.reference_ops._torch_calls import DTYPE_NAMES, OperatorCall
from opproof.reports.drift import DriftReport, FollowedCall


def follow_model(tape: Tape, model: str, spec: str, limits: HostLimits) -> DriftReport:
    """What the backend `spec` makes of the model on tape. Raises BackendError, and UsageError where it has no operator.

    Calls that the backend declines, or does not survive, PyTorch answers in its place.
    """
    following = _Following(tape, spec, limits)
    try:
        for number, call in enumerate(tape.calls):
            following.visit(number, call)
    finally:
        following.close()
    if all(f.verdict is Verdict.UNSUPPORTED for f in following.calls.values()):
        names = ", ".join(dict.fromkeys(f.op for f in following.calls.values()))
        raise UsageError(f"{spec} has none of the operators of {model}: {names}.")
    return following.report(model)


@dataclass
class _Following:
    """The two computations side by side, and what is known of the calls so far."""

    tape: Tape
    spec: str
    limits: HostLimits
    calls: dict[int, FollowedCall] = field(default_factory=dict)
    errors: dict[Edge, Any] = field(default_factory=dict)  # that calls add to what their inputs give
    scales: dict[Edge, Any] = field(default_factory=dict)  # of honest rounding
    _host: Host | None = None

    def __post_init__(self) -> None:
        self.exact, self.own = Replay(self.tape, wide=True), Replay(self.tape)

    def visit(self, number: int, call: TapedCall) -> None:
        """Make the next call on both sides; the backend's answer is what goes on."""
        import torch

        with torch.no_grad():
            arriving = self._measure_arriving(call)
            made = None if call.read is None else call.read(self.own.operands_of(call))
            case = None if made is None or not call.judged else case_of(made)
            if made is None or case is None:
                self.own.advance(call)
            else:
                attempt, task = self._ask(made, case)
                answers = attempt.answer.arrays if attempt.answer is not None else []
                self.own.advance(call, lambda i, y: _convert_like(y, answers[i]) if i < len(answers) else y)
                self._note(number, call, record(task, attempt), arriving)
                self._measure_own(number, attempt)
            self.exact.advance(call)

    def _measure_arriving(self, call: TapedCall) -> float:
        """The relative error of what other calls give to this one."""
        computed = [not isinstance(source, int) for source in call.sources]
        pairs = zip(self.own.operands_of(call), self.exact.operands_of(call), computed, strict=True)
        return measure_distance([(a, b) for a, b, c in pairs if c and b.is_floating_point()])

    def _ask(self, made: OperatorCall, case: Case) -> tuple[Attempt, Task]:
        """Have a call judged by its own inputs."""
        task = Task(self.spec, str(case), Mode.FORWARD, memory=self.limits.memory, timeout=self.limits.timeout)
        inputs = {n: _to_array(t) for n, t in made.tensors.items()}

        def pose(case: Case, op: Op, mode: Mode, memory: int = 0, other_mode: Any = None) -> LargeQuestionPair:
            del memory, other_mode
            drawn = make_fitting_question(case, op, mode)
            names = tuple(list_arguments(case, op))
            given = tuple(None if n is None else inputs[n] for n in names)
            judged = Question(case, op, mode, names, given, (), tuple(n is not None for n in names))
            return replace(drawn, case_data=judged, room=None)

        if self._host is None or not self._host.alive:
            self._host = start_host(self.spec, self.limits)
        attempt = run_task(self._host, task, made.op, self.limits.timeout, posing=pose)
        if attempt.fault is not None:
            self.close()
        return attempt, task

    def close(self) -> None:
        """End the backend."""
        if self._host is not None:
            self._host.close()
        self._host = None

    def _note(self, number: int, call: TapedCall, result: Any, arriving: float) -> None:
        self.calls[number] = FollowedCall(
            number + 1, result.op, call.place, result.case, result.verdict, result.units, result.limit,
            result.diagnosis or result.message, arriving,
        )  # fmt: skip

    def _measure_own(self, number: int, attempt: Attempt) -> None:
        """The error of an answer by its own inputs, and what rounding would make, each where it can be told."""
        posed, answer = attempt.posed, attempt.answer
        if posed is None or answer is None:
            return
        import torch

        try:
            expected = expected_of(posed, attempt.rules.declared if attempt.rules else None)
        except (OpError, ValueError):
            expected = []
        pairs = list(zip(answer.arrays, posed.outputs, self.own.outputs[number], strict=False))
        for i, (got, wanted, y) in enumerate(pairs):
            if got is None or wanted.dtype.kind != "f" or not y.is_floating_point() or y.shape != wanted.shape:
                continue
            difference = np.where(np.isfinite(got) & np.isfinite(wanted), np.asarray(got, np.float64) - wanted, 0.0)
            self.errors[number, i] = torch.from_numpy(np.asarray(difference))
            if i < len(expected) and (e := expected[i]) is not None:
                self.scales[number, i] = torch.from_numpy(_round_of(e, posed.case.dtype))
            if i == 0:
                size = float(np.linalg.norm(wanted)) or 1.0
                self.calls[number] = replace(self.calls[number], own=float(np.linalg.norm(difference)) / size)

    def report(self, model: str) -> DriftReport:
        """All of it, with what the errors of the calls make of the model's results."""
        size = math.sqrt(sum(float(y.square().sum()) for y in self.exact.results)) or 1.0
        whole = measure_distance(list(zip(self.own.results, self.exact.results, strict=True)))
        effects = measure_effects(self.tape, self.errors) if self.errors else {}
        noise = measure_noise(self.tape, self.scales) / size if self.scales else 0.0
        calls = [
            replace(f, effect=math.hypot(*(e for (n, _), e in effects.items() if n == number)) / size)
            for number, f in self.calls.items()
        ]
        u = max((DTYPES[DTYPE_NAMES[str(y.dtype)]].u for y in self.own.results), default=0.0)
        return DriftReport(model, self.spec, tuple(calls), whole, noise, u, dict(self.tape.others))


def _round_of(expected: Expected, dtype: str) -> Array:
    """The RMS of honest rounding of each element, that of storing included where it rounds by itself."""
    size = np.abs(expected.values) / 3 if expected.faithful and not (expected.exact or expected.held) else 0.0
    scale = np.hypot(expected.scale, size) * DTYPES[dtype].u
    return np.asarray(np.where(np.isfinite(scale), scale, 0.0))


def _to_array(tensor: Any) -> Array:
    """The values as a question has them."""
    return np.array(tensor.detach().double().numpy() if tensor.is_floating_point() else tensor.numpy())


def _convert_like(tensor: Any, answer: Array | None) -> Any:
    """A backend's answer as the tensor that PyTorch gave in its place."""
    import torch

    if answer is None or answer.shape != tuple(tensor.shape):
        return tensor
    wide = answer.astype(np.float64) if answer.dtype.kind not in "iub" else answer
    return torch.from_numpy(np.array(wide)).to(tensor.dtype)
