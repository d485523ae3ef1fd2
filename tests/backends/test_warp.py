"""The Warp adapter: what it covers, and some operators at the smoke level."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("warp", reason="the Warp adapter needs pip warp-lang")

from opproof.backends.warp.calls import OPERATORS
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


def test_it_covers_30_operators_and_no_other():
    assert len(OPERATORS) >= 30
    assert set(names()) >= OPERATORS
    assert declared("warp") <= OPERATORS
    assert {op for entry in read_built_in("warp") for op in entry.ops} <= OPERATORS


def test_a_builtin_a_read_and_an_atomic():
    """A few, since each kernel is compiled."""
    records = results("warp", "warp", ops=("mul", "embedding", "sum"), level="smoke", dtypes=("f32",))
    assert not unexpected(records)
    assert {(r.op, r.mode) for r in records if r.verdict == "PASS"} == {
        (op, mode) for op in ("mul", "embedding", "sum") for mode in ("forward", "gradient")
    }


def test_a_defect_of_warp_is_found_and_known():
    """wp.mod has no adjoint for its second argument; without the ledger it is a failure, with it a known one."""
    (record,) = results("warp", cases=("fmod[a=1x3;b=4x3;f32]",), modes=("gradient",))
    assert (record.verdict, record.worst.tensor, record.worst.got) == ("WRONG_GRADIENT", "b", 0.0)
    (record,) = results("warp", "warp", cases=("fmod[a=1x3;b=4x3;f32]",), modes=("gradient",))
    assert "wp.mod" in record.known


def test_what_warp_lacks_is_declined():
    (record,) = results("warp", cases=("softmax[x=7x33;dim=-1;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "Warp has no builtin softmax")
    (record,) = results("warp", cases=("amax[x=7x33;dim=-1;f16]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "Warp's atomic_max has no float16")
