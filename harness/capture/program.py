"""A program captured: run, its calls sorted, and the file of cases that they make."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import tomlkit

from opproof.cases import Case
from opproof.harness.capture.recorder import Calls, Counts, recording
from opproof.harness.run.plan import checked
from opproof.vocabulary.errors import CaseError, OpError, UsageError


@contextlib.contextmanager
def capturing(path: Path, title: str) -> Iterator[Calls]:
    """A block whose calls of PyTorch become cases in the file at `path`, also where it ends by an exception."""
    if not path.resolve().parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.resolve().parent}.")
    calls = Calls()
    try:
        with recording() as calls:
            yield calls
    finally:
        _refuse_uncomputable(calls)
        path.write_text(text_of(calls, title), encoding="utf-8")


def run(script: Path, arguments: Sequence[str], path: Path) -> Calls:
    """Run a script as python would, and write its cases. Raises UsageError where there is none, or it fails."""
    if not script.is_file():
        raise UsageError(f"no script {script}: expected a Python file that runs a PyTorch program.")
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script), *arguments], [str(script.resolve().parent)]
    try:
        with capturing(path, script.name) as calls:
            try:
                runpy.run_path(str(script), run_name="__main__")
            except SystemExit:
                pass
            except Exception as error:
                text = " ".join(str(error).split())
                raise UsageError(
                    f"{script} raised {type(error).__name__}: {text}. What ran before stands in {path}."
                ) from error
    finally:
        sys.argv, sys.path[:] = before
    return calls


def _refuse_uncomputable(calls: Calls) -> None:
    """Count among the unmapped what our operator of that name does not take."""
    for case in [*calls.cases]:
        try:
            checked(case)
        except (CaseError, OpError):
            calls.unmapped[case.op] += calls.cases.pop(case).calls


def text_of(calls: Calls, title: str) -> str:
    """The file of cases: the most expensive first, then the most frequent."""
    document = tomlkit.document()
    document.add("title", tomlkit.item(title))
    if calls.unmapped:
        document.add("unmapped", tomlkit.item(dict(calls.unmapped.most_common())))
    tables = tomlkit.aot()
    for case, counts in sorted(calls.cases.items(), key=lambda item: (-item[1].flops, -item[1].calls, str(item[0]))):
        tables.append(_table(case, counts))
    document.add("case", tables)
    return tomlkit.dumps(document)


def _table(case: Case, counts: Counts) -> tomlkit.items.Table:
    table = tomlkit.table()
    table.add("id", str(case))
    table.add("calls", counts.calls)
    if counts.flops:
        table.add("flops", counts.flops)
    return table
