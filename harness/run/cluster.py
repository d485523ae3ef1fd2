"""Tasks through the workers of a Dask cluster, as scheduler.py takes them through the judges of this machine.

Dask gives the chunk of a worker that was lost to another one; records come with a chunk's answer, so that none is there
twice. A scheduler that was lost is waited for, and asked again for what it still owed. A worker keeps a pool, with
hosts of its own, from one chunk of cases to the next.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import logging
import math
import multiprocessing
import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from opproof.core.capabilities import rename_backend
from opproof.core.errors import BackendError, OpError, UsageError
from opproof.core.verdicts import Verdict
from opproof.harness import __version__
from opproof.harness.run.cache.store import place
from opproof.harness.run.hardening import with_hardened_process
from opproof.harness.run.record import make_early_record
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task, by_case
from opproof.reports import Result

LOCAL = "local"
#: Chunks that lie ready for each worker beside the one that it is at.
_READY = 2
#: Seconds that a chunk is to take, and the most cases that it may hold.
_CHUNK_SECONDS = 2.0
_MAX_CHUNK_CASES = 256
#: Seconds to wait for a scheduler, for its first worker, and for a scheduler that was lost.
_CONNECT_SECONDS = 10.0
_FIRST_WORKER_SECONDS = 60.0
_RECONNECT_SECONDS = 120.0


class Cluster:
    """The workers of one run; a context manager with the face of a Pool."""

    def __init__(
        self,
        address: str,
        limits: HostLimits,
        cache: int | None = None,
        files: Sequence[str] = (),
        resources: Mapping[str, float] | None = None,
    ) -> None:
        """`cache` is in bytes, of each worker's own. Raises UsageError where there is no cluster."""
        self._address, self._limits = address, limits
        self._resources = dict(resources or {})
        self._order = Order(__version__, limits, cache, make_uploads(files))
        self._refused: dict[str, str] = {}
        self._seconds = 0.0  # of a case, lately
        self._latest: Mapping[str, Any] = {}  # workers
        self._asked = -math.inf
        self._cluster: Any = None
        self._client: Any = None
        self._reach = ExitStack()

    def __enter__(self) -> Self:
        self._distributed = _load_distributed()
        if self._address == LOCAL:
            self._cluster = _start_local(self._distributed, self._limits.jobs, self._resources)
        self._connect()
        self._reach.enter_context(with_hardened_process())
        return self

    def __exit__(self, *_: object) -> None:
        for one in (self._client, self._cluster):
            if one is not None:
                with suppress(Exception):
                    one.close(timeout=5)
        self._reach.close()

    def describe(self, backend: str) -> dict[str, str]:
        """Name, version, device, as the first worker has it. Raises BackendError where no worker can load it."""
        while True:
            where = self._place_of_calls()
            called = self._client.submit(describe_backend, self._order, backend, pure=False, **where)
            answer: ChunkRecords = called.result()
            if not answer.refusal:
                about = answer.about
                known = (*self._order.backends, (backend, about["name"], about["version"]))
                self._order = replace(self._order, backends=known)
                return about
            self._refuse(answer)

    def run(self, tasks: Sequence[Task]) -> Iterator[Result]:
        """Records as their chunks end, one for every task."""
        left = deque(by_case(tasks))
        pending: dict[Any, list[tuple[Task, ...]]] = {}  # cases, by what will answer them
        try:
            while left or pending:
                try:
                    self._submit(left, pending)
                    for future in self._ended(pending):
                        yield from self._records(future, pending.pop(future), left)
                except (OSError, TimeoutError, CancelledError, RuntimeError) as error:
                    if not self._is_gone():
                        raise
                    left.extendleft(case for cases in pending.values() for case in cases)
                    pending.clear()
                    self._restore_connection(error)
        finally:
            with suppress(Exception):
                self._client.cancel(list(pending))

    def _submit(self, left: deque[tuple[Task, ...]], pending: dict[Any, list[tuple[Task, ...]]]) -> None:
        """Hand over chunks of cases: the first ones have one, others as many as take so many seconds, or a share."""
        workers = max(1, len(self._count_allowed()))
        while left and len(pending) < _READY * workers:
            most = round(_CHUNK_SECONDS / self._seconds) if self._seconds else 1
            share = -(-len(left) // (_READY * workers))
            cases = [left.popleft() for _ in range(max(1, min(share, _MAX_CHUNK_CASES, most)))]
            pending[self._client.submit(judge_chunk, self._order, cases, pure=False, **self._place_of_calls())] = cases

    def _ended(self, pending: Mapping[Any, object]) -> list[Any]:
        """Those that have an answer, one at least unless the scheduler is slow."""
        with suppress(TimeoutError):
            self._distributed.wait(list(pending), timeout=5, return_when="FIRST_COMPLETED")
        if self._is_gone():
            raise OSError("the scheduler is gone")
        return [future for future in pending if future.status in ("finished", "error", "cancelled", "lost")]

    def _records(
        self, future: Any, cases: Sequence[tuple[Task, ...]], left: deque[tuple[Task, ...]]
    ) -> Iterator[Result]:
        try:
            answer: ChunkRecords = future.result()
        except self._distributed.scheduler.KilledWorker:
            if len(cases) == 1:
                reason = "workers were killed while they were at this case, several times"
                yield from (make_early_record(task, Verdict.HARNESS_ERROR, reason) for task in cases[0])
            left.extendleft(cases if len(cases) > 1 else [])
            self._seconds = _CHUNK_SECONDS  # one case at a time
            return
        except ImportError as error:
            raise UsageError(f"a worker cannot load opproof: {error}; install it there, as here.") from None
        if answer.error:
            raise UsageError(answer.error)
        if answer.refusal:
            left.extendleft(cases)
            self._refuse(answer)
            return
        latest = answer.seconds / len(cases)
        self._seconds = latest if self._seconds == 0 else 0.7 * self._seconds + 0.3 * latest
        yield from answer.results

    def _refuse(self, answer: ChunkRecords) -> None:
        """Go on without a worker. Raises BackendError where none is left, at once where all are of this machine."""
        if self._address == LOCAL:
            raise BackendError(answer.refusal)
        if answer.worker not in self._refused:
            self._refused[answer.worker] = answer.refusal
            sys.stderr.write(f"opproof: worker {answer.worker} is left out: {answer.refusal}\n")
        if not self._count_allowed():
            every = "; ".join(f"{worker}: {said}" for worker, said in self._refused.items())
            raise BackendError(f"no worker of {self._address} can judge: {every.rstrip('.')}.")

    def _count_allowed(self) -> list[str]:
        return [worker for worker in self._list_workers() if worker not in self._refused]

    def _place_of_calls(self) -> dict[str, Any]:
        """On which workers a call may go, and what it needs of them."""
        given: dict[str, Any] = {"resources": self._resources} if self._resources else {}
        return {**given, "workers": self._count_allowed(), "allow_other_workers": False} if self._refused else given

    def _list_workers(self) -> Mapping[str, Any]:
        """Those that there are, as the scheduler said a second ago at most."""
        now = time.monotonic()
        if now - self._asked > 1.0:
            self._latest, self._asked = self._client.scheduler_info(n_workers=-1)["workers"], now
        return self._latest

    def _connect(self) -> None:
        try:
            client = self._distributed.Client(self._cluster or self._address, timeout=_CONNECT_SECONDS)
        except (OSError, TimeoutError, ValueError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {self._address}: expected one started by `dask scheduler`; "
                f"got {type(error).__name__}. Check the address, or give --dask local."
            ) from None
        except (TypeError, RuntimeError) as error:  # how Dask says that a key is missing, or that one is asked for
            raise UsageError(
                f"no word with the Dask scheduler at {self._address}: {' '.join(str(error).split())}; expected tls:// "
                "with Dask's settings distributed.comm.tls, or tcp:// without; docs/how-to/cluster.md shows both."
            ) from None
        self._client, self._asked = client, -math.inf
        try:
            client.wait_for_workers(1, timeout=_FIRST_WORKER_SECONDS)
        except TimeoutError:
            raise UsageError(
                f"the scheduler at {self._address} has no workers; start some: dask worker ADDRESS --nthreads 1."
            ) from None
        self._check_resources()

    def _check_resources(self) -> None:
        for name, amount in self._resources.items():
            if not any(w["resources"].get(name, 0) >= amount for w in self._list_workers().values()):
                raise UsageError(
                    f"no worker of {self._address} offers {name}={amount:g}; "
                    f"start one with --resources '{name}={amount:g}', or leave --resource out."
                )

    def _is_gone(self) -> bool:
        return self._client is None or self._client.status not in ("running", "newly-created")

    def _restore_connection(self, error: BaseException) -> None:
        sys.stderr.write(
            f"opproof: the scheduler at {self._address} is gone ({type(error).__name__}); waiting for it.\n"
        )
        with suppress(Exception):
            self._client.close(timeout=2)
        until = time.monotonic() + _RECONNECT_SECONDS
        while True:
            try:
                self._connect()
            except UsageError:
                if time.monotonic() > until:
                    raise
                time.sleep(1.0)
            else:
                self._refused.clear()
                return


def _load_distributed() -> Any:
    """The library. Raises UsageError where it is not installed."""
    try:
        import distributed
    except ImportError:
        raise UsageError(
            "--dask needs the package distributed, which is not installed; pip install 'opproof[dask]', or in a clone "
            "pip install '.[dask]'."
        ) from None
    # What matters is said in our words. Some of its loggers have a level and a handler of their own, so each is set.
    for name in [name for name in logging.root.manager.loggerDict if name.split(".")[0] == "distributed"]:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    return distributed


def _start_local(distributed: Any, jobs: int, resources: Mapping[str, float]) -> Any:
    """Workers on this machine, processes of one thread that may start others."""
    import dask

    # What a worker writes to disk when memory is short it reads as a pickle, and its folder is open to backends.
    dask.config.set({"distributed.worker.daemon": False, "distributed.worker.memory.spill": False})
    # Its pages are served to whoever asks, even without a dashboard: none, and at a port that nobody else can have.
    dask.config.set({"distributed.scheduler.http.routes": [], "distributed.worker.http.routes": []})
    try:
        keys = distributed.Security.temporary()  # for one run, in memory
    except ImportError:
        raise UsageError(
            "--dask local needs the package cryptography, which is not installed; pip install cryptography."
        ) from None
    no_pages = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    return distributed.LocalCluster(
        n_workers=jobs, threads_per_worker=1, processes=True, scheduler_kwargs=no_pages, dashboard_address=None,
        resources=dict(resources) or None, security=keys, protocol="tls://",
        silence_logs=logging.CRITICAL,
    )  # fmt: skip


def describe_backend(order: Order, spec: str) -> ChunkRecords:
    """Name, version and device of a backend as this worker has it."""
    name, refusal = _check_worker(order)
    if refusal:
        return ChunkRecords(name, refusal=refusal)
    at = store_uploads(order.files)
    try:
        return ChunkRecords(
            name, about={**_describe(order.limits, order.cache, rename_backend(spec, at)), "spec": spec}
        )
    except BackendError as error:
        called = str(error).replace(rename_backend(spec, at), spec)  # the run's own name of the file
        return ChunkRecords(name, refusal=called)


def judge_chunk(order: Order, cases: Sequence[Sequence[Task]]) -> ChunkRecords:
    """The records of whole cases."""
    name, refusal = _check_worker(order)
    try:
        at = store_uploads(order.files)
        refusal = refusal or _compare_backends(order, at)
        if refusal:
            return ChunkRecords(name, refusal=refusal)
        begun = time.perf_counter()
        tasks = [to_local_names(task, at) for case in cases for task in case]
        results = [to_call_names(r, at) for r in _open_pool(order.limits, order.cache).run(tasks)]
    except BackendError as error:
        return ChunkRecords(name, refusal=str(error))
    except (OpError, UsageError) as error:
        return ChunkRecords(name, error=str(error))
    return ChunkRecords(name, results, time.perf_counter() - begun)


def _check_worker(order: Order) -> tuple[str, str]:
    """The worker's address, and what keeps it from judging."""
    from distributed import get_worker

    worker, said = get_worker(), ""
    if order.opproof != __version__:
        said = f"it has opproof {__version__}; expected {order.opproof}, the version of the run"
    elif worker.state.nthreads != 1:
        said = f"it has {worker.state.nthreads} threads; start it with --nthreads 1"
    elif multiprocessing.current_process().daemon:
        said = "its process is a daemon's, which may start no others; set DASK_DISTRIBUTED__WORKER__DAEMON=False"
    return worker.address, said


@functools.cache
def _open_pool(limits: HostLimits, cache: int | None) -> Pool:
    """The judge of this worker, by what it may use."""
    pool = Pool(replace(limits, jobs=1), None if cache is None else place(cache))
    atexit.register(pool.__exit__)
    return pool.__enter__()


@functools.cache
def _describe(limits: HostLimits, cache: int | None, path: str) -> Mapping[str, str]:
    """What a backend calls itself here."""
    return _open_pool(limits, cache).describe(path)


def _compare_backends(order: Order, at: dict[str, str]) -> str:
    """How a backend here differs from that of the run."""
    for spec, name, version in order.backends:
        about = _describe(order.limits, order.cache, rename_backend(spec, at))
        if (about["name"], about["version"]) != (name, version):
            here = f"{about['name']} {about['version']}"
            return f"its {spec} is {here}; expected {name} {version}, as the run has it"
    return ""


@dataclass(frozen=True)
class Order:
    """Whose judges, what they may use, and files that a worker may lack."""

    opproof: str  # the version of the run
    limits: HostLimits
    cache: int | None  # bytes of the worker's own cache; None for no cache
    files: tuple[Upload, ...] = ()
    backends: tuple[tuple[str, str, str], ...] = ()  # spec, name and version, as the run knows them


@dataclass(frozen=True)
class ChunkRecords:
    """The records of a chunk, or why this worker gives none."""

    worker: str
    results: Sequence[Result] = ()
    seconds: float = 0.0
    refusal: str = ""  # what is wrong with the worker
    error: str = ""  # what is wrong with the call: no worker would do better
    about: dict[str, str] = field(default_factory=dict)  # of a backend, where that was asked


#: Bytes that one file may have: all of them are in every message.
LARGEST = 2**26


@dataclass(frozen=True)
class Upload:
    """A file, or the Python files of a folder, under the name that the call has for it."""

    name: str
    parts: tuple[tuple[str, bytes], ...]  # relative path and content

    @property
    def digest(self) -> str:
        """Of its name and all that it holds."""
        whole = hashlib.blake2b(self.name.encode(), digest_size=12)
        for path, content in self.parts:
            whole.update(path.encode() + b"\0" + hashlib.blake2b(content).digest())
        return whole.hexdigest()


def make_uploads(names: Iterable[str]) -> tuple[Upload, ...]:
    """Those of `names` that are files or folders here, small enough to travel."""
    return tuple(one for name in dict.fromkeys(names) if (one := _read(name)) is not None)


def store_uploads(files: Iterable[Upload]) -> dict[str, str]:
    """Where each lies on this machine, by its name: written once, under a name that its content has."""
    at: dict[str, str] = {}
    for one in files:
        folder = Path(tempfile.gettempdir()) / f"opproof-shipped-{one.digest}"
        base = folder / (Path(one.name).name or "folder")
        single = len(one.parts) == 1 and not one.parts[0][0]
        for relative, content in one.parts:
            path = base if single else base / relative
            if not path.exists() or path.read_bytes() != content:
                path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                path.write_bytes(content)
        at[one.name] = str(base)
    return at


def to_local_names(task: Task, at: Mapping[str, str]) -> Task:
    """The task by the names that its files have on this machine."""
    return replace(task, backend=rename_backend(task.backend, at), ops=tuple(at.get(o, o) for o in task.ops))


def to_call_names(result: Result, at: Mapping[str, str]) -> Result:
    """The record by the names that the call has for its files."""
    repro, message = result.repro, result.message
    for name, path in at.items():
        repro, message = repro.replace(path, name), message.replace(path, name)
    backend = rename_backend(result.backend, {path: name for name, path in at.items()})
    return replace(result, backend=backend, repro=repro, message=message)


def _read(name: str) -> Upload | None:
    path = Path(name)
    if path.is_dir():
        found = sorted(path.rglob("*.py"))
        return Upload(name, tuple((str(p.relative_to(path)), p.read_bytes()) for p in found))
    if path.is_file() and path.stat().st_size <= LARGEST:
        return Upload(name, (("", path.read_bytes()),))
    return None
