"""opproof known: is a ledger of known failures as narrow as what it explains?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from opproof.harness.commands._values import SECONDS, finite, listed


@click.group("known")
def command() -> None:
    """Look after ledgers of known failures."""


@command.command("check")
@click.option("-b", "--backend", required=True, help="As of run.")
@click.option(
    "--known", "ledger", type=click.Path(path_type=Path), metavar="FILE", help="Not the backend's own, but this ledger."
)
@click.option("--seeds", type=click.IntRange(min=1), default=3, show_default=True, help="How many: 0, 1, 2, ...")
@click.option("-o", "--op", "names", multiple=True, metavar="OP[,OP...]", help="Only what it says of these operators.")
@click.option("--ops", "folders", multiple=True, metavar="DIR", help="Operators of your own.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--timeout", type=SECONDS, callback=finite, default=30.0, show_default=True, help="Seconds a case.")
@click.option("--write", is_flag=True, help="Set units and rms to at most twice what was seen; all else stays.")
def check(
    *,
    backend: str,
    ledger: Path | None,
    seeds: int,
    names: tuple[str, ...],
    folders: tuple[str, ...],
    jobs: int | None,
    timeout: float,
    write: bool,
) -> int:
    """Run the cases of the standard level that the ledger covers, and no other, with several seeds.

    Prints of each entry how many records it covers, fail and pass, and the largest error; then what to object: too
    wide (more cases pass than fail), too high (units or rms above twice what was seen), not seen (nothing failed so),
    unexplained (a failure outside the limits).

    Exit status: 0 nothing to object, 1 something, 2 the call is wrong.
    """
    from opproof.harness.cores import cores
    from opproof.harness.ledger.check import checks, rewrite
    from opproof.harness.ledger.chosen import entries_for, of_versions
    from opproof.harness.ledger.records import planned, records
    from opproof.harness.ledger.table import summary, table
    from opproof.harness.run.limits import Limits
    from opproof.harness.run.pool import Pool

    ops = set(listed(names))
    with Pool(Limits(cores() if jobs is None else jobs, timeout, 4096 * 2**20)) as pool:
        about = [pool.describe(backend)]
        path, entries = entries_for(backend, ledger)
        _, silent = of_versions((entry for _, entry in entries), about)
        speaking = [(n, e) for n, e in entries if of_versions([e], about)[0] and (not ops or e.ops & ops)]
        known = [entry for _, entry in speaking]
        results = records(pool, planned(backend, known, seeds, folders))
    found = checks(known, results)
    changes = {place: c.changes for (place, _), c in zip(speaking, found, strict=True) if c.changes}
    if write and changes:
        rewrite(path, changes)
        click.echo(f"{path}: new limits of {len(changes)} of {len(known)} entries")
        known = [replace(e, **changes.get(n, {})) for n, e in speaking]  # type: ignore[arg-type]
        found = checks(known, results)
    click.echo(table(found))
    for sentence in [*(said for c in found for said in c.sentences), *silent, summary(found, seeds)]:
        click.echo(sentence)
    return 1 if any(c.objections for c in found) else 0
