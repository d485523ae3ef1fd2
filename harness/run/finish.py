"""What every run ends with: reports beside results.jsonl, the summary, complaints, an exit status."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from opproof.core.system import uncollected
from opproof.harness.known_failures.findings import Finding, findings, idle, news, objections
from opproof.harness.known_failures.known import Known
from opproof.harness.run.colour import coloured
from opproof.harness.run.exhaustive import lines, ranges, table
from opproof.harness.run.extent import Extent
from opproof.harness.run.results.disk import cleared
from opproof.harness.run.status import Exit, status
from opproof.reports import Header, Result
from opproof.reports._results import FILE
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
    found = findings(known, results)
    remarks = Remarks(tuple(complaints), tuple(objections(found, results, today, extent=extent)), tuple(notes))
    worst = ranges(results, _folders(header))
    text = terminal.summary(header, results, folder=folder)
    try:
        _write_reports(folder, header, results, remarks)
        if worst:
            write(folder / RANGES, table(worst), instead=f"`opproof run --resume {folder}` writes it again.")
    finally:
        print(coloured(text.split("\n\n", 1)[-1] if quiet and "\n\n" in text else text))
        for sentence in (*lines(worst), *remarks.every, *news(found), *_of_idle(found, extent, folder)):
            print(sentence)
    print(f"{folder / 'report.html'}  {folder / 'report.md'}  {folder / FILE}")
    return status(results, remarks.failing, missing=max(0, header.cases - len(results)))


def _of_idle(found: Sequence[Finding], extent: Extent, folder: Path) -> list[str]:
    """The one line on built-in known failures: those that a run of everything did not meet."""
    count = len(idle(found)) if extent is Extent.ALL else 0
    if not count:
        return []
    noun = "known failure of the built-in lists" if count == 1 else "known failures of the built-in lists"
    return [f"{count:,} {noun} explained nothing here: `opproof known check {folder}` names them."]


def _folders(header: Header) -> tuple[str, ...]:
    """The user's folders of operators, as the run was given them."""
    selection = header.options.get("selection", {})
    return tuple(selection.get("folders", ()))


def _write_reports(folder: Path, header: Header, results: Sequence[Result], remarks: Remarks) -> None:
    from opproof.harness.repro.script import docs_of, scripts_of
    from opproof.reports import html, markdown
    from opproof.reports.files import write

    page = html.render(
        header, results, docs=docs_of(results), scripts=scripts_of(header, results), remarks=remarks.every
    )
    texts = {"report.html": page, "report.md": markdown.render(header, results, remarks=remarks.every)}
    cleared(folder / REMARKS)
    try:
        write_remarks(folder, remarks, instead="it holds what is printed above of the run as a whole.")
    finally:
        for name, text in texts.items():
            cleared(folder / name)
            instead = f"`opproof report {folder} --html FILE` writes it elsewhere, from {FILE}."
            write(folder / name, text, instead=instead)
