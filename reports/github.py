"""What GitHub Actions shows: annotations printed to the log, and the summary of the job."""

from collections.abc import Sequence

from opproof.reports import markdown
from opproof.reports._record import Header, Result
from opproof.reports._summary import failures, sentence
from opproof.reports._text import line, number, plural


def annotations(header: Header, results: Sequence[Result], *, limit: int = 10) -> str:
    """Workflow commands to print, one a line. GitHub shows ten errors a step, so the last one counts the others."""
    failed = failures(results)
    shown = failed if len(failed) <= limit else failed[: limit - 1]
    rows = [_command("error", f"{r.verdict} {r.op} {r.dtype} {r.mode}", _text(r)) for r in shown]
    if len(failed) > len(shown):
        rows.append(
            _command("error", "opproof", f"{plural(len(failed) - len(shown), 'more failure')}; see the report.")
        )
    if not failed:
        level = "notice" if any(r.verdict == "PASS" for r in results) else "error"
        rows.append(_command(level, "opproof", sentence(header, results)))
    return "\n".join(rows)


def job_summary(header: Header, results: Sequence[Result]) -> str:
    """Markdown to append to the file named by GITHUB_STEP_SUMMARY, which takes 1 MiB a step."""
    return markdown.render(header, results, limit=1_000_000)


def _text(result: Result) -> str:
    rows = [result.case]
    if result.worst is not None:
        w = result.worst
        at = f"{w.tensor}[{', '.join(map(str, w.index))}]"
        rows.append(f"{at}: got {number(w.got)}, expected {number(w.expected)}, {number(result.units, 3)} units")
    return "\n".join(line(row) for row in [*rows, result.message, result.diagnosis, result.repro] if row)


def _command(level: str, title: str, text: str) -> str:
    # The escapes of actions/toolkit: a property also ends at a colon or a comma.
    escaped = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    name = line(title).replace("%", "%25").replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{escaped}"
