"""What every run ends with: reports beside results.jsonl, the summary, the ledger's complaints, an exit status."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from opproof.harness.ledger.known import Known, objections
from opproof.reports import Header, Result
from opproof.reports._results import FILE
from opproof.vocabulary.verdicts import FAILED


def finish(
    out: Path, header: Header, results: Sequence[Result], known: Sequence[Known], *, quiet: bool, complete: bool
) -> int:
    """Write the reports beside results.jsonl, print the summary, return the exit status."""
    from opproof.harness.explain.docs import docs_of
    from opproof.harness.explain.script import scripts_of
    from opproof.reports import html, markdown, terminal

    page = html.render(header, results, docs=docs_of(results), scripts=scripts_of(header, results))
    (out / "report.html").write_text(page, encoding="utf-8")
    (out / "report.md").write_text(markdown.render(header, results), encoding="utf-8")
    text = terminal.summary(header, results, folder=out)
    print(text.split("\n\n", 1)[-1] if quiet and "\n\n" in text else text)
    complaints = objections(known, results, datetime.datetime.now(datetime.UTC).date(), complete=complete)
    for complaint in complaints:
        print(complaint)
    print(f"{out / 'report.html'}  {out / 'report.md'}  {out / FILE}")
    return status(results, complaints)


def status(results: Sequence[Result], complaints: Sequence[str] = ()) -> int:
    """0 nothing unexpected failed, 1 something did, 3 no case ran (declining is not running)."""
    if any(r.verdict in FAILED and not r.known for r in results) or complaints:
        return 1
    return 0 if any(r.verdict != "UNSUPPORTED" for r in results) else 3
