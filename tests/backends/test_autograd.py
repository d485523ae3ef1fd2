"""The adapter of HIPS autograd: what it covers, and the smoke level of some operators."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("autograd", reason="the autograd adapter needs pip autograd")

from opproof.backends.autograd import create
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names

NEGATIVE = "repeat_interleave[x=5x31;repeats=2;dim=-1;f32;fill=wide]"


def test_it_covers_60_operators_and_no_other():
    table = create().table
    assert len(table) >= 60
    assert set(table) <= set(names())
    assert declared("autograd") <= set(table)
    assert {op for entry in read_built_in("autograd") for op in entry.ops} <= set(table)


def test_smoke():
    table = sorted(create().table)
    records = results("autograd", "autograd", ops=tuple(table), level="smoke", dtypes=("f32", "f64"))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS" and r.mode == "forward"}) >= 105
    assert len({r.op for r in records if r.verdict == "PASS" and r.mode == "gradient"}) >= 85


def test_16_bits():
    records = results("autograd", "autograd", ops=("add", "mean", "conv2d", "where"), level="smoke", dtypes=("f16",))
    assert not unexpected(records)
    assert records


def test_a_defect_of_autograd_is_found_and_known():
    """np.repeat along a negative axis has a wrong gradient; without the ledger it is a failure, with it a known one."""
    (record,) = results("autograd", cases=(NEGATIVE,), modes=("gradient",))
    assert (record.verdict, record.known) == ("WRONG_GRADIENT", "")
    (record,) = results("autograd", "autograd", cases=(NEGATIVE,), modes=("gradient",))
    assert "shape[axis + 1:]" in record.known


@pytest.mark.parametrize(("spec", "verdict"), [("autograd", "PASS"), ("autograd:each", "WRONG_DTYPE")])
def test_one_gradient_alone_has_the_dtype_that_autograd_made(spec, verdict):
    (record,) = results(spec, cases=("mean[x=7x33;dim=-1;f32]",), modes=("gradient",))
    assert record.verdict == verdict


def test_what_autograd_lacks_is_declined():
    (record,) = results("autograd", cases=("softmax[x=7x33;dim=-1;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "autograd has no softmax")
    (record,) = results("autograd", cases=("exp[x=7x33;bf16]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "NumPy, and so autograd, has no bfloat16")
