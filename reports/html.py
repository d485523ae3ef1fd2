"""The HTML report: one file that needs nothing else, made from report.html.j2, report.css and the scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opproof.reports._payload import encode
from opproof.reports._record import Header, Result
from opproof.reports._summary import KINDS, grouped, kind, sentence, tally
from opproof.reports._text import described, number, options, plain, when
from opproof.vocabulary.verdicts import MEANING

_HERE = Path(__file__).parent
#: In the order in which they are joined into one script; report.js starts the page.
_SCRIPTS = (
    "report_data.js",
    "report_text.js",
    "report_heat.js",
    "report_failures.js",
    "report_table.js",
    "report_picture.js",
    "report_evidence.js",
    "report_detail.js",
    "report_support.js",
    "report.js",
)


def render(
    header: Header,
    results: Sequence[Result],
    *,
    docs: Mapping[str, str] | None = None,
    scripts: Mapping[str, str] | None = None,
    baseline: Sequence[Result] | None = None,
) -> str:
    """The page as text.

    `docs`: the docstring of each operator. `scripts`: by case id, a program that reproduces its numbers.
    `baseline`: the records of an earlier run, with which each record is compared.
    """
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_HERE), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True
    )
    count = tally(results)
    data = encode(header, results, docs if docs is not None else {}, scripts if scripts is not None else {}, baseline)
    page: str = environment.get_template("report.html.j2").render(
        header=header,
        sentence=sentence(header, results),
        state=_state(header, results),
        tally=count,
        chips=_chips(results),
        meanings=MEANING,
        number=number,
        operators=len({r.op for r in results}),
        cases=len({r.case for r in results}),
        backends=[described(header, b) for b in dict.fromkeys(r.backend for r in results)],
        options=options(header),
        when=when(header),
        plain=plain,
        # Files of this folder, and JSON without "<": nothing of a backend's reaches the page unescaped.
        css=Markup((_HERE / "report.css").read_text(encoding="utf-8")),  # noqa: S704
        script=Markup("\n".join((_HERE / name).read_text(encoding="utf-8") for name in _SCRIPTS)),  # noqa: S704
        data=Markup(data),  # noqa: S704
    )
    return page


def _chips(results: Sequence[Result]) -> list[tuple[str, int, str]]:
    """Verdict, count and worst kind of the records with it, failures first."""
    chips = [(v, len(some), min(map(kind, some), key=KINDS.index)) for v, some in grouped(results, _verdict).items()]
    return sorted(chips, key=lambda chip: (KINDS.index(chip[2]), -chip[1]))


def _verdict(result: Result) -> str:
    return result.verdict


def _state(header: Header, results: Sequence[Result]) -> str:
    """What colours the sentence: failed, doubtful (something did not run, or proved nothing) or passed."""
    count = tally(results)
    if count.kinds["failed"] or not count.kinds["passed"]:
        return "failed"
    return "doubtful" if header.cases > len(results) or count.kinds["doubtful"] else "passed"
