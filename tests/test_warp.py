"""The Warp adapter: what it covers, some operators at the smoke level, and a broken twin."""

import sys

import pytest
from _adapters import results, unexpected

pytest.importorskip("warp", reason="the Warp adapter needs pip warp-lang")

from opproof.backends.warp import STORES_INTERMEDIATES, create
from opproof.backends.warp.calls import OPERATORS
from opproof.harness.ledger.known import built_in
from opproof.reference_ops import names
from opproof.vocabulary.errors import BackendError

BROKEN = """
from dataclasses import replace

import warp as wp
from opproof.backends.warp import create

backend = create()
backend.name = "broken"
from opproof.backends.warp.functions import POINTWISE

POINTWISE["sin"] = replace(POINTWISE["sin"], function=wp.tan)
"""


def test_it_covers_30_operators_and_no_other():
    assert len(OPERATORS) >= 30
    assert set(names()) >= OPERATORS
    assert STORES_INTERMEDIATES["forward"] | STORES_INTERMEDIATES["gradient"] <= OPERATORS
    assert {entry.pattern.partition("[")[0] for entry in built_in("warp")} <= OPERATORS


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


def test_a_broken_twin_is_found(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    records = results(str(tmp_path / "broken.py"), cases=("sin[x=7x33;f32]",))
    assert {r.mode: r.verdict for r in records} == {"forward": "WRONG_VALUE", "gradient": "WRONG_GRADIENT"}


def test_what_warp_lacks_is_declined():
    (record,) = results("warp", cases=("softmax[x=7x33;dim=-1;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "Warp has no builtin softmax")
    (record,) = results("warp", cases=("amax[x=7x33;dim=-1;f16]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "Warp's atomic_max has no float16")


def test_an_unknown_variant():
    with pytest.raises(BackendError, match="no variant 'gpu'"):
        create("gpu")


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "warp", None)
    with pytest.raises(BackendError, match=r"pip install 'opproof\[warp\]'"):
        create()
