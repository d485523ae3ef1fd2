"""What passed where a host called a backend's file, judged once more where a program of its own calls it.

The program is asked once all hosts are gone: two calls of every operator and mode that passed, and some that are large
or declined, with the record's numbers, with others, and with what training and batches make of them. What it did not
come to, and what is declared and not needed, is said at the end of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from pathlib import Path

import numpy as np

from opproof.backends.worker.protocol import name_of
from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.capabilities import backend_of
from opproof.core.dtypes import DTYPES, FLOATS, Declaration
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.known_failures.known import Known, mark
from opproof.harness.reference.chunks.question import LargeQuestionPair, count_elements, make_fitting_question
from opproof.harness.reference.data import to_dtype
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, rules_of
from opproof.harness.run.calls import by_reference, is_held
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.hosts.host import Support
from opproof.harness.run.record import record
from opproof.harness.run.request import Request, Returned, Tensors, check_returned, wanted_of
from opproof.harness.run.results.file import ResultsFile, key_of
from opproof.harness.run.standalone.caller import JobAnswer, ask_program
from opproof.harness.run.task import Task
from opproof.reports import Result

_ELSEWHERE = "right where opproof calls it, and wrong where a program of its own does"
_INSTEAD = "which write into it: where callers are told so, declare it with reuses_outputs = True"


#: What is said where a way of calling is wrong, by the program's names of them; the first that is wrong counts.
WAYS = {
    "called": _ELSEWHERE,
    "held": f"{_ELSEWHERE} that holds the result while it makes more calls, {_INSTEAD}",
    "viewed": f"{_ELSEWHERE} that holds a view of the result while more calls are made, {_INSTEAD}",
    "thread": f"{_ELSEWHERE} on another thread",
    "loop": f"{_ELSEWHERE} in a running loop of asyncio",
    "steady": f"{_ELSEWHERE} hundreds of times",
    "refilled": f"{_ELSEWHERE} that has called with other numbers in the same memory before",
    "element": f"{_ELSEWHERE} once one element of each input was written anew",
    "batches": f"{_ELSEWHERE} with batches that lie in one array",
    "beside torch": f"{_ELSEWHERE} that has imported torch",
    "cotangent of ones": f"{_ELSEWHERE} with a cotangent of ones, as of a sum",
    "cotangent of a mean": f"{_ELSEWHERE} with a cotangent of one number, as of a mean",
    "cotangent with rows of zeros": (
        f"{_ELSEWHERE} with a cotangent in which rows are zero, as of tokens that are masked"
    ),
    "shared": "whether a result is an input's own memory depends on its numbers: who writes into one changes the other",
    "parameters": (
        "a number that is changed in the dictionary of parameters is not read again: a new dictionary gives other bits"
    ),
}
#: Ways whose answer is to the other data. Those that have data of their name are asked with these, else the record's.
_WITH_OTHER_DATA = frozenset({"refilled", "batches"})
#: Of ways that no number shows.
_VERDICTS = {"shared": Verdict.INPUT_CHANGED, "parameters": Verdict.NOT_REPEATABLE}


@dataclass(frozen=True)
class PassedTask:
    """A task whose record passed, and its question."""

    task: Task
    rules: Rules
    pair: LargeQuestionPair


def iterate_passed(results: Iterable[Result], tasks: Mapping[tuple[str, str, str], Task]) -> Iterator[PassedTask]:
    """The questions of records, by the tasks of a run: of those whose answers are judged by themselves."""
    for result in results:
        task, case, mode = tasks[key_of(result)], Case.parse(result.case), Mode(result.mode)
        op = op_of(case.op, task.ops)
        if mode is Mode.GRADIENT and (task.grad_oracle == "self" or op.vjp is None):
            continue
        pair = make_fitting_question(case, op, mode, task.judge_memory)
        if pair.room is None and op.deterministic and is_held(pair.case_data):
            yield PassedTask(task, rules_of(task, Support("", Declaration.of(result.declared))), pair)


def find_wrong(one: PassedTask, answered: JobAnswer) -> Result | None:
    """The record in the place of one that passed, by the first way that is wrong; None where all are right."""
    if answered.raised:
        return _record(one.task, _ELSEWHERE, _make_attempt(one, Verdict.ERROR, answered.raised))
    data = {**data_of(one.pair), **losses_of(one.pair)}
    for name, said in WAYS.items():
        if name in _VERDICTS and name in answered.ways:
            return _record(one.task, said, _make_attempt(one, _VERDICTS[name], ""))
        if name in answered.ways:
            asked = data.get(name, data["other" if name in _WITH_OTHER_DATA else "asked"])
            made = judge_answer(one, asked, answered.ways[name])
            if made.judgement.verdict in FAILED:
                return _record(one.task, said, made)
    return None


def _record(task: Task, where: str, made: Attempt) -> Result:
    """Its cause is where it is wrong, before what the error looks like."""
    told = record(task, made)
    said = ": ".join(filter(None, (where, told.diagnosis or told.message)))
    return replace(told, diagnosis=said, message="", also=(), patterns=())


def _make_attempt(one: PassedTask, verdict: Verdict, message: str) -> Attempt:
    return Attempt(Judgement(verdict, message), one.pair.case_data, rules=one.rules)


def judge_answer(one: PassedTask, asked: Question, arrays: Tensors) -> Attempt:
    """What becomes of an answer to a question that has the shapes of the record's."""
    question = Request(asked, wanted_of(asked, one.pair.outputs))
    try:
        returned = [None if a is None else Returned(a.shape, name_of(a.dtype), a) for a in arrays]
        answer = Outputs(check_returned(returned, question))
    except EarlyVerdict as settled:
        return _make_attempt(one, settled.verdict, settled.message)
    return Attempt(by_reference(asked, answer, one.rules, None), asked, answer, rules=one.rules)


#: Seconds after which a program begins nothing new.
SECONDS = 20.0


def recheck_backends(
    backends: Iterable[str],
    planned: Sequence[Task],
    file: ResultsFile,
    known: Sequence[Known],
    environments: Iterable[tuple[str, tuple[tuple[str, str], ...]]],
) -> list[str]:
    """Replace the records of what is right only where a judge calls it; what else is to be said of that.

    No host is left then, which may have had a device to itself. `environments` are those of `Limits`. Raises
    ResultsError.
    """
    notes, variables = list[str](), {spec: dict(some) for spec, some in environments}
    for backend in backends:
        path = backend_of(backend)
        if path.endswith(".py") and Path(path).is_file():  # no command that ends so
            with with_hardened_process():
                own = [r for r in file.results if r.backend == backend]
                wrong, said = recheck_backend(backend, own, planned, variables.get(backend, {}))
            for result in wrong:
                file.add(mark(result, known))
            notes += said
    return notes


def recheck_backend(
    backend: str, results: Sequence[Result], planned: Iterable[Task], variables: Mapping[str, str]
) -> tuple[list[Result], list[str]]:
    """Ask a backend's file so, what its `results` say is right, with `variables` in its environment.

    Records in the place of those that passed, and sentences for the end of the run.
    """
    some = list(iterate_passed(choose_calls(results), {key_of(task): task for task in planned}))
    if not some:
        return [], []
    jobs = [make_job(one.pair) for one in some]
    program = ask_program(Path(backend_of(backend)), jobs, SECONDS, limit=2 * SECONDS, variables=variables)
    came = [(one, answer) for one, answer in zip(some, program.answers, strict=True) if answer is not None]
    wrong = list(filter(None, (find_wrong(one, answer) for one, answer in came)))
    said = [describe_left_out(backend, program.status, len(came), len(some)), describe_not_at_once(backend, came)]
    return wrong, list(filter(None, [*said, "" if wrong else describe_idle(backend, came)]))


def describe_left_out(backend: str, status: int | None, came: int, count: int) -> str:
    """How many of its calls were answered, and how it ended, see `process.run`; empty where all were."""
    if came == count:
        return ""
    ended = "took too long" if status is None else f"ended with status {status}" if status else "stopped for its time"
    return f"{backend}: a program of its own answered {came} of {count} calls, and {ended}."


def describe_idle(backend: str, answers: Iterable[tuple[PassedTask, JobAnswer]]) -> str:
    """Of which operators nothing that came needs the coarser precision that is declared, in words."""
    needed = defaultdict[str, list[bool]](list)
    for one, answered in answers:
        case, declared = one.pair.case_data.case, one.rules.declared
        if "called" in answered.ways and COMPUTE_U.get(declared or "", 0) > DTYPES[case.dtype].u:
            strict = replace(one, rules=replace(one.rules, declared=None))
            made = judge_answer(strict, one.pair.case_data, answered.ways["called"])
            needed[f"{case.op} ({case.dtype} as {declared})"].append(made.judgement.verdict in FAILED)
    some = ", ".join(what for what, of in needed.items() if not any(of))
    if not some:
        return ""
    said = f"{backend}: right without what it declares wherever a program asked: {some}."
    return f"{said} A declaration widens every bound; `opproof precision -b {backend}` tells what needs it."


def describe_not_at_once(backend: str, answers: Iterable[tuple[PassedTask, JobAnswer]]) -> str:
    """Of which operators two threads that called at once got answers that were not theirs, in words."""
    some = dict.fromkeys(one.pair.case_data.case.op for one, answered in answers if "at once" in answered.ways)
    said = f"{backend}: two threads that call at once get other bits than each alone, in {', '.join(some)}."
    return f"{said} Who serves several has to lock." * bool(some)


#: Elements of the largest case, so that a call takes no second; of larger ones, up to the second number, one call each.
MAX_CASE_ELEMENTS = 2**16
MAX_LARGE_CASE_ELEMENTS = 2**21
_ASKED = frozenset({Verdict.PASS, Verdict.UNSUPPORTED})
#: Of every operator and mode so many that passed are asked again, and so many that were declined; large ones in all.
MAX_PASSED_CALLS = 2
MAX_DECLINED_CALLS = 8
MAX_LARGE_CALLS = 8


def choose_calls(results: Sequence[Result]) -> list[Result]:
    """Those of one backend, the first of every operator and mode before the second.

    Who declines in a call, having looked at its numbers, may not do so in a program; of what it has not at all, which
    `supports` says there too, nothing is asked.
    """
    plain = [
        (r, c)
        for r in results
        if r.verdict in _ASKED and r.mode is not Mode.REFUSAL and _is_plain(c := Case.parse(r.case))
    ]
    usual = [r for r, c in plain if not is_large(c)]
    passed = _by_call(r for r in usual if r.verdict is Verdict.PASS)
    declined = _by_call(r for r in usual if r.verdict is Verdict.UNSUPPORTED)
    some = [
        _choose_few(of) + _of_each_fill(declined.get(call, ()), {r.dtype for r in of}) for call, of in passed.items()
    ]
    return [result for result in chain(*zip_longest(*some)) if result is not None] + _choose_large(plain)


def _by_call(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    found = defaultdict[tuple[str, str], list[Result]](list)
    for result in results:
        found[result.op, result.mode].append(result)
    return dict(found)


def is_large(case: Case) -> bool:
    """Whether a program makes one call of the case at most."""
    return count_elements(case) > MAX_CASE_ELEMENTS


def _choose_large(plain: Iterable[tuple[Result, Case]]) -> list[Result]:
    """Those that passed and are larger than others: the largest of an operator and mode, some of all of these."""
    sizes = {
        id(r): count_elements(c)
        for r, c in plain
        if r.verdict is Verdict.PASS and MAX_CASE_ELEMENTS < count_elements(c) <= MAX_LARGE_CASE_ELEMENTS
    }
    some = _by_call(r for r, _ in plain if id(r) in sizes).values()
    of_each = [max(of, key=lambda r: (r.dtype == "f32", sizes[id(r)], r.case)) for of in some]
    return of_each[:: -(-len(of_each) // MAX_LARGE_CALLS)] if of_each else []


def _is_plain(case: Case) -> bool:
    """A case of floats of one dtype, each tensor and result in memory of its own."""
    shared = any(isinstance(shape, str) for _, shape in case.tensors)
    plain = case.layout == case.into == "contiguous" and not case.inplace and not case.mixed and not shared
    return plain and case.dtype in FLOATS


def _choose_few(some: Sequence[Result]) -> list[Result]:
    """The largest of float32 (of others where there are none), and the largest of other numbers than those."""
    by_size = sorted(some, key=lambda r: (r.dtype != "f32", -count_elements(Case.parse(r.case)), r.case))
    fill = Case.parse(by_size[0].case).fill
    others = [r for r in by_size if r.dtype != "f32" or Case.parse(r.case).fill != fill]
    return by_size[:1] + others[: MAX_PASSED_CALLS - 1]


def _of_each_fill(some: Sequence[Result], dtypes: Container[str]) -> list[Result]:
    by_size = sorted(some, key=lambda r: (count_elements(Case.parse(r.case)), r.case))
    largest = {Case.parse(r.case).fill: r for r in by_size if r.dtype in dtypes}
    return list(largest.values())[-MAX_DECLINED_CALLS:]


#: Every third row has no loss, the first too, as of tokens that are masked.
_MASKED = 3
#: The cotangent of a mean, or of a loss that is scaled: a power of two, which every dtype has.
_MEAN = 2.0**-6


def make_job(pair: LargeQuestionPair) -> dict[str, object]:
    """What the program is told of the call of a record."""
    asked = pair.case_data
    losses, data = ({}, {"asked": asked}) if is_large(asked.case) else (losses_of(pair), data_of(pair))
    return {
        "op": asked.op.called, "params": dict(asked.params), "dtypes": list(asked.case.dtypes),
        "gradient": bool(asked.cotangents), "needs": list(asked.needs), "losses": list(losses),
        "data": {name: _to_native(posed) for name, posed in {**data, **losses}.items()},
    }  # fmt: skip


def _to_native(posed: Question) -> tuple[list[Array | None], list[Array | None]]:
    inputs, cotangents = (
        [None if x is None else to_dtype(x, posed.case.dtype) for x in arrays]
        for arrays in (posed.inputs, posed.cotangents)
    )
    return inputs, cotangents


def data_of(pair: LargeQuestionPair) -> dict[str, Question]:
    """The questions of a record, by name."""
    some = {"asked": pair.case_data, "other": pair.decoy_data}
    if pair.case_data.op.domain is None:  # its numbers need not fit each other
        some["element"] = pair.case_data.given(inputs=tuple(map(_with_another_element, pair.case_data.inputs)))
    return some


def losses_of(pair: LargeQuestionPair) -> dict[str, Question]:
    """The question of a gradient with the cotangents of losses, by name; none of a forward."""
    cotangents = pair.case_data.cotangents
    if not cotangents:
        return {}
    some = {
        "cotangent of ones": [None if g is None else np.ones_like(g) for g in cotangents],
        "cotangent of a mean": [None if g is None else np.full_like(g, _MEAN) for g in cotangents],
        "cotangent with rows of zeros": [_mask_some(g) for g in cotangents],
    }
    return {name: pair.case_data.given(cotangents=tuple(gs)) for name, gs in some.items()}


def _with_another_element(x: Array | None) -> Array | None:
    """Floats of which one, in the middle, is another of its row: numbers that are together as they were."""
    if x is None or x.dtype.kind != "f" or not x.size or not x.ndim:
        return x
    changed = x.copy()
    row = changed.reshape(-1, x.shape[-1])[x.size // x.shape[-1] // 2]
    others = np.flatnonzero(row != row[len(row) // 2])
    if others.size:
        row[len(row) // 2] = row[others[0]]
    return changed


def _mask_some(g: Array | None) -> Array | None:
    if g is None or not g.ndim:
        return g
    masked = g.copy()
    masked[::_MASKED] = 0
    return masked
