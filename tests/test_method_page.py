"""The worked element of docs/explanation/method.md has the numbers that the package computes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "explanation" / "method.md"


def shown(dtype, folder):
    """The arrays that `opproof show` writes of the page's case."""
    call = [sys.executable, "-m", "opproof.harness", "show", f"softmax[x=7x33;dim=-1;{dtype}]"]
    subprocess.run([*call, "--npz", str(folder / "case.npz")], check=True, capture_output=True)
    return np.load(folder / "case.npz")


def kernel(x):
    """Softmax in float32, as the page's honest kernel computes it."""
    weights = np.exp(x.astype(np.float32) - x.astype(np.float32).max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


@pytest.mark.parametrize(
    ("dtype", "stored", "u", "cost", "numbers"),
    [
        ("f32", np.float32, 2.0**-24, 16, ("-0.40151978", "0.0089943537", "0.0356445", "4.26e-8", "4.7e-6", "339")),
        ("bf16", ml_dtypes.bfloat16, 2.0**-8, 2, ("-1.109375", "0.0074476143", "4.92e-7", "5.82e-5", "0.0078", "2.05")),
    ],
)
def test_the_worked_element_is_what_is_computed(dtype, stored, u, cost, numbers, tmp_path):
    case = shown(dtype, tmp_path)
    x, expected, bound = (float(case[name][0, 0]) for name in ("input x", "expected y", "bound y"))
    scale = (bound / u - cost * expected) / 16
    factor = 1.0001 if dtype == "f32" else 1.01
    wrong = (kernel(case["input x"]) * np.float32(factor)).astype(stored)[0, 0]
    units = abs(float(wrong) - expected) / (u * (scale + expected))
    found = (x, expected, scale, bound, bound / expected, units)
    text = PAGE.read_text(encoding="utf-8")
    for printed, value in zip(numbers, found, strict=True):
        assert printed in text
        assert float(printed) == pytest.approx(value, rel=3e-2 if len(printed) < 7 else 1e-3)
