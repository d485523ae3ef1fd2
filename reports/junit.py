"""JUnit XML, which CI servers show: a suite per backend and operator, a test case per record."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from opproof.reports._kinds import Kind, kind
from opproof.reports._record import Header, Result
from opproof.reports._summary import grouped, reach, sentence
from opproof.reports._text import line, number, place, units, whole
from opproof.vocabulary.text import plain, visible
from opproof.vocabulary.verdicts import MEANING, Verdict

# JUnit knows a failure (wrong answer) from an error (no answer).
_ERRORS = (Verdict.ERROR, Verdict.CRASH, Verdict.TIMEOUT, Verdict.OUT_OF_MEMORY, Verdict.HARNESS_ERROR)
_JUDGED = (Kind.FAILED, Kind.HARNESS_ERROR)


def render(header: Header, results: Sequence[Result]) -> str:
    """The XML as text. Known failures, unsupported cases and no evidence are `skipped`, with the reason."""
    name = "; ".join([f"opproof {line(header.opproof)}", *[reach(results)] * bool(reach(results))])
    root = ET.Element("testsuites", {"name": name, **_counts(results)})
    del root.attrib["skipped"]  # which Jenkins' schema has for a suite only
    for group in grouped(results, lambda r: f"{r.backend}\0{r.op}").values():
        root.append(_suite(header, group))
    if not results:
        # A file without tests is green in most viewers, and nothing run is never success.
        suite = ET.SubElement(root, "testsuite", name="opproof", tests="1", failures="0", errors="1", skipped="0")
        case = ET.SubElement(suite, "testcase", name="run", classname="opproof")
        ET.SubElement(case, "error", type="NOTHING_RAN", message=sentence(header, results))
        root.attrib.update(tests="1", errors="1")
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(header: Header, results: Sequence[Result]) -> ET.Element:
    first = results[0]
    name = line(f"{first.backend}.{first.op}")
    suite = ET.Element("testsuite", {"name": name, **_counts(results)})
    if header.started:
        suite.set("timestamp", line(header.started)[:19])  # the schema has no time zone
    for result in results:
        title = line(f"{result.case} {result.mode}")
        case = ET.SubElement(suite, "testcase", name=title, classname=name, time=f"{result.seconds:.6f}")
        _measured(case, result)
        _outcome(case, result)
    return suite


def _measured(case: ET.Element, result: Result) -> None:
    """The numbers of a record as properties, which come before its outcome."""
    values = {"units": result.units, "limit": result.limit, "rms": result.rms, "bias": result.bias}
    shown = {name: number(value, 4) for name, value in values.items() if value is not None}
    if shown:
        properties = ET.SubElement(case, "properties")
        for name, text in shown.items():
            ET.SubElement(properties, "property", name=name, value=text)


def _outcome(case: ET.Element, result: Result) -> None:
    what = kind(result)
    if what is Kind.PASSED:
        return
    if what in _JUDGED:
        message = line(result.diagnosis) or line(result.message)
        ET.SubElement(case, _tag(result), type=result.verdict, message=message).text = _details(result)
    else:
        reason = result.known if what is Kind.KNOWN else result.message
        ET.SubElement(case, "skipped", message=f"{result.verdict}: {line(reason)}")


def _tag(result: Result) -> str:
    return "error" if result.verdict in _ERRORS else "failure"


def _details(result: Result) -> str:
    rows = [plain(result.message), plain(result.diagnosis)]
    if kind(result) is Kind.HARNESS_ERROR:
        rows.insert(0, MEANING[result.verdict])
    if result.worst is not None:
        w = result.worst
        rows.append(f"at {place(w.tensor, w.index)}")
        rows += [
            f"expected {number(w.expected, 17)}",
            f"got      {number(w.got, 17)}",
            f"bound    {number(w.bound, 3)}",
        ]
        rows.append(units(result))
    rows.append(whole(result))
    return "\n".join(row for row in [*rows, visible(result.repro)] if row)


def _counts(results: Sequence[Result]) -> dict[str, str]:
    tags = [_tag(r) for r in results if kind(r) in _JUDGED]
    passed = sum(kind(r) is Kind.PASSED for r in results)
    return {
        "tests": str(len(results)),
        "failures": str(tags.count("failure")),
        "errors": str(tags.count("error")),
        "skipped": str(len(results) - len(tags) - passed),
        "time": f"{sum(r.seconds for r in results):.6f}",
    }
