"""A backend reaches for another one of the same run: its tensors, its process. It is Landlock that forbids it."""

import ctypes
import os
import shutil
import sys

import pytest
from _attacked import HONEST, run

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or ctypes.CDLL(None).syscall(444, None, ctypes.c_long(0), 1) < 6,
    reason="needs Linux 6.12, with Landlock",
)

CASES = tuple(f"neg[x=5x{n};f32]" for n in range(3, 6))

#: What is seen of the host of honest.py, from Python and from another program.
READS = """
def hosts():
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/cmdline", "rb") as file:
                words = file.read().split(b"\\0")
        except OSError:
            continue
        if b"opproof.backends.worker" in words and b"honest.py" in words and os.getcwd() == CWD:
            yield process

CWD = os.getcwd()

def forward(op, inputs, params):
    for process in hosts():
        try:
            open(f"/proc/{process}/mem", "rb").close()
        except OSError:
            pass
        else:
            raise RuntimeError(process)
        links = [f"/proc/{process}/fd/{number}" for number in range(9)]
        listed = subprocess.run(["readlink", *links], capture_output=True, text=True)
        if listed.stdout:
            raise RuntimeError(listed.stdout)
    return honest(op, inputs)
"""

KILLS = """
def forward(op, inputs, params):
    if op == "neg":
        subprocess.run(["pkill", "-9", "-f", "arena=[0-9]+ -- honest.py"])
    return honest(op, inputs)
"""


def attacked(folder, attack, *before):
    (folder / "honest.py").write_text(HONEST, encoding="utf-8")
    (folder / "attacker.py").write_text(HONEST + attack, encoding="utf-8")
    found = run(folder, "honest.py", CASES, "-b", "attacker.py", "-j", "1", before=before)
    assert [r.verdict for r in found.results] == ["PASS"] * 2 * len(CASES)
    assert found.status == 0


@pytest.mark.parametrize("attack", [READS, KILLS], ids=["reads", "kills"])
def test_another_backend(tmp_path, attack):
    attacked(tmp_path, attack)


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("setpriv") is None, reason="for root, by setpriv of util-linux")
@pytest.mark.parametrize("attack", [READS, KILLS], ids=["reads", "kills"])
def test_another_backend_in_a_container(tmp_path, attack):
    """Root there has not the capability by which root makes a Landlock domain."""
    attacked(tmp_path, attack, "setpriv", "--bounding-set=-sys_admin")
