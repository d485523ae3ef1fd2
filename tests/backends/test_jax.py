"""The JAX adapter: what it covers, a part of the smoke level, and both variants."""

import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("jax", reason="the JAX adapter needs pip jax[cpu]")

from opproof.backends.jax import create
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names

#: Of every kind one: XLA compiles each case anew, and all of them would take minutes.
OPS = ("add", "gelu", "var", "softmax", "conv2d", "max_pool2d", "pad", "sort", "index_add", "layer_norm")


def test_it_covers_120_operators_and_no_other():
    table = create().table
    assert len(table) >= 120
    assert set(table) <= set(names())
    assert declared("jax") <= set(table)
    assert {op for entry in read_built_in("jax") for op in entry.ops} <= set(table)


def test_smoke():
    records = results("jax", "jax", ops=OPS, level="smoke", dtypes=("f32", "bf16"))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS" and r.mode == "gradient"} == set(OPS)


def test_float64_is_computed_in_float64_and_integers_stay_indices():
    assert not unexpected(results("jax", ops=("exp", "argmax"), level="smoke", dtypes=("f64",)))


def test_operation_by_operation():
    assert not unexpected(results("jax:eager", ops=("sum",), level="smoke", dtypes=("f32",)))


def test_what_jax_lacks_is_declined():
    (record,) = results("jax", cases=("xielu[x=7x33;f32]",), modes=("forward",))
    assert (record.verdict, record.message) == ("UNSUPPORTED", "JAX has no xielu")


def test_operators_without_tensors_and_of_several_dtypes():
    cases = (
        "add[a=7x33;b=33,;bf16]",
        "add[a=7x33;b=33,;bf16;mixed=b:f32]",  # of the same shapes: what was compiled for one is not the other's
        "arange[start=0.0;end=10.0;step=1.0;f32]",
        "dequantize_linear[data=2x3x4x9;scale=2x3x4x1;type=i8;f32]",  # bytes are no floats of another dtype
    )
    records = results("jax", cases=cases, modes=("forward",))
    assert [r.verdict for r in records] == ["PASS"] * 4
