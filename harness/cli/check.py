"""Commands for a program of yours: check a candidate against a reference, audit its tests, capture what it runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from opproof.core.dtypes import VARY
from opproof.core.errors import UsageError
from opproof.core.system import HOST_MEMORY, TIMEOUT
from opproof.harness.cli.options import MEBIBYTES, PATH, SECONDS, parse_duration

if TYPE_CHECKING:
    from opproof.harness.capture.captured import CapturedCalls
    from opproof.harness.check.call.isolated import FilePair
    from opproof.harness.check.contract import Contract
    from opproof.harness.check.options import CheckOptions
    from opproof.reports.check import Report
    from opproof.reports.exchange.definitions import ResultForm


def _parse_sizes(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """Whole numbers by the name of a size, of texts such as head_dim=64,128."""
    sizes = {}
    for text in values:
        key, _, numbers = text.rpartition("=")
        if not key or not re.fullmatch(r"\d+(,\d+)*", numbers):
            raise click.BadParameter(f"{text!r}: expected NAME=N, such as x.-1=1024.", ctx, param)
        sizes[key] = tuple(map(int, numbers.split(",")))
    return sizes


def _add_contract(command: Callable[..., int]) -> Callable[..., int]:
    """Add the options of a contract, whose values a command takes together."""
    for option in (
        click.option("--inplace", multiple=True, metavar="NAME", help="Declare that this argument holds the result."),
        click.option("--overwrites", multiple=True, metavar="NAME", help="Declare that it may hold anything after."),
        click.option("--backwards", type=click.IntRange(1, 1), help="Declare that the first backward counts alone."),
        click.option("--multiple-of", multiple=True, metavar="SIZE=N", callback=_parse_sizes, help="Try no others."),
        click.option("--sizes", multiple=True, metavar="SIZE=N,M", callback=_parse_sizes, help="Try no others."),
        click.option("--signature", metavar="(b,h),(h)", help="Name the axes of the tensors, for sizes."),
        click.option("--no-grad", "grads", multiple=True, metavar="NAME", help="Declare that it gets no gradient."),
    ):
        command = option(command)
    return command


def _read_contract(declared: Mapping[str, Any], of_file: Mapping[str, Any]) -> tuple[Contract, str]:
    """The contract of a file and of options, which go before it, and the options as they are given again."""
    from opproof.harness.check.contract import make_contract

    given = {name: value for name, value in declared.items() if value}
    options = ""
    for name, value in given.items():
        some = [f"{k}={','.join(map(str, v))}" for k, v in value.items()] if isinstance(value, dict) else value
        word = "no-grad" if name == "grads" else name.replace("_", "-")
        options += "".join(f" --{word} {quote(str(v))}" for v in (some if isinstance(some, list | tuple) else [some]))
    given["multiple_of"] = {key: some[0] for key, some in given.get("multiple_of", {}).items()} or None
    given["grads"] = dict.fromkeys(given.get("grads", ())) or None
    return make_contract(**{**of_file, **{name: v for name, v in given.items() if v is not None}}), options


def _check_forms(sides: FilePair, wish: CheckOptions, form: int | None) -> Report:
    """The report on each form of inputs, or on one by its number, until one fails, whose failures are told first."""
    from opproof.harness.check.run import check_candidate
    from opproof.reports.check import join_reports

    forms = sides.inputs if isinstance(sides.inputs, list) and all(map(callable, sides.inputs)) else [sides.inputs]
    if form is not None and form > len(forms):
        raise UsageError(f"--form {form}: there are {len(forms)} forms of inputs; give one of them.")
    reports: list[Report] = []
    for number, inputs in enumerate(forms, 1):
        if form in (None, number):
            again = f"{wish.again} --form {number}" if len(forms) > 1 else wish.again
            one = replace(wish, seconds=wish.seconds / (len(forms) if form is None else 1), again=again)
            reports.insert(0, check_candidate(sides.candidate, sides.reference, inputs, one))
            if reports[0].failures:
                break
    return join_reports(reports)


def _unpack(
    reference: Path, candidate: Path | None, workload: Path | None
) -> tuple[Path, Path | None, ResultForm | None]:
    """The two Python files of those of a benchmark, whose form the answer may have; others as they are."""
    from opproof.reports.exchange.definitions import ResultForm, unpack_definition
    from opproof.reports.exchange.traces import unpack_trace

    if reference.suffix not in (".json", ".txt"):
        return reference, candidate, None
    if candidate is None:
        raise UsageError(f"{reference} has no candidate: give the file of a solution, or of a kernel, behind it.")
    if reference.suffix == ".json":
        return *unpack_definition(reference, candidate, workload), ResultForm.FLASHINFER
    return *unpack_trace(reference, candidate), ResultForm.BACKENDBENCH


@click.command("check")
@click.argument("reference", type=PATH)
@click.argument("candidate", type=PATH, required=False)
@click.option(
    "--workload", type=PATH, default=None, metavar="FILE", help="Of a FlashInfer definition: sizes and indices."
)
@click.option("--form", type=click.IntRange(1), metavar="N", help="Of a trace: calls of its N-th form alone.")
@click.option("--dtype", default=None, metavar="f32|f16|bf16", help="Of floats; as the inputs come by default.")
@click.option("--seconds", type=SECONDS, default=20.0, show_default=True, help="Of processors.")
@click.option("--seed", type=int, default=0, show_default=True, help="Another seed draws other data.")
@click.option("--only", default=None, metavar="VARIANT", help="Try one variant alone, by the report's name of it.")
@click.option("--compute", default=None, metavar="PRECISION", help="Declare a lower precision: storage, tf32, f16.")
@click.option("--time", is_flag=True, help="Measure time and error beside eager and compiled PyTorch.")
@click.option("--reuses-outputs", is_flag=True, help="Declare that the next call overwrites what this one returned.")
@click.option("--bits", type=click.Choice([VARY]), default=None, help="Declare that they differ from call to call.")
@click.option("--beyond", is_flag=True, help="Fail too where inputs leave the range of all that were given.")
@click.option("--advise", is_flag=True, help="Say too where the candidate answers otherwise and is not wrong.")
@click.option("--values-only", is_flag=True, help="Judge no gradients.")
@_add_contract
@click.option("--accept-partial", is_flag=True, help="Exit with 0 though most variants were not tried in time.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document of at most 4 kB.")
@click.option("--html", type=PATH, default=None, metavar="FILE", help="Write a page too.")
@click.option("--result", type=PATH, default=None, metavar="FILE", help="Write the answer in the benchmark's own form.")
def check_command(
    *, reference: Path, candidate: Path | None, workload: Path | None, form: int | None, dtype: str | None,
    seconds: float, seed: int,
    only: str | None, compute: str | None, reuses_outputs: bool, bits: str | None, beyond: bool, advise: bool,
    time: bool, values_only: bool, accept_partial: bool, as_json: bool, html: Path | None,
    result: Path | None,
    **declared: Any,
) -> int:  # fmt: skip
    """Judge CANDIDATE by REFERENCE, two Python files or one with both; the candidate runs in a process of its own.

    The reference is PyTorch: reference(*tensors) and inputs(seed, dtype), for candidate(*tensors); or KernelBench's
    Model, get_inputs and get_init_inputs, for ModelNew. Its values and gradients in float64 are the truth. Where it has
    probabilities(*tensors) in the place of reference, the candidate is to draw by them. A Definition and a Solution of
    FlashInfer-Bench, two files of JSON, are judged by their values; so is a kernel of BackendBench by a trace, *.txt.

    Exit status: 0 right, 1 wrong, 2 the call is wrong, 3 nothing was proved, or fewer than half of the variants that
    were planned were tried in --seconds; with --accept-partial that is 0.
    """
    from opproof.core.system import keep_what_is_freed
    from opproof.harness.check.call.isolated import load_pair
    from opproof.harness.check.options import CheckOptions
    from opproof.harness.run.finish import Exit, status_of
    from opproof.reports.exchange.results import write_result

    keep_what_is_freed()
    given_files = (reference,) if candidate is None else (reference, candidate)
    reference, candidate, result_form = _unpack(reference, candidate, workload)
    values_only = values_only or result_form is not None
    sides = load_pair(reference, candidate or reference, seed)
    before = reference.read_bytes()
    given = {"--workload": workload, "--dtype": dtype, "--seed": seed or None, "--compute": compute, "--bits": bits}
    options = [f" {k} {quote(str(v))}" for k, v in given.items() if v is not None] + [" --values-only"] * values_only
    contract, of_contract = _read_contract(declared, sides.contract)
    options += [of_contract]
    options += [" --reuses-outputs"] * reuses_outputs + [" --beyond"] * beyond
    wish = CheckOptions(
        dtype=dtype, gradients=not values_only, seconds=seconds, compute=compute, seed=seed,
        contract=contract, reuses_outputs=reuses_outputs, bits=bits, beyond=beyond, advise=advise,
        time=time, only=only, properties=sides.properties, tolerance=sides.tolerance,
        probabilities=sides.probabilities,
        again=f"opproof check {' '.join(quote(str(f)) for f in given_files)} --only '{{}}'{''.join(options)}",
    )  # fmt: skip
    report = _check_forms(sides, wish, form)
    if not reference.is_file() or reference.read_bytes() != before:
        raise UsageError(
            f"{reference} is not what it was when the check began: nothing is proved, and by what stands there now "
            "nothing would be; restore it, look at what the candidate does to files, and check again."
        )
    click.echo(report.to_json() if as_json else repr(report))
    if html is not None:
        report.to_html(html)
    if result is not None:
        write_result(report, result, result_form or sides.form, [*given_files, *filter(None, [workload])])
    found = status_of(report.results)  # that gradients of 0 passed where values prove nothing is no pass
    proved = report.ok and (report.complete or accept_partial)
    return int(Exit.NO_EVIDENCE if found is Exit.PASSED and not proved else found)


def _parse_dims(ctx: click.Context, _: click.Parameter, values: tuple[str, ...]) -> dict[str, int]:
    found = {}
    for text in values:
        name, __, length = text.rpartition("=")
        if not name or not length.isdecimal():
            raise UsageError(f"--dim {text!r}: expected NAME=N, as in --dim batch=8.")
        found[name] = int(length)
    if found and ctx.params["model"].suffix != ".onnx":
        raise UsageError("--dim is for an ONNX model: a program says its shapes itself.")
    return found


def _take_model(command: Callable[..., int]) -> Callable[..., int]:
    """Add MODEL, the arguments of a program, and the lengths of an ONNX model's axes."""
    for option in (
        click.argument("arguments", nargs=-1, type=click.UNPROCESSED),
        click.argument("model", type=PATH, is_eager=True),
        click.option("--dim", "dims", multiple=True, metavar="NAME=N", callback=_parse_dims,
                     help="The length of an axis that an ONNX model names, 1 else."),
    ):  # fmt: skip
        command = option(command)
    return command


@click.command("capture", context_settings={"ignore_unknown_options": True})
@click.option("-o", "--out", type=PATH, required=True, metavar="FILE", help="The file of cases.")
@click.option("--data", is_flag=True, help="Keep the data of each case's first call too, beside FILE, in .safetensors.")
@click.option("--graphs", is_flag=True, help="Keep the whole, and what of it libraries fuse, as graphs too.")
@_take_model
def capture_command(
    *, out: Path, data: bool, graphs: bool, model: Path, dims: Mapping[str, int], arguments: tuple[str, ...]
) -> int:
    """Write what MODEL calls to FILE: a Python program that uses PyTorch, or an ONNX file, not run.

    `opproof run -b mine --cases FILE` then judges a backend by exactly these shapes.
    """
    from opproof.harness.capture import program

    if model.suffix != ".onnx":
        calls = program.run(model, arguments, out, data=data, graphs=graphs)
    else:
        if data:
            raise UsageError("--data is for a program: of an ONNX model nothing is run.")
        calls, ones = program.of_model(model, dims, out, graphs=graphs)
        _tell_ones(ones)
    _tell(calls, out)
    return 0


@click.command("drift", context_settings={"ignore_unknown_options": True})
@click.option("-b", "--backend", required=True, help="Name, ./file.py or ./library.so.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of an ONNX model's inputs.")
@click.option("--timeout", type=SECONDS, default=TIMEOUT, show_default=True, help="Seconds of a call.")
@click.option("--memory", type=MEBIBYTES, default=HOST_MEMORY // 2**20, show_default=True, help="MiB.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with every call.")
@_take_model
def drift_command(
    *, backend: str, seed: int, timeout: float, memory: int, as_json: bool, model: Path, dims: Mapping[str, int],
    arguments: tuple[str, ...],
) -> int:  # fmt: skip
    """Find the operator of MODEL that a backend gets wrong, or whose rounding MODEL amplifies.

    MODEL is as `opproof capture` takes it. Every call is judged by the inputs that it gets on this backend.

    Exit status: 0 no operator is wrong, 1 one is, 2 the call is wrong, 3 none is, and yet the output is further off
    than rounding makes it.
    """
    from opproof.harness.capture import program
    from opproof.harness.drift.follow import follow_model
    from opproof.harness.run.finish import Exit
    from opproof.harness.run.task import HostLimits

    if model.suffix == ".onnx":
        from opproof.reference_ops.onnx.model import trace_model

        tape, ones = trace_model(model, dims, seed)
        _tell_ones(ones, err=True)
    else:
        tape = program.trace_program(model, arguments)
    report = follow_model(tape, model.name, backend, HostLimits(1, timeout, memory * 2**20))
    click.echo(report.to_json() if as_json else str(report))
    return int(Exit.FAILED if report.wrong else Exit.NO_EVIDENCE if report.beyond else Exit.PASSED)


def _tell_ones(ones: Sequence[str], *, err: bool = False) -> None:
    if ones:
        click.echo(f"taken to be 1 long, for want of --dim: {', '.join(ones)}", err=err)


def _tell(calls: CapturedCalls, out: Path) -> None:
    total = sum(c.calls for c in calls.cases.values())
    click.echo(f"{out}: {len(calls.cases)} cases of {total} calls; next: opproof run -b BACKEND --cases {out}")
    if calls.unmapped:
        rest = ", ".join(f"{name} ({n})" for name, n in calls.unmapped.most_common())
        click.echo(f"not operators of opproof, or not as they were called: {rest}")
    if calls.no_whole:
        click.echo(f"the whole is no graph: {calls.no_whole}")


@click.command("audit")
@click.option("--kernel", required=True, metavar="MODULE:FUNCTION", help="What the tests test; a class by its name.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Runs at once; all cores by default.")
@click.option("--for", "seconds", default="10m", show_default=True, callback=parse_duration, metavar="TIME")
@click.option("--only", multiple=True, metavar="DEFECT", help="Plant this one, by the report's name of it.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document, with the test that kills each.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED, metavar="-- pytest TESTS...")
def audit_command(
    *, kernel: str, jobs: int | None, seconds: float, only: tuple[str, ...], as_json: bool, command: tuple[str, ...]
) -> int:
    """Run tests of yours with one planted defect after another in the function that they test.

    Says which defects survive, and of each a line of a test that would kill it. Nothing of yours is changed.

    Exit status: 0 all are killed, 1 some survive, 2 the call is wrong, or tests fail without a defect, 3 the time was
    too short.
    """
    from opproof.core.system import count_cores
    from opproof.harness.audit.run import run_audit
    from opproof.harness.run.finish import Exit
    from opproof.reports.audit import Fate

    if not seconds:
        raise UsageError("--for takes a time, such as 10m.")
    report = run_audit(kernel, command, jobs or count_cores(), seconds, only)
    click.echo(report.to_json() if as_json else str(report))
    if report.select(Fate.SURVIVES):
        return int(Exit.FAILED)
    return int(Exit.PASSED if report.select(Fate.KILLED) and not report.select(Fate.NOT_TRIED) else Exit.NO_EVIDENCE)
