"""The tinygrad adapter: what it covers, and some operators at the smoke level."""

import shutil

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("tinygrad", reason="the tinygrad adapter needs pip tinygrad")

from opproof.backends import tinygrad
from opproof.core.errors import BackendError
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


@pytest.fixture
def environment(monkeypatch):
    """The name of the compiler, which create() writes there, set back afterwards."""
    monkeypatch.setenv("CC", "")
    return monkeypatch


def test_it_covers_80_operators_and_no_other(environment):
    table = tinygrad.create("python").table
    assert len(table) >= 80
    assert set(table) <= set(names())
    assert declared("tinygrad") <= set(table)
    assert {op for entry in read_built_in("tinygrad") for op in entry.ops} <= set(table)


def test_some_operators_without_a_compiler():
    """A few, since each takes a tenth of a second and more to lower."""
    ops = ("exp", "embedding", "softmax", "where")
    records = results("tinygrad:python", "tinygrad:python", ops=ops, level="smoke", dtypes=("f32",))
    assert not unexpected(records)
    assert {(r.op, r.mode) for r in records if r.verdict == "PASS"} == {
        (op, mode) for op in ops for mode in ("forward", "gradient")
    }


@pytest.mark.skipif(not any(map(shutil.which, tinygrad.COMPILERS)), reason="tinygrad on the CPU calls clang")
def test_compiled_kernels():
    records = results("tinygrad", "tinygrad", ops=("add", "sum"), level="smoke", dtypes=("f32", "f16"))
    assert not unexpected(records)
    assert {r.verdict for r in records} == {"PASS"}


def test_a_defect_of_tinygrad_is_found_and_known():
    """Its arctangent of infinity is nan; without the ledger it is a failure, with it a known one."""
    case = "atan[x=66,;f32;fill=special]"
    (record,) = results("tinygrad:python", cases=(case,), modes=("forward",))
    assert (record.verdict, record.known) == ("WRONG_VALUE", "")
    (record,) = results("tinygrad:python", "tinygrad:python", cases=(case,), modes=("forward",))
    assert "asin" in record.known


def test_what_tinygrad_lacks_is_declined():
    (record,) = results("tinygrad:python", cases=("expm1[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "tinygrad has no expm1")
    (record,) = results("tinygrad:python", cases=("sort[x=7x33;dim=-1;f32]",), modes=("gradient",))
    assert record.message == "the gradient of tinygrad's sort of 33 elements takes too long to compile"
    (record,) = results("tinygrad:python", cases=("pad[x=3x2;pad=(3,0);mode=circular;f32]",), modes=("forward",))
    assert record.message == "tinygrad's pad refuses cells that come around twice"


def test_no_compiler(environment):
    environment.setenv("PATH", "/nowhere")
    with pytest.raises(BackendError, match="install clang, or use -b tinygrad:python"):
        tinygrad.create()
