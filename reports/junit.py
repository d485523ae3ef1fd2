"""JUnit XML, which CI servers show: a suite per backend and operator, a test case per record."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Sequence

from opproof.reports._record import Header, Result
from opproof.reports._summary import grouped, kind, sentence, tally
from opproof.reports._text import line, number, plain

# JUnit knows a failure (wrong answer) from an error (no answer).
_ERRORS = ("ERROR", "CRASH", "TIMEOUT", "OUT_OF_MEMORY")


def render(header: Header, results: Sequence[Result]) -> str:
    """The XML as text. Known failures, unsupported cases and those without evidence are `skipped`, with the reason."""
    root = ET.Element("testsuites", {"name": f"opproof {header.opproof}", **_counts(results)})
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
    suite = ET.Element("testsuite", {"name": plain(f"{first.backend}.{first.op}"), **_counts(results)})
    if header.started:
        suite.set("timestamp", header.started[:19])  # the schema has no time zone
    for result in results:
        case = ET.SubElement(
            suite,
            "testcase",
            name=plain(f"{result.case} {result.mode}"),
            classname=plain(f"{result.backend}.{result.op}"),
            time=f"{result.seconds:.6f}",
        )
        _outcome(case, result)
    return suite


def _outcome(case: ET.Element, result: Result) -> None:
    what = kind(result)
    if what == "passed":
        return
    if what == "failed":
        tag = "error" if result.verdict in _ERRORS else "failure"
        message = line(result.diagnosis) if result.diagnosis else line(result.message)
        ET.SubElement(case, tag, type=result.verdict, message=message).text = _details(result)
    else:
        reason = result.known if what == "known" else result.message
        ET.SubElement(case, "skipped", message=f"{result.verdict}: {line(reason)}")


def _details(result: Result) -> str:
    rows = [result.message, result.diagnosis]
    if result.worst is not None:
        w = result.worst
        rows.append(f"at {w.tensor}[{', '.join(map(str, w.index))}]")
        rows += [
            f"expected {number(w.expected, 17)}",
            f"got      {number(w.got, 17)}",
            f"bound    {number(w.bound, 3)}",
        ]
        rows.append(f"{number(result.units, 3)} units of honest rounding")
    return plain("\n".join(row for row in [*rows, result.repro] if row))


def _counts(results: Sequence[Result]) -> dict[str, str]:
    count = tally(results)
    failed = count.kinds["failed"]
    errors = sum(1 for r in results if kind(r) == "failed" and r.verdict in _ERRORS)
    return {
        "tests": str(count.records),
        "failures": str(failed - errors),
        "errors": str(errors),
        "skipped": str(count.records - failed - count.kinds["passed"]),
        "time": f"{sum(r.seconds for r in results):.6f}",
    }
