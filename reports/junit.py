"""JUnit XML, which CI servers show: a suite per backend, a test per operator and mode, its causes as its text."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from opproof.core.verdicts import MEANING, Verdict
from opproof.reports._kinds import KINDS, LABELS, ResultKind, result_kind_of
from opproof.reports._record import Header, Result
from opproof.reports._summary import (
    describe_own_faults,
    describe_provisos,
    group_by_reason,
    group_results,
    list_failures,
    summarise_run,
    tally,
)
from opproof.reports._text import format_count, format_line, number
from opproof.reports.causes import find_causes, format_heading
from opproof.reports.terminal import format_cause, format_failure

# JUnit knows a failure (wrong answer) from an error (no answer).
_ERRORS = frozenset({Verdict.ERROR, Verdict.CRASH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY})
_SKIPPED = (ResultKind.KNOWN, ResultKind.NO_EVIDENCE, ResultKind.UNSUPPORTED)

#: Harness errors of one test that are told one by one.
_MAX_FAULTS_TOLD = 5


def render(header: Header, results: Sequence[Result], complaints: Sequence[str] = ()) -> str:
    """The XML as text. A test of which nothing passes or fails is `skipped`, with the reasons.

    `complaints` are sentences about the run as a whole, which fail it: a test that fails.
    """
    name = "; ".join(filter(None, (f"opproof {format_line(header.opproof)}", describe_provisos(results))))
    root = ET.Element("testsuites", {"name": name})
    for group in group_results(results, lambda r: r.backend).values():
        root.append(_make_suite(header, group))
    if complaints:
        _add_whole_run(root, "failure", "COMPLAINT", "; ".join(map(format_line, complaints)))
    if not results:
        # A file without tests is green in most viewers, and nothing run is never success.
        _add_whole_run(root, "error", "NOTHING_RAN", summarise_run(header, results))
    total = _count_tests(root)
    del total["skipped"]  # which Jenkins' schema has for a suite only
    root.attrib.update(total, time=_time(results))
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_whole_run(root: ET.Element, tag: str, kind: str, message: str) -> None:
    """A suite of one test, of the run as a whole."""
    suite = ET.SubElement(root, "testsuite", name="opproof")
    case = ET.SubElement(suite, "testcase", name="run", classname="opproof")
    ET.SubElement(case, tag, type=kind, message=message)
    suite.attrib.update(_count_tests(suite), time="0")


def _make_suite(header: Header, results: Sequence[Result]) -> ET.Element:
    name = format_line(results[0].backend)
    suite = ET.Element("testsuite", {"name": name})
    if header.started:
        suite.set("timestamp", format_line(header.started)[:19])  # the schema has no time zone
    for some in group_results(results, lambda r: f"{r.op}\0{r.mode}").values():
        first = some[0]
        case = ET.SubElement(
            suite, "testcase", name=format_line(f"{first.op} {first.mode}"), classname=name, time=_time(some)
        )
        _add_properties(case, some)
        _add_outcome(case, some)
    suite.attrib.update(_count_tests(suite), time=_time(results))
    return suite


def _add_properties(case: ET.Element, results: Sequence[Result]) -> None:
    """Counts of records, and the figures of the largest error that passes, as properties, which come first."""
    count = tally(results)
    values = {LABELS[k]: count.kinds[k] for k in reversed(KINDS) if count.kinds[k]}
    figures: dict[str, float | str | None] = {"rms": count.rms, "bias": count.bias}
    if count.passing is not None:
        figures = {"units": count.passing.units, "limit": count.passing.limit, **figures}
    texts = {"records": str(count.records), **{name: str(value) for name, value in values.items()}}
    texts |= {name: number(value, 4) for name, value in figures.items() if value is not None}
    properties = ET.SubElement(case, "properties")
    for name, text in texts.items():
        ET.SubElement(properties, "property", name=name, value=text)


def _add_outcome(case: ET.Element, results: Sequence[Result]) -> None:
    found, faults = (
        find_causes(list_failures(results)),
        [r for r in results if result_kind_of(r) is ResultKind.HARNESS_ERROR],
    )
    if found:
        verdicts = list(dict.fromkeys(c.smallest.verdict for c in found))
        tag = "error" if _ERRORS.issuperset(verdicts) else "failure"
        message = "; ".join(format_heading(c) + (f": {format_line(c.why)}" if c.why else "") for c in found)
        texts = [*(format_cause(c) for c in found), *map(format_failure, faults[:_MAX_FAULTS_TOLD])]
        ET.SubElement(case, tag, type=" ".join(verdicts), message=message).text = "\n\n".join(texts)
    elif faults:
        left = len(faults) - _MAX_FAULTS_TOLD
        more = [f"… and {format_count(left, 'more record')}"] * (left > 0)
        texts = [MEANING[Verdict.HARNESS_ERROR], *map(format_failure, faults[:_MAX_FAULTS_TOLD]), *more]
        ET.SubElement(
            case, "error", type=Verdict.HARNESS_ERROR, message=describe_own_faults(results)
        ).text = "\n\n".join(texts)
    elif all(result_kind_of(r) in _SKIPPED for r in results):
        why = [f"{len(some):,} {LABELS[k]}: {text}" for k in _SKIPPED for text, some in group_by_reason(results, k)]
        ET.SubElement(case, "skipped", message=format_line("; ".join(why)))


def _count_tests(element: ET.Element) -> dict[str, str]:
    """Tests, and how they ended, below an element."""
    tags = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    return {name: str(sum(1 for _ in element.iter(tag))) for name, tag in tags.items()}


def _time(results: Sequence[Result]) -> str:
    return f"{sum(r.seconds for r in results):.6f}"
