"""8-bit floats as inputs and outputs of a candidate: quantising kernels, and those that widen again."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402

KINDS = [(torch.float8_e4m3fn, 448.0), (torch.float8_e5m2, 57344.0)]


def quantised(dtype, largest, factor=1.0, cut=False):
    def kernel(x):
        scale = x.abs().amax(-1, keepdim=True) / largest
        v = x / scale * factor
        y = v.to(dtype).float()
        y = torch.where(y.abs() > v.abs(), y * 0.93, y) if cut else y
        return y.to(dtype), scale

    return kernel


def found(candidate, like, inputs):
    report = check_candidate(candidate, like, inputs, CheckOptions(neighbours=False))
    return [(str(r.verdict), r.diagnosis) for r in report.results]


@pytest.mark.parametrize(("dtype", "largest"), KINDS)
def test_quantised_by_row(dtype, largest):
    like = quantised(dtype, largest)

    def by_reciprocal(x):
        scale = x.abs().amax(-1, keepdim=True) * (1 / largest)
        return (x * (1 / scale)).clamp(-largest, largest).to(dtype), scale

    assert {v for v, _ in found(by_reciprocal, like, [(16, 64)])} == {"PASS"}
    for wrong in ({"factor": 0.98}, {"factor": 1.01}, {"cut": True}):
        verdict, diagnosis = found(quantised(dtype, largest, **wrong), like, [(16, 64)])[0]
        assert verdict == "WRONG_VALUE"
        assert "bf16" not in (diagnosis or "")


@pytest.mark.parametrize(("dtype", "largest"), KINDS)
def test_widened_again(dtype, largest):
    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        return [torch.randn(6, 64, generator=generator).to(dtype), torch.rand(6, 1, generator=generator)]

    def like(q, scale):
        return q.float() * scale

    assert [v for v, _ in found(lambda q, s: s * q.float(), like, inputs)] == ["PASS", "PASS"]
    narrow = found(lambda q, s: (q.bfloat16() * s.bfloat16()).float(), like, inputs)
    assert [v for v, _ in narrow] == ["WRONG_VALUE", "WRONG_GRADIENT"]


def test_a_dtype_that_is_not_known_is_told():
    from opproof.core.errors import UsageError

    def like(x):
        return x.to(torch.float8_e4m3fnuz)

    with pytest.raises(UsageError, match="float8_e4m3fnuz"):
        found(like, like, [(6, 64)])
    with pytest.raises(UsageError, match="sparse"):
        found(lambda x: x @ x, lambda x: x @ x, [torch.eye(3).to_sparse()])


def by_way_of_8_bits(x, w):
    scale = x.abs().amax(-1, keepdim=True) / 448
    return ((x / scale).to(torch.float8_e4m3fn).to(w.dtype) @ w) * scale


def test_what_is_quantised_between_steps_is_a_step():
    """It was taken for the number itself: who never quantised passed, and the reference failed by 10^5 units."""

    def scaled_first(x, w):
        scale = x.abs().amax(-1, keepdim=True) / 448
        return (x / scale).to(torch.float8_e4m3fn).to(w.dtype) @ w * scale

    inputs = [(6, 32), (32, 8)]
    assert found(scaled_first, by_way_of_8_bits, inputs)[0][0] == "PASS"
    assert found(lambda x, w: x @ w, by_way_of_8_bits, inputs)[0][0] == "WRONG_VALUE"
