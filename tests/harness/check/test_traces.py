"""BackendBench's traces and kernels, and answers in the form of the benchmark whose files were judged."""

import json
import re
import subprocess
import sys

import pytest
import torch

import opproof
from opproof.core.errors import UsageError
from opproof.reports.exchange.definitions import ResultForm
from opproof.reports.exchange.results import write_result
from opproof.reports.exchange.traces import TracedTensor, make_candidate, parse_call, unpack_trace

#: Of PyTorch's operator_inp_logs, hf_Albert_training.txt, which BackendBench reads.
TRACE = """Operator: aten._softmax.default
cnt: 12, ((T([8, 12, 512, 512], f16), -1, False), {})
Operator: aten.add.Tensor
cnt: 12, ((T([8, 12, 512, 512], f16), T([8, 1, 1, 512], f16)), {})
cnt: 99, ((T([768], f16), T([768], f16)), {})
Operator: aten.add_.Tensor
cnt: 1, ((T([8, 512, 128], f16), T([1, 512, 128], f16)), {})
Operator: aten.sum.SymInt
cnt: 1, ((T([4096, 30000], f16, stride=(0, 0)), [0], True), {})
Operator: aten._unsafe_view.default
cnt: 36, ((T([8, 12, 512, 64], f16), [96, 512, 64]), {})
"""
RIGHT = """
def add__Tensor_kernel_impl(self, other, *, alpha=1):
    return self + alpha * other
"""
#: Rounds what is broadcast, as the second of the calls, to bfloat16.
WRONG = """
def add__Tensor_kernel_impl(*args, **kwargs):
    x, other = args
    return x + (other if other.shape == x.shape else other.bfloat16().to(x.dtype))
"""


def write_files(folder, kernel):
    (folder / "trace.txt").write_text(TRACE)
    (folder / "kernel.py").write_text(kernel)
    return folder / "trace.txt", folder / "kernel.py"


def check(folder, kernel, *options):
    write_files(folder, kernel)
    command = [sys.executable, "-m", "opproof.harness", "check", "trace.txt", "kernel.py", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_a_right_kernel(tmp_path):
    done = check(tmp_path, RIGHT, "--only", "as given")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "candidate is add_Tensor: 2 records" in done.stdout


def test_a_wrong_one_fails_in_a_form_of_its_own_and_says_so_in_backendbench_s_rows(tmp_path):
    done = check(tmp_path, WRONG, "--only", "as given", "--result", "full_results.json")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "WRONG_VALUE  add_Tensor[input=8x12x64x64;other=8x1x1x64;f16]  forward  candidate" in done.stdout
    assert "again: opproof check trace.txt kernel.py --only 'as given' --values-only --form 2" in done.stdout
    wrong, right = json.loads((tmp_path / "full_results.json").read_text())
    assert (wrong["is_correct"], wrong["error_type"], right["is_correct"]) == (False, "WRONG_VALUE", True)
    assert wrong["max_abs_error"] > 0


def test_a_form_that_there_is_not_is_one_sentence(tmp_path):
    done = check(tmp_path, RIGHT, "--form", "3")
    assert (done.returncode, done.stderr) == (2, "opproof: --form 3: there are 2 forms of inputs; give one of them.\n")


@pytest.mark.parametrize(
    ("trace", "kernel", "said"),
    [
        (
            TRACE,
            "def kernel(x):\n    return x\n",
            "has no functions called OPERATOR_kernel_impl: expected one",
        ),
        (TRACE, "def mm__default_kernel_impl(x):\n    return x\n", "has no calls of mm__default: it has _softmax__def"),
        (TRACE, "def f(:\n", "is no Python file (invalid syntax"),
        ("nothing\n", RIGHT, "is no trace of BackendBench: expected lines such as `Operator: aten.add.Tensor`"),
        ("Operator: aten.add.Tensor\ncnt: 1, ((open('x'),), {})\n", RIGHT, "is no call of a trace"),
        ("Operator: aten.add.None\ncnt: 1, ((T([3], f32),), {})\n", "add__None_kernel_impl = abs\n", "has no operator"),
    ],
)
def test_other_files_are_one_sentence(tmp_path, trace, kernel, said):
    (tmp_path / "trace.txt").write_text(trace)
    (tmp_path / "kernel.py").write_text(kernel)
    with pytest.raises(UsageError, match=re.escape(said)):
        unpack_trace(tmp_path / "trace.txt", tmp_path / "kernel.py")


def forms_of(folder, function):
    reference, _ = unpack_trace(*write_files(folder, f"def {function}_kernel_impl(*args):\n    pass\n"))
    own = {}
    exec(reference.read_text(), own)
    return own


def test_sizes_are_halved_together_where_the_operator_takes_them(tmp_path):
    assert forms_of(tmp_path, "add__Tensor")["FORMS"] == [
        ["((T([768], f16), T([768], f16)), {})"],
        ["((T([8, 12, 64, 64], f16), T([8, 1, 1, 64], f16)), {})"],
    ]
    view = forms_of(tmp_path, "_unsafe_view__default")["FORMS"]
    assert view == [["((T([8, 12, 64, 64], f16), [96, 64, 64]), {})"]], "96 heads are no size of the tensor"


def test_what_an_operator_writes_to_holds_its_results(tmp_path):
    assert forms_of(tmp_path, "add___Tensor")["contract"] == {"inplace": ("input",)}


def test_an_operator_that_traces_call_by_another_name(tmp_path):
    own = forms_of(tmp_path, "sum__dim_IntList")
    (given,) = [factory(0) for factory in own["inputs"]]
    assert given["input"].stride() == (0, 0)
    assert torch.equal(own["reference"](**given), given["input"].sum(0, keepdim=True))


def test_a_kernel_gets_what_the_dispatcher_gives():
    def kernel(*args, **kwargs):
        return len(args), sorted(kwargs)

    call = make_candidate("aten.add.Tensor", kernel)
    x = torch.ones(2)
    assert call(input=x, other=x, alpha=1) == (2, [])
    assert call(input=x, other=x, alpha=2) == (2, ["alpha"])


def test_a_line_is_parsed():
    call = parse_call(
        "((T([2, 3], 'bf16', [1, 2]), [1, -inf], None), {'dtype': f16, 'device': \"torch.device('cuda')\"})"
    )
    assert call.args == (TracedTensor((2, 3), "bfloat16", (1, 2)), [1, float("-inf")], None)
    assert call.kwargs["device"] is None


@pytest.fixture(scope="module")
def reports():
    def judged(factor):
        how = {"only": "as given", "time": True, "raises": False}
        return opproof.check(lambda x: factor * x, like=lambda x: 2 * x, inputs=[(3, 5)], **how)

    return judged(2), judged(2.01)


def written(reports, folder, form, *files):
    for report in reports:
        write_result(report, folder / "answer", form, files)
        yield (folder / "answer").read_text()


def test_a_trace_of_flashinfer_bench(tmp_path, reports):
    (tmp_path / "d.json").write_text(json.dumps({"name": "twice", "inputs": {"x": {}}}))
    (tmp_path / "s.json").write_text(json.dumps({"name": "mine"}))
    files = tmp_path / "d.json", tmp_path / "s.json"
    right, wrong = map(json.loads, written(reports, tmp_path, ResultForm.FLASHINFER, *files))
    assert (right["definition"], right["solution"], right["workload"]["inputs"]) == (
        "twice", "mine", {"x": {"type": "random"}},
    )  # fmt: skip
    assert right["evaluation"]["status"] == "PASSED"
    assert right["evaluation"]["performance"]["speedup_factor"] > 0
    assert wrong["evaluation"]["status"] == "INCORRECT_NUMERICAL"
    assert wrong["evaluation"]["correctness"]["max_relative_error"] == pytest.approx(0.005, rel=1e-2)
    assert "performance" not in wrong["evaluation"], "their schema has none where the answer is wrong"


def test_fields_of_kernelbench(tmp_path, reports):
    right, wrong = map(json.loads, written(reports, tmp_path, ResultForm.KERNELBENCH))
    assert (right["compiled"], right["correctness"], right["metadata"]["correctness_trials"]) == (True, True, "(2 / 2)")
    assert right["runtime"] > 0
    assert right["speedup"] == pytest.approx(right["ref_runtime"] / right["runtime"])
    assert not wrong["correctness"]
    assert "WRONG_" in wrong["metadata"]["correctness_issue"]


def test_lines_of_gpu_mode(tmp_path, reports):
    right, wrong = written(reports, tmp_path, ResultForm.GPU_MODE)
    assert right == "test-count: 1\ntest.0.spec: as given\ntest.0.status: pass\ncheck: pass\n"
    assert wrong.startswith("test-count: 1\ntest.0.spec: as given\ntest.0.status: fail\ntest.0.error: forward: WRONG_V")
    assert wrong.endswith("check: fail\n")


def test_other_files_have_no_form_of_an_answer(tmp_path, reports):
    with pytest.raises(UsageError, match="in the form of a benchmark"):
        write_result(reports[0], tmp_path / "answer", None, [])
