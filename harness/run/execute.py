"""One case on one backend in this process: three calls, and what came back.

The calls: other data (buffers begin at a guard), the case's data (buffers end at one), the other
data again. The middle call is judged; the outer two must agree bit for bit, so state that
survives a call is seen. No expected value exists in this process until the backend has answered.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from opproof.cases import Case
from opproof.harness.run.call import Question, Settled, Wanted, ask
from opproof.harness.truth import reference
from opproof.harness.truth.data import arguments, cotangents_of, differentiable, inputs_of, ordered, parameters
from opproof.reference_ops import Op
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.dtypes import DTYPES


@dataclass
class Outcome:
    """What the backend did. `verdict` is empty while nothing but the numbers remains to be judged."""

    verdict: str = ""
    message: str = ""
    arrays: list[Array | None] = field(default_factory=list)  # outputs, or gradients by argument
    stale: list[Array | None] = field(default_factory=list)  # what the first call gave, other data
    inputs: list[Array | None] = field(default_factory=list)  # float64, by argument
    cotangents: list[Array | None] = field(default_factory=list)  # None for an output not of floats
    needs: list[bool] = field(default_factory=list)
    seconds: float = 0.0


def execute(backend: Any, case: Case, op: Op, mode: str, *, soft: bool = False, alone: bool = False) -> Outcome:
    """Run `case` on `backend` in `mode` ("forward" or "gradient"). Never raises for the backend's faults.

    `soft` makes guards readable (see memory.py); `alone` makes only the judged call.
    """
    outcome, asked, other = pose(backend, case, op, mode, soft=soft)

    def call(question: Question) -> list[Array | None]:
        arrays, seconds = ask(question)
        outcome.seconds += seconds
        return arrays

    try:
        _may_decline(backend, case, op, mode, outcome)
        if not alone:
            outcome.stale = call(other)
        outcome.arrays = call(asked)
        if not alone and op.deterministic and not _same_bits(outcome.stale, call(other)):
            outcome.verdict = "NOT_REPEATABLE"
            outcome.message = "the same call gave other bits after a call with other data"
    except Settled as settled:
        outcome.verdict, outcome.message = settled.verdict, settled.message
    return outcome


def pose(backend: Any, case: Case, op: Op, mode: str, *, soft: bool = False) -> tuple[Outcome, Question, Question]:
    """The outcome before any call, what `backend` is asked, and the same with other data."""
    outcome = Outcome()
    outcome.inputs = ordered(case, op, inputs_of(case, op))
    outcome.needs = differentiable(case, op, outcome.inputs)
    other = ordered(case, op, inputs_of(case, op, variant=1))
    templates = reference.forward(case, op, other)
    gradient = mode == "gradient"
    if gradient:
        outcome.cotangents = cotangents_of(case, templates)
        outcome.needs = reference.needs_of(case, op, other)
    wanted = _gradients(case, op, outcome) if gradient else _outputs(case, op, templates)

    def question(values: Sequence[Array | None], variant: int) -> Question:
        cotangents = cotangents_of(case, templates, variant) if gradient else None
        return Question(backend, case, op, values, cotangents, outcome.needs, wanted, variant == 0, soft)

    return outcome, question(outcome.inputs, 0), question(other, 1)


def output_names(op: Op, count: int) -> list[str]:
    """Names of `count` outputs."""
    return list(op.outputs) if len(op.outputs) == count else [f"y{i}" for i in range(count)]


def _outputs(case: Case, op: Op, templates: Sequence[Array]) -> list[Wanted]:
    native = DTYPES[case.dtype].numpy
    names = output_names(op, len(templates))
    return [
        (f"output {n}", y.shape, native if y.dtype.kind == "f" else y.dtype)
        for n, y in zip(names, templates, strict=True)
    ]


def _gradients(case: Case, op: Op, outcome: Outcome) -> list[Wanted]:
    native = DTYPES[case.dtype].numpy
    return [
        (f"gradient of {n}", v.shape, native) if need and v is not None else None
        for n, v, need in zip(arguments(case, op), outcome.inputs, outcome.needs, strict=True)
    ]


def _may_decline(backend: Any, case: Case, op: Op, mode: str, outcome: Outcome) -> None:
    if mode == "gradient" and not (hasattr(backend, "vjp") or hasattr(backend, "vjp_into")):
        raise Settled("UNSUPPORTED", "the backend has no vjp")
    if mode == "gradient" and not any(outcome.needs):
        raise Settled("UNSUPPORTED", "no input of this operator has a gradient")
    if hasattr(backend, "supports"):
        answer = backend.supports(op.name, [case.dtype], parameters(case, op))
        if answer is not True:
            raise Settled("UNSUPPORTED", str(answer) if answer else "declined without a reason")


def _same_bits(first: Sequence[Array | None], second: Sequence[Array | None]) -> bool:
    return all(
        (a is None and b is None) or (a is not None and b is not None and a.tobytes() == b.tobytes())
        for a, b in zip(first, second, strict=True)
    )
