"""One run from start to report: plan, try operators of the user's own, execute, write each record, report.

After it neighbours of failing cases are called: the smallest that fails alike, and what a case needs to fail.
"""

from __future__ import annotations

import datetime
import itertools
import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from opproof.backends.load import hash_files
from opproof.cases import Case
from opproof.cases._fills.exhaustive import is_pairs, is_part
from opproof.core.capabilities import backend_of
from opproof.core.errors import OpError, Stopped, UsageError
from opproof.core.system import describe_host, uncollected
from opproof.core.verdicts import EXHAUSTIVE, FAILED, Mode, Verdict
from opproof.harness import __version__
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.harness.judge.judgement import Rules, judge
from opproof.harness.judge.outputs import Outputs
from opproof.harness.known_failures import proposals
from opproof.harness.known_failures.findings import of_versions, read_built_in
from opproof.harness.known_failures.known import Known, mark, read_known
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.cache.store import CacheLocation, CacheStore, find_key, place
from opproof.harness.run.finish import Exit, finish
from opproof.harness.run.hardening import warn_unguarded
from opproof.harness.run.hosts.start import apply_capabilities
from opproof.harness.run.plan import (
    DeclinedOperators,
    Selection,
    draw_task_lists,
    iterate_ahead,
    keep_cases,
    make_tasks,
    scope_of,
    select_cases,
    with_known,
)
from opproof.harness.run.results import resume
from opproof.harness.run.results.file import ResultsFile, key_of, open_results_file
from opproof.harness.run.results.resume import Settings, options_of, with_locked_folder
from opproof.harness.run.scheduler import Judges, Pool, limit_threads, prepare
from opproof.harness.run.session.worker import Session
from opproof.harness.run.standalone.rejudge import recheck_backends
from opproof.harness.run.task import HostLimits, Task, by_case, op_name_of, repro_command_of
from opproof.harness.space.coverage import count_coverage_of_run
from opproof.harness.space.delta import OutOfCallsError, find_delta
from opproof.harness.space.shrink import shrink
from opproof.reference_ops import Op, load_folder
from opproof.reference_ops._op import FOLDER
from opproof.reports import Header, Result, certificate
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._results import make_legible
from opproof.reports._text import format_count
from opproof.reports.causes import find_causes
from opproof.reports.implementations import require_impl
from opproof.reports.progress import show_progress
from opproof.reports.ranges import describe_estimate


def run(settings: Settings) -> int:
    """Run, report, and return the exit status.

    Raises UsageError and its kin for a wrong call, ResultsError where the results could not be written to the end,
    Stopped where the run was interrupted.
    """
    proposed = None if settings.proposals is None else proposals.read(settings.proposals)
    signing_key = None if settings.key is None else certificate.read_key(settings.key)
    settings, limits = apply_capabilities(settings, _limits_of(settings))
    known = _read_known(settings)
    if not settings.in_process and not settings.dask:
        prepare()
    declined = DeclinedOperators()
    lists = _plan_lists(settings, declined.names)
    with uncollected():
        planned = next(lists, None)
    if planned is None:
        sys.stderr.write("opproof: no case matches; `opproof list cases` with the same options shows what there is.\n")
        return Exit.NO_EVIDENCE
    check_own(planned)
    limits = replace(limits, jobs=min(settings.jobs, sum(1 for _ in by_case(planned)) or 1))  # none without a case
    backends = dict.fromkeys(settings.backends)
    cache = place(settings.cache_size * 2**20) if settings.cache and not settings.in_process else None
    foreign = _count_foreign(cache)
    command = ""  # that goes on with the run, where there is anything to go on with
    with handle_interruption(lambda: command), ExitStack() as claims:
        with _open_workers(settings, limits, cache) as pool:
            header = _make_header(settings, [pool.describe(b) for b in backends], len(planned))
            folder = claims.enter_context(with_locked_folder(settings.out, header, resume=settings.resume))
            known, silent = of_versions(known, header.backends)
            marking = find_key()
            done = resume.read_done(folder, header, marking) if settings.resume else []
            file = claims.enter_context(open_results_file(folder, header, done, marking))
            command = resume.command_to_resume(settings, folder)
            planned = with_known(planned, known)
            tasks = TaskLists(planned, lists, known, settings, declined)
            _tell_estimate(settings.selection, planned, done, limits.jobs)
            stop = _run_tasks(pool, tasks, file, known, quiet=settings.quiet)
            smallest = _call_neighbours(pool, tasks, file) if stop is None else []
            header = _write_coverage(file, header, settings.selection.folders)
        judged_here = stop is None and not settings.in_process and not settings.dask
        in_programs = recheck_backends(backends, tasks.given, file, known, limits.environments) if judged_here else []
        file.verify()  # now that no backend is left that could write to it
        status = finish(
            folder,
            file.header,
            file.results,
            known if stop is None else [],  # what did not run cannot accuse a ledger
            quiet=settings.quiet,
            extent=scope_of(settings.selection),
            complaints=[file.tampering] if file.tampering else [],
            notes=[*silent, *in_programs, *_describe_notes(settings, cache, foreign, smallest)],
        )
        if stop is not None:
            raise stop
    if settings.certify is not None and signing_key is not None:
        _certify(settings.certify, settings.backends[0], header, file.results, signing_key)
    if settings.proposals is not None and proposed is not None:
        print(proposals.add(settings.proposals, proposed, file.results))
    return status


def _tell_estimate(selection: Selection, planned: Sequence[Task], done: Sequence[Result], jobs: int) -> None:
    """Say what is before a run of every number: of each operator, dtype and mode one chunk is judged here."""
    if selection.level != EXHAUSTIVE or selection.cases:
        return
    kinds: dict[tuple[str, str, str], list[Task]] = {}
    finished = {key_of(r) for r in done}
    for task in planned:
        if key_of(task) not in finished:
            kinds.setdefault((op_name_of(task), Case.parse(task.case).dtype, task.mode), []).append(task)
    counts = []
    for some in kinds.values():
        task, started = some[len(some) // 2], time.process_time()
        case = Case.parse(task.case)
        posed = make_question(case, op_of(case.op, task.ops), Mode(task.mode)).case_data
        expected = evaluate_expected(posed)
        judge(posed, Outputs([None if e is None else e.values for e in expected]), Rules(), expected)
        what = "pairs of numbers" if is_pairs(case.fill) else "numbers"
        counts.append((what, max(map(math.prod, case.shapes.values())), len(some), time.process_time() - started))
    if counts:
        sys.stderr.write(f"opproof: {describe_estimate(counts, jobs)}.\n")


def _write_coverage(file: ResultsFile, header: Header, folders: Sequence[str]) -> Header:
    """Write the header anew, with the pairs of factor levels that the records have, and return it."""
    covered = replace(header, coverage=count_coverage_of_run(file.results, folders))
    file.write_header(covered)
    return covered


def _certify(path: Path, backend: str, header: Header, results: Sequence[Result], key: certificate.SigningKey) -> None:
    """Write the certificate of a run of one backend, and say how it is checked."""
    certificate.write_certificate(path, certificate.make_certificate(header, results, hash_files(backend)), key)
    print(f"{path}: `opproof verify {path} -b {backend}` checks it")


def _describe_notes(
    settings: Settings, cache: CacheLocation | None, foreign: int, smallest: Sequence[Task]
) -> list[str]:
    """What is to be said of the run, beside its records: `foreign` entries of the cache were there before."""
    return [
        *_describe_disbelieved(cache, _count_foreign(cache) - foreign),
        *_describe_smallest(smallest, settings.keep),
        *warn_unguarded(settings.dask),
    ]


def _call_neighbours(pool: Judges, tasks: TaskLists, file: ResultsFile) -> list[Task]:
    """Add to records what their cases need to fail; the smallest cases of a run that drew its own."""
    file.replace(*find_deltas(pool.run, file.results, tasks.given, tasks.known))
    return shrink_failures(pool, file.results, tasks.given) if tasks.settings.seconds else []


def _read_known(settings: Settings) -> list[Known]:
    """The entries of the user's list and of the libraries' own. Raises UsageError."""
    own = read_known(settings.ledger) if settings.ledger else []
    return own + [entry for backend in dict.fromkeys(settings.backends) for entry in read_built_in(backend)]


def _limits_of(settings: Settings) -> HostLimits:
    """What judges may use; private are the files of the user's own references, but one that is a backend too."""
    folders = [path for path in map(Path, settings.selection.folders) if path.exists()]  # planning refuses the others
    own = (op.source for folder in folders for op in load_folder(folder))
    backends = {Path(b).resolve() for b in map(backend_of, settings.backends) if b.endswith(".py")}
    private = tuple(str(source) for source in own if source not in backends)
    memory = settings.memory * 2**20
    return HostLimits(settings.jobs, settings.timeout, memory, in_process=settings.in_process, private=private)


def _open_workers(settings: Settings, limits: HostLimits, cache: CacheLocation | None) -> Judges:
    """Those of this machine, or of a cluster. Raises UsageError."""
    if not settings.dask:
        limit_threads()
        return Session(limits) if settings.in_process else Pool(limits, cache)
    from opproof.harness.run.cluster import Cluster

    if settings.in_process:
        raise UsageError("--in-process is the judge's own process, which --dask has on other machines; leave one out.")
    size = settings.cache_size * 2**20 if settings.cache else None
    folders = [str(Path(f).resolve()) for f in settings.selection.folders]
    return Cluster(
        settings.dask, limits, size, [*map(backend_of, settings.backends), *folders], dict(settings.resources)
    )


def _count_foreign(cache: CacheLocation | None) -> int:
    """Entries of the cache that were not believed so far."""
    if cache is None:
        return 0
    store = CacheStore(cache)
    count = store.info().foreign
    store.close()
    return count


def _describe_disbelieved(cache: CacheLocation | None, count: int) -> list[str]:
    if cache is None or count <= 0:
        return []
    what = f"{count} {'entry' if count == 1 else 'entries'} of the cache in {cache.folder}"
    return [
        f"{what} did not come from this user's opproof, or not so; they were made anew. Does a backend write there?"
    ]


def _rules_of(settings: Settings) -> dict[str, object]:
    rules = {name: getattr(settings, name) for name in (*resume.RULES, "timeout", "repeat", "invariant", "threads")}
    return rules | {name: getattr(settings, name) * 2**20 for name in ("judge_memory", "memory")}


def _plan_lists(settings: Settings, declined: Collection[str]) -> Iterator[list[Task]]:
    """Lists of tasks: of drawn cases without end, but for operators that are `declined`; else one list of all tasks.

    None where no case matches, though a shard may get none of those that do. Raises UsageError.
    """
    backends, selection, rules = tuple(dict.fromkeys(settings.backends)), settings.selection, _rules_of(settings)
    if settings.seconds:
        yield from draw_task_lists(backends, selection, rules, declined)
        return
    selected = select_cases(selection)
    planned = make_tasks(backends, selected, selection, **rules)
    if planned or (selection.shard and selected):
        yield planned


def _describe_smallest(smallest: Sequence[Task], keep: Path | None) -> list[str]:
    """The smallest failing cases, each with its command, and where they are kept."""
    said = [f"smallest case that fails so: {repro_command_of(one)}" for one in smallest]
    if keep is not None:
        count = format_count(keep_cases(keep, (one.case for one in smallest)), "case")
        said.append(f"{count} added to {keep}: `--cases {keep}` runs them again.")
    return said


@dataclass
class TaskLists:
    """The tasks of a run, list after list, those drawn until time is up; `given` are all so far."""

    first: list[Task]
    following: Iterator[list[Task]]
    known: Sequence[Known]
    settings: Settings
    declined: DeclinedOperators
    given: list[Task] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[Task]]:
        """Each list, with the known failures that speak of its tasks."""
        seconds = self.settings.seconds
        self.deadline = time.monotonic() + seconds if seconds else math.inf
        following = iterate_ahead(self.following, self.deadline) if seconds else ()
        for tasks in itertools.chain([self.first], (with_known(some, self.known) for some in following)):
            self.given += tasks
            yield tasks

    def is_over(self, latest: Result, current: list[Task]) -> bool:
        """Whether nothing more is to run after the `latest` record, one of the `current` list."""
        late = current is not self.first and time.monotonic() > self.deadline
        return late or (self.settings.fail_fast and result_kind_of(latest) is ResultKind.FAILED)


def _run_tasks(
    pool: Judges, tasks: TaskLists, file: ResultsFile, known: Sequence[Known], *, quiet: bool
) -> KeyboardInterrupt | None:
    """Run what has no record yet, and write each record as it ends; one that comes again replaces the first.

    An interruption is given back, for there are records to report.
    """
    finished = {key_of(r) for r in file.results}
    seconds = tasks.settings.seconds
    with show_progress(0 if seconds else len(tasks.first), file.results, quiet=quiet, seconds=seconds) as shown:
        try:
            for some in tasks:
                for result in pool.run([t for t in some if key_of(t) not in finished]):
                    marked = require_impl(mark(result, known), tasks.settings.require_impl)
                    shown(marked, file.add(marked))
                    tasks.declined.note(marked)
                    if tasks.is_over(marked, some):
                        return None
        except KeyboardInterrupt as stop:
            return stop
    return None


def _make_header(settings: Settings, backends: list[dict[str, str]], count: int) -> Header:
    return make_legible(
        Header(
            opproof=__version__,
            backends=backends,
            host=describe_host(),
            options=options_of(settings),
            started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            cases=0 if settings.seconds else count,
            constants=CONSTANTS,
        )
    )


def check_own(planned: Sequence[Task]) -> None:
    """Try the smallest case of every operator that is none of ours. Raises OpError where one has no measured bound."""
    smallest: dict[str, tuple[int, Case, Op, Mode]] = {}
    for task in planned:
        if not task.ops:
            return
        case = Case.parse(task.case)
        op = op_of(case.op, task.ops)
        size = sum(0 if isinstance(shape, str) else math.prod(shape) for _, shape in case.tensors)  # a text: of a file
        if op.source.parent != FOLDER and size < smallest.get(op.name, (math.inf,))[0]:
            smallest[op.name] = size, case, op, Mode(task.mode)
    for _, case, op, mode in smallest.values():
        if mode is Mode.GRADIENT and op.vjp is None:
            continue
        try:
            evaluate_expected(make_question(case, op, mode).case_data)
        except OpError as error:
            raise OpError(f"{op.source}: the reference of {op.name}: {' '.join(str(error).split())}") from None
        except Exception:  # noqa: S110 - what else goes wrong is told by the records
            pass


#: Signals that end a process unless it asks for them; SIGINT is a KeyboardInterrupt already.
_SIGNALS = (signal.SIGTERM, signal.SIGHUP)


@contextmanager
def handle_interruption(find_command: Callable[[], str] = lambda: "") -> Iterator[None]:
    """Raises Stopped for an interruption of what is inside, with the command that goes on if there is one by then."""
    before = {n: signal.signal(n, _interrupt) for n in _SIGNALS if _is_free(n)}
    try:
        yield
    except KeyboardInterrupt as stop:
        number = stop.args[0] if stop.args else signal.SIGINT
        how = f"stopped by {signal.Signals(number).name}" if number != signal.SIGINT else "interrupted"
        kept = f"what was measured is kept, `{command}` goes on" if (command := find_command()) else "nothing was run"
        raise Stopped(f"{how}; {kept}.", 128 + number) from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _is_free(number: int) -> bool:
    """Whether the signal would end the process: not for a `nohup`, and handlers are the main thread's business."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(number) == signal.SIG_DFL


def _interrupt(number: int, frame: FrameType | None) -> None:
    del frame
    signal.signal(number, signal.SIG_IGN)  # the second must not interrupt the tidying up after the first
    raise KeyboardInterrupt(number)


#: Seconds after which a failing case is not made smaller any more, and causes of which a case is.
SHRINK_SECONDS = 15.0
MAX_SHRUNK = 8
#: Seconds that calls and their judging may take until a cause is narrowed to the levels that it needs, and all causes.
MAX_DELTA_SECONDS = 5.0
MAX_SECONDS_OF_DELTAS = 60.0
#: Failures whose neighbours take a minute, or all memory, each.
_SLOW = {Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY}
#: What a record says of its case: whether it fails. Others, as of what is declined or known, say nothing.
_FAILS = {ResultKind.FAILED: True, ResultKind.PASSED: False}


def shrink_failures(pool: Judges, results: Iterable[Result], tasks: Iterable[Task]) -> list[Task]:
    """The smallest task of each operator, mode and verdict that fails and no list knows, the first ones alone."""
    by_key = {key_of(task): task for task in tasks}
    first: dict[tuple[str, ...], Result] = {}
    for result in results:
        if _has_neighbours(result) and result.verdict in FAILED:
            first.setdefault((result.backend, result.op, str(result.mode), str(result.verdict)), result)
    shown = list(first.values())[:MAX_SHRUNK]
    return [_shrink_one(pool, r, by_key[key_of(r)]) for r in shown if key_of(r) in by_key]


def _has_neighbours(result: Result) -> bool:
    """Whether it is a failure, of a call that is not wrong itself."""
    return result_kind_of(result) is ResultKind.FAILED and result.mode is not Mode.REFUSAL


def _shrink_one(pool: Judges, result: Result, task: Task) -> Task:
    deadline = time.monotonic() + SHRINK_SECONDS

    def fails(candidate: Case) -> bool:
        if time.monotonic() > deadline:
            return False
        *_, last = pool.run([replace(task, case=str(candidate))])
        return last.verdict == result.verdict

    case = Case.parse(result.case)
    return replace(task, case=str(shrink(case, op_of(case.op, task.ops), fails).case))


def find_deltas(
    run: Callable[[Sequence[Task]], Iterable[Result]],
    results: Iterable[Result],
    tasks: Iterable[Task],
    known: Sequence[Known],
    seconds: float = MAX_SECONDS_OF_DELTAS,
) -> Iterator[Result]:
    """The smallest record of each cause again, with what its case needs to fail; as many as there is time for."""
    by_key, had = {key_of(task): task for task in tasks}, {key_of(r): r for r in results}
    spent = 0.0
    for cause in find_causes(r for r in had.values() if _has_neighbours(r)):
        result = cause.smallest
        task = by_key.get(key_of(result))
        if task is None or result.verdict not in FAILED - _SLOW or spent > seconds:
            continue
        case = Case.parse(result.case)
        if is_part(case.fill):  # a smaller one has other numbers, and not the wrong one
            continue
        neighbours = _CalledNeighbours(run, task, known, had)
        delta = find_delta(case, op_of(case.op, task.ops), neighbours.fails)
        spent += neighbours.seconds
        if delta is not None:
            yield replace(result, delta=str(delta))


@dataclass
class _CalledNeighbours:
    """Calls of neighbours of one failing case; what has a record already is not called."""

    run: Callable[[Sequence[Task]], Iterable[Result]]
    task: Task
    known: Sequence[Known]
    had: Mapping[tuple[str, str, str], Result]
    seconds: float = 0.0

    def fails(self, case: Case) -> bool | None:
        """Whether the case fails; None where its record says nothing. Raises OutOfCallsError."""
        task = replace(self.task, case=str(case))
        record = self.had.get(key_of(task))
        if record is None:
            if self.seconds > MAX_DELTA_SECONDS:
                raise OutOfCallsError
            *_, record = self.run([task])
            self.seconds += record.seconds + (record.judging or 0.0)
        return _FAILS.get(result_kind_of(mark(record, self.known)))
