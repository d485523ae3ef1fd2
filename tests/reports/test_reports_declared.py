"""By what a backend asked to be judged stands in its records, in the terminal and in Markdown."""

import pytest
from report_samples import header

from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task
from opproof.reports import Result, declared, markdown, terminal

BACKEND = """
import numpy as np

def compute(op, dtype, mode):
    return "bf16" if op == "exp" else None

def rounding(op, dtype, mode):
    return "truncate" if op == "exp" else None

def forward(op, inputs, params):
    return getattr(np, op)(inputs[0].astype(np.float64)).astype(inputs[0].dtype)
"""


def record(op="exp", said="storage", dtype="bf16", backend="a", verdict="PASS"):
    case = f"{op}[x=300,;{dtype}]"
    return Result(case=case, op=op, dtype=dtype, backend=backend, mode="forward", verdict=verdict, declared=said)


RECORDS = [record(), record("sin"), record("cos", said=""), record("cos", "bf16", "f32"), record(verdict="UNSUPPORTED")]


def test_text():
    assert declared.describe_declared([record(said="")]) == ""
    told = "bf16 in f32 (1 record of 1 operator); storage in bf16 (2 records of 2 operators)"
    assert set(declared.describe_declared(RECORDS).removeprefix("judged as declared: ").split("; ")) == set(
        told.split("; ")
    )
    assert "b storage in bf16" in declared.describe_declared([*RECORDS, record(backend="b")])


@pytest.mark.parametrize("rendered", [terminal.format_summary, markdown.render])
def test_reports_show_it(rendered):
    assert declared.describe_declared(RECORDS) in rendered(header(5), RECORDS)
    assert "as declared" not in rendered(header(1), [record(said="")])


def test_records_hold_it(tmp_path):
    file = tmp_path / "backend.py"
    file.write_text(BACKEND, encoding="utf-8")
    at = Session(HostLimits(1, 30.0, 2**30))
    try:
        said = [at.results([Task(str(file), f"{op}[x=7x33;f32]", "forward")])[0].declared for op in ("exp", "sin")]
    finally:
        at.close()
    assert said == ["bf16 and truncate", ""]
