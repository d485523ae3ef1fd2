"""The MLX adapter: what it covers, the smoke level, and a broken twin."""

import sys

import pytest
from _adapters import results, unexpected

pytest.importorskip("mlx.core", reason="the MLX adapter needs pip mlx[cpu]")

from opproof.backends.mlx import STORES_INTERMEDIATES, create
from opproof.harness.ledger.known import built_in
from opproof.reference_ops import names
from opproof.vocabulary.errors import BackendError

BROKEN = """
from opproof.backends.mlx import create

backend = create()
backend.name = "broken"
right = backend._table["layer_norm"]
backend._table["layer_norm"] = lambda x, *rest, eps, **params: right(x, *rest, eps=1e-6, **params)
"""


def test_it_covers_90_operators_and_no_other():
    table = create()._table
    assert len(table) >= 90
    assert set(table) <= set(names())
    assert STORES_INTERMEDIATES["forward"] | STORES_INTERMEDIATES["gradient"] <= set(table)
    assert {entry.pattern.partition("[")[0] for entry in built_in("mlx")} <= set(table)


def test_smoke():
    records = results("mlx", "mlx", level="smoke", dtypes=("f32", "f64"))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 140


def test_16_bits():
    records = results(
        "mlx", "mlx", ops=("add", "gelu", "conv2d", "sort", "rope"), level="smoke", dtypes=("f16", "bf16")
    )
    assert not unexpected(records)


def test_a_broken_twin_is_found(tmp_path):
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    records = results(str(tmp_path / "broken.py"), cases=("layer_norm[x=7x33;normalized_shape=(33);eps=0.1;f32]",))
    assert {r.mode: r.verdict for r in records} == {"forward": "WRONG_VALUE", "gradient": "WRONG_GRADIENT"}


def test_what_mlx_lacks_is_declined():
    (record,) = results("mlx", cases=("xielu[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "MLX has no xielu")


def test_an_unknown_variant():
    with pytest.raises(BackendError, match="no variant 'gpu': expected mlx or mlx:compile"):
        create("gpu")


def test_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "mlx.core", None)
    with pytest.raises(BackendError, match=r"pip install 'opproof\[mlx\]'"):
        create()
