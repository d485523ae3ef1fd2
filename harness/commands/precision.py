"""opproof precision: which lower precision a backend has to declare, measured and written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opproof.cases._registry import LEVELS
from opproof.core.errors import UsageError
from opproof.harness.commands._values import MEBIBYTES, SECONDS, Choice, finite, listed
from opproof.harness.run.task import HOST_MEMORY, TIMEOUT

if TYPE_CHECKING:
    from opproof.harness.precision.file import Measurement
    from opproof.harness.precision.measure import Row


@click.command("precision")
@click.option("-b", "--backend", required=True, help="Name, ./file.py, ./library.so or exec:COMMAND.")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--dtype", "dtypes", multiple=True, metavar="f16,bf16,...", help="Only these dtypes.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Seeds 0 to N - 1.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("--timeout", type=SECONDS, callback=finite, default=TIMEOUT, show_default=True, help="Seconds a case.")
@click.option("--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB.")
@click.option("--write", is_flag=True, help="Bring the precision.toml of a built-in backend, or --out, up to date.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="The file for --write.")
def command(
    *,
    backend: str,
    names: tuple[str, ...],
    level: str,
    dtypes: tuple[str, ...],
    seeds: int,
    folders: tuple[str, ...],
    timeout: float,
    memory: int,
    write: bool,
    out: Path | None,
) -> int:
    """Judge each record of a backend with what it declares of its precision, and without.

    An operator needs a declaration where a record fails without it and passes with it: "storage" in 16 bits, or the
    dtype where sums have no more either, "f32" in float64, or what the backend declares. What fails either way is a
    defect.
    Exit status: 0 what is declared is what is needed, or is now; 1 it is not; 2 the call is wrong; 3 nothing ran.
    """
    from tqdm import tqdm

    from opproof.harness.precision.file import Measurement
    from opproof.harness.precision.measure import rows
    from opproof.harness.precision.survey import measured, planned, table
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.task import Limits

    target = _target(backend, out) if write else None
    selection = Selection(ops=listed(names), level=level, dtypes=listed(dtypes), folders=folders)
    tasks = [replace(t, timeout=timeout, memory=memory * 2**20) for t in planned(backend, selection, seeds)]
    found = tqdm(measured(tasks, Limits(1, timeout, memory * 2**20)), total=len(tasks), unit="record", disable=None)
    judged = rows(m for m in found if m is not None)
    if not judged:
        click.echo("opproof: no record was judged, so there is nothing to measure.", err=True)
        return 3
    click.echo(table(judged))
    if target is not None:
        _write(target, Measurement(backend, judged))
        return 0
    return 1 if _changes(judged) else 0


def _changes(judged: Sequence[Row]) -> bool:
    return any(row.needed != row.declared for row in judged)


def _target(backend: str, out: Path | None) -> Path:
    """The file to write. Raises UsageError where nobody said which, BackendError where it is bad."""
    from opproof.backends import precision
    from opproof.backends.load import built_in

    name = backend.partition(":")[0]
    if out is None and name not in built_in():
        raise UsageError(f"{backend} is no adapter of opproof's, so --write needs the file: give --out precision.toml.")
    target = precision.path_of(name) if out is None else out
    precision.read(target)  # a bad one is said now, not after minutes
    return target


def _write(target: Path, measurement: Measurement) -> None:
    from opproof.backends import precision
    from opproof.harness.precision.file import merged, text
    from opproof.reports.files import write

    entries = merged(precision.read(target), measurement)
    write(target, text(entries))
    click.echo(f"{target}: {len(entries)} declarations")
