"""Wrong calls: a backend that refuses them passes, and each way not to do so has its verdict, in every report."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from _ask import judged
from _runs import completed
from wrong_calls import format_stored

from opproof.backends.numpy import NumPy
from opproof.backends.protocol import Unsupported
from opproof.cases import Case
from opproof.cases._wrong_calls import STORED
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.known_failures.known import Known
from opproof.harness.reference.question import make_question
from opproof.harness.reference.valid_case import check_case
from opproof.harness.reference.wrong_call import (
    find_wrong_calls,
    is_refused_by_reference,
    make_wrong_call,
    wrong_calls_of,
)
from opproof.harness.run.plan import Selection, make_tasks, select_cases
from opproof.harness.run.task import repro_command_of
from opproof.reference_ops import load, load_file, names

HONEST = NumPy()
WRONG = "matmul[a=7x33;b=33x5;f32;wrong=b:34x5]"


def kernel(forward, **members):
    return SimpleNamespace(name="kernel", version="1", device="cpu", forward=forward, **members)


def refused_by(forward):
    """The verdict and message of a backend on WRONG, which answers the right call as NumPy does."""
    found = judged(kernel(lambda op, inputs, params: answer(forward, op, inputs, params)), WRONG, "refusal")
    return found.verdict, found.message


def answer(forward, op, inputs, params):
    a, b = inputs
    return HONEST.forward(op, inputs, params) if a.shape[-1] == len(b) else forward(a, b)


def refuse(a, b):
    raise ValueError(f"{a.shape} and {b.shape} do not fit")


def decline(a, b):
    raise Unsupported("sizes that do not fit")


def write_and_refuse(a, b):
    b.setflags(write=True)
    b[-1] = 0
    refuse(a, b)


@pytest.mark.parametrize(
    ("forward", "verdict", "message"),
    [
        (refuse, Verdict.PASS, "refused: ValueError: (7, 33) and (34, 5) do not fit"),
        (decline, Verdict.PASS, "refused: sizes that do not fit"),
        (lambda a, b: a @ b[:33], Verdict.NOT_REFUSED, "it was answered, in the form of the right call"),
        (
            lambda a, b: a @ b[:33, :2],
            Verdict.NOT_REFUSED,
            "it was answered: output y has shape (7, 2), expected (7, 5)",
        ),
        (write_and_refuse, Verdict.INPUT_CHANGED, "input b: "),
    ],
)
def test_an_error_passes_an_answer_or_a_write_fails(forward, verdict, message):
    got, said = refused_by(forward)
    assert (got, said.startswith(message)) == (verdict, True), said


@pytest.mark.parametrize(("written", "verdict"), [(1, Verdict.NOT_REFUSED), (0, Verdict.PASS)])
def test_results_that_are_written_before_an_error_fail(written, verdict):
    def forward_into(op, inputs, params, outputs):
        if inputs[0].shape[-1] == len(inputs[1]):
            outputs[0][...] = inputs[0] @ inputs[1]
            return
        outputs[0].flat[:written] = 0
        raise ValueError("do not fit")

    found = judged(kernel(None, forward_into=forward_into), WRONG, "refusal")
    assert found.verdict is verdict, found.message
    assert ("output y was written before the call was refused" in found.message) is bool(written)


def test_a_backend_that_has_no_such_operator_says_nothing_of_its_wrong_calls():
    def forward(op, inputs, params):
        raise Unsupported("no matmul")

    assert judged(kernel(forward), WRONG, "refusal").verdict is Verdict.UNSUPPORTED
    wrong = "softmax[x=7x33;dim=-1;f32;wrong=dtype:i32]"
    assert judged(kernel(HONEST.forward), wrong, "refusal").verdict is Verdict.UNSUPPORTED
    assert judged(HONEST, wrong, "refusal").verdict is Verdict.PASS


def test_a_backend_that_raises_at_all_calls_refuses_the_wrong_ones():
    def forward(op, inputs, params):
        raise ValueError("no")

    assert judged(kernel(forward), WRONG, "refusal").verdict is Verdict.PASS


# What is wrong


@pytest.mark.parametrize(
    ("wrong", "shapes", "dtype", "last"),
    [
        ("index:8", [(7, 9), (5,)], "int64", 8),
        ("index:-8", [(7, 9), (5,)], "int64", -8),
        ("index:f32", [(7, 9), (5,)], "float32", None),
        ("index:6,", [(7, 9), (6,)], "int64", None),
        ("x:0d", [(), (5,)], "int64", None),
        ("dim:2", [(7, 9), (5,)], "int64", None),
    ],
)
def test_one_thing_of_a_call_is_wrong(wrong, shapes, dtype, last):
    case = Case.parse("index_select[x=7x9;index=5,;dim=0;f32]")
    right = make_question(case, load(case.op), Mode.FORWARD).case_data
    made = make_wrong_call(right, wrong)
    assert [x.shape for x in made.inputs] == shapes
    assert made.inputs[1].dtype == dtype
    assert last is None or made.inputs[1].flat[-1] == last
    assert made.params["dim"] == (2 if wrong == "dim:2" else 0)
    assert right.inputs[1].flat[-1] != last


@pytest.mark.parametrize("wrong", ["z:3x4", "x:", "x:abc", "dtype:half"])
def test_what_names_nothing_of_the_call_is_told(wrong):
    with pytest.raises(CaseError, match=r"expected|malformed"):
        check_case(Case.parse(f"softmax[x=7x33;dim=-1;f32;wrong={wrong}]"))


def test_an_id_says_what_is_wrong_and_has_a_mode_and_a_command_of_its_own():
    case = Case.parse(WRONG)
    assert (case.wrong, str(case)) == ("b:34x5", WRONG)
    (task,) = make_tasks(["numpy"], [case], Selection())
    assert task.mode == Mode.REFUSAL
    assert f"--mode refusal --case '{WRONG}'" in repro_command_of(task)
    assert make_tasks(["numpy"], [Case.parse("matmul[a=7x33;b=33x5;f32]")], Selection(modes=(Mode.REFUSAL,))) == []


def test_other_commands_say_that_it_has_no_answer(tmp_path):
    shown = completed("show", WRONG, cwd=tmp_path)
    assert shown.stdout.startswith(f"{WRONG}  forward\n")
    assert "input b  shape (34, 5)" in shown.stdout
    assert "expected" not in shown.stdout
    made = completed("shrink", WRONG, "-b", "numpy", cwd=tmp_path)
    assert made.returncode == 2
    assert "is a wrong call, which has no smaller one; give a case without wrong=." in made.stderr
    made = completed("export", "out", "--case", WRONG, cwd=tmp_path)
    assert "left out: 1 records, since a wrong call has no answer" in made.stdout


# Which calls


def test_the_stored_calls_are_what_operators_state_and_both_references_refuse():
    few = [load(name) for name in ("add", "conv2d", "embedding", "gather", "softmax", "sum", "topk")]
    stored = STORED.read_text(encoding="utf-8").splitlines(keepends=True)
    assert format_stored(few) == "".join(x for x in stored if x.partition("[")[0] in {op.name for op in few})


def test_every_kind_is_there_and_what_broadcasts_is_not():
    wrongs = {name: {c.wrong for c in wrong_calls_of(load(name))} for name in ("add", "conv2d", "embedding", "sum")}
    assert wrongs["add"] == {"a:8x33", "a:7x34", "b:8x33", "b:7x34"}
    assert {"weight:4x4x3x3", "groups:0", "stride:0", "groups:10"} <= wrongs["conv2d"]
    assert {"indices:7", "indices:-8", "indices:f32"} <= wrongs["embedding"]
    assert {"dim:2", "dim:-3"} <= wrongs["sum"]
    assert sum(len(wrong_calls_of(load(name))) for name in names()) > 1200


def test_a_run_adds_them_where_asked_behind_all_others():
    chosen = select_cases(Selection(ops=("add",), level="smoke", wrong_calls=True))
    assert [bool(c.wrong) for c in chosen] == [False] * (len(chosen) - 4) + [True] * 4
    assert not any(c.wrong for c in select_cases(Selection(ops=("add",), level="smoke")))


def test_operators_of_a_user_have_what_their_reference_refuses(tmp_path):
    path = tmp_path / "shear.py"
    path.write_text(
        '"""shear: a + b."""\nSMOKE = ["a=3x4;b=3x4"]\n\n\ndef forward(a, b, *, dim: int = 0):\n'
        "    if a.shape != b.shape or dim > 1:\n        raise ValueError\n    return a + b\n"
    )
    op = load_file(path)
    assert {c.wrong for c in wrong_calls_of(op)} >= {"a:4x4", "b:4,", "dim:2"}
    assert find_wrong_calls(op, lambda asked: not is_refused_by_reference(asked)) == []


# Runs and reports

BACKEND = """
import os
import numpy as np

def forward(op, inputs, params):
    a, b = inputs
    if a.shape != b.shape:
        if a.shape[0] == 8:
            os.abort()
        raise ValueError("do not fit")
    return a + b
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("refusal")
    (folder / "mine.py").write_text(BACKEND)
    options = ["-b", "./mine.py", "-o", "add", "--mode", "refusal", "-j", "1", "--out", "out", "--no-cache"]
    return folder, completed("run", *options, cwd=folder)


def test_a_crash_is_a_crash_and_told_apart_in_every_report(run):
    folder, made = run
    assert made.returncode == 1
    _, *records = map(json.loads, (folder / "out" / "results.jsonl").read_text().splitlines())
    found = {(r["case"].partition("wrong=")[2], r["mode"], r["verdict"]) for r in records}
    refused = {(f"{wrong}]", "refusal", "PASS") for wrong in ("a:7x34", "b:8x33", "b:7x34")}
    assert found == refused | {("a:8x33]", "refusal", "CRASH")}
    told = "mine.py refuses 3 of 4 wrong calls, and does not refuse 1 in 1 operator."
    completed("report", "out", "--junit", "out.xml", cwd=folder)
    texts = [made.stdout, *((folder / n).read_text() for n in ("out/report.md", "out/report.html", "out.xml"))]
    for text in texts:
        assert told in " ".join(text.split())
        assert "refusal" in text
    page = (folder / "out" / "report.html").read_text()
    assert "import numpy as np" not in page, "a program of the right call would say nothing"
    command = "opproof run -b ./mine.py --mode refusal --case 'add[a=7x33;b=7x33;f32;wrong=a:8x33]'"
    assert command in made.stdout
    again = completed(*command.replace("'", "").split()[1:], "--out", "again", cwd=folder)
    assert "add refusal, CRASH: 1 record, f32" in again.stdout


def test_results_are_compared_merged_and_gone_on_with(run):
    folder, _ = run
    same = completed("compare", "out", "out", cwd=folder)
    assert same.returncode == 0, same.stdout + same.stderr
    lines = (folder / "out" / "results.jsonl").read_text().splitlines(keepends=True)
    (folder / "half").mkdir(exist_ok=True)
    (folder / "half" / "results.jsonl").write_text("".join(lines[:3]))
    gone_on = completed("run", "--resume", "half", "-j", "1", "--no-cache", cwd=folder)
    assert "4 records: 3 pass, 1 fail" in gone_on.stdout, gone_on.stdout + gone_on.stderr


def test_parts_of_a_run_are_merged(tmp_path):
    for part in ("1/2", "2/2"):
        options = ["-b", "numpy", "-o", "add", "--mode", "refusal", "-j", "1", "--out", f"p{part[0]}", "--no-cache"]
        assert completed("run", *options, "--shard", part, cwd=tmp_path).returncode in (0, 3)
    merged = completed("merge", "p1", "p2", "--out", "whole", cwd=tmp_path)
    assert "numpy refuses 4 of 4 wrong calls." in merged.stdout, merged.stdout + merged.stderr


@pytest.mark.parametrize("options", [("--case", WRONG), ("--for", "1s")])
def test_they_are_of_a_level(options, tmp_path):
    made = completed("run", "-b", "numpy", "--wrong-calls", *options, cwd=tmp_path)
    assert made.returncode == 2
    assert "--wrong-calls" in made.stderr


def test_a_list_of_known_failures_speaks_of_them_where_it_says_so():
    known = Known(pattern="add*", reason="asserts", verdict=Verdict.CRASH)
    assert not known.speaks_of("add[a=7x33;b=7x33;f32;wrong=a:8x33]", Mode.REFUSAL, "ggml")
    stated = Known(pattern="add*", reason="asserts", verdict=Verdict.CRASH, mode=Mode.REFUSAL)
    assert stated.speaks_of("add[a=7x33;b=7x33;f32;wrong=a:8x33]", Mode.REFUSAL, "ggml")


def test_an_index_beyond_memory_is_a_step_out_of_bounds(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n\n\ndef forward(op, inputs, params):\n    weight, indices = inputs\n"
        "    flat = np.lib.stride_tricks.as_strided(weight, (1 << 20,), (4,))\n    n = weight.shape[-1]\n"
        "    return np.stack([flat[i * n : i * n + n] for i in indices])\n"
    )
    case = "embedding[weight=7x33;indices=5,;f32;wrong=indices:7]"
    made = completed("run", "-b", "./mine.py", "--case", case, "-j", "1", "--no-cache", cwd=tmp_path)
    assert "embedding refusal, OUT_OF_BOUNDS: 1 record" in made.stdout, made.stdout + made.stderr
    np.testing.assert_equal(made.returncode, 1)
