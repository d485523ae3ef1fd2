"""One run, and what changed since another, through every rendering: all of them show the same figures."""

import csv
import io
import json
import re
import xml.etree.ElementTree as ET
from collections import Counter
from dataclasses import replace

import pytest
import report_samples as samples

from opproof.core.verdicts import Verdict
from opproof.reports import github, html, junit, markdown, tables, terminal
from opproof.reports._kinds import KINDS, LABELS, ResultKind
from opproof.reports._kinds import result_kind_of as kind_of
from opproof.reports._summary import list_failures, summarise_run
from opproof.reports._text import count_telling_digits, escape_cell, number
from opproof.reports.causes import find_causes, format_heading
from opproof.reports.changes import TITLES, Change, compare_runs
from opproof.reports.changes import text as changes_text

BACKENDS = ("mylib", "torch")
WAYS = (
    {"verdict": Verdict.UNSUPPORTED, "units": None},
    {"verdict": Verdict.WRONG_VALUE, "units": 300.0},
    {"verdict": Verdict.WRONG_VALUE, "units": 3e5, "known": "a table"},
    {"verdict": Verdict.HARNESS_ERROR, "units": None, "message": "the reference raised KeyError: 'x'"},
    {"units": 900.0},
    {"case": "softmax[x=5x5;dim=0;f32]", "op": "softmax"},
    {"case": "softmax[x=6x6;dim=0;f32]", "op": "softmax", "verdict": Verdict.CRASH, "units": None},
    {"verdict": Verdict.VACUOUS},
)


def two_runs():
    """A run in which each change of verdict occurs, and the one before it."""
    before, after = [], []
    for place, r in enumerate(samples.run(2, BACKENDS)):
        way = place % 61
        changed = replace(r, **WAYS[way]) if r.verdict == Verdict.PASS and way < len(WAYS) else r
        before.append(replace(r, verdict=Verdict.WRONG_VALUE, units=99.0) if way == len(WAYS) else r)
        after.append(changed)
    return before, list({(r.case, r.mode, r.backend): r for r in after}.values())


BEFORE, AFTER = two_runs()
HEADER = samples.header(len(AFTER) + 2, BACKENDS)


def data_of(text):
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])


def filled(rows):
    """Cells by head, for the rows of a table by their first two cells; empty cells are left out."""
    heads = rows[0][2:]
    return {tuple(r[:2]): {h: c for h, c in zip(heads, r[2:], strict=True) if c} for r in rows[1:]}


def table_in_terminal(text):
    lines = text.split("\n\n", 1)[0].splitlines()
    spans = [match.span() for match in re.finditer("-+", lines[1])]
    return filled([[line[a:b].strip() for a, b in spans] for line in (lines[0], *lines[2:])])


def table_in_markdown(text):
    body = text.partition("<summary>All operators</summary>")[2]
    rows = [[c.strip().replace("\\", "") for c in x.strip("|").split("|")] for x in body.splitlines() if x[:1] == "|"]
    return filled([rows[0], *rows[2:]])


def table_in_page(page, *, arrays):
    columns, rows = page["columns"], {}
    names = ("op", "backend", "kind", "units", "limit", "rms", "bias")
    for op, backend, kind, units, limit, rms, bias in zip(*(columns[n] for n in names), strict=True):
        row = rows.setdefault((page["ops"][op], page["names"][backend]), {"records": 0})
        row["records"] += 1
        row[page["labels"][kind]] = row.get(page["labels"][kind], 0) + 1
        if (error := {"passed": "units", "failed": "units, failing"}.get(page["kinds"][kind])) and units is not None:
            share = (float(units) / (limit or 16.0), float(units))
            row[error] = max(row.get(error, (-1.0, -1.0, 0.0)), (*share, limit or 16.0))
        if arrays and page["kinds"][kind] == "passed" and rms is not None:
            row["RMS"] = max(row.get("RMS", 0.0), rms)
            row["bias"] = max(row.get("bias", 0.0), bias, key=abs)
    return {key: {name: shown(value) for name, value in row.items()} for key, row in rows.items()}


def shown(value):
    """A count, the units of a record by its share, units and limit, or a figure of arrays."""
    if isinstance(value, tuple):
        return number(value[1], count_telling_digits(value[1], value[2], 2))
    return str(value) if isinstance(value, int) else number(round(value, 2) + 0.0, 2)


def counts(text):
    """{"pass": 12, "no evidence": 3} of 12 pass, 3 no evidence"""
    return {name: int(n.replace(",", "")) for n, name in re.findall(r"([\d,]+) ([a-z ]+)", text)}


def sections(text):
    """How many rows the sections of a comparison have, by their titles."""
    heads = re.findall(r"^(?:<details><summary>)?([a-z ]+)(?::[^()]*)? \(([\d,]+)\)", text, re.MULTILINE)
    return {title: int(n.replace(",", "")) for title, n in heads}


def check(before, after):
    """Assert that all renderings of the run `after`, compared with `before`, show the same figures."""
    since = compare_runs((samples.header(), before), (HEADER, after))
    whole = html.render(HEADER, after, changes=since)
    page, plain, comment = (
        data_of(whole),
        terminal.format_summary(HEADER, after),
        markdown.render(HEADER, after, limit=10**7),
    )
    notes, xml = github.format_annotations(HEADER, after), ET.fromstring(junit.render(HEADER, after))
    file = io.StringIO(newline="")
    tables.write_csv(after, file)
    records = list(csv.DictReader(io.StringIO(file.getvalue(), newline="")))

    whole_table = table_in_terminal(terminal.format_summary(HEADER, after, limit=None))
    assert whole_table == table_in_page(page, arrays=False)  # for which it has too many columns
    assert table_in_markdown(comment) == table_in_page(page, arrays=True)

    kinds = Counter(KINDS[k] for k in page["columns"]["kind"])
    assert set(kinds) == set(ResultKind)
    assert counts(re.search(r"^[\d,]+ records: (.*)$", plain, re.MULTILINE)[1]) == {
        LABELS[k]: kinds[k] for k in ResultKind
    }
    assert Counter(r["kind"] for r in records) == kinds
    tests = {(r.backend, r.op, r.mode) for r in after}
    assert int(xml.attrib["tests"]) == len(tests) == len(xml.findall(".//testcase"))
    figures = Counter()
    for entry in xml.iter("property"):
        if entry.attrib["name"] in LABELS.values():
            figures[entry.attrib["name"]] += int(entry.attrib["value"])
    assert figures == {LABELS[k]: kinds[k] for k in ResultKind}
    judged = {
        (r.backend, r.op, r.mode)
        for r in after
        if kind_of(r) in (ResultKind.FAILED, ResultKind.HARNESS_ERROR, ResultKind.PASSED)
    }
    assert len(xml.findall(".//skipped")) == len(tests - judged)
    wrong = {(r.backend, r.op, r.mode) for r in after if kind_of(r) in (ResultKind.FAILED, ResultKind.HARNESS_ERROR)}
    assert sum(bool({"failure", "error"} & {e.tag for e in c}) for c in xml.iter("testcase")) == len(wrong)
    errors = [line for line in notes.splitlines() if re.match("::error title=(?!opproof|HARNESS)", line)]
    shown = sum(int(re.search(r": ([\d,]+) record", title.replace("%3A", ":"))[1]) for title in errors)
    assert shown + int(re.search(r"causes? of ([\d,]+) failure", notes)[1]) == kinds[ResultKind.FAILED]
    assert f"\n{kinds[ResultKind.KNOWN]} known failures:\n" in plain
    check_causes(after, page, comment, xml)
    faults = f"opproof itself failed on {kinds[ResultKind.HARNESS_ERROR]} records: the reference raised KeyError: 'x'"
    for text in (plain, comment, notes, whole.replace("&#39;", "'")):
        assert faults in text

    said = summarise_run(HEADER, after)
    assert plain.endswith(said)
    assert comment.startswith(f"### ❌ opproof: {escape_cell(said, 1500)}\n")
    assert f">{said}</h1>" in whole.replace("&#39;", "'")

    text, folded = changes_text.format_text(since), changes_text.format_markdown(since)
    shown = page["changes"]
    of = {TITLES[c]: len(since.of(c)) for c in Change}
    assert all(of.values())
    assert dict(zip(shown["titles"], shown["counts"], strict=True)) == of
    assert Counter(shown["titles"][k] for k in shown["change"]) == of
    of["vanished"] = len(since.vanished)
    del of[TITLES[Change.SAME]]
    assert sections(text) == sections(folded) == of
    assert text.endswith(shown["sentence"])
    assert folded.startswith(f"### ❌ opproof compare: {escape_cell(shown['sentence'], 1500)}\n")
    assert f"{of['vanished']} records of the baseline did not run now" in shown["notes"]


def check_causes(after, page, comment, xml):
    """Assert that each rendering has the same causes of the same records in the same order."""
    headings = [format_heading(c, BACKENDS) for c in find_causes(list_failures(after))]
    everything = terminal.format_summary(HEADER, after, limit=None)
    assert [row for row in everything.splitlines() if re.match(r"\S.*: [\d,]+ records?, \S+", row)] == headings
    assert [re.sub(r"\\", "", t) for t in re.findall("<summary><b>(.*?)</b>", comment)] == headings
    counted = [int(re.search(r": ([\d,]+) record", t)[1].replace(",", "")) for t in headings]
    assert [len(places) for _, places in page["causes"]] == counted
    assert [[after[k] for k in places] for _, places in page["causes"]] == [
        [*c.records] for c in find_causes(list_failures(after))
    ]
    texts = "\n".join(e.text for tag in ("failure", "error") for e in xml.iter(tag))
    told = re.findall(r"^\S.*: [\d,]+ records?, .+$", texts, re.MULTILINE)
    assert sorted(told) == sorted(re.sub(r" on \w+", "", h) for h in headings)
    notes = github.format_annotations(HEADER, after, limit=10**6).replace("%2C", ",").replace("%3A", ":")
    assert [t for t in re.findall("title=(.*?)::", notes) if ": " in t] == headings


def test_all_renderings_show_the_same_figures():
    check(BEFORE, AFTER)


def one_more(function):
    """`function`, whose records have one failure more."""
    extra = samples.result("abs[x=99,;f32]", "forward", "torch", verdict=Verdict.WRONG_VALUE, units=4e9)

    def altered(*arguments, **named):
        return function(*(extra_at(a, extra) for a in arguments), **named)

    return altered


def extra_at(argument, extra):
    records = isinstance(argument, list) and argument and hasattr(argument[0], "verdict")
    return [*argument, extra] if records else argument


PLANTS = [
    (terminal, "make_table"),
    (terminal, "summarise_run"),
    (markdown, "make_table"),
    (markdown, "summarise_run"),
    (github, "list_failures"),
    (junit, "list_failures"),
    (junit, "tally"),
    (junit, "find_causes"),
    (terminal, "find_causes"),
    (markdown, "find_causes"),
    (html, "summarise_run"),
]


@pytest.mark.parametrize(("module", "name"), PLANTS, ids=lambda v: getattr(v, "__name__", v))
def test_a_rendering_with_figures_of_its_own_is_found(module, name, monkeypatch):
    monkeypatch.setattr(module, name, one_more(getattr(module, name)))
    with pytest.raises(AssertionError):
        check(BEFORE, AFTER)


@pytest.mark.parametrize("module", [tables, html.payload, changes_text], ids=lambda m: m.__name__)
def test_a_rendering_with_a_definition_of_its_own_is_found(module, monkeypatch):
    """A known failure that one of them alone calls a failure, an error that it alone calls grown."""
    if module is changes_text:
        titles = {change: title for change, title in TITLES.items() if change is not Change.LOST}
        monkeypatch.setattr(module, "TITLES", titles)
    else:
        own = dict.fromkeys(ResultKind, ResultKind.FAILED)
        real = module.result_kind_of
        monkeypatch.setattr(
            module, "result_kind_of", lambda r: own[real(r)] if real(r) is ResultKind.KNOWN else real(r)
        )
    with pytest.raises(AssertionError):
        check(BEFORE, AFTER)
