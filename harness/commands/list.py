"""opproof list: operators, cases, models, backends."""

from __future__ import annotations

import json
from typing import Any

import click

from opproof.core.verdicts import RUN_LEVELS
from opproof.harness.commands._values import Choice, listed


@click.group("list")
def command() -> None:
    """List what there is."""


@command.command("ops")
@click.option("--json", "as_json", is_flag=True, help="All that is known of each: names elsewhere, parameters, dtypes.")
def ops(*, as_json: bool) -> None:
    """Operators with their formulas."""
    if as_json:
        from opproof.harness.explain.catalogue import facts_of_operators  # every reference, which NumPy comes with

        _print(facts_of_operators(), as_json=True)
        return
    from opproof.reference_ops._op import names, summary

    _print([{"op": n, "summary": summary(n)} for n in names()], as_json=False)


@command.command("cases")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only these operators.")
@click.option("-k", "keyword", default="", metavar="EXPR", help="Only cases whose id matches.")
@click.option("--level", type=Choice(RUN_LEVELS), default="standard", show_default=True)
@click.option("--dtype", "dtypes", multiple=True, metavar="f32,f16,...", help="Only these dtypes.")
@click.option("--seed", type=click.IntRange(min=0), default=0)
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def cases(*, as_json: bool, **options: Any) -> None:
    """Case ids, one a line."""
    from opproof.harness.run.plan import Selection
    from opproof.harness.run.plan import cases as select

    selection = Selection(
        ops=listed(options["names"]),
        keyword=options["keyword"],
        level=options["level"],
        dtypes=listed(options["dtypes"]),
        seed=options["seed"],
        folders=options["folders"],
    )
    _print([{"case": str(c), "op": c.op, "dtype": c.dtype} for c in select(selection)], as_json=as_json, keys=("case",))


@command.command("models")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def models(*, as_json: bool) -> None:
    """Models whose shapes --cases knows by name."""
    from opproof.cases._file import names, path_of, read

    files = {name: read(path_of(name)) for name in names()}
    _print([{"model": n, "title": f.title, "source": f.source} for n, f in files.items()], as_json=as_json)


@command.command("backends")
@click.option("--json", "as_json", is_flag=True, help="As a JSON array of objects.")
def backends(*, as_json: bool) -> None:
    """Backends that -b knows by name, and what of them is not installed."""
    from opproof.backends.load import built_in, installed, missing
    from opproof.backends.table import how_to_install

    rows = []
    for name in built_in():
        needed = f"; needs {', '.join(missing(name))}: {how_to_install(name)}" if missing(name) else ""
        rows.append({"backend": name, "from": f"opproof{needed}"})
    rows += [{"backend": n, "from": "installed package"} for n in installed()]
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
