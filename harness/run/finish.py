"""What every run ends with: reports beside results.jsonl, a coloured summary, complaints, an exit status."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from enum import IntEnum
from pathlib import Path

from opproof.core.system import uncollected
from opproof.core.verdicts import OPEN, Verdict
from opproof.harness.known_failures.findings import (
    Extent,
    Finding,
    find_idle,
    find_ledger_errors,
    list_news,
    make_findings,
)
from opproof.harness.known_failures.known import Known
from opproof.harness.run.exhaustive import rank_ranges, render_lines, render_table
from opproof.harness.run.results.signatures import clear_path
from opproof.reports import Header, Result
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._results import FILE
from opproof.reports.colour import paint_text
from opproof.reports.remarks import FILE as REMARKS
from opproof.reports.remarks import Remarks, write_remarks

#: The file with the worst input of every range, of runs of level exhaustive.
RANGES = "ranges.csv"


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
    worst = rank_ranges(results, tuple(header.options.get("selection", {}).get("folders", ())))
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


def _write_reports(folder: Path, header: Header, results: Sequence[Result], remarks: Remarks) -> None:
    from opproof.harness.repro.script import docs_of, scripts_of
    from opproof.reports import html, markdown
    from opproof.reports.files import write

    page = html.render(
        header, results, docs=docs_of(results), scripts=scripts_of(header, results), remarks=remarks.every
    )
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
