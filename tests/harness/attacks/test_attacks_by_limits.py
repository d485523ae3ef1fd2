"""A backend in C sets limits of a process that is not its own: who may write no file loses what was measured."""

import platform
import resource
import sys

import pytest
from _attacked import backend, run

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in ("x86_64", "aarch64"),
    reason="seccomp by numbers that are known",
)

SETS = """
import ctypes, errno

FILES, CORES = 1, 4  # <sys/resource.h>


def limited(process, what):
    libc = ctypes.CDLL(None, use_errno=True)
    return libc.prlimit(process, what, (ctypes.c_ulong * 2)(0, 0), None) and ctypes.get_errno()


def forward(op, inputs, params):
    stat = open(f"/proc/{os.getppid()}/stat").read()
    above = int(stat.rpartition(")")[2].split()[1])
    for process in (os.getppid(), above):
        if limited(process, FILES) != errno.EPERM:
            raise RuntimeError(f"limits of {process} were set")
    if limited(0, CORES):
        raise RuntimeError("its own were not")
    return honest(op, inputs)
"""


def test_limits_of_others_are_theirs(tmp_path):
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    found = run(tmp_path, backend(tmp_path, SETS), ("neg[x=5x7;f32]",))
    assert (found.status, [(r.verdict, r.message) for r in found.results]) == (0, [("PASS", "")])
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == before
