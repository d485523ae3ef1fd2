"""opproof check-backend: an honest command passes, and each slip of an author's is named."""

import os
import shlex
import sys

import pytest
from _runs import completed

from opproof.harness.run.hosts.exec_dialogues import Command, check

pytestmark = pytest.mark.skipif(os.name != "posix", reason="exec: backends need POSIX")

# A backend of relu alone, in which one line is another for each slip.
PROGRAM = """
import json, os, struct, sys, time
import numpy as np

NAMES = {"F32": "<f4", "F64": "<f8"}

def read():
    head = sys.stdin.buffer.read(8)
    if len(head) < 8:
        at_end()
        sys.exit()
    blob = sys.stdin.buffer.read(struct.unpack("<Q", head)[0])
    size = struct.unpack("<Q", blob[:8])[0]
    header = json.loads(blob[8:8 + size])
    metadata, tensors = header.pop("__metadata__"), {}
    for name, t in header.items():
        begin, end = t["data_offsets"]
        data = blob[8 + size:][begin:end]
        tensors[name] = np.frombuffer(data, NAMES[t["dtype"]]).reshape(t["shape"]) if t["dtype"] in NAMES else None
    return metadata, tensors

def at_end():
    pass

def write(metadata, tensors):
    header, data = {"__metadata__": metadata}, b""
    for name, a in tensors.items():
        bytes_ = a.tobytes()
        dtype = {"<f4": "F32", "<f8": "F64", "<i4": "I32"}[a.dtype.str]
        header[name] = {"dtype": dtype, "shape": list(a.shape), "data_offsets": [len(data), len(data) + len(bytes_)]}
        data += bytes_
    text = json.dumps(header).encode()
    blob = struct.pack("<Q", len(text)) + text + data
    sys.stdout.buffer.write(struct.pack("<Q", len(blob)) + blob)
    sys.stdout.buffer.flush()

calls = 0

def drifting():
    global calls
    calls += 1
    return np.float32(1 + calls * 1e-5)

def compute(m, t):
    x = t["input.0"]
    if m["op"] != "relu" or x is None:
        return {"kind": "unsupported", "reason": "relu of f32 and f64 only"}, {}
    if m["kind"] == "vjp":
        return {"kind": "gradients"}, {"gradient.0": np.where(x > 0, t["cotangent.0"], 0).astype(x.dtype)}
    return {"kind": "outputs"}, {"output.0": np.maximum(x, 0)}

while True:
    m, t = read()
    if m["kind"] == "hello":
        answer, out = {"kind": "hello", "name": "small"}, {}
    else:
        answer, out = compute(m, t)
    write({**answer, "id": m["id"]}, out)
"""


def small(tmp_path, old="", new=""):
    """The command of PROGRAM, `new` in the place of `old`."""
    program = tmp_path / "small.py"
    assert old in PROGRAM
    program.write_text(PROGRAM.replace(old, new, 1) if old else PROGRAM, encoding="utf-8")
    return shlex.join([sys.executable, str(program)])


def opproof(*arguments, cwd):
    return completed("check-backend", *arguments, cwd=cwd)


def test_honest(tmp_path):
    done = opproof(f"exec:{small(tmp_path)}", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "declined  relu, bf16: relu of f32 and f64 only" in done.stdout
    assert "ok        relu, vjp" in done.stdout
    assert done.stdout.endswith("It speaks the protocol.\n")


SLIPS = {
    "big-endian": ('struct.pack("<Q", len(blob))', 'struct.pack(">Q", len(blob))', "little-endian u64; got the bytes"),
    "length counts itself": ("len(blob)) + blob", "len(blob) + 8) + blob", "bytes came, of"),
    "text": ("calls = 0", "print('ready', flush=True)", "expected a frame"),
    "no id": ('{**answer, "id": m["id"]}', "answer", "has id None; expected '0'"),
    "number in metadata": ('"id": m["id"]}', '"id": m["id"], "n": 1}', "strings only, such as 'n'"),
    "no name": ('"name": "small"', '"title": "small"', "the hello has no name"),
    "another kind": ('{"kind": "outputs"}', '{"kind": "output"}', "of kind 'output'; expected 'outputs'"),
    "another name": ('"output.0"', '"y"', "a tensor 'y'; expected output.0"),
    "columns": ("np.maximum(x, 0)}", "np.maximum(x, 0).T.reshape(x.shape)}", "column by column"),
    "column bytes": ("bytes_ = a.tobytes()", "bytes_ = a.tobytes(order='F')", "column by column"),
    "zeros": ("np.maximum(x, 0)}", "0 * x}", "all zeros"),
    "another dtype": ("np.maximum(x, 0)}", "np.maximum(x, 0).astype(np.float64)}", "output.0 in f64, expected f32"),
    "another shape": ("np.maximum(x, 0)}", "np.maximum(x, 0)[None]}", "output.0 of shape [1, 3, 4], expected [3, 4]"),
    "0-d as 1-d": ("np.maximum(x, 0)}", "np.atleast_1d(np.maximum(x, 0))}", "output.0 of shape [1], expected []"),
    "fails for empty": ("    x = t", "    assert t['input.0'] is None or t['input.0'].size\n    x = t", "Assertion"),
    "takes any operator": ('m["op"] != "relu" or ', "", "outputs for no_such_operator"),
    "gradient missing": ('"gradient.0": np', '"gradient.1": np', "no tensor gradient.0, but gradient.1"),
    "remembers": ("np.maximum(x, 0)}", "np.maximum(x, 0) * drifting()}", "left something behind"),
    "never ends": ("    pass", "    time.sleep(60)", "had to be killed"),
    "ends at the first": ('"id": m["id"]}, out)', '"id": m["id"]}, out); sys.exit(3)', "exited with status 3"),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips_are_named(slip, tmp_path, monkeypatch):
    old, new, said = SLIPS[slip]
    backend = Command(small(tmp_path, old, new), 30.0)
    backend.timeout = 1.0
    monkeypatch.setattr("opproof.harness.run.hosts.exec_protocol.START", 3.0)
    try:
        wrong = [step for step in check(backend) if step.state == "wrong"]
    finally:
        backend.stop()
    assert any(said in step.got for step in wrong), wrong
    assert all(step.expected for step in wrong)


def test_a_slip_on_the_command_line(tmp_path):
    done = opproof(f"exec:{small(tmp_path, *SLIPS['another dtype'][:2])}", cwd=tmp_path)
    assert done.returncode == 1
    assert "wrong     relu, f32\n          expected  outputs, with output.0 of shape [3, 4] in f32\n" in done.stdout
    assert "          got       output.0 in f64, expected f32\n" in done.stdout


def test_stderr_is_shown(tmp_path):
    backend = Command(small(tmp_path, "calls = 0", "sys.stderr.write('warming up\\n')"), 30.0)
    try:
        steps = {step.what: step for step in check(backend)}
    finally:
        backend.stop()
    assert "warming up" in steps["standard error"].got
    assert not [step for step in steps.values() if step.state == "wrong"]


def test_another_operator(tmp_path):
    assert opproof(f"exec:{small(tmp_path)}", "--op", "tan", cwd=tmp_path).returncode == 0  # declining is an answer
    done = opproof(f"exec:{small(tmp_path)}", "--op", "matmul", cwd=tmp_path)
    assert done.returncode == 2
    assert "give an operator of x alone" in done.stderr


@pytest.mark.parametrize("spec", ["torch", "exec:", "exec:no-such-command-1"])
def test_wrong_calls(spec, tmp_path):
    done = opproof(spec, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
