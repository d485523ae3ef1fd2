"""Fused operators: right candidates pass in every dtype, wrong ones fail."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

pytest.importorskip("torch")

from opproof.harness.check.compared import Wish, compared

_SPEC = importlib.util.spec_from_file_location("fused_problems", Path(__file__).with_name("problems.py"))
_MODULE = importlib.util.module_from_spec(_SPEC)
__import__("sys").modules["fused_problems"] = _MODULE
_SPEC.loader.exec_module(_MODULE)
PROBLEMS = _MODULE.PROBLEMS

RIGHT = [(n, i, d) for n, p in PROBLEMS.items() for i in range(len(p.right)) for d in p.dtypes]
WRONG = [(n, why) for n, p in PROBLEMS.items() for why in p.wrong]


@pytest.mark.parametrize(("name", "i", "dtype"), RIGHT)
def test_right_candidates_pass(name, i, dtype):
    problem = PROBLEMS[name]
    # Other values and sizes in f32, where bounds are the sharpest.
    wish = Wish(
        dtype=None if callable(problem.inputs) else dtype, seconds=1e9, neighbours=dtype == "f32" and problem.beyond
    )
    report = compared(problem.right[i], problem.reference, of_dtype(problem.inputs, dtype), wish)
    assert report.ok, report


@pytest.mark.parametrize(("name", "why"), WRONG)
def test_wrong_candidates_fail(name, why):
    problem = PROBLEMS[name]
    wrong = problem.wrong[why]
    wish = Wish(dtype=wrong.dtype if not callable(problem.inputs) else None, seconds=1e9, neighbours=wrong.beyond)
    report = compared(wrong.candidate, problem.reference, of_dtype(problem.inputs, wrong.dtype), wish)
    assert report.failures, report
    assert set(report.failures) <= {"WRONG_VALUE", "WRONG_GRADIENT"}, report


def of_dtype(inputs, dtype):
    """A factory's own mixture of dtypes, with `dtype` where it takes one; shapes as they are."""
    import torch

    if not callable(inputs):
        return inputs
    names = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    return lambda seed: inputs(seed, names[dtype])
