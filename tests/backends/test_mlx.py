"""The MLX adapter: what it covers, and the smoke level."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("mlx.core", reason="the MLX adapter needs pip mlx[cpu]")

from opproof.backends.mlx import create
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


def test_it_covers_90_operators_and_no_other():
    table = create().table
    assert len(table) >= 90
    assert set(table) <= set(names())
    assert declared("mlx") <= set(table)
    assert {op for entry in read_built_in("mlx") for op in entry.ops} <= set(table)


def test_smoke():
    records = results("mlx", "mlx", level="smoke", dtypes=("f32", "f64"))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 140


def test_16_bits():
    records = results(
        "mlx", "mlx", ops=("add", "gelu", "conv2d", "sort", "rope"), level="smoke", dtypes=("f16", "bf16")
    )
    assert not unexpected(records)


def test_what_mlx_lacks_is_declined():
    (record,) = results("mlx", cases=("xielu[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "MLX has no xielu")


def test_what_mlx_documents_otherwise_is_declined():
    otherwise = {
        "leaky_relu[x=66x11;negative_slope=1.5;f32;fill=kink]": "is the larger of x and slope x",
        "clamp[x=7x33;f32]": "one limit at least",
        "selu[x=7x33;f32]": "constants to six digits",
        "cross_entropy[x=9x33;target=9x33;reduction=sum;f32]": "takes a row's probabilities to add up to 1",
    }
    records = results("mlx", cases=tuple(otherwise))
    assert {r.verdict for r in records} == {"UNSUPPORTED"}
    assert all(otherwise[r.case] in r.message for r in records)
