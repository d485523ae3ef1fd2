"""What GitHub Actions shows: annotations printed to the log, and the summary of the job."""

from collections.abc import Sequence

from opproof.core.text import escape_unprintable
from opproof.reports import markdown
from opproof.reports._kinds import ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._summary import describe_own_faults, describe_provisos, list_failures, summarise_run
from opproof.reports._text import format_count, format_line, format_units, number, place
from opproof.reports.causes import find_causes, format_heading


def format_annotations(
    header: Header, results: Sequence[Result], complaints: Sequence[str] = (), *, limit: int = 10
) -> str:
    """Workflow commands to print, a cause a line. GitHub shows ten errors a step, so the last one counts the others.

    `complaints` are sentences about the run as a whole, which fail it.
    """
    found, faults = find_causes(list_failures(results)), describe_own_faults(results)
    backends = sorted({r.backend for r in results})
    room = limit - bool(faults) - bool(complaints)
    shown = found if len(found) <= room else found[: room - 1]
    rows = [_format_command("error", format_heading(c, backends), _format_failure(c.smallest)) for c in shown]
    if len(found) > len(shown):
        left = format_count(sum(len(c.records) for c in found[len(shown) :]), "failure")
        more = format_count(len(found) - len(shown), "more cause")
        rows.append(_format_command("error", "opproof", f"{more} of {left}; see the report."))
    if found and faults:
        rows.append(_format_command("error", "HARNESS_ERROR", faults))
    if not found:
        good = not faults and not complaints and any(result_kind_of(r) is ResultKind.PASSED for r in results)
        rows.append(_format_command("notice" if good else "error", "opproof", summarise_run(header, results)))
    if complaints:
        rows.append(_format_command("error", "opproof", "\n".join(map(format_line, complaints))))
    if text := describe_provisos(results):
        rows.append(_format_command("warning", "opproof", text))
    return "\n".join(rows)


def format_job_summary(header: Header, results: Sequence[Result], remarks: Sequence[str] = ()) -> str:
    """Markdown to append to the file named by GITHUB_STEP_SUMMARY, which takes 1 MiB a step."""
    return markdown.render(header, results, remarks=remarks, limit=1_000_000)


def _format_failure(result: Result) -> str:
    rows = [format_line(result.case)]
    if result.worst is not None:
        w = result.worst
        got, expected = number(w.got), number(w.expected)
        rows.append(f"{place(w.tensor, w.index)}: got {got}, expected {expected}, {format_units(result)}")
    rows += [
        format_line(result.message),
        format_line(result.diagnosis),
        " ".join(escape_unprintable(result.repro).split()),
    ]
    return "\n".join(row for row in rows if row)


def _format_command(level: str, title: str, text: str) -> str:
    # The escapes of actions/toolkit: a property also ends at a colon or a comma.
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    name = format_line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{escaped}"
