"""The exec protocol: frames, and a child that goes wrong in each way costs its own case only."""

import json
import os
import shlex
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.worker.protocol import FrameError, decode, encode, length_of_frame, params_to_json
from opproof.core.dtypes import Declaration
from opproof.core.errors import BackendError
from opproof.core.verdicts import Verdict
from opproof.harness.run.hosts.exec_dialogues import Command
from opproof.harness.run.hosts.exec_protocol import _request
from opproof.harness.run.hosts.process import HostFault, HostProcess
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.task import HostLimits
from opproof.reports import read_results

pytestmark = pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")

HERE = Path(__file__).parents[2]
DRILL = shlex.join([sys.executable, str(HERE / "_exec_backend.py")])
EXAMPLES = HERE.parent / "examples"


@pytest.fixture(scope="module")
def drill():
    backend = Command(DRILL, 30.0)
    yield backend
    backend.stop()


# Frames


@pytest.mark.parametrize(
    "dtype", [np.float64, np.float32, np.float16, ml_dtypes.bfloat16, np.int64, np.int32, np.uint8, np.bool_]
)
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_frames_round_trip(dtype, shape):
    a = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    metadata, found = decode(encode({"kind": "outputs", "text": 'with "quotes" and ü'}, {"x": a, "t": a.T}))
    assert metadata == {"kind": "outputs", "text": 'with "quotes" and ü'}
    for b, expected in ((found["x"], a), (found["t"], a.T)):
        assert b.dtype == expected.dtype
        assert b.shape == expected.shape
        assert b.tobytes() == expected.tobytes()


def frame(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<QQ", 8 + len(text) + len(data), len(text)) + text + data


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (frame(b"not json at all"), "is not JSON"),
        (frame([1, 2]), "expected a JSON object"),
        (frame({"__metadata__": {"inputs": 2}}), "strings only"),
        (frame({"x": {"dtype": "F32", "shape": [2], "data_offsets": [0, 4]}}, bytes(4)), "is not safetensors"),
        (frame({"x": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, bytes(4)), "is not safetensors"),
        (frame({"x": {"dtype": "U16", "shape": [1], "data_offsets": [0, 2]}}, bytes(2)), "has dtype U16"),
    ],
)
def test_what_is_no_safetensors(wrong, said):
    with pytest.raises(FrameError, match=said):
        decode(wrong)


@pytest.mark.parametrize(
    ("head", "said"),
    [
        (b"Loading model...", "the text 'Loading model...'"),
        (struct.pack("<QQ", 100, 93), "do not fit"),
        (struct.pack(">QQ", 100, 50), "little-endian"),
    ],
)
def test_what_is_no_head(head, said):
    with pytest.raises(FrameError, match=said):
        length_of_frame(head)


def test_params_are_json_without_infinity():
    params = {"a": 1, "b": 1.0, "c": float("-inf"), "d": (1, 2), "e": None, "f": True, "g": "mean"}
    expected = {"a": 1, "b": 1.0, "c": "-Infinity", "d": [1, 2], "e": None, "f": True, "g": "mean"}
    assert json.loads(params_to_json(params)) == expected


# The backend


X = np.array([[1, -2, 3], [-4, 5, -6]], np.float32)


def test_values_and_gradients(drill):
    about = drill.about
    assert (about.name, about.version, about.device) == ("drill", "1", "cpu")
    assert (drill.ask("relu", [X.T], {})[0] == np.maximum(X.T, 0)).all()
    gradients = drill.ask("mul", [X, 2 * X], {}, ([X], [False, True]))
    assert gradients[0] is None
    assert (gradients[1] == X * X).all()
    with pytest.raises(Unsupported, match="there is no foo here"):
        drill.ask("foo", [X], {})
    assert (drill.ask("clamp", [X], {"min": float("-inf"), "max": 0.0})[0] == np.minimum(X, 0)).all()


def test_what_is_absent_has_no_tensor(drill):
    """An optional input at the end, which counts, and the cotangent of indices."""
    assert (drill.ask("linear", [X, X, None], {})[0] == X @ X.T).all()
    assert [d is None for d in drill.ask("linear", [X, X, None], {}, ([X @ X.T], [True, True, False]))] == [0, 0, 1]
    (gradient,) = drill.ask("sort", [X], {"dim": 0, "descending": False}, ([X, None], [True]))
    assert (gradient == X[np.argsort(np.argsort(X, axis=0), axis=0), np.arange(3)]).all()
    request, tensors = _request("vjp", "linear", [X, X, None], {}, 0)
    assert (request["inputs"], set(tensors)) == ("3", {"input.0", "input.1"})


FAULTS = {
    "neg": "got the text 'I am computing n'.*only frames may go there; print to stderr",
    "square": "4 bytes follow the answer",
    "exp": "exited with status 7; it said: fatal error: out of luck",
    "tan": "which do not fit in",
    "floor": "died of SIGABRT",
    "log": "has id '0'; expected '[0-9]+'",
    "erf": "of kind 'hello'; expected 'outputs'",
    "ceil": "^no ceiling here$",
    "round": "a tensor 'y'; expected output.0",
}


@pytest.mark.parametrize("op", FAULTS)
def test_a_fault_says_what_it_is_and_the_next_call_is_fine(drill, op):
    with pytest.raises(BackendFailed, match=FAULTS[op]) as caught:
        drill.ask(op, [X], {})
    assert "\n" not in str(caught.value)
    assert (drill.ask("relu", [X], {})[0] == np.maximum(X, 0)).all()


def test_a_truncated_frame_and_a_hang_end_with_the_timeout(drill):
    drill.timeout = 1.0
    with pytest.raises(BackendFailed, match=r"no answer within 1 s; \d+ bytes came, of \d+"):
        drill.ask("abs", [X], {})
    with pytest.raises(BackendFailed, match=r"^no answer within 1 s\.$"):
        drill.ask("sqrt", [X], {})
    drill.timeout = 30.0
    drill.ask("relu", [X], {})


def test_a_command_that_answers_too_early_cannot_block():
    """More than a pipe holds, both ways at once."""
    text = "import sys; sys.stdout.buffer.write(b'A' * 2**20); sys.stdout.flush(); sys.stdin.read()"
    with pytest.raises(BackendError, match="the text 'AAAA"):
        Command(shlex.join([sys.executable, "-c", text]), 30.0).about  # noqa: B018 - the first question starts it


# The process


def ended(program, memory=0, timeout=20.0):
    """The fault that a request to a Python program ends with."""
    process = HostProcess([sys.executable, "-c", program], memory)
    try:
        with pytest.raises(HostFault) as caught:
            process.exchange(encode({"kind": "hello"}, {}), timeout)
    finally:
        process.stop()
    return caught.value


@pytest.mark.parametrize(
    ("program", "verdict", "said"),
    [
        ("import os; os._exit(0)", Verdict.CRASH, "the process exited with status 0"),
        ("import sys; sys.exit('error: no luck')", Verdict.CRASH, "exited with status 1; it said: error: no luck"),
        ("import os; os.abort()", Verdict.CRASH, "the process died of SIGABRT"),
        ("import os; os.kill(os.getpid(), 11)", Verdict.CRASH, "the process died of SIGSEGV"),
        ("import os, time; os.close(1); time.sleep(60)", Verdict.CRASH, "the process closed what it answers on"),
        ("print('x' * 99, flush=True); input()", Verdict.ERROR, "the text 'xxxxxx"),
        ("import time; time.sleep(60)", Verdict.TIMEOUT, "no answer within 2 s"),
        ("x = bytearray(b'x' * 2**28); input()", Verdict.OUT_OF_MEMORY, "the process outgrew its limit of 100 MiB"),
        (
            "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = bytearray(b\"x\" * 2**28); input()'])",
            Verdict.OUT_OF_MEMORY,
            "the process outgrew its limit of 100 MiB",
        ),
    ],
)
def test_how_a_process_ends(program, verdict, said):
    fault = ended(program, 100 * 2**20, timeout=2.0 if verdict is Verdict.TIMEOUT else 20.0)
    assert fault.verdict is verdict
    assert said in fault.message
    assert fault.guard == ("SIGSEGV" in said)


def test_what_a_process_does_while_nothing_is_asked_of_it():
    def later(program):
        process = HostProcess([sys.executable, "-c", program], 0)
        ends = time.monotonic() + 20
        while process.alive and time.monotonic() < ends:
            time.sleep(0.01)
        assert not process.alive
        fault = process.fault()
        process.stop()
        return fault.verdict, fault.message

    assert later("import os; os._exit(3)") == (Verdict.CRASH, "the process exited with status 3")
    talks = "import time; print('hello', flush=True); time.sleep(60)"
    assert later(talks) == (Verdict.ERROR, "6 bytes came that nobody had asked for")


def test_a_process_may_end_by_itself():
    for program, alone in (("input()", True), ("import time; time.sleep(60)", False)):
        process = HostProcess([sys.executable, "-c", program], 0)
        assert process.stop(10.0 if alone else 0.1) is alone


# What cannot be loaded


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "needs a command"),
        ("'open", "No closing quotation"),
        ("no-such-command-1 x", "no command 'no-such-command-1'"),
    ],
)
def test_what_is_no_command(text, said):
    with pytest.raises(BackendError, match=said):
        Command(text, 30.0)
    with pytest.raises(BackendError, match=said):
        start_host(f"exec:{text}", HostLimits(1, 30.0, 2**30))


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit('error: no device')", "exited with status 1; it said: error: no device"),
        ("print('Hello, I am the backend')", "the text 'Hello, I am the"),
    ],
)
def test_no_hello(program, said):
    with pytest.raises(BackendError, match=said):
        Command(shlex.join([sys.executable, "-c", program]), 30.0).about  # noqa: B018


# Runs


def opproof(*arguments, cwd, timeout=120):
    command = [sys.executable, "-m", "opproof.harness", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)


VERDICTS = {
    "neg": "ERROR", "abs": "TIMEOUT", "square": "ERROR", "exp": "CRASH", "sqrt": "TIMEOUT", "sin": "PASS",
    "tan": "ERROR", "floor": "CRASH", "cos": "WRONG_SHAPE", "tanh": "WRONG_DTYPE", "log": "ERROR", "erf": "ERROR",
    "ceil": "ERROR", "round": "ERROR", "sign": "WRONG_SHAPE", "relu": "PASS", "add": "PASS", "matmul": "PASS",
    "trunc": "OUT_OF_MEMORY",
}  # fmt: skip


def test_each_fault_costs_its_own_case_only(tmp_path):
    ops = ",".join(VERDICTS)
    options = ["--dtype", "f32", "--level", "smoke", "--mode", "forward", "--timeout", "10", "--memory", "600"]
    options += ["-j", "1", "--quiet"]
    done = opproof("run", "-b", f"exec:{DRILL}", "--op", ops, *options, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    results = read_results(tmp_path / "opproof-report")[1]
    found = {op: {r.verdict for r in results if r.op == op} for op in VERDICTS}
    assert found == {op: {verdict} for op, verdict in VERDICTS.items()}


def test_missing_command_is_a_wrong_call(tmp_path):
    done = opproof("run", "-b", "exec:no-such-command-1", "--op", "relu", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


# Examples


@pytest.mark.skipif(
    shutil.which("node") is None or not (EXAMPLES / "node_tfjs" / "node_modules").is_dir(),
    reason="no node, or no examples/node_tfjs/node_modules",
)
def test_example_tfjs(tmp_path):
    folder = EXAMPLES / "node_tfjs"
    options = ["--dtype", "f32", "--level", "smoke", "--known", str(folder / "known.toml"), "--quiet"]
    done = opproof("run", "-b", f"exec:node {folder / 'backend.js'}", *options, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stdout
    results = read_results(tmp_path / "opproof-report")[1]
    for mode, least in (("forward", 100), ("gradient", 80)):
        assert len({r.op for r in results if r.mode == mode and r.verdict == "PASS"}) >= least


# Declarations


DECLARING = """
import json, sys
import numpy as np
from opproof.backends.worker.protocol import HEAD, decode, encode, length_of_frame

HELLO = {"kind": "hello", "name": "declaring", "rounding": '{"square": "WORD"}', "compute": '{"exp": "storage"}'}
HELLO["bits"] = '{"exp": "vary"}'
while head := sys.stdin.buffer.read(HEAD):
    asked, _ = decode(head + sys.stdin.buffer.read(length_of_frame(head) - HEAD))
    sys.stdout.buffer.write(encode({**HELLO, "id": asked["id"]}, {}))
    sys.stdout.buffer.flush()
"""


def declaring(folder, text):
    (folder / "declaring.py").write_text(text, encoding="utf-8")
    return "exec:" + shlex.join([sys.executable, str(folder / "declaring.py")])


def test_declarations_of_the_hello(tmp_path):
    host = start_host(declaring(tmp_path, DECLARING.replace("WORD", "truncate")), HostLimits(1, 30.0, 2**30))
    said = {op: host.support(op, "bf16", "forward", {}, []) for op in ("square", "exp", "sin")}
    host.close()
    assert {op: s.declared for op, s in said.items()} == {
        "square": Declaration(rounding="truncate"),
        "exp": Declaration("storage", bits="vary"),
        "sin": Declaration(),
    }


def test_a_rounding_that_is_no_object(tmp_path):
    text = DECLARING.replace("""'{"square": "WORD"}'""", "'truncate'")
    with pytest.raises(BackendError, match="rounding in the hello is 'truncate'; expected JSON such as"):
        start_host(declaring(tmp_path, text), HostLimits(1, 30.0, 2**30))
