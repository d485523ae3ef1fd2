"""`time=True`: speed beside error, for kernels that are slower, less precise or wrong."""

import pytest

import opproof
from opproof.core.errors import UsageError
from opproof.harness.check import times

torch = pytest.importorskip("torch")


def product(x, w):
    return x @ w


def product_by_rows(x, w):
    return torch.stack([row @ w for row in x])


def product_in_bf16(x, w):
    return (x.bfloat16() @ w.bfloat16()).float()


@pytest.fixture(autouse=True)
def _in_a_moment(monkeypatch):
    """Without a compiler, and without the precision that a figure wants."""

    def refuse(function):
        raise RuntimeError(f"no compiler for {function}")

    monkeypatch.setattr(torch, "compile", refuse)
    monkeypatch.setattr(times, "_BUDGET", 0.01)
    monkeypatch.setattr(times, "_BLOCK_SECONDS", 0.001)


def timed(candidate, **options):
    inputs = [(96, 64), (64, 32)]
    return opproof.check(
        candidate, like=product, inputs=inputs, time=True, raises=False, seconds=1, neighbours=False, **options
    )


def test_what_is_slower_is_said_with_both_errors():
    report = timed(product_by_rows)
    assert report.ok
    assert [(t.side, t.mode) for t in report.times] == [
        ("candidate", "forward"), ("eager", "forward"), ("candidate", "gradient"), ("eager", "gradient")
    ]  # fmt: skip
    forward = report.speeds[0]
    assert forward.startswith("forward: ")
    assert "as slow as eager" in forward
    assert "; as precise: " in forward
    assert "units RMS where eager has" in forward
    assert f"time: {forward}" in repr(report)


def test_what_is_less_precise_shows_beside_its_time():
    report = timed(product_in_bf16, compute="bf16")
    own, eager = report.times[:2]
    assert own.rms > 100 * eager.rms, "in units of what float32 rounds"
    assert "; with compute='bf16' declared: " in report.speeds[0]


def test_what_is_less_precise_than_float32_errs_as_a_lower_precision_does(tmp_path):
    report = timed(product_in_bf16)
    assert "; less precise, as bf16 is: " in report.speeds[0]
    assert "units RMS where eager has" in report.to_html(tmp_path / "page.html").read_text()


def test_a_side_that_raises_has_no_time():
    def refuses(x, w):
        raise RuntimeError("no kernel for this")

    report = timed(refuses)
    assert [t.side for t in report.times] in ([], ["eager", "eager"])
    assert report.speeds == []


def test_an_operator_has_a_command_of_its_own():
    with pytest.raises(UsageError, match="opproof bench"):
        opproof.check(lambda x, dim: x.softmax(dim), "softmax", time=True)
