"""The JAX adapter: what it covers, a part of the smoke level, both variants, and a broken twin."""

import sys

import pytest
from _adapters import results, unexpected

pytest.importorskip("jax", reason="the JAX adapter needs pip jax[cpu]")

from opproof.backends.jax import STORES_INTERMEDIATES, create
from opproof.harness.ledger.known import built_in
from opproof.reference_ops import names
from opproof.vocabulary.errors import BackendError

#: Of every kind one: XLA compiles each case anew, and all of them would take minutes.
OPS = ("add", "gelu", "var", "softmax", "conv2d", "max_pool2d", "pad", "sort", "index_add", "layer_norm")

BROKEN = """
from opproof.backends.jax import create

backend = create()
backend.name = "broken"
right = backend._table["softmax"]
backend._table["softmax"] = lambda x, *, dim: right(x, dim=0)
"""


def test_it_covers_120_operators_and_no_other():
    table = create()._table
    assert len(table) >= 120
    assert set(table) <= set(names())
    assert STORES_INTERMEDIATES["forward"] | STORES_INTERMEDIATES["gradient"] <= set(table)
    assert {entry.pattern.partition("[")[0] for entry in built_in("jax")} <= set(table)


def test_smoke():
    records = results("jax", "jax", ops=OPS, level="smoke", dtypes=("f32", "bf16"))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS" and r.mode == "gradient"} == set(OPS)


def test_float64_is_computed_in_float64_and_integers_stay_indices():
    assert not unexpected(results("jax", ops=("exp", "argmax"), level="smoke", dtypes=("f64",)))


def test_operation_by_operation():
    assert not unexpected(results("jax:eager", ops=("sum",), level="smoke", dtypes=("f32",)))


def test_a_broken_twin_is_found(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    records = results(str(tmp_path / "broken.py"), cases=("softmax[x=4x7;dim=1;f32]",))
    assert {r.mode: r.verdict for r in records} == {"forward": "WRONG_VALUE", "gradient": "WRONG_GRADIENT"}


def test_what_jax_lacks_is_declined():
    (record,) = results("jax", cases=("xielu[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "JAX has no xielu")


def test_an_unknown_variant():
    with pytest.raises(BackendError, match="no variant 'fast': expected jax, jax:jit or jax:eager"):
        create("fast")


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(BackendError, match=r"pip install 'opproof\[jax\]'"):
        create()
