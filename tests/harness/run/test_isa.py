"""--isa: each record under the capability that it says, told to the backend alone; wrong calls in one sentence."""

import os
import shlex
import sys
from pathlib import Path

import pytest
from _c_build import compiled, needs_cc
from _runs import opproof

from opproof.backends.load import load_backend
from opproof.core.capabilities import add_capability, backend_of, capability_of, options_of, rename_backend
from opproof.core.errors import BackendError
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.cli.options import parse_assignments
from opproof.harness.known_failures.known import Known
from opproof.harness.run.cluster import to_call_names, to_local_names
from opproof.harness.run.hosts.start import environment_of, start_host
from opproof.harness.run.task import HostLimits, Task, repro_command_of
from opproof.reports import Result, read_results

#: A backend that looks at its variable when it is loaded, and whose relu is wrong where that says low.
BACKEND = """
import os
import numpy as np

told = os.environ.get("MINE_ISA", "none")
capabilities = {"low": {"MINE_ISA": "low"}, "high": {"MINE_ISA": "high"}}

def forward(op, inputs, params):
    (x,) = inputs
    if op == "relu":
        return np.maximum(x, 0) * x.dtype.type(1.5 if told == WRONG else 1)
    return np.abs(x) if op.startswith("abs") else NotImplemented
"""
#: A library in C that looks at its variable in each call.
LIBRARY = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }

int32_t opproof_forward(const opproof_call *call, int32_t n, DLTensor *const *out, char *message, size_t size) {
    const char *isa = getenv("MINE_ISA");
    const DLTensor *x = call->inputs[0];
    const float *from = (const float *)((const char *)x->data + x->byte_offset);
    float *to = (float *)((char *)out[0]->data + out[0]->byte_offset);
    if (strcmp(call->op, "relu") || x->ndim != 2 || x->strides[1] != 1) return OPPROOF_UNSUPPORTED;
    for (long i = 0; i < x->shape[0] * x->shape[1]; i++)
        to[i] = from[i] > 0 ? from[i] * (isa && !strcmp(isa, "low") ? 2 : 1) : 0;
    return OPPROOF_OK;
}
"""
LIMITS = HostLimits(1, 30.0, 2**32)
FEW = ("--level", "smoke", "--dtype", "f32", "--mode", "forward", "-j", "1")


def written(folder, wrong="low", **changes):
    """The path of such a backend."""
    text = BACKEND.replace("WRONG", repr(wrong))
    for old, new in changes.items():
        text = text.replace(old, new)
    path = folder / "mine.py"
    path.write_text(text)
    return path


def failed(folder):
    """The operator and capability of each record that fails."""
    return {(r.op, capability_of(r.backend)) for r in read_results(folder)[1] if r.verdict is not Verdict.PASS}


def test_the_spec_of_a_backend_has_a_capability():
    spec = add_capability("exec:./prog -b", "avx2")
    assert (backend_of(spec), capability_of(spec)) == ("exec:./prog -b", "avx2")
    assert (backend_of("torch"), capability_of("torch"), add_capability("torch", "")) == ("torch", "", "torch")
    assert rename_backend("./a.py+isa=avx2", {"./a.py": "/tmp/a.py"}) == "/tmp/a.py+isa=avx2"
    assert options_of("torch") == []
    assert options_of("./a.so+isa=GGML_CPU=avx2") == ["--isa-variable", "GGML_CPU=avx2"]


def test_all_runs_under_each_and_tells_the_backend_alone(tmp_path, capsys):
    backend, out = written(tmp_path), tmp_path / "out"
    reference = tmp_path / "abs_of.py"
    reference.write_text(
        '"""abs_of: |x|; the judge must not have the variable."""\n\nimport os\nimport numpy as np\n\n\n'
        "def forward(x):\n    assert 'MINE_ISA' not in os.environ\n    return np.abs(x)\n\n\n"
        'SMOKE = ["x=4x5"]\n'
    )
    options = ("--ops", reference, "-o", "relu,abs,abs_of", *FEW, "--out", out)
    code, said, _ = opproof(capsys, "run", "-b", backend, "--isa", "all", *options)
    header, results = read_results(out)
    assert code == 1
    assert failed(out) == {("relu", "low")}
    assert {(r.op, capability_of(r.backend)) for r in results} == {
        (op, isa) for op in ("relu", "abs", "abs_of") for isa in ("low", "high")
    }
    assert [(b["isa"], b["variables"]) for b in header.backends] == [
        ("low", "MINE_ISA=low"),
        ("high", "MINE_ISA=high"),
    ]
    assert "mine.py by vector capability" in said
    assert "2 operators have the same counts" in said
    assert "MINE_ISA" not in os.environ


def test_the_repro_line_repeats_it_under_the_same_capability(tmp_path, capsys):
    backend, out = written(tmp_path), tmp_path / "out"
    assert opproof(capsys, "run", "-b", backend, "--isa", "all", "-o", "relu", *FEW, "--out", out)[0] == 1
    lines = {capability_of(r.backend): r.repro for r in read_results(out)[1]}
    assert "--isa low" in lines["low"]
    for name, status in (("low", 1), ("high", 0)):
        words = shlex.split(lines[name])[1:]
        words[words.index("--out") + 1] = str(tmp_path / f"again-{name}")
        assert opproof(capsys, *words)[0] == status


def test_an_interrupted_run_goes_on_under_its_capabilities(tmp_path, capsys):
    backend, out = written(tmp_path), tmp_path / "out"
    opproof(capsys, "run", "-b", backend, "--isa", "high,low", "-o", "relu,abs", *FEW, "--out", out)
    lines = (out / "results.jsonl").read_bytes().splitlines(keepends=True)
    (out / "results.jsonl").write_bytes(b"".join(lines[:2]))
    assert opproof(capsys, "run", "--resume", out)[0] == 1
    assert failed(out) == {("relu", "low")}


def test_known_failures_name_the_backend_or_one_of_its_capabilities():
    def explains(spec):
        entry = Known("why", pattern="relu[*f32*", backend=spec, verdict=Verdict.ERROR)
        return [
            entry.speaks_of("relu[x=4;f32]", Mode.FORWARD, s) for s in ("torch+isa=avx2", "torch+isa=sse4", "torch")
        ]

    assert explains("torch") == [True, True, True]
    assert explains("torch+isa=avx2") == [True, False, False]


@needs_cc
def test_a_library_in_c_is_told_by_the_variable_that_its_author_names(tmp_path, capsys):
    library, out = compiled(tmp_path, LIBRARY, flags=("-include", "stdlib.h")), tmp_path / "out"
    case = ("--case", "relu[x=4x5;f32]", "--mode", "forward")
    code, _, _ = opproof(capsys, "run", "-b", library, "--isa-variable", "MINE_ISA=low,high", *case, "--out", out)
    assert code == 1
    assert failed(out) == {("relu", "MINE_ISA=low")}
    line = next(r.repro for r in read_results(out)[1] if r.verdict is not Verdict.PASS)
    assert "--isa-variable MINE_ISA=low" in line
    some = ("run", "-b", library, "--isa-variable", "MINE_ISA=low,high", "--isa", "high", *case)
    assert opproof(capsys, *some, "--out", tmp_path / "high")[0] == 0


def test_a_command_is_told_too(tmp_path):
    program = Path(__file__).parents[2] / "_exec_backend.py"
    text = f'exec:sh -c "test \\"$MINE_ISA\\" = low && exec {sys.executable} {program}"'
    host = start_host(add_capability(text, "MINE_ISA=low"), LIMITS)
    host.close()
    with pytest.raises(BackendError, match="did not say hello"):
        start_host(add_capability(text, "MINE_ISA=high"), LIMITS)


def test_an_own_host_behind_a_command_is_refused():
    text = f"exec:{sys.executable} -m opproof.backends.worker numpy"
    with pytest.raises(BackendError, match=r"own host, which --isa cannot reach: set A=b"):
        start_host(add_capability(text, "A=b"), LIMITS)


def test_the_program_of_a_file_has_the_variables(tmp_path, capsys):
    backend = written(tmp_path, wrong="none")  # right under a capability, wrong without: a program must have it too
    assert opproof(capsys, "run", "-b", backend, "-o", "relu", *FEW, "--out", tmp_path / "plain")[0] == 1
    assert opproof(capsys, "run", "-b", backend, "--isa", "low", "-o", "relu", *FEW, "--out", tmp_path / "low")[0] == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--isa", "middle"), "has no capability 'middle' on this processor; there are low, high, and all."),
        (("--isa", "hihg"), "did you mean high?"),
        (("--isa", "low", "--in-process"), "leave one out"),
        (("--isa", ","), "expected a capability"),
        (("--isa-variable", "MINE_ISA"), "is no NAME=VALUE,VALUE"),
        (("--isa-variable", "MINE_ISA=a b"), "is no NAME=VALUE,VALUE"),
        (("--isa-variable", "MINE_ISA=a,b", "--isa", "c"), "no --isa-variable has the value 'c'"),
    ],
)
def test_wrong_calls_are_told_in_a_sentence(tmp_path, capsys, options, said):
    backend = written(tmp_path)
    code, _, error = opproof(capsys, "run", "-b", backend, "-o", "relu", *FEW, *options, "--out", tmp_path / "out")
    assert code == 2
    assert said in " ".join(error.split())
    assert "Traceback" not in error


def test_a_backend_without_switches_says_so(tmp_path, capsys):
    backend = written(tmp_path, capabilities="nothing")
    code, _, error = opproof(capsys, "run", "-b", backend, "--isa", "all", "-o", "relu", "--out", tmp_path / "out")
    assert code == 2
    assert "states no vector capability" in error
    assert "--isa-variable NAME=VALUE" in error


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ('{"low": {"LD_PRELOAD": "./evil.so"}}', "the variable 'LD_PRELOAD'"),
        ('{"low": "MINE_ISA=low"}', "its capabilities are"),
        ('{"a,b": {}}', "its capabilities are"),
        ('["low"]', "its capabilities are"),
    ],
)
def test_what_is_no_switch_of_a_library_is_refused(tmp_path, stated, said):
    backend = tmp_path / "mine.py"
    backend.write_text(f"capabilities = {stated}\n\ndef forward(op, inputs, params):\n    return inputs\n")
    with pytest.raises(BackendError, match=said):
        environment_of(add_capability(str(backend), "low"), LIMITS)


def test_a_spec_alone_is_enough_to_start_it(tmp_path):
    backend = written(tmp_path)
    assert environment_of(f"{backend}+isa=high", LIMITS) == {"MINE_ISA": "high"}
    given = HostLimits(1, 30.0, 2**32, environments=((f"{backend}+isa=high", (("OTHER", "1"),)),))
    assert environment_of(f"{backend}+isa=high", given) == {"OTHER": "1"}  # what the run found is not asked again


def test_what_starts_no_process_of_its_own_says_so():
    with pytest.raises(BackendError, match="names a vector capability.*give torch here"):
        load_backend("torch+isa=avx2")


def test_files_of_a_cluster_keep_their_capability():
    task = Task("./mine.py+isa=low", "relu[x=4;f32]", "forward")
    moved = to_local_names(task, {"./mine.py": "/tmp/mine.py"})
    assert moved.backend == "/tmp/mine.py+isa=low"
    result = Result(
        case=task.case, op="relu", dtype="f32", backend=moved.backend, mode=Mode.FORWARD, verdict=Verdict.PASS,
        repro=repro_command_of(moved),
    )  # fmt: skip
    again = to_call_names(result, {"./mine.py": "/tmp/mine.py"})
    assert again.backend == task.backend
    assert "-b ./mine.py --isa low" in again.repro


def test_values_of_a_variable_are_capabilities_of_their_own():
    assert parse_assignments(None, None, ("A=x,y", "B=--flag=z")) == ("A=x", "A=y", "B=--flag=z")
