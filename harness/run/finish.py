"""What every run ends with: reports beside results.jsonl, a summary, complaints, an exit status; shards as one run."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from enum import IntEnum
from pathlib import Path
from typing import Any

import msgspec

from opproof.cases import Case
from opproof.cases._chunks import range_of
from opproof.core.errors import UsageError
from opproof.core.system import uncollected
from opproof.core.verdicts import OPEN, Mode, Verdict
from opproof.harness import __version__
from opproof.harness.known_failures.findings import (
    Extent,
    Finding,
    find_idle,
    find_ledger_errors,
    list_news,
    make_findings,
    of_versions,
    read_built_in,
)
from opproof.harness.known_failures.known import Known, read_known
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import op_of
from opproof.harness.run.plan import Selection, make_tasks, parse, scope_of, select_cases, shard_of
from opproof.harness.run.results.file import clear_path, key_of, open_results_file
from opproof.harness.run.results.resume import RULES, with_locked_folder
from opproof.harness.space.coverage import count_coverage_of_run
from opproof.reports import Header, Result, read_results
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._results import FILE
from opproof.reports._text import format_line
from opproof.reports.colour import paint_text
from opproof.reports.ranges import RANGES, rank_ranges, render_lines, render_table
from opproof.reports.remarks import FILE as REMARKS
from opproof.reports.remarks import Remarks, of_parts, read_remarks, write_remarks


@uncollected()
def finish(
    folder: Path,
    header: Header,
    results: Sequence[Result],
    known: Sequence[Known],
    *,
    quiet: bool,
    extent: Extent,
    complaints: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Exit:
    """Write the reports beside results.jsonl, print the summary, return the exit status.

    `complaints` are sentences about the run as a whole, which fail it, `notes` are such that do not; those about
    the ledger are added. Raises UsageError where the reports cannot be written, after the summary.
    """
    from opproof.reports import terminal
    from opproof.reports.files import write

    today = datetime.datetime.now(datetime.UTC).date()
    found = make_findings(known, results)
    remarks = Remarks(tuple(complaints), tuple(find_ledger_errors(found, results, today, extent=extent)), tuple(notes))
    folders = tuple(header.options.get("selection", {}).get("folders", ()))
    worst = rank_ranges(results, range_of, lambda result: _inputs_of(result, folders))
    text = terminal.format_summary(header, results, folder=folder)
    try:
        _write_reports(folder, header, results, remarks)
        if worst:
            write(folder / RANGES, render_table(worst), instead=f"`opproof run --resume {folder}` writes it again.")
    finally:
        print(paint_text(text.split("\n\n", 1)[-1] if quiet and "\n\n" in text else text))
        for sentence in (*render_lines(worst), *remarks.every, *list_news(found), *_of_idle(found, extent, folder)):
            print(sentence)
    print(f"{folder / 'report.html'}  {folder / 'report.md'}  {folder / FILE}")
    return status_of(results, remarks.failing, missing=max(0, header.cases - len(results)))


def _of_idle(found: Sequence[Finding], extent: Extent, folder: Path) -> list[str]:
    """The one line on built-in known failures: those that a run of everything did not meet."""
    count = len(find_idle(found)) if extent is Extent.ALL else 0
    if not count:
        return []
    noun = "known failure of the built-in lists" if count == 1 else "known failures of the built-in lists"
    return [f"{count:,} {noun} explained nothing here: `opproof known check {folder}` names them."]


def render_page(header: Header, results: Sequence[Result], **more: Any) -> str:
    """The HTML report of a run, with the operators' descriptions and programs of failing cases; see html.render."""
    from opproof.harness.repro.script import docs_of, scripts_of
    from opproof.reports import html

    return html.render(header, results, docs=docs_of(results), scripts=scripts_of(header, results), **more)


def _write_reports(folder: Path, header: Header, results: Sequence[Result], remarks: Remarks) -> None:
    from opproof.reports import markdown
    from opproof.reports.files import write

    page = render_page(header, results, remarks=remarks.every)
    texts = {"report.html": page, "report.md": markdown.render(header, results, remarks=remarks.every)}
    clear_path(folder / REMARKS)
    try:
        write_remarks(folder, remarks, instead="it holds what is printed above of the run as a whole.")
    finally:
        for name, text in texts.items():
            clear_path(folder / name)
            instead = f"`opproof report {folder} --html FILE` writes it elsewhere, from {FILE}."
            write(folder / name, text, instead=instead)


class Exit(IntEnum):
    """Exit statuses. Of those that apply the first counts: 2, 1, 4, 3, 0."""

    PASSED = 0  # something passed, or failed as the ledger says, and nothing else failed
    FAILED = 1  # something failed that no ledger knows, a ledger is wrong, records were tampered with or are missing
    WRONG_CALL = 2  # or the results could not be written
    NO_EVIDENCE = 3  # nothing ran, or only what says nothing: UNSUPPORTED, VACUOUS, INCONCLUSIVE
    HARNESS_ERROR = 4  # opproof itself failed at some records


def status_of(results: Sequence[Result], complaints: Sequence[str] = (), *, missing: int = 0) -> Exit:
    """The exit status of records, of complaints about the run as a whole, and of planned records that are `missing`."""
    verdicts = {r.verdict for r in results}
    if complaints or missing or any(result_kind_of(r) is ResultKind.FAILED for r in results):
        return Exit.FAILED
    if Verdict.HARNESS_ERROR in verdicts:
        return Exit.HARNESS_ERROR
    return Exit.NO_EVIDENCE if verdicts <= {Verdict.UNSUPPORTED, *OPEN} else Exit.PASSED


#: One run: its folder, header and records.
Run = tuple[Path, Header, Sequence[Result]]


def merge_folders(
    folders: Sequence[Path], out: Path, ledger: Path | None, *, quiet: bool
) -> tuple[Sequence[str], Exit]:
    """Join the results in some folders, and report on the whole in `out`; what is missing, and the exit status.

    Raises UsageError.
    """
    if out.resolve() in [folder.resolve() for folder in folders]:
        raise UsageError(f"--out {out} is one of the parts; give another folder.")
    known = read_known(ledger) if ledger is not None else []
    header, results, missing = merge([(folder, *read_results(folder)) for folder in folders])
    known += [entry for spec in header.options.get("backends", []) for entry in read_built_in(spec)]
    known, notes = of_versions(known, header.backends)
    told = of_parts(map(read_remarks, folders))
    notes = list(dict.fromkeys([*told.notes, *notes]))
    whole = Extent.PART if missing else scope_of(selection_of(header))
    with with_locked_folder(out, header) as folder, open_results_file(folder, header, results):
        said = {"complaints": told.complaints, "notes": notes}
        return missing, finish(folder, header, results, known, quiet=quiet, extent=whole, **said)


def merge(runs: Sequence[Run]) -> tuple[Header, list[Result], list[str]]:
    """One run of many: header, all records in the order given, and what is missing, a sentence a shard or run.

    Raises UsageError where they were not made alike, or hold the same record twice.
    """
    given = Counter(folder.resolve() for folder, _, _ in runs)
    if twice := [folder for folder, _, _ in runs if given[folder.resolve()] > 1]:
        raise UsageError(f"{twice[0]} is given twice; give each part once.")
    folder, first, _ = runs[0]
    for other, header, _ in runs[1:]:
        if differ := _compare_headers(first, header):
            raise UsageError(f"{folder} and {other} are not parts of one run: {'; '.join(differ)}.")
    homes: dict[tuple[str, str, str], Path] = {}
    for folder, _, results in runs:
        for r in results:
            home = homes.get(key_of(r))
            if home is None:
                homes[key_of(r)] = folder
                continue
            record = format_line(f"{r.case} {r.mode} on {r.backend}")
            if home is folder:
                raise UsageError(f"{folder} holds {record} twice; remove one of its two lines from {folder / FILE}.")
            raise UsageError(f"{home} and {folder} both hold {record}; give each part once.")
    header = _merge_headers([h for _, h, _ in runs])
    expected = _plan_records(header)
    if expected is None:
        missing = [f"{f}: {h.cases - len(r):,} of {h.cases:,} records" for f, h, r in runs if h.cases > len(r)]
        shards = _shards_of([h for _, h, _ in runs])
        every = ((k, n) for n in sorted({n for _, n in shards}) for k in range(1, n + 1))
        missing += [f"shard {k}/{n}: not given" for k, n in every if (k, n) not in shards]
        count = sum(h.cases for _, h, _ in runs)
    else:
        missing = _describe_missing(expected - homes.keys(), [h for _, h, _ in runs])
        count = len(expected)
    results = [r for *_, some in runs for r in some]
    coverage = count_coverage_of_run(results, selection_of(header).folders)
    return replace(header, cases=count, coverage=coverage), results, missing


def _compare_headers(a: Header, b: Header) -> list[str]:
    """In what two headers disagree that parts of one run share."""
    differences = [
        f"{name} is {x!r} and {y!r}"
        for name, x, y in (("the version of opproof", a.opproof, b.opproof), ("the bound", a.bound, b.bound))
        if x != y
    ]
    old, new = _options_of(a), _options_of(b)
    differences += [
        f"{n} is {old.get(n)!r} and {new.get(n)!r}" for n in sorted(old.keys() | new.keys()) if old.get(n) != new.get(n)
    ]
    about = {x.get("spec"): x for x in a.backends}
    for backend in b.backends:
        same = about.get(backend.get("spec"), backend)
        differences += [
            f"{backend.get('spec')} has {n} {same.get(n)!r} and {backend[n]!r}"
            for n in backend
            if same.get(n) != backend[n]
        ]
    return differences


def _options_of(header: Header) -> dict[str, Any]:
    options = {n: header.options.get(n) for n in RULES}
    return options | {n: v for n, v in header.options.get("selection", {}).items() if n != "shard"}


def _merge_headers(headers: Sequence[Header]) -> Header:
    first = headers[0]
    backends = {b.get("spec", ""): b for h in headers for b in h.backends}
    names = dict.fromkeys(name for h in headers for name in h.host)
    hosts = {n: dict.fromkeys(h.host[n] for h in headers if n in h.host) for n in names}
    options = dict(first.options)
    options["backends"] = list(dict.fromkeys(b for h in headers for b in h.options.get("backends", [])))
    options["selection"] = dict(first.options.get("selection", {})) | {"shard": ""}
    return replace(
        first,
        backends=list(backends.values()),
        host={n: ", ".join(values) for n, values in hosts.items()},
        options=options,
        started=min(h.started for h in headers),
    )


def selection_of(header: Header) -> Selection:
    """What the run was asked, read back from its header."""
    return msgspec.convert(header.options.get("selection", {}), Selection)


def _plan_records(header: Header) -> set[tuple[str, str, str]] | None:
    """Every record of the whole run; None where this opproof cannot know: another version, no folder of operators."""
    selection = selection_of(header)
    if header.opproof != __version__ or not all(Path(f).exists() for f in selection.folders):
        return None
    planned = make_tasks(header.options.get("backends", []), select_cases(selection), selection)
    return {key_of(t) for t in planned}


def _describe_missing(keys: set[tuple[str, str, str]], headers: Sequence[Header]) -> list[str]:
    count = max((n for _, n in _shards_of(headers)), default=1)
    by_shard = Counter((shard_of(case, mode, count), backend) for backend, case, mode in keys)
    part = "" if count == 1 else "shard {}/{} "
    return [f"{part.format(k, count)}on {backend}: {n:,} records" for (k, backend), n in sorted(by_shard.items())]


def _shards_of(headers: Sequence[Header]) -> list[tuple[int, int]]:
    texts = [h.options.get("selection", {}).get("shard", "") for h in headers]
    return [parse(text) for text in texts if text]


def _inputs_of(result: Result, folders: tuple[str, ...]) -> list[float]:
    """The inputs at the worst element of a record, of tensors that all have its shape."""
    given = make_question(Case.parse(result.case), op_of(result.op, folders), Mode(result.mode)).case_data.inputs
    return [] if result.worst is None else [float(v[tuple(result.worst.index)]) for v in given if v is not None]
