"""Commands that list what there is: operators, cases, models, graphs, backends."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterable, Mapping
from typing import Any

import click

from opproof.cases import Case, cases_of
from opproof.cases._case import format_param
from opproof.core.verdicts import RUN_LEVELS
from opproof.harness.cli.options import choose_cases, selection_of
from opproof.reference_ops import Op, graph_names, load, names
from opproof.reference_ops._elsewhere import equivalents, names_by_operator
from opproof.reference_ops._op import summary


@click.group("list")
def list_command() -> None:
    """List what there is."""


@list_command.command("ops")
@click.option("--json", "as_json", is_flag=True, help="All that is known of each: names elsewhere, parameters, dtypes.")
def list_ops(*, as_json: bool) -> None:
    """Operators with their formulas."""
    rows = facts_of_operators() if as_json else [{"op": n, "summary": summary(n)} for n in names()]
    _print(rows, as_json=as_json)


@list_command.command("graphs")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def list_graphs(*, as_json: bool) -> None:
    """Graphs of operators with a name, for -o; `-o graphs` means all."""
    _print([{"graph": n, "expression": load(n).doc.partition(": ")[2]} for n in graph_names()], as_json=as_json)


@list_command.command("cases")
@choose_cases("standard", RUN_LEVELS)
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def list_cases(*, as_json: bool, seed: int, **options: Any) -> None:
    """Case ids, one a line."""
    from opproof.harness.run.plan import select_cases as select

    selection = selection_of(options, seed=seed)
    _print([{"case": str(c), "op": c.op, "dtype": c.dtype} for c in select(selection)], as_json=as_json, keys=("case",))


@list_command.command("models")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def list_models(*, as_json: bool) -> None:
    """Models whose shapes --cases knows by name."""
    from opproof.cases._file import names, path_of, read

    files = {name: read(path_of(name)) for name in names()}
    _print([{"model": n, "title": f.title, "source": f.source} for n, f in files.items()], as_json=as_json)


@list_command.command("backends")
@click.option("-b", "--backend", default="", help="The devices of this one, with what they are and support.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def list_backends(*, backend: str, as_json: bool) -> None:
    """Backends that -b knows by name, and what of them is not installed."""
    from opproof.backends.load import find_missing, list_built_in, list_devices, list_installed
    from opproof.backends.table import how_to_install

    if backend:
        _print([{"backend": spec, "is": said} for spec, said in list_devices(backend).items()], as_json=as_json)
        return
    rows = []
    for name in list_built_in():
        needed = f"; needs {', '.join(find_missing(name))}: {how_to_install(name)}" if find_missing(name) else ""
        rows.append({"backend": name, "from": f"opproof{needed}"})
    rows += [{"backend": n, "from": "installed package"} for n in list_installed()]
    rows += [
        {"backend": "./FILE.py", "from": "your file"},
        {"backend": "./LIBRARY.so", "from": "your C library (opproof.h)"},
        {"backend": "exec:COMMAND", "from": "a program in any language (docs/reference/exec-protocol.md)"},
    ]
    _print(rows, as_json=as_json)


def _print(rows: list[dict[str, Any]], *, as_json: bool, keys: tuple[str, ...] | None = None) -> None:
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    shown = [[row[k] for k in (keys or row)] for row in rows]
    width = max((len(r[0]) for r in shown), default=0)
    for first, *rest in shown:
        click.echo("  ".join([first.ljust(width), *rest]).rstrip() if rest else first)


def facts_of_operators() -> list[dict[str, Any]]:
    """One record for each built-in operator, by name.

    `names` holds by library or list what the operator is called there, `said` the sentences of its docstring that the
    first three come from, with the conditions. A value of a parameter is written as in an id of a case.
    """
    ops = [load(name) for name in names()]
    elsewhere = names_by_operator(ops)
    return [_describe_operator(op, elsewhere[op.name]) for op in ops]


def _describe_operator(op: Op, elsewhere: Mapping[str, list[str]]) -> dict[str, Any]:
    cases = cases_of(op.name)
    return {
        "op": op.name,
        "summary": " ".join(op.doc.split("\n\n", 1)[0].partition(": ")[2].split()),
        "gradient": op.vjp is not None,
        "tensors": [{"name": name, "optional": name in op.optional} for name in op.tensors],
        "variadic": op.variadic,
        "outputs": list(op.outputs),
        "dtypes": list(op.dtypes),
        "traits": sorted(op.traits),
        "parameters": {name: _describe_parameter(op, name, default, cases) for name, default in op.params.items()},
        "names": dict(elsewhere),
        "said": equivalents(op.doc),
        "cases": len(cases),
    }


def _describe_parameter(op: Op, name: str, default: Any, cases: Iterable[Case]) -> dict[str, Any]:
    """Its default, None where it has none, and its levels: the values that cases of standard level give it."""
    from opproof.harness.reference.data import fill_parameters

    levels = dict.fromkeys(format_param(fill_parameters(case, op)[name]) for case in cases)
    needed = default is inspect.Parameter.empty
    return {"default": None if needed else format_param(default), "levels": list(levels)}
