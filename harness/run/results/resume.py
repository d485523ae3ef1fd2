"""All that `opproof run` is asked, where it may write, and going on with an interrupted run: which records count.

A run writes to a folder that is free, or holds what a run of the same call left; it is locked for one run.
"""

from __future__ import annotations

import fcntl
import itertools
import os
import platform
import shlex
import sys
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec

from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.core.verdicts import Verdict
from opproof.harness import __version__
from opproof.harness.reference.chunks.memory_budget import DEFAULT_MEMORY_BYTES
from opproof.harness.run.cache.store import SIZE
from opproof.harness.run.plan import Selection
from opproof.harness.run.results.file import REPORTS, keep_aside, key_of, select_signed
from opproof.reports import Header, Result, ResultsError, read_header, read_results
from opproof.reports._results import FILE


@dataclass(frozen=True)
class Settings:
    """What to run on which backends, how to judge it, and where to leave it."""

    backends: tuple[str, ...]
    selection: Selection
    jobs: int = 2
    timeout: float = TIMEOUT  # seconds a case
    memory: int = HOST_MEMORY // 2**20  # MiB, of a host
    judge_memory: int = DEFAULT_MEMORY_BYTES // 2**20  # MiB, of judging one case
    convention: str = "any"
    grad_oracle: str = "reference"
    strict_subnormals: bool = False
    signed_zeros: bool = False
    profile: str = ""  # the standard whose limits are judged beside ours
    repeat: int = 1
    invariant: tuple[str, ...] = ()
    require_impl: str = ""  # the name, * for anything, of what has to compute each answer
    threads: tuple[int, ...] = ()
    isa: tuple[str, ...] = ()  # vector capabilities that each backend is to run under, or "all"
    isa_variables: tuple[str, ...] = ()  # capabilities as variables of the library's own: GGML_CPU=avx2
    in_process: bool = False  # the backend in the judge's own process
    ledger: Path | None = None
    out: Path = Path("opproof-report")
    quiet: bool = False
    resume: bool = False
    proposals: Path | None = None  # the ledger that unexpected failures are proposed to
    cache: bool = True
    cache_size: int = SIZE // 2**20  # MiB
    dask: str = ""  # address of a scheduler, or "local"; empty: judges on this machine
    resources: tuple[tuple[str, float], ...] = ()  # that a worker must offer, by name
    seconds: float = 0.0  # for which cases are drawn; 0: those of the level
    fail_fast: bool = False  # stop at the first failure that no list knows
    keep: Path | None = None  # the file to which the smallest failing cases are added
    certify: Path | None = None  # the file of the certificate
    key: Path | None = None  # that signs it, in PEM


#: Fields that the header records: all that the records depend on.
_RECORDED = (
    *("backends", "selection", "jobs", "timeout", "memory", "judge_memory", "convention", "grad_oracle", "profile"),
    *("strict_subnormals", "signed_zeros", "repeat", "invariant", "threads", "in_process", "seconds", "require_impl"),
)


def options_of(settings: Settings) -> dict[str, Any]:
    """The options that the header records, and the ledger."""
    known = str(settings.ledger.resolve()) if settings.ledger else ""
    options: dict[str, Any] = {name: getattr(settings, name) for name in _RECORDED} | {"known": known}
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(options))  # as they are read back: tuples are lists
    return plain


def settings_of_interrupted(settings: Settings, folder: Path, anew: Collection[str] = ()) -> Settings:
    """The settings of the interrupted run in `folder`; jobs, timeout and memory may be given `anew`.

    Raises ResultsError where there is no run, UsageError where it cannot be gone on with.
    """
    header = read_header(folder)
    folder = folder if folder.is_dir() else folder.parent
    _refuse(folder, _compare_versions(header))
    asked = read_options(header.options, folder)
    same = {name: getattr(asked, name) for name in _RECORDED if name not in anew}
    return replace(settings, **same, ledger=asked.ledger or settings.ledger, out=folder, resume=True)


def read_options(options: Mapping[str, Any], where: Path) -> Settings:
    """The settings that a header records, the reverse of `options_of`. Raises UsageError that names `where`."""
    recorded = {name: value for name, value in options.items() if name in _RECORDED}
    try:
        asked = msgspec.convert(recorded, Settings)
        known = msgspec.convert(options["known"], str)
    except (KeyError, msgspec.ValidationError):
        raise UsageError(
            f"{where} does not say what was asked of its run; give the folder of an `opproof run`."
        ) from None
    return replace(asked, ledger=Path(known) if known else None)


def read_done(folder: Path, header: Header, key_of_marks: bytes | None) -> list[Result]:
    """The records in `folder` that the run of `header` need not make again, one of a key.

    A record of which opproof itself was the fault is made again, and so is one without this user's mark, which is kept
    in a file of its own and told of on stderr. Raises UsageError where the backend, opproof or the bound has changed:
    its records would be answers to two questions.
    """
    before, results = read_results(folder)
    _refuse(folder, _compare_headers(before, header))
    ours = select_signed(folder, before, results, key_of_marks)
    if len(ours) < len(results):
        sys.stderr.write(
            f"opproof: {_describe_unmarked(folder, len(results) - len(ours), len(results), key_of_marks)}\n"
        )
    return [r for r in {key_of(r): r for r in ours}.values() if r.verdict != Verdict.HARNESS_ERROR]


def _describe_unmarked(folder: Path, count: int, of: int, key_of_marks: bytes | None) -> str:
    """That records are made again which anybody might have written. Raises UsageError where they cannot be kept."""
    try:
        aside = keep_aside(folder)
    except OSError as error:
        raise UsageError(
            f"cannot keep what {folder} holds without a mark: {error.strerror or error}; free some space there."
        ) from None
    why = (
        "there is no key in the folder of this user's caches"
        if key_of_marks is None
        else "another user's opproof or an older one wrote them, or a backend did"
    )
    return (
        f"{count:,} of the {of:,} records in {folder} have no mark of this user's opproof ({why}):"
        f" they are made again, and {aside} keeps them."
    )


def command_to_resume(settings: Settings, folder: Path) -> str:
    """The command that goes on with the run in `folder`."""
    text = f"opproof run --resume {shlex.quote(str(folder))}"
    if settings.dask:
        text += f" --dask {shlex.quote(settings.dask)}"
    for name, amount in settings.resources:
        text += f" --resource {shlex.quote(f'{name}={amount:g}')}"
    if settings.proposals is not None:
        text += f" --update-known {shlex.quote(str(settings.proposals))}"
    return text


def _refuse(folder: Path, differences: list[str]) -> None:
    if differences:
        said = "; ".join(differences)
        raise UsageError(f"{folder} cannot be gone on with: {said}; make the run anew, in another folder.")


def _compare_versions(before: Header) -> list[str]:
    return [] if before.opproof == __version__ else [f"it is of opproof {before.opproof}, and this is {__version__}"]


def _compare_headers(before: Header, header: Header) -> list[str]:
    """In what an interrupted run differs from that which goes on with it."""
    unlike = before.constants != header.constants
    bounds = [f"its bound is {before.bound}, and this opproof's is {header.bound}"] * unlike
    earlier = {about.get("spec"): about for about in before.backends}
    return [*_compare_versions(before), *bounds] + [
        f"the {name} of {about['spec']} was {earlier.get(about['spec'], {}).get(name)!r}, and is {value!r}"
        for about in header.backends
        for name, value in about.items()
        if earlier.get(about["spec"], {}).get(name) != value
    ]


#: Options by which records are judged.
RULES = ("convention", "grad_oracle", "strict_subnormals", "signed_zeros", "profile", "in_process")
#: Options that make it another call. Jobs, timeout, memory and the ledger may differ: the question is the same.
_QUESTION = ("backends", "selection", *RULES)


@contextmanager
def with_locked_folder(out: Path, header: Header, *, resume: bool = False) -> Iterator[Path]:
    """The folder that the run of `header` writes to, its alone until the end: `out`, or `out`-2, `out`-3, ...

    On `resume` it is `out`, whatever it holds. Raises UsageError where it is in use, or cannot be written to.
    """
    try:
        lock = take(out) if resume else _lock_first(out, header)
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot write to {out}: {reason}; give another folder with --out DIR.") from None
    try:
        yield lock.path.parent
    finally:
        release(lock)


def _lock_first(out: Path, header: Header) -> Lock:
    """The first of `out`, `out`-2, ... that holds nothing which the run may not replace; says so where it is not `out`.

    Raises FolderLocked where `out` is another run's, UsageError where no other name can be made, OSError.
    """
    kept = ""  # what `out` holds
    for number in itertools.count(1):
        folder = out.with_name(f"{out.name}-{number}") if kept else out
        try:
            lock = take(folder)
        except (FolderLocked, FileExistsError):
            if not kept:
                raise
            continue
        with ExitStack() as stack:
            stack.callback(release, lock)
            if not (content := describe_foreign(folder, header)):
                stack.pop_all()
                break
        if out.name in ("", ".."):
            raise UsageError(f"{out} holds {content}, which is kept; give another folder with --out DIR.")
        kept = kept or content
    if kept:
        sys.stderr.write(f"opproof: {out} holds {kept}, which is kept; this run goes to {folder}.\n")
    return lock


def describe_foreign(folder: Path, header: Header) -> str:
    """What the folder holds that a run of `header` may not replace, in words; empty where there is nothing."""
    path = folder / FILE
    if not os.path.lexists(path):
        left = [name for name in REPORTS if os.path.lexists(folder / name)]
        return f"a {left[0]} without its {FILE}" if left else ""
    if path.is_symlink() or not path.is_file():
        return f"something else by the name of {FILE}"
    try:
        before = read_header(path)
    except ResultsError:
        return f"a {FILE} that this opproof did not write"
    return "" if _identity_of(before) == _identity_of(header) else "the run of another call"


def _identity_of(header: Header) -> dict[str, Any]:
    return {name: header.options.get(name) or None for name in _QUESTION}


LOCK_FILE = ".opproof-lock"

#: How long the process that has just locked a folder may take to write who it is, in seconds.
_PATIENCE = 1.0


class FolderLocked(UsageError):
    """Another run has the folder."""


@dataclass(frozen=True)
class Lock:
    """A folder that is this run's alone, until `release`."""

    path: Path
    descriptor: int


def take(folder: Path) -> Lock:
    """Make the folder where there is none, and lock it. Raises Busy, and OSError where it cannot be written to.

    The lock is the open file's, not the name's: what a killed run left behind locks nobody out.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK_FILE
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(descriptor)
            os.close(descriptor)
            raise FolderLocked(
                f"{folder} is in use by another run, {holder}; wait for its end, or give another folder with --out DIR."
            ) from None
        except OSError:  # a file system without locks
            break
        if _is(path, descriptor):  # not removed by a run that ended just now
            break
        os.close(descriptor)
    lock = Lock(path, descriptor)
    try:
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {platform.node()}".encode())
    except OSError:
        release(lock)
        raise
    return lock


def release(lock: Lock) -> None:
    """Let other runs have the folder, and leave no trace in it."""
    with suppress(OSError):  # the folder is gone, or cannot be written to any more
        if _is(lock.path, lock.descriptor):
            lock.path.unlink()
    os.close(lock.descriptor)


def _is(path: Path, descriptor: int) -> bool:
    """Whether the name still stands for the open file."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _read_holder(descriptor: int) -> str:
    end = time.monotonic() + _PATIENCE
    while True:
        text = os.pread(descriptor, 300, 0).decode("utf-8", "replace")
        if text or time.monotonic() > end:
            return text or "a process that does not say which it is"
        time.sleep(0.02)
