"""The HTML report: one file that needs nothing else, made from page.html.j2, page.css and the scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opproof.core.verdicts import MEANING
from opproof.reports._kinds import KINDS, ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._summary import describe_extent, describe_provisos, group_results, kinds_of, summarise_run
from opproof.reports._text import bound, describe_backend, describe_host, format_line, format_start, options_of
from opproof.reports.capabilities import make_matrices
from opproof.reports.changes.record import Changes
from opproof.reports.html.payload import encode
from opproof.reports.implementations import describe_implementations
from opproof.reports.profiles.table import describe_profile

_HERE = Path(__file__).parent
#: In the order in which they are joined into one script; page.js starts the page.
_SCRIPTS = ("data", "text", "heat", "failures", "table", "picture", "evidence", "detail", "support", "keys", "page")


def render(
    header: Header,
    results: Sequence[Result],
    *,
    docs: Mapping[str, str] | None = None,
    scripts: Mapping[str, str] | None = None,
    changes: Changes | None = None,
    remarks: Sequence[str] = (),
) -> str:
    """The page as text.

    `docs`: the docstring of each operator. `scripts`: by case id, a program that reproduces its numbers.
    `changes`: of this run since an earlier one. `remarks`: sentences about the run as a whole.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    data = encode(header, results, docs if docs is not None else {}, scripts if scripts is not None else {}, changes)
    told = describe_profile(header, results), describe_provisos(results), describe_implementations(results)
    script = [(_HERE / "script" / f"{name}.js").read_text(encoding="utf-8") for name in _SCRIPTS]
    page: str = environment.get_template("page.html.j2").render(
        version=format_line(header.opproof),
        bound=bound(header),
        sentence=summarise_run(header, results),
        remarks=[text for text in (*told, *map(format_line, remarks)) if text],
        state=_state(header, results),
        ran=describe_extent(header, results),
        known=kinds_of(results)[ResultKind.KNOWN],
        chips=_count_verdicts(results),
        meanings=MEANING,
        backends=[describe_backend(header, b) for b in dict.fromkeys(r.backend for r in results)],
        matrices=make_matrices(header, results),
        host=describe_host(header),
        options=options_of(header),
        when=format_start(header),
        # Files of this folder, and JSON without "<": nothing of a backend's reaches the page unescaped.
        css=Markup((_HERE / "page.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup("\n".join(script)),  # noqa: S704
        data=Markup(data),  # noqa: S704
    )
    return page


def _count_verdicts(results: Sequence[Result]) -> list[tuple[str, int, ResultKind]]:
    """Verdict, count and worst kind of the records with it, failures first."""
    chips = [
        (v, len(some), min(map(result_kind_of, some), key=KINDS.index))
        for v, some in group_results(results, _verdict_of).items()
    ]
    return sorted(chips, key=lambda chip: (KINDS.index(chip[2]), -chip[1]))


def _verdict_of(result: Result) -> str:
    return result.verdict


def _state(header: Header, results: Sequence[Result]) -> ResultKind:
    """The kind whose colour the sentence has: no evidence also where something did not run."""
    kinds = kinds_of(results)
    if kinds[ResultKind.FAILED]:
        return ResultKind.FAILED
    if kinds[ResultKind.HARNESS_ERROR]:
        return ResultKind.HARNESS_ERROR
    if not kinds[ResultKind.PASSED]:
        return ResultKind.FAILED
    return ResultKind.NO_EVIDENCE if header.cases > len(results) or kinds[ResultKind.NO_EVIDENCE] else ResultKind.PASSED
