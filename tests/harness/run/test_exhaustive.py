"""Level exhaustive: chunks hold every number once, each is a case of its own, and the worst inputs come by range."""

import numpy as np
import pytest
from _runs import opproof

from opproof.cases import Case
from opproof.cases._chunks import make_chunks as chunks_of
from opproof.cases._chunks import range_of
from opproof.core.errors import CaseError, UsageError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.reference.question import make_question
from opproof.harness.run.plan import Selection, has_gradient, select_cases, shard_of
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


def make_chunks(op, dtypes):
    return chunks_of(op.name, op.rows, dtypes, pairs=op.facts["PAIRS"])


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
    assert sum(r.parts for r in rank_ranges(results, range_of, lambda _: (0.0,))) == 64
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


PAIR_WRONG_AT = """
import numpy as np

version, device = "1", "bench"


def supports(op, dtypes, params):
    return op == "add" or "add only"


def forward(op, inputs, params):
    a, b = inputs
    with np.errstate(all="ignore"):
        y = a + b
        return np.where((a == a.dtype.type(2.34375)) & (b == b.dtype.type(-0.5)), y + y.dtype.type(0.125), y)
"""


def pairs_of(case):
    return make_question(case, load(case.op), Mode.FORWARD).case_data.inputs


def test_chunks_of_pairs_hold_every_pair_once():
    chunks = list(make_chunks(load("add"), ("f16",)))
    assert len(chunks) == 16384
    assert str(chunks[16]) == "add[a=4x65536;b=4x65536;f16;fill=pairs:17/16384]"
    assert Case.parse(str(chunks[16])) == chunks[16]
    (a, b), (after, _) = pairs_of(chunks[3840]), pairs_of(chunks[3841])
    assert [*a[:, 0], after[0, 0]] == [1.0, 1 + 2**-10, 1 + 2**-9, 1 + 3 * 2**-10, 1 + 2**-8]
    assert (a == a[:, :1]).all()
    every = np.arange(65536, dtype=np.uint16).view(np.float16).astype(np.float64)
    assert all(np.array_equal(row, every, equal_nan=True) for row in b)


def test_chunks_of_pairs_are_of_the_operators_that_say_so_and_of_16_bits():
    by_fill = [c.fill.partition(":")[0] for c in make_chunks(load("pow"), ())]
    assert by_fill.count("pairs") == 2 * 16384
    assert not any("pairs" in c.fill for c in make_chunks(load("sub"), ("f16",)))
    assert list(make_chunks(load("pow"), ("f32",))) == []


def test_a_seed_leaves_the_pairs():
    case = Case.parse("div[a=4x65536;b=4x65536;bf16;fill=pairs:5000/16384]")
    pairs = [np.stack([v.ravel() for v in pairs_of(c)]) for c in (case, case.with_seed(7))]
    assert not np.array_equal(*pairs, equal_nan=True)
    ordered = [p[:, np.lexsort(np.nan_to_num(p, nan=1e39))] for p in pairs]
    assert np.array_equal(*ordered, equal_nan=True)


def test_no_pair_is_replaced_and_no_gradient_asked_for():
    case = Case.parse("pow[a=4x65536;b=4x65536;f16;fill=pairs:12033/16384]")  # a is -1 and beyond
    a, b = pairs_of(case)
    assert (a < 0).all()
    assert (b == 0).any()
    assert np.isnan(b).any()
    assert not has_gradient(case, load("pow"))


def test_pairs_of_other_dtypes_are_refused():
    with pytest.raises(CaseError, match="expected f16 or bf16, and two tensors"):
        pairs_of(Case.parse("add[a=4x65536;b=4x65536;f32;fill=pairs:1/16384]"))
    with pytest.raises(CaseError, match="expected pairs:K/N, as in pairs:17/4096"):
        pairs_of(Case.parse("add[a=4x65536;b=4x65536;f16;fill=pairs]"))


def test_the_one_wrong_pair_is_found_in_its_shard_after_an_estimate(tmp_path, capsys):
    """And the run is gone on with, and the case repeated alone."""
    backend = tmp_path / "pair_wrong_at.py"
    backend.write_text(PAIR_WRONG_AT, encoding="utf-8")
    place = int(np.float16(2.34375).view(np.uint16)) // 4 + 1
    case = f"add[a=4x65536;b=4x65536;f16;fill=pairs:{place}/16384]"
    count = 12000
    shard = f"{shard_of(case, Mode.FORWARD, count)}/{count}"
    args = ["run", "-b", backend, "-o", "add", "--dtype", "f16", "--level", "exhaustive", "--mode", "forward", "-j", 1]
    out = tmp_path / "out"
    code, said, err = opproof(capsys, *args, "--in-process", "--quiet", "--shard", shard, "--out", out)
    assert code == 1
    header, results = read_results(out)
    numbers = 262144 * sum("pairs" in r.case for r in results)
    assert f"opproof: {len(results)} record" in err
    assert f"{numbers:,} pairs of numbers: " in err
    assert "CPU hours of judging as measured here" in err
    assert [(r.verdict, r.case) for r in results if r.verdict != Verdict.PASS] == [(Verdict.WRONG_VALUE, case)]
    wrong = next(r for r in results if r.case == case)
    at = int(np.float16(-0.5).view(np.uint16))
    assert wrong.worst.index == wrong.ulp.index == (int(np.float16(2.34375).view(np.uint16)) % 4, at)
    assert wrong.ulp.size == 128.0
    assert "at (2.34375, -0.5), FAILS" in said
    assert ",2.34375 -0.5,true" in (out / "ranges.csv").read_text(encoding="utf-8")
    records = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(line for line in records if case.encode() not in line))
    code, _, err = opproof(capsys, "run", "--resume", out, "-j", 1, "--quiet")
    assert code == 1
    assert "opproof: 1 record, 262,144 pairs" in err
    alone = ["run", "-b", backend, "--case", case, "--in-process", "--quiet", "--out", tmp_path / "alone"]
    assert opproof(capsys, *alone)[0] == 1
    assert header.cases == len(results)
