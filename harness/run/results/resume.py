"""All that `opproof run` is asked, and going on with an interrupted run: whether it can be, and which records count."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.core.verdicts import Verdict
from opproof.harness import __version__
from opproof.harness.reference.chunks.memory_budget import DEFAULT_MEMORY_BYTES
from opproof.harness.run.cache.location import SIZE
from opproof.harness.run.plan import Selection
from opproof.harness.run.results.file import key_of
from opproof.harness.run.results.signatures import keep_aside, select_signed
from opproof.reports import Header, Result, read_header, read_results


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


#: Fields that the header records: all that the records depend on.
_RECORDED = (
    *("backends", "selection", "jobs", "timeout", "memory", "judge_memory", "convention", "grad_oracle"),
    *("strict_subnormals", "signed_zeros", "repeat", "invariant", "threads", "in_process", "seconds", "require_impl"),
)


def options_of(settings: Settings) -> dict[str, Any]:
    """The options that the header records, and the ledger."""
    options = {name: getattr(settings, name) for name in _RECORDED}
    plain = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
    selection = {field.name: getattr(settings.selection, field.name) for field in fields(Selection)}
    return plain | {"selection": selection, "known": str(settings.ledger.resolve()) if settings.ledger else ""}


def settings_of_interrupted(settings: Settings, folder: Path, anew: Collection[str] = ()) -> Settings:
    """The settings of the interrupted run in `folder`; jobs, timeout and memory may be given `anew`.

    Raises ResultsError where there is no run, UsageError where it cannot be gone on with.
    """
    header = read_header(folder)
    folder = folder if folder.is_dir() else folder.parent
    _refuse(folder, _compare_versions(header))
    recorded = {name: value for name, value in header.options.items() if name in _RECORDED}
    try:
        asked = msgspec.convert(recorded, Settings)
        known = msgspec.convert(header.options["known"], str)
    except (KeyError, msgspec.ValidationError):
        raise UsageError(
            f"{folder} does not say what was asked of its run; give the folder of an `opproof run`."
        ) from None
    same = {name: getattr(asked, name) for name in _RECORDED if name not in anew}
    ledger = Path(known) if known else settings.ledger
    return replace(settings, **same, ledger=ledger, out=folder, resume=True)


def read_done(folder: Path, header: Header, key_of_marks: bytes | None) -> list[Result]:
    """The records in `folder` that the run of `header` need not make again, one of a key.

    A record of which opproof itself was the fault is made again, and so is one without this user's mark, which is kept
    in a file of its own and told of on stderr. Raises UsageError where the backend, opproof or the bound has changed:
    its records would be answers to two questions.
    """
    before, results = read_results(folder)
    _refuse(folder, [*_compare_versions(before), *_compare_bounds(before, header), *_compare_backends(before, header)])
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


def _compare_bounds(before: Header, header: Header) -> list[str]:
    if before.constants == header.constants:
        return []
    return [f"its bound is {before.bound}, and this opproof's is {header.bound}"]


def _compare_backends(before: Header, header: Header) -> list[str]:
    earlier = {about.get("spec"): about for about in before.backends}
    return [
        f"the {name} of {about['spec']} was {earlier.get(about['spec'], {}).get(name)!r}, and is {value!r}"
        for about in header.backends
        for name, value in about.items()
        if earlier.get(about["spec"], {}).get(name) != value
    ]
