"""Level exhaustive: chunks hold every number once, each is a case of its own, and the worst inputs come by range."""

import numpy as np
import pytest
from _runs import opproof

from opproof.cases import Case
from opproof.cases._chunks import make_chunks
from opproof.core.errors import UsageError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.question import make_question
from opproof.harness.run.plan import Selection, select_cases
from opproof.reference_ops import load
from opproof.reports import read_results
from opproof.reports.ranges import rank_ranges

WRONG_AT = """
import numpy as np

version, device = "1", "bench"


def supports(op, dtypes, params):
    return op == "exp" or "exp only"


def forward(op, inputs, params):
    (x,) = inputs
    with np.errstate(all="ignore"):
        y = np.exp(x.astype(np.float64)).astype(x.dtype)
        return np.where(x == x.dtype.type(2.34375), y * x.dtype.type(1.25), y)
"""


def drawn(case):
    return make_question(case, load(case.op), Mode.FORWARD).case_data.inputs[0]


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_chunks_hold_every_number_once(dtype):
    found = np.concatenate([drawn(c).ravel() for c in make_chunks(load("exp"), (dtype,))])
    assert found.size == 65536
    whole = drawn(Case.parse(f"exp[x=256x256;{dtype};fill=every]"))
    assert np.array_equal(found, whole.ravel(), equal_nan=True)


def test_a_chunk_has_one_sign_and_one_binade():
    for case in make_chunks(load("exp"), ("f16",)):
        x = drawn(case)
        assert len(set(np.signbit(x[~np.isnan(x)]))) <= 1
        finite = np.abs(x[np.isfinite(x) & (np.abs(x) >= 2.0**-14)])
        assert len(set(np.frexp(finite)[1])) <= 1


def test_f32_has_4_billion_numbers_in_chunks_that_read_back():
    found = list(make_chunks(load("exp"), ("f32",)))
    assert len(found) * np.prod(found[0].shapes["x"]) == 2**32
    assert str(found[16]) == "exp[x=512x512;f32;fill=every:17/16384]"
    assert Case.parse(str(found[16])) == found[16]


def test_parameters_stay():
    assert {c.kwargs["negative_slope"] for c in make_chunks(load("leaky_relu"), ("f16",))} == {0.01}


def test_f64_is_refused():
    with pytest.raises(UsageError, match="2\\^64"):
        select_cases(Selection(ops=("exp",), dtypes=("f64",), level="exhaustive"))


def test_the_one_wrong_number_is_found_and_named(tmp_path, capsys):
    backend = tmp_path / "wrong_at.py"
    backend.write_text(WRONG_AT, encoding="utf-8")
    out = tmp_path / "out"
    args = ["run", "-b", backend, "-o", "exp", "--dtype", "f16", "--level", "exhaustive", "--mode", "forward", "-j", 1]
    code, said, _ = opproof(capsys, *args, "--in-process", "--quiet", "--out", out)
    assert code == 1
    assert "513 units at x = 2.34375, FAILS" in said
    _, results = read_results(out)
    assert [(r.verdict, r.case) for r in results if r.verdict != Verdict.PASS] == [
        (Verdict.WRONG_VALUE, "exp[x=32x32;f16;fill=every:17/64]")
    ]
    rows = (out / "ranges.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == 65
    assert rows[1].endswith(",2.34375,true")
    assert sum(r.parts for r in rank_ranges(results, lambda _: (0.0,))) == 64
    assert opproof(capsys, "run", "--resume", out, "-j", 1, "--quiet")[0] == 1


def test_it_is_sharded(tmp_path, capsys):
    backend = tmp_path / "wrong_at.py"
    backend.write_text(WRONG_AT, encoding="utf-8")
    args = ["run", "-b", backend, "-o", "exp", "--dtype", "f16", "--level", "exhaustive", "--mode", "forward", "-j", 1]
    counts = []
    for k in (1, 2, 3):
        out = tmp_path / f"part{k}"
        opproof(capsys, *args, "--in-process", "--quiet", "--shard", f"{k}/3", "--out", out)
        counts.append(len(read_results(out)[1]))
    assert sum(counts) == 64
    assert min(counts) > 8
