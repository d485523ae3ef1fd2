"""What GitHub Actions shows: annotations printed to the log, and the summary of the job."""

from collections.abc import Sequence

from opproof.core.text import visible
from opproof.reports import markdown
from opproof.reports._kinds import Kind, kind
from opproof.reports._record import Header, Result
from opproof.reports._summary import failures, own_faults, provisos, sentence
from opproof.reports._text import line, number, place, plural, units
from opproof.reports.causes import causes, heading


def annotations(header: Header, results: Sequence[Result], complaints: Sequence[str] = (), *, limit: int = 10) -> str:
    """Workflow commands to print, a cause a line. GitHub shows ten errors a step, so the last one counts the others.

    `complaints` are sentences about the run as a whole, which fail it.
    """
    found, faults = causes(failures(results)), own_faults(results)
    backends = sorted({r.backend for r in results})
    room = limit - bool(faults) - bool(complaints)
    shown = found if len(found) <= room else found[: room - 1]
    rows = [_command("error", heading(c, backends), _text(c.smallest)) for c in shown]
    if len(found) > len(shown):
        left = plural(sum(len(c.records) for c in found[len(shown) :]), "failure")
        more = plural(len(found) - len(shown), "more cause")
        rows.append(_command("error", "opproof", f"{more} of {left}; see the report."))
    if found and faults:
        rows.append(_command("error", "HARNESS_ERROR", faults))
    if not found:
        good = not faults and not complaints and any(kind(r) is Kind.PASSED for r in results)
        rows.append(_command("notice" if good else "error", "opproof", sentence(header, results)))
    if complaints:
        rows.append(_command("error", "opproof", "\n".join(map(line, complaints))))
    if text := provisos(results):
        rows.append(_command("warning", "opproof", text))
    return "\n".join(rows)


def job_summary(header: Header, results: Sequence[Result], remarks: Sequence[str] = ()) -> str:
    """Markdown to append to the file named by GITHUB_STEP_SUMMARY, which takes 1 MiB a step."""
    return markdown.render(header, results, remarks=remarks, limit=1_000_000)


def _text(result: Result) -> str:
    rows = [line(result.case)]
    if result.worst is not None:
        w = result.worst
        got, expected = number(w.got), number(w.expected)
        rows.append(f"{place(w.tensor, w.index)}: got {got}, expected {expected}, {units(result)}")
    rows += [line(result.message), line(result.diagnosis), " ".join(visible(result.repro).split())]
    return "\n".join(row for row in rows if row)


def _command(level: str, title: str, text: str) -> str:
    # The escapes of actions/toolkit: a property also ends at a colon or a comma.
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    name = line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{escaped}"
