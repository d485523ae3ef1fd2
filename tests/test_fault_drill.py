"""The fault drill: 2,000 cases on a backend that fails one in twenty ends with exactly those named."""

from __future__ import annotations

from pathlib import Path

import pytest
from _drill_backend import fault_of

from opproof.cases import Case
from opproof.harness.run.limits import Limits
from opproof.harness.run.plan import Selection, cases
from opproof.harness.run.pool import Pool
from opproof.harness.run.task import Task
from opproof.harness.truth.data import inputs_of, ordered, parameters
from opproof.reference_ops import load
from opproof.vocabulary.dtypes import DTYPES
from opproof.vocabulary.verdicts import FAILED

BACKEND = str(Path(__file__).parent / "_drill_backend.py")
COUNT = 2000
TIMEOUT = 10.0

#: What the run must call each fault.
VERDICTS = {
    "abort": "CRASH",
    "segfault": "CRASH",
    "exit": "CRASH",
    "double free": "CRASH",
    "hang": "TIMEOUT",
    "scribble": "INPUT_CHANGED",
    "overrun": "OUT_OF_BOUNDS",
    "early read": "OUT_OF_BOUNDS",
}


def planned(case: Case) -> str | None:
    """The fault that the backend will commit in `case`, where it has data to commit it on."""
    op = load(case.op)
    native = DTYPES[case.dtype].numpy
    inputs = [
        x if x is None or x.dtype.kind != "f" else x.astype(native) for x in ordered(case, op, inputs_of(case, op))
    ]
    fault = fault_of(case.op, inputs, parameters(case, op))
    needs_data = fault in ("scribble", "overrun", "early read")
    return None if needs_data and not any(x is not None and x.nbytes for x in inputs) else fault


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # data of an extreme fill in a narrow dtype
def test_exactly_the_faulty_cases_are_named():
    chosen = [c for c in cases(Selection(level="standard", dtypes=("f32",))) if load(c.op).vjp is not None]
    chosen = [chosen[i * len(chosen) // COUNT] for i in range(COUNT)]
    faults = {str(c): planned(c) for c in chosen}
    expected = {case: VERDICTS[fault] for case, fault in faults.items() if fault}
    assert set(faults.values()) == {None, *VERDICTS}
    assert COUNT // 25 < len(expected) < COUNT // 16
    with Pool(Limits(jobs=2, timeout=TIMEOUT, memory=2 * 2**30)) as pool:
        results = list(pool.run([Task(BACKEND, case, "forward") for case in faults]))
    assert sorted(r.case for r in results) == sorted(faults)
    assert {r.case: r.verdict for r in results if r.verdict in FAILED} == expected
