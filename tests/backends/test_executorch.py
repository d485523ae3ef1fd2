"""The adapter of ExecuTorch: some operators at smoke, defects in a wrapper, its known failures, what it has not got."""

import numpy as np
import pytest
from _adapters import results, unexpected

pytest.importorskip("executorch.runtime", reason="the executorch adapter needs pip executorch")

from opproof.backends import Unsupported
from opproof.backends.load import load_backend
from opproof.harness.known_failures.findings import read_built_in
from opproof.harness.run.hosts.process import REFERENCES
from opproof.reference_ops import load, names

BROKEN = """
from opproof.backends.load import load_backend

backend = load_backend("executorch")
right = dict(backend.table)
backend.table["softmax"] = lambda x, *, dim: right["softmax"](x, dim=0)
backend.table["amax"] = lambda x, **p: right["amax"](x.abs(), **p)
backend.table["tanh"] = lambda x: right["tanh"](x.half()).float()
"""
#: A case of each operator that the wrapper has wrong.
PLANTED = "softmax[x=4x7;dim=1;f32]", "amax[x=7x33;dim=-1;f32]", "tanh[x=7x33;f32]"
KNOWN = {
    "remainder[a=7x33;b=7x33;i32]": "the sign of the dividend",
    "rescale[x=7x33;multiplier=33,;shift=33,;bits=16;f32]": "the sign of the dividend",
    "opt_step_adamw[param=7x33;grad=7x33;exp_avg=7x33;exp_avg_sq=7x33;lr=0.1;f32]": "1 - beta^step in float32",
}


def test_it_covers_what_pytorch_has_and_draws_nothing():
    table = load_backend("executorch").table
    assert len(table) >= 320
    assert set(table) <= set(names())
    assert not [op for op in table if load(op).drawn_from]
    assert {op for entry in read_built_in("executorch") for op in entry.ops} <= set(table)


@pytest.mark.parametrize("spec", ["executorch", "executorch:xnnpack"])
def test_some_at_smoke(spec):
    ops = ("layer_norm", "linear", "softmax", "topk")
    records = results(spec, spec, ops=ops, level="smoke", dtypes=("f32",), modes=("forward",))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS"} == set(ops)


def test_three_defects_of_a_wrapper_are_found(tmp_path, monkeypatch):
    monkeypatch.setenv(REFERENCES, "allowed")  # of which its programs are made
    (tmp_path / "broken.py").write_text(BROKEN, encoding="utf-8")
    records = results(str(tmp_path / "broken.py"), cases=PLANTED, modes=("forward",))
    assert [r.verdict for r in records] == ["WRONG_VALUE"] * len(PLANTED)


def test_known_failures_are_found_and_known():
    records = results("executorch", "executorch", cases=tuple(KNOWN), modes=("forward",))
    assert {r.verdict for r in records} == {"WRONG_VALUE"}
    assert all(KNOWN[r.case] in r.known for r in records), [(r.case, r.known) for r in records]


def test_xnnpack_forgets_the_approximation_of_gelu():
    (record,) = results(
        "executorch:xnnpack", "executorch:xnnpack", cases=("gelu[x=7x33;approximate=tanh;f32]",), modes=("forward",)
    )
    assert record.verdict == "WRONG_VALUE"
    assert "without looking at approximate" in record.known


def test_what_has_no_kernel_is_declined():
    x = np.ones((3, 4), np.float32)
    with pytest.raises(Unsupported, match=r"^ExecuTorch: Failed to load method forward, error: 0x:?14$"):
        load_backend("executorch").forward("fft", [x, x], {"dim": -1, "norm": "backward", "inverse": False})


def test_numbers_of_16_bits_go_there_and_back():
    import ml_dtypes

    x = np.array([[1.5, -2.25, 3e38]], ml_dtypes.bfloat16)
    (y,) = load_backend("executorch").forward("neg", [x], {})
    assert y.dtype == x.dtype
    assert (-y == x).all()
