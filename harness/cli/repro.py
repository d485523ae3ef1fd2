"""Commands on cases: show one, shrink one that fails; export them as files, judge the answers that come back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from opproof.cases import Case
from opproof.cases._fills.exhaustive import is_every, is_pairs
from opproof.cases._fills.tensors import is_unconstrained
from opproof.core.arrays import Array, Closed, Whole
from opproof.core.dtypes import DTYPES
from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.core.verdicts import FAILED, MODES, Mode
from opproof.harness.cli.options import MEBIBYTES, PATH, SECONDS, choose_cases, selection_of
from opproof.harness.judge.bound import bound_of
from opproof.harness.reference import kinks
from opproof.harness.reference.expected import expect_forward, expect_vjp
from opproof.harness.reference.question import make_question, name_outputs
from opproof.harness.reference.valid_case import check_case, op_of
from opproof.harness.reference.wrong_call import make_wrong_call
from opproof.harness.run.plan import has_gradient, is_asked
from opproof.reference_ops import Op
from opproof.reports import Result


@click.command("show")
@click.argument("case")
@click.option("--mode", type=click.Choice(["forward", "gradient"]), help="Whose data: the gradient's where it has one.")
@click.option("--npz", type=PATH, metavar="FILE", help="Write all arrays to FILE.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def show_command(*, case: str, mode: str | None, npz: Path | None, folders: tuple[str, ...]) -> None:
    """Show CASE: inputs, expected values and gradients, and the bound of every element.

    The two modes of some operators have data of their own; a record's are those of its mode.
    """
    import numpy as np

    parsed = check_case(Case.parse(case), folders)
    shown = mode_of(parsed, folders, mode)
    arrays = arrays_of(parsed, folders, shown)
    if npz is not None:
        try:
            np.savez(npz, **arrays)  # type: ignore[arg-type]
        except OSError as error:
            raise UsageError(f"cannot write {npz}: {error.strerror or error}; give another file with --npz.") from None
    click.echo("\n".join([f"{parsed}  {shown}", *domain_of(parsed, folders)]))
    with np.printoptions(precision=6, threshold=40, edgeitems=3, linewidth=110):
        for name, array in arrays.items():
            click.echo(f"\n{name}  shape {array.shape}  {array.dtype}\n{array}")
    if npz is not None:
        click.echo(f"\nwritten to {npz}")


@click.command("shrink")
@click.argument("case")
@click.option("-b", "--backend", required=True, help="Name, ./file.py or ./library.so.")
@click.option("--mode", type=click.Choice(["forward", "gradient"]), help="The first that fails by default.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT, show_default=True, help="Seconds.")
@click.option("--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB.")
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
def shrink_command(
    *, case: str, backend: str, mode: str | None, folders: tuple[str, ...], timeout: float, memory: int,
    convention: str, strict_subnormals: bool,
) -> None:  # fmt: skip
    """Reduce CASE, which fails on a backend, to the smallest case that still fails with the same verdict.

    Exit status: 0 a failing case was shrunk (or is as small as it gets), 2 the call is wrong or the case passes.
    """
    from opproof.harness.run.scheduler import Pool
    from opproof.harness.run.task import HostLimits, Task
    from opproof.harness.space.shrink import shrink

    given = check_case(Case.parse(case), folders)
    if given.wrong:
        raise UsageError(f"{given} is a wrong call, which has no smaller one; give a case without wrong=.")
    op = op_of(given.op, folders)
    options: dict[str, Any] = {
        "strict_subnormals": strict_subnormals,
        "convention": convention,
        "ops": tuple(str(Path(f).resolve()) for f in folders),
        "memory": memory * 2**20,
        "timeout": timeout,
    }
    with Pool(HostLimits(1, timeout, memory * 2**20)) as pool:
        pool.describe(backend)

        def result(candidate: Case, mode: str) -> Result:
            task = Task(backend, str(candidate), mode, **options)
            *_, last = pool.run([task])  # what comes before it are earlier tasks, told of again
            return last

        modes = [m for m in ((mode,) if mode else MODES) if is_asked(given, op, m)]
        first = next((r for r in (result(given, m) for m in modes) if r.verdict in FAILED), None)
        if first is None:
            raise UsageError(f"{given} does not fail on {backend} ({' and '.join(modes)}): there is nothing to shrink.")
        last = first

        def fails(candidate: Case) -> bool:
            nonlocal last
            record = result(candidate, first.mode)
            if record.verdict == first.verdict:
                last = record
            return record.verdict == first.verdict

        shrunk = shrink(given, op, fails)
    click.echo(_render_text(first, last, shrunk.tried, shrunk.invalid))


def _render_text(first: Result, last: Result, tried: int, invalid: int) -> str:
    lines = [last.case if last.case != first.case else f"{last.case} is as small as it gets"]
    as_first = f", as {first.case}" * (last.case != first.case)
    lines.append(f"  {last.verdict} ({last.mode}){as_first}")
    if last.worst is not None:
        w = last.worst
        at = f"[{', '.join(map(str, w.index))}]" if w.index else ""
        lines.append(f"  worst: {w.tensor}{at} got {w.got}, expected {w.expected} within {w.bound}")
    lines += [f"  {said}" for said in (last.message, last.diagnosis) if said]
    lines.append(f"  {tried} candidates tried, {invalid} more were no case of this operator")
    return "\n".join([*lines, f"  {last.repro}"])


def domain_of(case: Case, folders: Sequence[str] = ()) -> list[str]:
    """A line for each tensor whose numbers the operator's `domain` confines: what is done to what is drawn."""
    op = op_of(case.op, tuple(folders))
    constraints = op.domain(case.shapes, **case.kwargs) if op.domain else {}
    within = {name: c.within if isinstance(c, Closed) else c for name, c in constraints.items() if name in case.shapes}
    return [
        f"domain of {name}: {_describe_ends(c, closed=isinstance(constraints[name], Closed))}; "
        f"{_describe_treatment(case, op)}"
        for name, c in within.items()
        if c in ("nonzero", "definite", "regular") or (isinstance(c, tuple) and not isinstance(c, Whole))
    ]


def _describe_ends(constraint: Any, *, closed: bool) -> str:
    if isinstance(constraint, str):
        named = {"definite": "symmetric positive definite", "regular": "invertible"}.get(constraint)
        return f"{named} matrices" if named else "numbers other than 0"
    low, high = constraint
    return f"from {low:g} to {high:g}" if closed else f"between {low:g} and {high:g}"


def _describe_treatment(case: Case, op: Op) -> str:
    """What is done to numbers outside of a domain, by the fill of the case."""
    if is_every(case.fill):
        beyond = op.facts["BEYOND"] or is_pairs(case.fill)
        return "numbers outside are asked for too" if beyond else "numbers outside are replaced by others"
    return "what is drawn stays" if is_unconstrained(case.fill) else "what is drawn is mapped into it"


def mode_of(case: Case, folders: Sequence[str] = (), asked: str | None = None) -> Mode:
    """The mode whose data are meant: the one that was asked for, else the gradient's where the case has one.

    Raises UsageError where a gradient is asked for of a case that has none.
    """
    op = op_of(case.op, tuple(folders))
    differentiated = has_gradient(case, op) and not case.wrong
    if asked == Mode.GRADIENT and not differentiated:
        raise UsageError(f"{case} has no gradient: give --mode forward, or none.")
    return Mode.GRADIENT if differentiated and asked != Mode.FORWARD else Mode.FORWARD


def arrays_of(case: Case, folders: Sequence[str] = (), asked: str | None = None) -> dict[str, Array]:
    """Arrays by name: `input x`, `expected y`, `bound y`, `cotangent y`, `gradient x`, `gradient bound x`.

    `asked`: the mode; in some operators each has data of its own, as a gradient is drawn where there is one. See
    `mode_of`.
    """
    op = op_of(case.op, tuple(folders))
    dtype = DTYPES[case.dtype]
    mode = mode_of(case, folders, asked)
    posed = make_question(replace(case, wrong=""), op, mode).case_data
    posed = make_wrong_call(posed, case.wrong) if case.wrong else posed
    arrays: dict[str, Array] = {
        f"input {n}": v for n, v in zip(posed.names, posed.inputs, strict=True) if v is not None
    }
    if case.wrong:  # nothing is expected
        return arrays
    expected = expect_forward(posed)
    names = name_outputs(op, len(expected))
    for name, e in zip(names, expected, strict=True):
        arrays[f"expected {name}"], arrays[f"bound {name}"] = e.values, bound_of(e, dtype)
    if mode is Mode.FORWARD or not any(posed.needs):
        return arrays
    arrays |= {f"cotangent {n}": g for n, g in zip(names, posed.cotangents, strict=True) if g is not None}
    if op.vjp is None:
        gradients = [None if e is None else e.expected for e in kinks.estimate_gradients(posed)]
    else:
        gradients = expect_vjp(posed)
    for argument, e2 in zip(posed.names, gradients, strict=True):
        if e2 is not None:
            kind = DTYPES[case.dtype_of(argument)]
            arrays[f"gradient {argument}"], arrays[f"gradient bound {argument}"] = e2.values, bound_of(e2, kind)
    return arrays


_SIZE = click.IntRange(min=1, max=2**40)


@click.command("export")
@click.argument("folder", type=PATH, metavar="DIR")
@choose_cases("standard")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Another draws all data anew.")
@click.option("--largest", type=_SIZE, default=1024, show_default=True, metavar="KIB", help="KiB that a file may have.")
@click.option("--total", type=_SIZE, default=256, show_default=True, metavar="MIB", help="MiB that all may have.")
def export_command(folder: Path, **options: Any) -> int:
    """Write golden vectors to DIR: a safetensors file for every case, and manifest.json, which says how to read them.

    For simulators, boards and languages that opproof does not start. What they answer, `opproof judge` judges.
    Exit status: 3 where nothing was written.
    """
    from opproof.harness.run.finish import Exit
    from opproof.harness.run.plan import make_tasks, select_cases
    from opproof.harness.vectors.export import export

    selection = selection_of(options, seed=options["seed"])
    planned = make_tasks(("",), select_cases(selection), selection)
    if not planned:
        click.echo(
            "opproof: no case matches; `opproof list cases` with the same options shows what there is.", err=True
        )
        return Exit.NO_EVIDENCE
    made = export(folder, planned, options["largest"] * 2**10, options["total"] * 2**20)
    files = len({r.file for r in made.records})
    click.echo(f"{len(made.records)} records in {files} files: {folder / 'manifest.json'}")
    for reason in dict.fromkeys(r.reason for r in made.left_out):
        click.echo(f"left out: {sum(r.reason == reason for r in made.left_out)} records, since {reason}")
    return Exit.PASSED if made.records else Exit.NO_EVIDENCE


@click.command("judge")
@click.argument("folder", type=PATH, metavar="DIR")
@click.option("--answers", type=PATH, required=True, metavar="ANSWERS", help="The folder of the answers.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
@click.option("--known", "ledger", type=PATH, metavar="FILE", help="Ledger of known failures (TOML).")
@click.option(
    "--out",
    type=PATH,
    default=Path("opproof-report"),
    show_default=True,
    metavar="DIR",
    help="Where the report goes; to DIR-2 and so on where DIR holds anything but an earlier run of the same call.",
)
@click.option("--quiet", is_flag=True, help="No progress, no table; the failures and the last line only.")
def judge_command(folder: Path, answers: Path, **options: Any) -> int:
    """Judge the ANSWERS to the cases that `opproof export` wrote to DIR, as if a backend had just given them.

    Exit status: as of run.
    """
    import os

    from opproof.core.errors import UsageError
    from opproof.core.system import count_cores
    from opproof.harness.run import runner
    from opproof.harness.run.hosts import answer_files
    from opproof.harness.run.hosts.answer_files import KIND
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.results.resume import Settings

    exported = answer_files.read(folder)
    if not exported.records:
        raise UsageError(f"{folder} holds no case: export some, with opproof export -o OP DIR.")
    if not answers.is_dir():
        raise UsageError(f"there is no folder {answers}: give --answers the folder that holds the answers.")
    if not any((answers / r.answer).exists() for r in exported.records):
        wanted = exported.records[0].answer
        raise UsageError(f"{answers} holds no answer to {folder}: expected files such as {answers / wanted}.")
    if os.pathsep in str(folder):
        raise UsageError(f"{folder} has {os.pathsep!r} in its name; give the folder another.")
    modes = tuple(dict.fromkeys(r.mode for r in exported.records))
    settings = Settings(
        backends=(f"{KIND}:{folder}{os.pathsep}{answers}",),
        selection=Selection(modes=modes, case_files=(str(folder / answer_files.CASES),), folders=exported.folders),
        jobs=options["jobs"] if options["jobs"] is not None else count_cores(),
        convention=options["convention"],
        strict_subnormals=options["strict_subnormals"],
        ledger=options["ledger"],
        out=options["out"],
        quiet=options["quiet"],
    )
    return runner.run(settings)
