"""Fused operators in KernelBench's form: the new model passes, a wrong one fails."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.options import CheckOptions  # noqa: E402
from opproof.harness.check.run import check_candidate  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

FILES = sorted(Path(__file__).with_name("kernelbench").glob("*.py"))


def compared_in(file, name, dtype):
    spec = importlib.util.spec_from_file_location(f"kernelbench_{file.stem}", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(0)
    model = module.Model(*module.get_init_inputs())
    candidate = getattr(module, name)(*module.get_init_inputs())
    return check_candidate(
        candidate, model, module.get_inputs, CheckOptions(dtype=dtype, seconds=1e9, neighbours=False)
    )


def test_there_are_ten():
    assert len(FILES) == 10


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_the_new_model_passes(file):
    report = compared_in(file, "ModelNew", "f32")
    assert report.ok, report
    assert {str(r.mode) for r in report.results} == {"forward", "gradient"}


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.stem)
def test_a_wrong_model_fails(file, monkeypatch):
    monkeypatch.setattr("opproof.harness.check.summary.MAX_DIAGNOSED", 0)  # which takes most of the time
    report = compared_in(file, "ModelWrong", "f32")
    assert report.failures, report
    assert set(report.failures) <= {"WRONG_VALUE", "WRONG_GRADIENT"}, report
