"""One run from start to report: plan, execute, write each record as it ends, report."""

from __future__ import annotations

import datetime
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from opproof.harness import __version__
from opproof.harness.judge.bound import C
from opproof.harness.ledger import proposals
from opproof.harness.ledger.known import built_in, mark, read_known
from opproof.harness.run.finish import finish
from opproof.harness.run.limits import Limits
from opproof.harness.run.plan import Selection, cases, tasks
from opproof.harness.run.pool import Pool
from opproof.harness.run.task import Task
from opproof.reports import Header, Result, read_results, write_line
from opproof.reports._results import FILE
from opproof.vocabulary.errors import UsageError
from opproof.vocabulary.modes import MODES
from opproof.vocabulary.verdicts import FAILED


@dataclass(frozen=True)
class Settings:
    """Everything that `opproof run` was asked."""

    backends: tuple[str, ...]
    selection: Selection
    jobs: int = 2
    timeout: float = 30.0
    memory: int = 4096  # MiB
    convention: str = "any"
    grad_oracle: str = "reference"
    strict_subnormals: bool = False
    ledger: Path | None = None
    out: Path = Path("opproof-report")
    quiet: bool = False
    resume: bool = False
    proposals: Path | None = None  # the ledger that unexpected failures are proposed to


def resumed(settings: Settings, folder: Path) -> Settings:
    """The settings of the interrupted run in `folder`; jobs, timeout and memory may be new."""
    header, _ = read_results(folder)
    saved = header.options
    if not {"backends", "selection", "convention", "strict_subnormals", "known"} <= set(saved):
        raise UsageError(f"{folder} does not say what was asked of its run; give the folder of an `opproof run`.")
    fields: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in saved["selection"].items()}
    selection = Selection(**fields)
    return replace(
        settings,
        backends=tuple(saved["backends"]),
        selection=selection,
        convention=saved["convention"],
        grad_oracle=saved.get("grad_oracle", "reference"),
        strict_subnormals=saved["strict_subnormals"],
        ledger=Path(saved["known"]) if saved["known"] else settings.ledger,
        out=folder,
        resume=True,
    )


def run(settings: Settings) -> int:
    """Run, report, and return the exit status. Raises UsageError and its kin for a wrong call."""
    proposed = None if settings.proposals is None else proposals.read(settings.proposals)
    known = [
        *(read_known(settings.ledger) if settings.ledger else []),
        *(k for b in settings.backends for k in built_in(b)),
    ]
    selected = cases(settings.selection)
    rules = {
        "convention": settings.convention,
        "grad_oracle": settings.grad_oracle,
        "strict_subnormals": settings.strict_subnormals,
    }
    backends = tuple(dict.fromkeys(settings.backends))
    planned = tasks(backends, selected, settings.selection, **rules)
    if not planned and not (settings.selection.shard and selected):  # an empty shard is a part like the others
        sys.stderr.write("opproof: no case matches; `opproof list cases` with the same options shows what there is.\n")
        return 3
    done = read_results(settings.out)[1] if settings.resume else []
    with Pool(Limits(settings.jobs, settings.timeout, settings.memory * 2**20)) as pool:
        header = _header(settings, [pool.describe(b) for b in backends], len(planned))
        with results_file(settings.out, header, done) as file:
            results = list(done)
            for result in _progress(pool.run(_remaining(planned, done)), len(planned), len(done), settings.quiet):
                marked = mark(result, known)
                write_line(file, marked)
                results.append(marked)
    complete = is_complete(settings.selection)
    found = finish(settings.out, header, results, known, quiet=settings.quiet, complete=complete)
    if settings.proposals is not None and proposed is not None:
        print(proposals.add(settings.proposals, proposed, results))
    return found


def is_complete(selection: Selection) -> bool:
    """Whether the run tries all there is at a level that ledgers are written for."""
    filtered = selection.ops or selection.keyword or selection.dtypes or selection.cases or selection.shard
    return not filtered and selection.modes == MODES and selection.level != "smoke"


def _remaining(planned: Sequence[Task], done: Sequence[Result]) -> list[Task]:
    finished = {(r.backend, r.case, r.mode) for r in done}
    return [t for t in planned if (t.backend, t.case, t.mode) not in finished]


def _header(settings: Settings, backends: list[dict[str, str]], count: int) -> Header:
    selection = settings.selection
    return Header(
        opproof=__version__,
        backends=backends,
        host={
            "system": f"{platform.system()} {platform.release()}",
            "machine": platform.machine(),
            "python": platform.python_version(),
            "numpy": np.__version__,
            "cpus": str(os.cpu_count()),
        },
        options={
            "backends": list(settings.backends),
            "selection": {name: getattr(selection, name) for name in selection.__dataclass_fields__},
            "jobs": settings.jobs,
            "timeout": settings.timeout,
            "memory": settings.memory,
            "convention": settings.convention,
            "grad_oracle": settings.grad_oracle,
            "strict_subnormals": settings.strict_subnormals,
            "known": str(settings.ledger.resolve()) if settings.ledger else "",
        },
        started=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        cases=count,
        constant=C,
    )


@contextmanager
def results_file(out: Path, header: Header, done: Sequence[Result]) -> Iterator[IO[bytes]]:
    """results.jsonl open for appending; on resume it is first rewritten without a line cut short."""
    path = out / FILE
    try:
        out.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".part")
        with fresh.open("wb") as file:
            write_line(file, header)
            for result in done:
                write_line(file, result)
        fresh.replace(path)
        file = path.open("ab")
    except OSError as error:
        reason = error.strerror or error
        raise UsageError(f"cannot write to {out}: {reason}; give another folder with --out DIR.") from None
    with file:
        yield file


def _progress(results: Iterator[Result], total: int, done: int, quiet: bool) -> Iterator[Result]:
    from tqdm import tqdm

    failed = 0
    with tqdm(total=total, initial=done, unit="rec", disable=quiet or None, leave=False, smoothing=0.05) as bar:
        for result in results:
            failed += result.verdict in FAILED
            bar.update()
            bar.set_postfix_str(f"{failed} failed, {result.op}", refresh=False)
            yield result
