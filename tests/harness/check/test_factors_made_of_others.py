"""Kernels that are given beta make 1 - beta in float32, and 1 - beta^t: both pass, and no other factor does."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.reference.torch.rounding import count_roundoffs  # noqa: E402


def adam(p, g, m, v):
    m, v = 0.9 * m + 0.1 * g, 0.999 * v + (1 - 0.999) * g * g
    return p - 1e-3 * (m / (1 - 0.9**3)) / (v / (1 - 0.999**3)).sqrt().add(1e-8), m, v


def single(p, g, m, v, off=1.0):
    one, b1, b2 = np.float32(1), np.float32(0.9), np.float32(0.999)
    m, v = float(b1) * m + float(one - b1) * g, float(b2) * v + off * float(one - b2) * g * g
    step = float(np.float32(1e-3)) / float(one - b1**3)
    return p - step * m / ((v / float(one - b2**3)).sqrt() + 1e-8), m, v


def running(seed):
    torch.manual_seed(seed)
    return [torch.randn(6, 32), torch.randn(6, 32), torch.randn(6, 32), torch.rand(6, 32)]


def beginning(seed):
    p, g, m, v = running(seed)
    return [p, g, 0 * m, 0 * v]


def judged(candidate, inputs):
    return opproof.check(candidate, like=adam, inputs=inputs, gradients=False, raises=False)


@pytest.mark.parametrize("inputs", [running, beginning])
def test_complements_in_float32_pass(inputs):
    report = judged(single, inputs)
    assert report.ok, report


@pytest.mark.parametrize("off", [1.002, 0.998])
def test_another_factor_fails(off):
    report = judged(lambda *t: single(*t, off=off), beginning)
    assert set(report.failures) == {"WRONG_VALUE"}, report


def test_a_factor_without_its_complement_is_exact():
    def scaled(x):
        return 0.001 * x

    def rounded(x):
        return float(np.float32(1) - np.float32(0.999)) * x

    report = opproof.check(rounded, like=scaled, inputs=[(6, 32)], raises=False)
    assert "WRONG_VALUE" in report.failures, report


def test_what_a_factor_is_made_of():
    assert count_roundoffs(0.001, {0.999}) == pytest.approx(0.999)
    assert count_roundoffs(1 - 0.999**3, {0.999}) == pytest.approx(3 * 0.999**3 + 1)
    assert count_roundoffs((1 - 0.999**3) ** 0.5, {0.999}) == pytest.approx(
        (3 * 0.999**3 + 1) / 2 / (1 - 0.999**3) ** 0.5
    )
    assert count_roundoffs(0.001, {0.99, 0.1, 1.0, 2.0}) == 0
    assert count_roundoffs(0.0, {0.999}) == count_roundoffs(1.0, {0.999}) == count_roundoffs(2.0, {0.999}) == 0
