"""Commands for those who write a backend or an operator: init, skill, header, check-backend, precision, selfcheck."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from opproof.cases._registry import LEVELS
from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.harness.cli.options import MEBIBYTES, SECONDS, Choice, split_values

if TYPE_CHECKING:
    from opproof.harness.precision.measure import Measurement


#: What to type in the folder, by the kind of backend.
_NEXT = {
    "c": "make check",
    "python": "opproof run -b ./backend.py -o relu",
    "exec": "opproof run -b 'exec:python3 backend.py' -o relu",
    "exec-c": "make check",
    "triton": "opproof run -b ./backend.py -o relu",
}
_SUFFIX = ".in"
#: Where the files of an operator lie in a clone, by their skeleton.
_OF_OPERATOR = {"reference.py": "reference_ops", "cases.py": "cases"}
#: What to type once an operator has its formula and its rows.
_CHECKS = """\
opproof selfcheck -o {name}      # NumPy = PyTorch, vjp = autograd = differences = complex step
python benchmarks/arrays.py {name}  # its covering array: cases/drawn/{name}.txt
opproof run -b numpy -o {name}   # no case may be VACUOUS
opproof run -b torch -o {name}
python benchmarks/mutation -o {name}  # no mutant survives
pytest tests/harness -k coverage"""


@click.command("init")
@click.argument("kind", type=Choice([*_NEXT, "op"]))
@click.argument("target", metavar="DIR|NAME")
def init_command(*, kind: str, target: str) -> None:
    """Write a backend with relu, its gradient and a test into DIR, which holds nothing of these names yet.

    `opproof init op NAME`, in a clone of opproof, writes reference_ops/NAME.py and cases/NAME.py.
    """
    from shlex import quote

    if kind == "op":
        files = _make_operator(target)
        then = _CHECKS.format(name=target)
    else:
        folder = Path(target)
        files = {folder / name: text for name, text in _load_skeleton(kind).items()}
        then = f"cd {quote(target)} && {_NEXT[kind]}"
    _write_files(files, "name" if kind == "op" else "folder")
    click.echo(f"{'  '.join(map(str, files))}\n\n{then}")


def _load_skeleton(kind: str) -> dict[str, str]:
    from opproof.harness import skeletons

    source = Path(next(iter(skeletons.__path__))) / kind
    return {f.name.removesuffix(_SUFFIX): f.read_text(encoding="utf-8") for f in sorted(source.glob(f"*{_SUFFIX}"))}


def _make_operator(name: str) -> dict[Path, str]:
    """The files of an operator in this clone. Raises UsageError where it is none, or the name cannot be one."""
    if not name.isidentifier() or name != name.lower() or name.startswith("_"):
        raise UsageError(f"{name!r} is no name of an operator: use small letters, digits and underscores.")
    for folder in _OF_OPERATOR.values():
        if not Path(folder).is_dir():
            raise UsageError(f"no {folder} here: go to a clone of opproof. Elsewhere use `opproof run --ops DIR`.")
    return {
        Path(_OF_OPERATOR[f]) / f"{name}.py": text.replace("NAME", name) for f, text in _load_skeleton("op").items()
    }


def _write_files(files: dict[Path, str], other: str) -> None:
    """Write all files, or none where one is there already. Raises UsageError, which asks for another of `other`."""
    taken = [path for path in files if path.exists()]
    folder = (taken or list(files))[0].parent
    if taken:
        names = ", ".join(path.name for path in taken if path.parent == folder)
        raise UsageError(f"{folder} has {names} already: give another {other}; nothing was written.")
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write into {folder}: {error.strerror}; give another folder.") from None


@click.command("skill")
def skill_command() -> None:
    """Print a skill for coding agents: opproof skill > .claude/skills/opproof/SKILL.md, or where yours are."""
    click.echo(_load_skeleton("skill")["SKILL.md"], nl=False)


@click.command("header")
def header_command() -> None:
    """Print the path of opproof.h: cc -I"$(dirname "$(opproof header)")" ..."""
    from importlib.resources import files

    click.echo(files("opproof.backends") / "opproof.h")


@click.command("check-backend")
@click.argument("spec", metavar="exec:COMMAND")
@click.option("--op", default="", metavar="OP", help="Ask for this pointwise operator of one tensor.")
@click.option("--timeout", type=SECONDS, default=10.0, show_default=True, help="Seconds a call.")
def check_backend_command(*, spec: str, op: str, timeout: float) -> int:
    """Hold a few small dialogues with COMMAND in the exec protocol, and say what is wrong with its answers.

    Exit status: 0 it speaks the protocol, 1 it does not, 2 the call is wrong.
    """
    from opproof.harness.run.hosts.exec_dialogues import Command, check
    from opproof.reference_ops import load as load_op

    prefix, _, text = spec.partition(":")
    if prefix != "exec":
        raise UsageError(
            f"check-backend is for the exec protocol, got {spec!r}: give exec:COMMAND; "
            f"for other backends, `opproof run -b {spec} --level smoke` says as much."
        )
    if op and load_op(op).tensors != ("x",):
        raise UsageError(f"--op {op} has tensors {', '.join(load_op(op).tensors)}: give an operator of x alone.")
    backend = Command(text, timeout)
    wrong = 0
    try:
        for step in check(backend, op):
            wrong += step.state == "wrong"
            said = f"{step.state:8}  {step.what}: {step.got}"
            if step.state == "wrong":
                said = f"wrong     {step.what}\n          expected  {step.expected}\n          got       {step.got}"
            click.echo(said)
    finally:
        backend.stop()
    told = f"{wrong} dialogues went wrong; see docs/reference/exec-protocol.md."
    click.echo(told if wrong else "It speaks the protocol.")
    return 1 if wrong else 0


@click.command("precision")
@click.option("-b", "--backend", required=True, help="Name, ./file.py, ./library.so or exec:COMMAND.")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--dtype", "dtypes", multiple=True, metavar="f16,bf16,...", help="Only these dtypes.")
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="Seeds 0 to N - 1.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT, show_default=True, help="Seconds a case.")
@click.option("--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB.")
@click.option("--write", is_flag=True, help="Bring the precision.toml of a built-in backend, or --out, up to date.")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="The file for --write.")
def precision_command(
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

    from opproof.harness.precision.measure import Measurement, make_rows, measure_tasks, plan_tasks
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.task import HostLimits
    from opproof.reports.precision import render_table

    target = _find_target(backend, out) if write else None
    selection = Selection(ops=split_values(names), level=level, dtypes=split_values(dtypes), folders=folders)
    tasks = [replace(t, timeout=timeout, memory=memory * 2**20) for t in plan_tasks(backend, selection, seeds)]
    found = tqdm(
        measure_tasks(tasks, HostLimits(1, timeout, memory * 2**20)), total=len(tasks), unit="record", disable=None
    )
    judged = make_rows(m for m in found if m is not None)
    if not judged:
        click.echo("opproof: no record was judged, so there is nothing to measure.", err=True)
        return 3
    click.echo(render_table(judged))
    if target is not None:
        _write_measurement(target, Measurement(backend, judged))
        return 0
    return int(any(row.needed != row.declared for row in judged))


def _find_target(backend: str, out: Path | None) -> Path:
    """The file to write. Raises UsageError where nobody said which, BackendError where it is bad."""
    from opproof.backends import precision
    from opproof.backends.load import list_built_in
    from opproof.core.capabilities import library_of

    name = library_of(backend)
    if out is None and name not in list_built_in():
        raise UsageError(f"{backend} is no adapter of opproof's, so --write needs the file: give --out precision.toml.")
    target = precision.path_of(name) if out is None else out
    precision.read(target)  # a bad one is said now, not after minutes
    return target


def _write_measurement(target: Path, measurement: Measurement) -> None:
    from opproof.backends import precision
    from opproof.backends.precision import render_text
    from opproof.harness.precision.measure import merge_measured
    from opproof.reports.files import write

    entries = merge_measured(precision.read(target), measurement)
    write(target, render_text(entries))
    click.echo(f"{target}: {len(entries)} declarations")


@click.command("selfcheck")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("--level", type=Choice(LEVELS), default="standard", show_default=True)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
def selfcheck_command(*, names: tuple[str, ...], level: str, seed: int, folders: tuple[str, ...]) -> int:
    """Compare NumPy with PyTorch, and each vjp with autograd, finite differences and the complex step.

    Exit status: 0 all agree, 1 some do not.
    """
    from tqdm import tqdm

    from opproof.core.errors import UsageError
    from opproof.harness.run.plan import Selection, select_cases, select_operators
    from opproof.harness.selftest.selfcheck import cases_to_check, check

    try:
        import torch
    except ImportError:
        raise UsageError("selfcheck needs PyTorch, which is not installed; pip install 'opproof[torch]'.") from None
    torch.set_num_threads(1)
    selection = Selection(ops=split_values(names), level=level, folders=folders)
    ops = {op.name: op for op in select_operators(selection)}
    chosen = cases_to_check([c.with_seed(seed) for c in select_cases(selection)])
    disagreements = []
    for case in tqdm(chosen, unit="case", disable=None, leave=False):
        disagreements += check(case, ops[case.op], torch)
    for d in disagreements:
        click.echo(f"{d.check}: {d.case}\n  {d.message}")
    click.echo(f"selfcheck: {len(ops)} operators, {len(chosen)} cases, {len(disagreements)} disagreements")
    return 1 if disagreements else 0
