"""opproof run: validate backends, leave results.jsonl, report.html and report.md, print a summary."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.core.verdicts import RUN_LEVELS
from opproof.harness.cli.options import (
    MEBIBYTES,
    PATH,
    SECONDS,
    Choice,
    choose_cases,
    complete_backends,
    draw_seed,
    parse_amounts,
    parse_assignments,
    parse_capabilities,
    parse_counts,
    parse_duration,
    parse_invariances,
    seed,
    selection_of,
)
from opproof.harness.run.cache.store import SIZE
from opproof.reports.profiles import list_profiles

#: What may be given anew with --resume, because it does not change what is asked of the backend.
_RENEWABLE = ("jobs", "timeout", "memory", "judge_memory")


@click.command("run")
@click.option(
    "-b", "--backend", "backends", multiple=True, shell_complete=complete_backends,
    help="Name, ./file.py, ./library.so or exec:COMMAND; several times for several.",
)  # fmt: skip
@choose_cases(
    "standard",
    RUN_LEVELS,
    level="exhaustive: every number of a dtype, for operators that map numbers; give -o and --dtype.",
    mode="Forward and gradient by default; refusal: wrong calls.",
)
@click.option("--wrong-calls", is_flag=True, help="Make calls that PyTorch refuses, too: they are to be refused.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Worker processes; all cores by default.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT, show_default=True, help="Seconds a case.")
@click.option(
    "--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB a worker process may use."
)
@click.option(
    "--judge-memory", type=MEBIBYTES, default=1024, show_default=True,
    help="MiB that judging a case may use; larger cases are judged in slices.",
)  # fmt: skip
@click.option(
    "--seed", callback=seed, default="0", show_default=True, metavar="N|random",
    help="Another seed draws all data anew; random draws one, and says which.",
)  # fmt: skip
@click.option("--convention", type=click.Choice(["any", "torch"]), default="any", show_default=True, help="At kinks.")
@click.option(
    "--grad-oracle", type=click.Choice(["reference", "self"]), default="reference", show_default=True,
    help="self: gradients against differences of the backend's own forward.",
)  # fmt: skip
@click.option("--strict-subnormals", is_flag=True, help="Flushing subnormals to zero fails.")
@click.option("--signed-zeros", is_flag=True, help="Zeros of another sign than IEEE 754-2019 defines fail.")
@click.option(
    "--profile", type=Choice(list_profiles()), callback=lambda _, __, value: value or "",
    help="Judge by this standard's own limits too, in a second column.",
)  # fmt: skip
@click.option(
    "--repeat", type=click.IntRange(min=1), default=1, show_default=True, metavar="N",
    help="Make the judged call N times, other work between: the bits must agree.",
)  # fmt: skip
@click.option(
    "--invariant", default="", callback=parse_invariances, metavar="batch,chunk,order,padding",
    help="Rows in other company must give the bits that they give among all: some alone, halves, reversed, padded.",
)  # fmt: skip
@click.option(
    "--require-impl", default="", metavar="PATTERN", help="Fail what another implementation computed; * is anything."
)
@click.option(
    "--threads", default="", callback=parse_counts, metavar="N,N...",
    help="Make and judge the call with each of these numbers of threads, where the backend has set_threads.",
)  # fmt: skip
@click.option(
    "--isa", multiple=True, callback=parse_capabilities, metavar="NAME|all",
    help="Run the cases under this vector capability of the backend's library, such as avx2, or under each that it can "
    "be told; several times for several.",
)  # fmt: skip
@click.option(
    "--isa-variable", "isa_variables", multiple=True, callback=parse_assignments, metavar="NAME=VALUE,VALUE...",
    help="A variable that the backend's library reads its vector capability from, and the values to run under: for a C "
    "library, or a command.",
)  # fmt: skip
@click.option("--known", "ledger", type=PATH, metavar="FILE", help="Ledger of known failures (TOML).")
@click.option(
    "--update-known", "proposals", type=PATH, metavar="FILE",
    help="Append entries for unexpected failures to the ledger FILE, their reasons left for you to give.",
)  # fmt: skip
@click.option(
    "--for", "seconds", default="", callback=parse_duration, metavar="TIME",
    help="Draw cases from the operators' spaces for so long, such as 10m, in place of those of a level.",
)  # fmt: skip
@click.option(
    "--keep", type=PATH, metavar="FILE",
    help="Add the smallest failing cases of a run with --for to FILE, which --cases FILE runs again.",
)  # fmt: skip
@click.option("-x", "--fail-fast", is_flag=True, help="Stop at the first failure that is not known.")
@click.option("--certify", type=PATH, metavar="FILE", help="Write a signed certificate of what was found; needs --key.")
@click.option("--key", type=PATH, metavar="FILE", help="An Ed25519 key in PEM, which signs the certificate.")
@click.option("--shard", default="", metavar="K/N", help="The K-th of N parts of the run; see opproof merge.")
@click.option(
    "--out", type=PATH, default=Path("opproof-report"), show_default=True, metavar="DIR",
    help="Where the report goes; to DIR-2 and so on where DIR holds anything but an earlier run of the same call.",
)  # fmt: skip
@click.option("--resume", type=PATH, metavar="DIR", help="Go on with the interrupted run in DIR.")
@click.option(
    "--in-process", is_flag=True,
    help="The backend in the judge's own process: a debugger works, and nothing keeps the backend from the judge.",
)  # fmt: skip
@click.option(
    "--dask", default="", metavar="ADDRESS",
    help="Judge on the workers of a Dask cluster: tcp://HOST:8786, or local for one on this machine.",
)  # fmt: skip
@click.option(
    "--resource", "resources", multiple=True, callback=parse_amounts, metavar="NAME=AMOUNT",
    help="What a worker of --dask must offer, such as gpu=1; several times for several.",
)  # fmt: skip
@click.option("--no-cache", is_flag=True, help="Draw and evaluate all anew, and keep nothing of it; see opproof cache.")
@click.option(
    "--cache-size", type=MEBIBYTES, default=SIZE // 2**20, show_default=True,
    help="MiB that the cache may take; what was not used for longest goes.",
)  # fmt: skip
@click.option("--quiet", is_flag=True, help="No progress, no table; the failures and the last line only.")
@click.pass_context
def run_command(context: click.Context, /, **options: Any) -> int:
    """Validate one or several backends.

    Exit status, the first that applies: 2 the call is wrong, or the results could not be written; 1 something failed
    that no ledger knows; 4 opproof itself failed at some records (HARNESS_ERROR); 3 nothing ran that counts as
    evidence; 0 otherwise.
    """
    from opproof.core.system import count_cores
    from opproof.harness.run import runner
    from opproof.harness.run.results.resume import Settings, settings_of_interrupted

    if options["resume"] is None and not options["backends"]:
        raise UsageError(
            "no backend: give one with -b, such as -b torch, -b ./my_backend.py, -b ./libmine.so or -b exec:COMMAND."
        )
    if options["keep"] is not None and not options["seconds"]:
        raise UsageError(
            "--keep takes the failures of a run that draws its cases; give --for as well, such as --for 10m."
        )
    if (options["certify"] is None) != (options["key"] is None):
        raise UsageError("--certify FILE and --key FILE go together: what is written, and what signs it; give both.")
    if options["certify"] is not None and (len(set(options["backends"])) != 1 or options["shard"] or options["isa"]):
        raise UsageError("a certificate is of one backend's whole run: give one -b, and neither --shard nor --isa.")
    if options["wrong_calls"] and (options["cases"] or options["case_files"]):
        raise UsageError("--wrong-calls adds the wrong calls of operators; leave out --case and --cases, or name one.")
    number = options["seed"] if options["resume"] is not None else draw_seed(options["seed"])
    selection = selection_of(options, seed=number, shard=options["shard"])
    jobs = options["jobs"] if options["jobs"] is not None else count_cores()
    own: dict[str, Any] = {"selection": selection, "jobs": jobs, "cache": not options["no_cache"], "resume": False}
    settings = Settings(**{f.name: (own if f.name in own else options)[f.name] for f in fields(Settings)})
    if options["resume"] is not None:
        given = {n for n in _RENEWABLE if context.get_parameter_source(n) is ParameterSource.COMMANDLINE}
        settings = settings_of_interrupted(settings, options["resume"], anew=given)
    return runner.run(settings)
