"""Operators whose results are not rounded to nearest: listed, and shown in the terminal and in Markdown."""

import pytest
from report_samples import header

from opproof.reports import Result, markdown, rounding, terminal


def record(op="exp", how="truncate", units=1.5, limit=2.0, dtype="bf16", backend="a"):
    case = f"{op}[x=300,;{dtype}]"
    fields = {"mode": "forward", "verdict": "PASS", "units": units, "limit": limit, "rounding": how}
    return Result(case=case, op=op, dtype=dtype, backend=backend, **fields)


RECORDS = [record(), record(how="nearest"), record(how=""), record("sin", "away"), record("cos", "nearest")]


def test_one_for_each_operator():
    exp, sin = rounding.find_not_nearest(RECORDS)
    assert exp == rounding.StoredRounding("a", "exp", "forward", "bf16", "truncate", 1, 2)
    assert (sin.op, sin.rounding, sin.records, sin.telling) == ("sin", "away", 1, 1)


@pytest.mark.parametrize("units", [3.0, "inf", None])
def test_what_is_beyond_the_bound_tells_nothing(units):
    assert rounding.find_not_nearest([record(units=units)]) == []


def test_text():
    assert rounding.describe_rounding([record(how="nearest"), record(how="")]) == ""
    said = rounding.describe_rounding(RECORDS)
    assert said == (
        "not rounded to nearest: exp forward bf16 (truncate in 1 of 2 records); "
        "sin forward bf16 (away in 1 of 1 record)"
    )
    assert rounding.describe_rounding(RECORDS, limit=1).endswith("2 records); and 1 more")
    assert "b exp forward" in rounding.describe_rounding([*RECORDS, record(backend="b")])


@pytest.mark.parametrize("rendered", [terminal.format_summary, markdown.render])
def test_reports_show_it(rendered):
    assert rounding.describe_rounding(RECORDS) in rendered(header(5), RECORDS).replace("\\", "")
    assert "not rounded" not in rendered(header(1), [record(how="nearest")])
