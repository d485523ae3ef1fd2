"""What runs on a worker of a cluster: a pool that is kept from one chunk of cases to the next, and what travels."""

from __future__ import annotations

import atexit
import hashlib
import multiprocessing
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opproof.core.capabilities import rename_backend
from opproof.core.errors import BackendError, OpError, UsageError
from opproof.harness import __version__
from opproof.harness.run.cache.location import place
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task
from opproof.reports import Result

#: The judge of this worker, by what it may use.
_POOLS: dict[tuple[HostLimits, int | None], Pool] = {}
#: What backends here call themselves, by spec.
_ABOUT: dict[tuple[HostLimits, str], dict[str, str]] = {}


def describe_backend(order: Order, spec: str) -> ChunkRecords:
    """Name, version and device of a backend as this worker has it."""
    name, refusal = _check_worker(order)
    if refusal:
        return ChunkRecords(name, refusal=refusal)
    at = store_uploads(order.files)
    try:
        return ChunkRecords(name, about=_describe(order, spec, rename_backend(spec, at)))
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
        results = [to_call_names(r, at) for r in _open_pool(order).run(tasks)]
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


def _open_pool(order: Order) -> Pool:
    key = (order.limits, order.cache)
    if key not in _POOLS:
        pool = Pool(replace(order.limits, jobs=1), None if order.cache is None else place(order.cache))
        _POOLS[key] = pool.__enter__()
        atexit.register(pool.__exit__)
    return _POOLS[key]


def _describe(order: Order, spec: str, path: str) -> dict[str, str]:
    key = (order.limits, path)
    if key not in _ABOUT:
        _ABOUT[key] = {**_open_pool(order).describe(path), "spec": spec}
    return _ABOUT[key]


def _compare_backends(order: Order, at: dict[str, str]) -> str:
    """How a backend here differs from that of the run."""
    for spec, name, version in order.backends:
        about = _describe(order, spec, rename_backend(spec, at))
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
