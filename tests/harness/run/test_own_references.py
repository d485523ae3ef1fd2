"""A reference of one's own that uses what has no rule under noise is refused before the run, in one sentence."""

import numpy as np
import pytest
from _runs import opproof

BACKEND = "version, device = '1', 'test bench'\ndef forward(op, inputs, params): return inputs[0]\n"
REFUSED = {
    "vectors": ("np.linalg.eigh(x @ x.T)[1]", "np.linalg.eigh has no rule under noise"),
    "bins": ("np.histogram(x, bins=4)[0]", "np.histogram has no rule under noise"),
    "narrow": ("x.astype(np.float32)", "it converts to float32, which rounds"),
    "product": ("x * x.item(0)", "the method item of arrays has no rule under noise"),
    "single": ("x * float(x[0, 0])", "float() of an element has no rule under noise"),
}


def run(capsys, tmp_path, name, body, *more):
    (tmp_path / "backend.py").write_text(BACKEND, encoding="utf-8")
    text = f'"""{name}: x."""\nimport numpy as np\nSMOKE = ["x=5x5"]\ndef forward(x):\n    return {body}\n'
    (tmp_path / f"{name}.py").write_text(text, encoding="utf-8")
    call = ["run", "-b", tmp_path / "backend.py", "--ops", tmp_path / f"{name}.py", "-o", name, "--dtype", "f32"]
    return opproof(capsys, *call, "--in-process", "--quiet", "--out", tmp_path / "out", *more)


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_a_wrong_call(capsys, tmp_path, name):
    body, why = REFUSED[name]
    code, out, err = run(capsys, tmp_path, name, body)
    assert (code, out) == (2, "")
    assert err.startswith(f"opproof: {tmp_path / f'{name}.py'}: the reference of {name}: {why}")
    assert err.count("\n") == 1
    assert "opproof itself failed" not in err


def test_a_torch_function_is_refused_alike(capsys, tmp_path):
    pytest.importorskip("torch")
    (tmp_path / "backend.py").write_text(BACKEND, encoding="utf-8")
    file = tmp_path / "turned.py"
    file.write_text("import torch\nrows = ['x=4x4']\ndef reference(x): return torch.geqrf(x)[0]\n")
    call = ["run", "-b", tmp_path / "backend.py", "--ops", file, "-o", "turned", "--in-process", "--quiet"]
    code, _, err = opproof(capsys, *call, "--out", tmp_path / "out")
    assert code == 2
    assert err.startswith(f"opproof: {file}: the reference of turned: aten.geqrf.default of PyTorch has no rule")


@pytest.mark.parametrize("body", ["x.flatten().reshape(5, 5).transpose(1, 0).T", "x * (int(x.max()) // 10**6 + 1)"])
def test_methods_of_arrays_are_functions(capsys, tmp_path, body):
    code, out, _ = run(capsys, tmp_path, "moved", body, "--mode", "forward")
    assert code in (0, 3)  # a copy of an input passes: no evidence, and no fault of the reference
    assert "HARNESS_ERROR" not in out


def test_sums_of_methods_have_the_bound_of_functions(tmp_path):
    from opproof.cases import Case
    from opproof.core.verdicts import Mode
    from opproof.harness.reference.expected import evaluate_expected
    from opproof.harness.reference.question import make_question
    from opproof.reference_ops import load_file

    def scale(folder, body):
        file = tmp_path / folder / "summed.py"
        file.parent.mkdir()
        file.write_text(f'"""summed: x."""\nimport numpy as np\nSMOKE = ["x=5x9"]\ndef forward(x): return {body}\n')
        case = Case.parse("summed[x=5x9;f32]")
        return evaluate_expected(make_question(case, load_file(file), Mode.FORWARD).case_data)[0].scale

    methods = scale("methods", "(x - x.mean(-1, keepdims=True)).clip(-1, 1).sum(axis=0)")
    functions = scale("functions", "np.sum(np.clip(x - np.mean(x, -1, keepdims=True), -1, 1), axis=0)")
    assert methods.any()
    np.testing.assert_array_equal(methods, functions)
