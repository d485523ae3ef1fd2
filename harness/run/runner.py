"""One run from start to report: plan, try operators of the user's own, execute, write each record, report."""

from __future__ import annotations

import datetime
import itertools
import math
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from opproof.cases import Case
from opproof.core.capabilities import backend_of
from opproof.core.errors import OpError, Stopped, UsageError
from opproof.core.system import describe_host, uncollected
from opproof.core.verdicts import Mode
from opproof.harness import __version__
from opproof.harness.judge.array_statistics import CONSTANTS
from opproof.harness.known_failures import proposals
from opproof.harness.known_failures.findings import of_versions, read_built_in
from opproof.harness.known_failures.known import Known, mark, read_known
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.cache.location import CacheLocation, find_key, place
from opproof.harness.run.cache.store import CacheStore
from opproof.harness.run.capabilities import apply_capabilities
from opproof.harness.run.drawing import DeclinedOperators, draw_task_lists, iterate_ahead, keep_cases
from opproof.harness.run.finish import Exit, finish
from opproof.harness.run.hardening import warn_unguarded
from opproof.harness.run.neighbours import Smallest, find_deltas, shrink_failures
from opproof.harness.run.plan import make_tasks, scope_of, select_cases, with_known
from opproof.harness.run.results import resume
from opproof.harness.run.results.file import ResultsFile, key_of, open_results_file
from opproof.harness.run.results.folder import with_locked_folder
from opproof.harness.run.results.resume import Settings, options_of
from opproof.harness.run.scheduler import Judges, Pool, prepare
from opproof.harness.run.standalone.rejudge import recheck_backends
from opproof.harness.run.task import HostLimits, Task, by_case
from opproof.reference_ops import Op, load_folder
from opproof.reference_ops._op import FOLDER
from opproof.reports import Header, Result
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._results import make_legible
from opproof.reports._text import format_count
from opproof.reports.implementations import require_impl
from opproof.reports.progress import show_progress


def run(settings: Settings) -> int:
    """Run, report, and return the exit status.

    Raises UsageError and its kin for a wrong call, ResultsError where the results could not be written to the end,
    Stopped where the run was interrupted.
    """
    proposed = None if settings.proposals is None else proposals.read(settings.proposals)
    settings, limits = apply_capabilities(settings, _limits_of(settings))
    known = _read_known(settings)
    if not settings.in_process and not settings.dask:
        prepare()
    drawn, declined = _draw_lists(settings)
    with uncollected():
        planned = _plan_tasks(settings) if drawn is None else next(drawn, None)
    if planned is None:
        sys.stderr.write("opproof: no case matches; `opproof list cases` with the same options shows what there is.\n")
        return Exit.NO_EVIDENCE
    check_own(planned)
    jobs = min(settings.jobs, sum(1 for _ in by_case(planned)) or 1)  # a judge without a case would load the backend
    limits = replace(limits, jobs=jobs)
    backends = dict.fromkeys(settings.backends)
    cache = place(settings.cache_size * 2**20) if settings.cache and not settings.in_process else None
    foreign = _count_foreign(cache)
    with handle_interruption() as resumption, ExitStack() as claims:
        with _open_workers(settings, limits, cache) as pool:
            header = _make_header(settings, [pool.describe(b) for b in backends], 0 if drawn else len(planned))
            folder = claims.enter_context(with_locked_folder(settings.out, header, resume=settings.resume))
            known, silent = of_versions(known, header.backends)
            marking = find_key()
            done = resume.read_done(folder, header, marking) if settings.resume else []
            file = claims.enter_context(open_results_file(folder, header, done, marking))
            resumption.command = resume.command_to_resume(settings, folder)
            planned = with_known(planned, known)
            tasks = TaskLists(planned, drawn, known, settings, declined)
            stop = _run_tasks(pool, tasks, file, known, quiet=settings.quiet)
            smallest = _call_neighbours(pool, tasks, file) if stop is None else []
        judged_here = stop is None and not settings.in_process and not settings.dask
        in_programs = recheck_backends(backends, tasks.given, file, known, limits.environments) if judged_here else []
        file.verify()  # now that no backend is left that could write to it
        status = finish(
            folder,
            header,
            file.results,
            known if stop is None else [],  # what did not run cannot accuse a ledger
            quiet=settings.quiet,
            extent=scope_of(settings.selection),
            complaints=[file.tampering] if file.tampering else [],
            notes=[
                *_describe_disbelieved(cache, _count_foreign(cache) - foreign),
                *silent,
                *_describe_smallest(smallest, settings.keep),
                *in_programs,
                *warn_unguarded(settings.dask),
            ],
        )
        if stop is not None:
            raise stop
    if settings.proposals is not None and proposed is not None:
        print(proposals.add(settings.proposals, proposed, file.results))
    return status


def _call_neighbours(pool: Judges, tasks: TaskLists, file: ResultsFile) -> list[Smallest]:
    """Add to records what their cases need to fail; the smallest cases of a run that drew its own."""
    file.replace(*find_deltas(pool, file.results, tasks.given, tasks.known))
    return shrink_failures(pool, file.results, tasks.given) if tasks.drawn is not None else []


def _limits_of(settings: Settings) -> HostLimits:
    memory = settings.memory * 2**20
    private = _private_files_of(settings)
    return HostLimits(settings.jobs, settings.timeout, memory, in_process=settings.in_process, private=private)


def _read_known(settings: Settings) -> list[Known]:
    """The entries of the user's list and of the libraries' own. Raises UsageError."""
    own = read_known(settings.ledger) if settings.ledger else []
    return own + [entry for backend in dict.fromkeys(settings.backends) for entry in read_built_in(backend)]


def _private_files_of(settings: Settings) -> tuple[str, ...]:
    """The files of the user's own references, but one that is a backend too."""
    folders = [path for path in map(Path, settings.selection.folders) if path.exists()]  # planning refuses the others
    own = (op.source for folder in folders for op in load_folder(folder))
    backends = {Path(b).resolve() for b in map(backend_of, settings.backends) if b.endswith(".py")}
    return tuple(str(source) for source in own if source not in backends)


def _open_workers(settings: Settings, limits: HostLimits, cache: CacheLocation | None) -> Judges:
    """Those of this machine, or of a cluster. Raises UsageError."""
    if not settings.dask:
        return Pool(limits, cache)
    from opproof.harness.run.cluster.client import Cluster

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


def _plan_tasks(settings: Settings) -> list[Task] | None:
    """All tasks of the run; None where no case matches, though a shard may get none of those that do."""
    selected = select_cases(settings.selection)
    planned = make_tasks(tuple(dict.fromkeys(settings.backends)), selected, settings.selection, **_rules_of(settings))
    return planned if planned or (settings.selection.shard and selected) else None


def _rules_of(settings: Settings) -> dict[str, object]:
    names = ("convention", "grad_oracle", "strict_subnormals", "signed_zeros", "timeout", "in_process", "repeat")
    rules = {name: getattr(settings, name) for name in (*names, "invariant", "threads")}
    return rules | {"judge_memory": settings.judge_memory * 2**20, "memory": settings.memory * 2**20}


def _draw_lists(settings: Settings) -> tuple[Iterator[list[Task]] | None, DeclinedOperators]:
    """Lists of tasks of drawn cases without end, None where nothing is drawn, and what they pass over.

    Raises UsageError where the selection names cases of its own.
    """
    declined, backends = DeclinedOperators(), tuple(dict.fromkeys(settings.backends))
    if not settings.seconds:
        return None, declined
    return draw_task_lists(backends, settings.selection, _rules_of(settings), declined.names), declined


def _describe_smallest(smallest: Sequence[Smallest], keep: Path | None) -> list[str]:
    """The smallest failing cases, each with its command, and where they are kept."""
    said = [f"smallest case that fails so: {one.command}" for one in smallest]
    if keep is not None:
        count = format_count(keep_cases(keep, (one.case for one in smallest)), "case")
        said.append(f"{count} added to {keep}: `--cases {keep}` runs them again.")
    return said


@dataclass
class TaskLists:
    """The tasks of a run, list after list, those drawn until time is up; `given` are all so far."""

    first: list[Task]
    drawn: Iterator[list[Task]] | None
    known: Sequence[Known]
    settings: Settings
    declined: DeclinedOperators
    given: list[Task] = field(default_factory=list)

    def __iter__(self) -> Iterator[list[Task]]:
        """Each list, with the known failures that speak of its tasks."""
        self.deadline = time.monotonic() + self.settings.seconds if self.drawn is not None else math.inf
        following = () if self.drawn is None else iterate_ahead(self.drawn, self.deadline)
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
    count = len(tasks.first) if tasks.drawn is None else 0
    with show_progress(count, file.results, quiet=quiet, seconds=tasks.settings.seconds) as shown:
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
            cases=count,
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
        _check(case, op, mode)


def _check(case: Case, op: Op, mode: Mode) -> None:
    if mode is Mode.GRADIENT and op.vjp is None:
        return
    try:
        evaluate_expected(make_question(case, op, mode).case_data)
    except OpError as error:
        raise OpError(f"{op.source}: the reference of {op.name}: {' '.join(str(error).split())}") from None
    except Exception:  # noqa: S110 - what else goes wrong is told by the records
        pass


#: Signals that end a process unless it asks for them; SIGINT is a KeyboardInterrupt already.
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


@dataclass
class Resumption:
    """How to go on, where there is anything to go on with."""

    command: str = ""


class _Signal(KeyboardInterrupt):
    """A signal that is treated as the keyboard's is."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


@contextmanager
def handle_interruption() -> Iterator[Resumption]:
    """Raises Stopped for an interruption of what is inside, which may say meanwhile how to go on."""
    resumption = Resumption()
    before = {n: signal.signal(n, _interrupt) for n in _SIGNALS if _is_free(n)}
    try:
        yield resumption
    except KeyboardInterrupt as stop:
        number = stop.number if isinstance(stop, _Signal) else signal.SIGINT
        how = f"stopped by {signal.Signals(number).name}" if number != signal.SIGINT else "interrupted"
        kept = f"what was measured is kept, `{resumption.command}` goes on" if resumption.command else "nothing was run"
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
    raise _Signal(number)
