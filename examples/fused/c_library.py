"""c_kernels.c, compiled once a process with the C compiler that is there."""

import ctypes
import functools
import os
import subprocess
import tempfile
from pathlib import Path


@functools.cache
def path():
    """Where the library lies."""
    folder = Path(tempfile.mkdtemp(prefix="opproof-fused-"))
    command = [os.environ.get("CC", "cc"), "-O2", "-shared", "-fPIC", "-ffp-contract=off"]
    source, made = Path(__file__).with_name("c_kernels.c"), folder / "c_kernels.so"
    subprocess.run([*command, str(source), "-o", str(made), "-lm"], check=True)
    return made


def call(name, *arguments):
    """Call a function of it: tensors as pointers, numbers as int64_t, booleans as int."""
    kept = [a.contiguous() if hasattr(a, "data_ptr") else a for a in arguments]
    getattr(ctypes.CDLL(str(path())), name)(*map(_argument, kept))


def _argument(value):
    if hasattr(value, "data_ptr"):
        return ctypes.c_void_p(value.data_ptr())
    return ctypes.c_int(value) if isinstance(value, bool) else ctypes.c_int64(value)
