"""A program that answers in frames which no library would write: its own ERROR, whatever is in them."""

import shlex
import sys

import pytest
from _attacked import run

CASES = ("neg[x=5x7;f32]",)

PROGRAM = """
import json, os, struct, sys
source, sink = sys.stdin.buffer, sys.stdout.buffer
while head := source.read(8):
    blob = source.read(*struct.unpack("<Q", head))
    asked = json.loads(blob[8 : 8 + struct.unpack("<Q", blob[:8])[0]])["__metadata__"]
    said = {"kind": "outputs", "id": asked["id"]}
    if asked["kind"] == "hello":
        said |= {"kind": "hello", "name": "liar"}
    header, data = {"__metadata__": said}, b""
    if asked["kind"] == "forward":
        ATTACK
    header = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = struct.pack("<Q", len(header)) + header + data
    sink.write(struct.pack("<Q", len(whole)) + whole)
    sink.flush()
"""

#: What it does, and what is said of it.
LIES = {
    'header["output." + "9" * 5000] = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}': "a tensor 'output.999",
    'header["output.0"] = {"dtype": "U8", "shape": [0] + [1] * 70, "data_offsets": [0, 0]}': "no array can have",
    'header["output.0"] = {"dtype": "U8", "shape": [0, 2**63], "data_offsets": [0, 0]}': "no array can have",
    'header["output.0"] = {"dtype": "U8", "shape": [0, 2**62, 2**62], "data_offsets": [0, 0]}': "no array can have",
    'header = b\'{"a": \' + b"[" * 200000 + b"]" * 200000 + b"}"': "is not JSON",
    'sink.write(struct.pack("<QQ", 3 * 2**30, 100)); sink.flush(); source.read()': "announces 3221225472 bytes",
    "from opproof.reference_ops import relu": "a backend cannot import the references",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie(tmp_path, lie):
    (tmp_path / "liar.py").write_text(PROGRAM.replace("ATTACK", lie), encoding="utf-8")
    found = run(tmp_path, f"exec:{shlex.join([sys.executable, 'liar.py'])}", CASES)
    assert found.failing == {CASES[0]: "CRASH" if "import" in lie else "ERROR"}
    assert LIES[lie] in found.message(CASES[0])
    assert found.status == 1


GROWS = """
def forward(op, inputs, params):
    for number in os.listdir("/proc/self/fd"):
        try:
            if "memfd:opproof" in os.readlink(f"/proc/self/fd/{number}"):
                os.ftruncate(int(number), 1 << 40)
        except OSError:
            pass
    return honest(op, inputs)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs memory files")
def test_shared_memory_that_the_backend_has_made_larger(tmp_path):
    """It cannot be made smaller any more, and need not be: the next case, which needs more than before, has it."""
    (tmp_path / "backend.py").write_text("import os\nimport numpy as np\nhonest = lambda op, x: -x[0]\n" + GROWS)
    cases = ("neg[x=5x7;f32]", "neg[x=1500x700;f32]")
    assert run(tmp_path, str(tmp_path / "backend.py"), cases, "-j", "1").failing == {}
