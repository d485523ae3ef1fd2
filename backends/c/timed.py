"""A C library's calls timed in C: loop.c is compiled where the library is measured."""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from opproof.backends.c.library import MESSAGE_SIZE, _call
from opproof.backends.c.structs import CallStruct, Param, make_pointers, param_of, tensor_of
from opproof.backends.protocol import BackendFailed
from opproof.core.arrays import Array

#: Nanoseconds of so many calls, caches evicted before each where memory to write to is given.
Loop = Callable[[int, Array | None], int]


def loop_of(into: object) -> Callable[..., Loop] | None:
    """What makes a loop in C of forward_into or vjp_into; None where these are not a C library's, or no compiler is."""
    timed = _load_timed() if isinstance(into, partial) and into.func is _call else None
    return None if timed is None else partial(_make_loop, timed, into.args[0])  # type: ignore[attr-defined]


def _make_loop(
    timed: Any, function: Any, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
    *arrays: Sequence[Array | None],
) -> Loop:  # fmt: skip
    tensors, named = [tensor_of(a) for a in inputs], [param_of(name, value) for name, value in params.items()]
    encoded, pointed = op.encode(), make_pointers(tensors)
    call = CallStruct(
        op=encoded, n_inputs=len(tensors), n_params=len(named), inputs=pointed, params=(Param * len(named))(*named)
    )
    groups = [[tensor_of(a) for a in group] for group in arrays]
    pointers = [make_pointers(group) for group in groups]
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    cotangents, results = (pointers[0], pointers[1]) if len(pointers) == 2 else (None, pointers[0])
    kept = (tensors, named, groups, inputs, arrays)  # alive as long as the loop is

    def loop(calls: int, evict: Array | None) -> int:
        assert kept
        where, size = (None, 0) if evict is None else (evict.ctypes.data, evict.nbytes)
        given = (ctypes.byref(call), len(arrays[0]), cotangents, results, message, MESSAGE_SIZE)
        spent = timed(function, *given, calls, where, size)
        if spent < 0:
            raise BackendFailed(f"the library returned {-1 - spent}: {message.value.decode(errors='replace')}")
        return int(spent)

    return loop


@functools.cache
def _load_timed() -> Any:
    """opproof_timed, compiled; None without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "loop.so"
        source = Path(__file__).with_name("loop.c")
        made = subprocess.run(
            [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", str(path)], capture_output=True, check=False
        )
        if made.returncode:
            return None
        function = ctypes.CDLL(str(path)).opproof_timed
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    function.argtypes = [pointer, pointer, ctypes.c_int32, pointer, pointer, ctypes.c_char_p, size, ctypes.c_int64,
                         pointer, size]  # fmt: skip
    function.restype = ctypes.c_int64
    return function
