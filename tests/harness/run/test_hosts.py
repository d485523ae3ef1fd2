"""Hosts: what is asked and answered survives its way, and a backend gets the same records wherever its host is."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from _c_build import compiled, needs_cc
from test_verdicts import BACKEND, EXPECTED
from test_verdicts import results as on_shared_memory  # noqa: F401 - a fixture

from opproof.backends.worker import serve
from opproof.backends.worker.protocol import from_metadata, to_metadata
from opproof.cases import Case
from opproof.core.errors import BackendError
from opproof.core.verdicts import MODES, Mode, Verdict
from opproof.harness.reference.question import make_question
from opproof.harness.run.hosts import native
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.memory import make_layout
from opproof.harness.run.plan import has_gradient
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.session.worker import Session
from opproof.harness.run.task import HostLimits, Task
from opproof.reference_ops import load
from opproof.reports import read_results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hosts of their own need POSIX")

HOST = [sys.executable, "-m", "opproof.backends.worker"]

#: Of every kind: layouts, dtypes, absent and repeated tensors, several outputs, indices, parameters, no elements.
CASES = [
    "relu[x=7x33;f32]",
    "sigmoid[x=5x9;bf16;layout=transposed]",
    "add[a=5x17;b=@a;f32]",
    "mul[a=4x5;b=4x5;f16;layout=a:sliced,b:broadcast]",
    "linear[x=3x4;weight=5x4;f32]",
    "batch_norm[x=4x3;running_mean=3,;running_var=3,;bias=3,;training=false;f64]",
    "sort[x=4x33;dim=-1;f32]",
    "topk[x=5x33;k=7;dim=-1;f16;fill=ties]",
    "argmax[x=5x9;dim=1;f32;layout=offset]",
    "clamp[x=5x9;min=-inf;max=0.5;f32]",
    "split[x=7x33;sizes=(20,13);dim=1;f32;layout=gapped]",
    "cross_entropy[x=5x9;target=5,;f32]",
    "gt[a=5x9;b=5x9;f32]",
    "sum[x=3x0;dim=-1;f32]",
    "neg[x=0d;f64]",
    "relu[x=6x33;f32;fill=kink]",
]


def tasks_of(backend, texts=CASES):
    """Both modes of the cases."""
    parsed = [Case.parse(text) for text in texts]
    modes = [(c, m) for c in parsed for m in MODES if m is Mode.FORWARD or has_gradient(c, load(c.op))]
    return [Task(backend, str(case), mode) for case, mode in modes]


def records(tasks, jobs=1, **limits):
    given = HostLimits(jobs, timeout=30.0, memory=600 * 2**20, **limits)
    with Session(given) if given.in_process else Pool(given) as judges:
        return list(judges.run(tasks))


def what_counts(found):
    """Records without what may differ between hosts, by case and mode: they come as their bundles end."""
    same = {"backend": "", "repro": "", "seconds": 0.0, "judging": 0.0, "in_process": False}
    return {(r.case, r.mode): replace(r, **same) for r in found}


# What is asked, what is answered


def request_of(text, mode):
    case = Case.parse(text)
    pair = make_question(case, load(case.op), mode)
    return make_layout(Request(pair.case_data, wanted_of(pair.case_data, pair.decoy_data.outputs)), 64).request


@pytest.mark.parametrize("task", tasks_of(""), ids=lambda t: f"{t.mode} {t.case}")
def test_requests_survive_their_way(task):
    request = request_of(task.case, Mode(task.mode))
    metadata = to_metadata(request)
    assert all(isinstance(text, str) for text in metadata.values())
    there = from_metadata(metadata)
    listed = {"needs", "guards", "zones"}  # lists of lists there, tuples here
    for name in request.__dataclass_fields__:
        sent, received = getattr(request, name), getattr(there, name)
        assert received == (json.loads(json.dumps(sent)) if name in listed else sent), name
    assert {name: type(v) for name, v in there.params.items()} == {n: type(v) for n, v in request.params.items()}


def test_parameters_survive_their_way():
    params = {"a": 1, "b": 1.0, "c": float("-inf"), "d": (1, (2, 3)), "e": None, "f": True, "g": "mean", "h": ()}
    request = replace(request_of("relu[x=2x3;f32]", Mode.FORWARD), params={**params, "i": float("nan")})
    there = from_metadata(to_metadata(request)).params
    assert np.isnan(there.pop("i"))
    assert there == params
    assert [type(v) for v in there.values()] == [type(v) for v in params.values()]


@pytest.mark.parametrize("outcome", serve.CallOutcome)
def test_answers_survive_their_way(outcome):
    done = outcome is serve.CallOutcome.DONE
    results = [serve.WireResult("big-endian float32", (3, 0)), None, serve.WireResult("bool", ())] if done else []
    answer = serve.WireReply(outcome, "" if done else 'it said "no" \udc80 \u202e', results)
    assert serve.from_metadata(serve.to_metadata(answer)) == answer


# The same records wherever it is


@pytest.fixture(scope="module")
def by_numpy():
    found = records(tasks_of("numpy"))
    assert {r.verdict for r in found} == {"PASS"}
    return what_counts(found)


def test_in_the_judges_own_process(by_numpy):
    found = records(tasks_of("numpy"), in_process=True)
    assert all(r.in_process for r in found)
    assert what_counts(found) == by_numpy


def test_without_shared_memory(by_numpy):
    backend = f"exec:{shlex.join([*HOST, 'numpy'])}"
    found = records(tasks_of(backend))
    assert not any(r.in_process for r in found)
    assert what_counts(found) == by_numpy


def test_through_a_pipe_that_stands_for_ssh(by_numpy, tmp_path):
    """Another shell, another folder, another environment; nothing but stdin and stdout leads there."""
    ssh = tmp_path / "ssh"
    kept = " ".join(f"{k}={shlex.quote(os.environ[k])}" for k in ("PATH", "PYTHONPATH") if k in os.environ)
    text = f'#!/bin/sh\nshift\ncd /\nenv -i {kept} sh -c "$*" 3>&- 4>&- | cat\n'
    ssh.write_text(text, encoding="utf-8")
    ssh.chmod(0o755)
    backend = f"exec:{ssh} board {shlex.quote(shlex.join([*HOST, 'numpy']))}"
    tasks = tasks_of(backend)[:8]
    assert what_counts(records(tasks)) == {(t.case, t.mode): by_numpy[t.case, t.mode] for t in tasks}


@pytest.fixture
def namespace():
    """A network namespace of its own, whose name this is."""
    name = f"opproof-test-{os.getpid()}"
    if shutil.which("ip") is None or sys.platform != "linux":
        pytest.skip("there is no command ip")
    made = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    tried = subprocess.run(["ip", "netns", "exec", name, "true"], capture_output=True, text=True, check=False)
    if made.returncode or tried.returncode:
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
        pytest.skip(f"ip netns is not allowed here: {(made.stderr or tried.stderr).strip()}")
    yield name
    subprocess.run(["ip", "netns", "del", name], check=True)


WHERE = """
import os
from opproof.backends.numpy import NumPy

forward, vjp = NumPy().forward, NumPy().vjp
device = os.readlink("/proc/self/ns/net")
"""


def test_in_another_network_namespace(namespace, tmp_path):
    (tmp_path / "where.py").write_text(WHERE, encoding="utf-8")
    host = shlex.join(["ip", "netns", "exec", namespace, *HOST, "--references", str(tmp_path / "where.py")])
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", f"exec:{host}", "--op", "relu,matmul"]
    options = ["--level", "smoke", "-j", "1", "--quiet", "--out", str(tmp_path / "out")]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    header, found = read_results(tmp_path / "out")
    (about,) = header.backends
    assert about["name"] == "where"
    assert about["device"].startswith("net:[")
    assert about["device"] != str(Path("/proc/self/ns/net").readlink())
    here = records([Task("numpy", r.case, r.mode) for r in found])
    assert what_counts(found) == what_counts(here)


#: Of these the host says and sees as much without shared memory as with it; the rest of EXPECTED waits, or grows.
THERE = [key for key, (verdict, _) in EXPECTED.items() if verdict not in ("TIMEOUT", "OUT_OF_MEMORY")]


def test_every_fault_without_shared_memory(on_shared_memory):  # noqa: F811
    """Guards, canaries, poison, changed inputs: the same verdicts, and but for addresses the same words."""
    backend = f"exec:{shlex.join([*HOST, '--references', BACKEND])}"
    found = records([Task(backend, case, mode) for case, mode in THERE])
    assert {(r.case, r.mode): r.verdict for r in found} == {key: EXPECTED[key][0] for key in THERE}
    expected = what_counts(on_shared_memory.values())
    for key, record in what_counts(found).items():
        same = expected[key]
        if record.verdict == "OUT_OF_BOUNDS":  # how much lies beyond depends on what lies there
            same = replace(same, message=record.message)
        assert record == same
        assert record.message.startswith(EXPECTED[key][1])


OVERRUN = """
int32_t opproof_abi_version(void) { return OPPROOF_ABI_VERSION; }
int32_t opproof_forward(const opproof_call *call, int32_t n_outputs, DLTensor *const *outputs,
                        char *message, size_t message_size) {
  const DLTensor *x = call->inputs[0];
  int64_t n = x->shape[0] * x->shape[1];
  float *from = (float *)((char *)x->data + x->byte_offset);
  float *to = (float *)((char *)outputs[0]->data + outputs[0]->byte_offset);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] > 0 ? from[i] : 0;
  if (strcmp(call->op, "neg") == 0) ((char *)to)[4 * n + 2] = 1;        /* past the end */
  if (strcmp(call->op, "abs") == 0) ((char *)to)[-1] = 1;               /* before the beginning */
  if (strcmp(call->op, "square") == 0) to[n - 1] = from[n + 500];       /* a read behind */
  if (strcmp(call->op, "exp") == 0) from[0] = 1;                        /* an input */
  if (strcmp(call->op, "sin") == 0) memcpy(to + n - 1, "\\xa5\\xa5\\xa5\\xff", 4);    /* as it was */
  (void)message; (void)message_size; (void)n_outputs;
  return OPPROOF_OK;
}
"""
OF_C = {
    "relu[x=7x33;f32]": "PASS",
    "neg[x=7x33;f32]": "OUT_OF_BOUNDS",  # into the slack before the guard
    "neg[x=7x64;f32]": "OUT_OF_BOUNDS",  # into the guard
    "abs[x=7x33;f32]": "OUT_OF_BOUNDS",
    "square[x=7x33;f32]": "OUT_OF_BOUNDS",
    "exp[x=7x33;f32]": "INPUT_CHANGED",
    "sin[x=7x33;f32]": "NOT_WRITTEN",
}


@needs_cc
@pytest.mark.parametrize("travels", [False, True])
def test_a_c_library_that_reaches_too_far(tmp_path, travels):
    library = str(compiled(tmp_path, OVERRUN))
    backend = f"exec:{shlex.join([*HOST, library])}" if travels else library
    found = records([Task(backend, case, "forward") for case in OF_C])
    assert {r.case: r.verdict for r in found} == OF_C, [r.message for r in found]


TILED = """
from opproof.backends.numpy import NumPy

forward = NumPy().forward


def supports(op, dtypes, params, shapes):
    sizes = [n for shape in shapes if shape is not None for n in shape]
    return True if all(n % 16 == 0 for n in sizes) else f"{sizes} in {dtypes} are no multiples of 16"
"""


def test_supports_may_take_shapes(tmp_path):
    (tmp_path / "tiled.py").write_text(TILED, encoding="utf-8")
    texts = {n: f"linear[x={n}x32;weight=48x32;f32]" for n in (16, 17, 32, 33)}
    found = {r.case: r for r in records([Task(str(tmp_path / "tiled.py"), text, "forward") for text in texts.values()])}
    assert [(found[text].verdict, found[text].message) for text in texts.values()] == [  # they come in any order
        ("PASS", ""),
        ("UNSUPPORTED", "[17, 32, 48, 32] in ['f32'] are no multiples of 16"),
        ("PASS", ""),
        ("UNSUPPORTED", "[33, 32, 48, 32] in ['f32'] are no multiples of 16"),
    ]


KEEPS = """
import numpy as np

version, kept = "1", {}


def supports(op, dtypes, params):
    return True


def forward(op, inputs, params):
    x = inputs[0]
    return np.ones_like(x) if x.size < 10 else kept.setdefault(x.shape, np.exp(x))
"""


def test_a_kept_answer_is_told_after_wrong_ones_that_are_not(tmp_path):
    """Second looks at an operator end where they change nothing, but not at answers of the call before."""
    (tmp_path / "keeps.py").write_text(KEEPS, encoding="utf-8")
    texts = [f"exp[x={n},;f32]" for n in (3, 4, 5, 6, 33)]
    found = {r.case: r for r in records([Task(str(tmp_path / "keeps.py"), text, "forward") for text in texts])}
    assert [found[text].verdict for text in texts] == ["WRONG_VALUE"] * 4 + ["NOT_REPEATABLE"]


# What is no host


def test_a_host_that_speaks_another_language(tmp_path):
    """A command that says it is a host of ours, and does not say what a host says."""
    text = Path(__file__).parents[2].joinpath("_exec_backend.py").read_text(encoding="utf-8")
    hello = '{"kind": "hello", "name": "drill", "version": "1", "device": "cpu"}'
    assert hello in text
    (tmp_path / "odd.py").write_text(text.replace(hello, hello[:-1] + ', "arena": "frames"}'), encoding="utf-8")
    with pytest.raises(BackendError, match=r"the host's hello cannot be read: .*; update opproof there\."):
        start_host(f"exec:{shlex.join([sys.executable, str(tmp_path / 'odd.py')])}", HostLimits(1, 10.0, 2**30))


def test_a_host_has_one_backend_and_says_so_first():
    host = start_host("numpy", HostLimits(1, 10.0, 2**30))
    try:
        assert (host.about.name, host.about.device, host.about.differentiates) == ("numpy", "cpu", True)
        assert host.alive
        assert not host.in_process
    finally:
        host.close()
    with pytest.raises(BackendError, match="unknown backend 'nunpy'"):
        start_host("nunpy", HostLimits(1, 10.0, 2**30))


def test_a_host_that_is_not_alive_says_how_it_ended(tmp_path):
    (tmp_path / "ends.py").write_text(
        "import os\ndef forward(op, inputs, params):\n    os._exit(4)\n", encoding="utf-8"
    )
    host = native.start(str(tmp_path / "ends.py"), 2**30)
    case = Case.parse("relu[x=2x3;f32]")
    pair = make_question(case, load("relu"), Mode.FORWARD)
    with pytest.raises(HostFault) as caught:
        host.call(Request(pair.case_data, wanted_of(pair.case_data, pair.decoy_data.outputs)), 10.0)
    assert (caught.value.verdict, caught.value.message) == (Verdict.CRASH, "the process exited with status 4")
    assert not host.alive
    host.close()


def test_a_backend_in_this_process_that_is_a_process_of_its_own():
    with pytest.raises(BackendError, match="which --in-process cannot be"):
        start_host("exec:cat", HostLimits(1, 10.0, 2**30, in_process=True))


# What a backend prints


PRINTS = """
import os, sys
from opproof.backends.numpy import NumPy

print("loading")
forward = NumPy().forward


def vjp(op, inputs, params, cotangents, needs):
    print("to stdout"); sys.stdout.flush(); os.write(1, b"x" * 200000); os.write(2, b"y" * 200000)
    assert sys.stdin.read() == ""
    return NumPy().vjp(op, inputs, params, cotangents, needs)
"""


@pytest.mark.parametrize("travels", [False, True])
def test_what_a_backend_prints_is_no_answer(tmp_path, travels):
    """Descriptors 0, 1 and 2 are its own, where frames go through stdin and stdout too."""
    (tmp_path / "prints.py").write_text(PRINTS, encoding="utf-8")
    path = str(tmp_path / "prints.py")
    backend = f"exec:{shlex.join([*HOST, '--references', path])}" if travels else path
    found = records([Task(backend, "relu[x=7x33;f32]", mode) for mode in MODES])
    assert [r.verdict for r in found] == ["PASS", "PASS"], [r.message for r in found]


def test_dtypes_by_name():
    from opproof.backends.worker.protocol import dtype_of

    for dtype in (np.float16, np.float64, ml_dtypes.bfloat16, np.int64, np.uint8, np.bool_):
        assert dtype_of(np.dtype(dtype).name) == np.dtype(dtype)
