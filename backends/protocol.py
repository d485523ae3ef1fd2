"""What a backend is: any module or object with these members. Nothing is subclassed.

Required

    forward(op, inputs, params) -> output, or a sequence of outputs (None: one on request that is left out)

Optional

    name, version, device      str; what the reports call it
    vjp(op, inputs, params, cotangents, needs) -> sequence of gradients, None where not needed
    supports(op, dtypes, params) -> True, or a str: the reason it does not
    compute(op, dtype, mode) -> None, or the name of a lower precision in which it computes:
                               "storage" (the dtype itself, between kernels), "f16",
                               "bf16", "tf32", "f32" (of float64), "q8" (activations in blocks of 8 bits)
    rounding(op, dtype, mode) -> None, or "truncate": results are stored rounded towards zero, not to nearest
    bits(op, dtype, mode) -> None, or "vary": the same call may give other bits, as where atomic additions make a sum in
                               any order, or threads share the work anew; each of its answers has to be right
                               (a function of one of these three names that takes something else declares nothing)
    dtypes                     tuple of the dtypes that it has beside f64, f32, f16 and bf16: of "f8e4m3", "f8e5m2",
                               "i8", "i16", "i32", "u8"; cases of the others are declined for it
    mixed                      True where it takes floats of several dtypes in one call: results have that of the first
                               tensor (of mul_mat_id that of b), others may have another, float32 weights beside
                               bfloat16 data for instance; a gradient has that of its own tensor. Of such a call
                               `supports` gets all dtypes, that of results first; `compute`, `rounding` and `bits` are
                               asked for "f32+f16" (results of float32, some of float16) before "f32". Cases of
                               several dtypes are declined for a backend without it
    destinations               tuple of the words "in place" and "strided": where it can write results beside memory of
                               their own, row by row. They count where its forward and vjp take `out`, see below
    capabilities               vector capabilities that its library can be told to use on this machine, by name, each
                               with the environment variables that tell it: {"avx2": {"MINE_MAX_ISA": "avx2"}}. `--isa`
                               sets them in the backend's own process before anything is loaded there; a value stands
                               for what the user's environment has by that name
    reuses_outputs             True where a later call may write into what an earlier one returned, and callers are told
    impl                       str, read after each call: the name of what computed its answer, where a library chooses
                               among several or falls back; counted in reports, and demanded by `--require-impl`
    set_threads(n)             called before each call of a run with --threads: compute with n threads from now on
    alignment                  int; bytes that it needs buffers aligned to (64 when absent)

`op` is the operator's name. `inputs` has one entry per tensor of the operator's signature, in its order, None where
an optional one is absent: NumPy arrays of float64, float32, float16, ml_dtypes.bfloat16 or int64, of any strides, not
to be written; of `dtypes` ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, int8, int16, int32 and uint8. `params` maps
every parameter of the operator to its value. `cotangents` has one array per output, None for an output of integers or
booleans; `needs` one bool per input. None in place of an output that libraries compute on request (the indices of a
max pooling; the operator's ON_REQUEST) leaves it out: the others are judged, and reports say so. Raise `Unsupported`
(or NotImplementedError, or return NotImplemented) to decline; any other exception is a failure of that case alone.

Results in place, and strided: `forward(op, inputs, params, out=None)` and `vjp(op, inputs, params, cotangents, needs,
out=None)`. Where `out` is given, it has an array for each output (each input; None where not needed): write the results
there, what is returned is not looked at. "in place": out[0] is one of `inputs`, the very array; of a vjp, the gradient
of that input is cotangents[0]. It has that one's strides. All else that is given must stay as it is, the inputs of a
vjp too. "strided": the arrays of `out` have strides of the caller's, and bytes between their elements that must stay.
Cases of destinations that a backend does not declare are declined for it.

A backend that writes into memory of the caller (a C library) has instead

    forward_into(op, inputs, params, outputs) -> None
    vjp_into(op, inputs, params, cotangents, gradients) -> None    gradients: None where not needed
    destinations               as above: outputs are then inputs, the very arrays, or have strides
    device_memory              a DeviceMemory (c/device.py), where arrays must lie on a device: it gets DeviceArrays
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from opproof.core.arrays import Array

#: Bytes to which a backend may need its buffers aligned, at most.
MAX_ALIGNMENT = 2**20
AN_ALIGNMENT = f"a power of two from 1 to {MAX_ALIGNMENT}, in bytes, such as 64"


class Unsupported(Exception):
    """Raised by a backend to decline an operator, a dtype or a parameter; its text is the reason."""


class BackendFailed(Exception):
    """The backend itself reported that a call failed; its text is the backend's message."""


class OutOfBounds(BackendFailed):
    """The backend's own guard zones, of a device's memory for instance, were written; its text says where."""


class InputChanged(BackendFailed):
    """The backend found that its own call wrote to an input; its text says which."""


class DeviceLost(Exception):
    """A device can no longer be used in this process, after an illegal access for instance; its text is the reason."""


class Backend(Protocol):
    """The one required member; see the module's docstring for the optional ones."""

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]
    ) -> Array | Sequence[Array | None]: ...


@functools.cache
def short_name_of(dtype: np.dtype[Any]) -> str:
    """The short name of a dtype: f32 for float32, bf16 for ml_dtypes.bfloat16, i64 for int64."""
    short = {"bfloat16": "bf16", "bool": "bool", "float8_e4m3fn": "f8e4m3", "float8_e5m2": "f8e5m2"}
    return short.get(dtype.name, dtype.name.replace("float", "f").replace("uint", "u").replace("int", "i"))


def is_alignment(value: object) -> bool:
    """Whether `value` is one that buffers can have."""
    return isinstance(value, int) and 0 < value == value & -value <= MAX_ALIGNMENT
