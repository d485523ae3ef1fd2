"""What passed where a host called a backend's file, judged once more where a program of its own calls it.

The program is asked once all hosts are gone. What it did not come to, and what is declared and not needed, is said at
the end of the run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from opproof.backends.worker.protocol import name_of
from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.capabilities import backend_of
from opproof.core.dtypes import DTYPES, Declaration
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.harness.judge.judgement import Judgement, Rules
from opproof.harness.judge.outputs import EarlyVerdict, Outputs
from opproof.harness.known_failures.known import Known, mark
from opproof.harness.reference.chunks.question import LargeQuestionPair, make_fitting_question
from opproof.harness.reference.question import Question
from opproof.harness.reference.roundoff import COMPUTE_U
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.attempt import Attempt, rules_of
from opproof.harness.run.calls import by_reference, is_held
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.hosts.host import Support
from opproof.harness.run.record import record
from opproof.harness.run.request import Request, Returned, check_returned, wanted_of
from opproof.harness.run.results.file import ResultsFile, key_of
from opproof.harness.run.standalone.caller import JobAnswer, ask_program
from opproof.harness.run.standalone.selection import choose_calls, data_of, losses_of, make_job
from opproof.harness.run.task import Task
from opproof.reports import Result

_ELSEWHERE = "right where opproof calls it, and wrong where a program of its own does"
_INSTEAD = "where callers are told so, declare it with reuses_outputs = True"


@dataclass(frozen=True)
class CallMode:
    """A way of calling: what is said where it is wrong, and which data the answer is to."""

    said: str
    data: str = "asked"
    verdict: Verdict | None = None  # of what no number shows


#: By the names that the program gives them, in the order in which the first that is wrong counts.
WAYS = {
    "called": CallMode(_ELSEWHERE),
    "held": CallMode(f"{_ELSEWHERE} that holds the result while it makes more calls, which write into it: {_INSTEAD}"),
    "viewed": CallMode(
        f"{_ELSEWHERE} that holds a view of the result while more calls are made, which write into it: {_INSTEAD}"
    ),
    "thread": CallMode(f"{_ELSEWHERE} on another thread"),
    "loop": CallMode(f"{_ELSEWHERE} in a running loop of asyncio"),
    "steady": CallMode(f"{_ELSEWHERE} hundreds of times"),
    "refilled": CallMode(f"{_ELSEWHERE} that has called with other numbers in the same memory before", "other"),
    "element": CallMode(f"{_ELSEWHERE} once one element of each input was written anew", "element"),
    "batches": CallMode(f"{_ELSEWHERE} with batches that lie in one array", "other"),
    "beside torch": CallMode(f"{_ELSEWHERE} that has imported torch"),
    "cotangent of ones": CallMode(f"{_ELSEWHERE} with a cotangent of ones, as of a sum", "cotangent of ones"),
    "cotangent of a mean": CallMode(
        f"{_ELSEWHERE} with a cotangent of one number, as of a mean", "cotangent of a mean"
    ),
    "cotangent with rows of zeros": CallMode(
        f"{_ELSEWHERE} with a cotangent in which rows are zero, as of tokens that are masked",
        "cotangent with rows of zeros",
    ),
    "shared": CallMode(
        "whether a result is an input's own memory depends on its numbers: who writes into one changes the other",
        verdict=Verdict.INPUT_CHANGED,
    ),
    "parameters": CallMode(
        "a number that is changed in the dictionary of parameters is not read again: a new dictionary gives other bits",
        verdict=Verdict.NOT_REPEATABLE,
    ),
}


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
    for name, way in WAYS.items():
        if name in answered.ways:
            settled = None if way.verdict is None else _make_attempt(one, way.verdict, "")
            made = settled or judge_answer(one, data[way.data], answered.ways[name])
            if made.judgement.verdict in FAILED:
                return _record(one.task, way.said, made)
    return None


def _record(task: Task, where: str, made: Attempt) -> Result:
    """Its cause is where it is wrong, before what the error looks like."""
    told = record(task, made)
    said = ": ".join(filter(None, (where, told.diagnosis or told.message)))
    return replace(told, diagnosis=said, message="", also=(), patterns=())


def _make_attempt(one: PassedTask, verdict: Verdict, message: str) -> Attempt:
    return Attempt(Judgement(verdict, message), one.pair.case_data, rules=one.rules)


def judge_answer(one: PassedTask, asked: Question, arrays: Sequence[Array | None]) -> Attempt:
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
