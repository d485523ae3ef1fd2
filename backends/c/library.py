"""The loader of shared libraries that speak the C interface of opproof.h.

Arrays are passed where they lie, with their strides, and never copied; outputs and gradients are
written in place. The call releases the GIL.
"""

from __future__ import annotations

import ctypes
import platform
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from opproof.backends.c.device import device_memory
from opproof.backends.c.structs import CallStruct, DeviceArray, DLTensor, Param, make_pointers, param_of, tensor_of
from opproof.backends.protocol import AN_ALIGNMENT, BackendFailed, Unsupported, is_alignment
from opproof.core.arrays import Array
from opproof.core.errors import BackendError
from opproof.core.verdicts import Destination

ABI_VERSION = 1
STATUS_OK, STATUS_UNSUPPORTED, STATUS_FAILED = 0, 1, 2
MESSAGE_SIZE = 1024
#: OPPROOF_IN_PLACE and OPPROOF_STRIDED.
DESTINATIONS = {1: Destination.IN_PLACE, 2: Destination.STRIDED}
HEADER = Path(__file__).parents[1] / "opproof.h"


def load(path: Path) -> SimpleNamespace:
    """The backend in the shared library `path`: name, version, device, alignment, dtypes, mixed, destinations.

    And forward_into, vjp_into where it has gradients, device_memory where its tensors must lie on a device, compute and
    rounding where it declares its precision, set_threads where it can be told or is linked with OpenMP.

    Runs the library's own start-up code in this process. Raises BackendError where it is no such library.
    """
    library = _open(path)
    _check_version(library, path)
    forward = _find_function(library, "opproof_forward")
    if forward is None:
        raise BackendError(
            f"{path} exports opproof_abi_version but no opproof_forward, which computes the outputs: "
            f'define it as {HEADER} declares it, in C or as extern "C", and export it.'
        )
    _initialise(library, path)
    backend = SimpleNamespace(
        name=_read_text(library, "opproof_name", path.stem),
        version=_read_text(library, "opproof_version", ""),
        device=_read_text(library, "opproof_device", "cpu"),
        alignment=_read_alignment(library, path),
        dtypes=tuple(_read_text(library, "opproof_dtypes", "").replace(",", " ").split()),
        mixed=_read_mixed(library, path),
        destinations=_read_destinations(library, path),
        forward_into=partial(_call, forward),
    )
    vjp = _find_function(library, "opproof_vjp")
    if vjp is not None:
        backend.vjp_into = partial(_call, vjp)
    declarations = {"compute": "opproof_precision", "rounding": "opproof_rounding", "bits": "opproof_bits"}
    for member, symbol in declarations.items():
        declaration = _find_function(library, symbol, ctypes.c_char_p)
        if declaration is not None:
            setattr(backend, member, partial(_read_declared, declaration))
    impl = _find_function(library, "opproof_impl", ctypes.c_char_p)
    if impl is not None:
        backend.impl = _Name(impl)
    set_threads = _find_function(library, "opproof_set_threads", None) or _find_function(
        library, "omp_set_num_threads", None
    )
    if set_threads is not None:
        backend.set_threads = set_threads
    memory = device_memory(library, path)
    if memory is not None:
        backend.device_memory = memory
    return backend


class _Name:
    """What the library says of its last call, asked anew whenever it is read as text."""

    def __init__(self, function: Callable[[], bytes | None]) -> None:
        self._function = function

    def __str__(self) -> str:
        return (self._function() or b"").decode(errors="replace")


def _call(
    function: Callable[..., int],
    op: str,
    inputs: Sequence[Array | DeviceArray | None],
    params: Mapping[str, Any],
    *arrays: Sequence[Array | DeviceArray | None],
) -> None:
    """Call opproof_forward with the outputs, or opproof_vjp with the cotangents and the gradients.

    Raises Unsupported or BackendFailed with the library's reason. The structs of the call stay alive
    through this frame, and hold what their pointers refer to.
    """
    tensors = [tensor_of(a) for a in inputs]
    named = [param_of(name, value) for name, value in params.items()]
    call = CallStruct(
        op=op.encode(),
        n_inputs=len(tensors),
        n_params=len(named),
        inputs=make_pointers(tensors),
        params=(Param * len(named))(*named),
    )
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    pointers = [make_pointers([tensor_of(a) for a in group]) for group in arrays]
    code = function(ctypes.byref(call), len(arrays[0]), *pointers, message, MESSAGE_SIZE)
    if code == STATUS_OK:
        return
    reason = _decode(message.raw)
    if code == STATUS_UNSUPPORTED:
        raise Unsupported(reason or f"the library declined {op} and gave no reason")
    if code == STATUS_FAILED:
        raise BackendFailed(reason or f"the library failed on {op} and gave no reason")
    raise BackendFailed(
        f"the library returned {code} for {op}; expected {STATUS_OK} (OK), "
        f"{STATUS_UNSUPPORTED} (UNSUPPORTED) or {STATUS_FAILED} (FAILED)."
    )


def _read_declared(function: Callable[..., bytes | None], op: str, dtype: str, mode: str) -> str | None:
    """What the library says of an operator: a word, or None, as it also means by an empty one."""
    word = function(op.encode(), dtype.encode(), mode.encode())
    return word.decode(errors="replace") if word else None


def _open(path: Path) -> ctypes.CDLL:
    if not path.exists():
        raise BackendError(f"there is no file {path}: expected a shared library; build it first, or correct the path.")
    if path.is_dir():
        raise BackendError(f"{path} is a folder: expected the shared library itself, such as {path / 'libmine.so'}.")
    try:
        return ctypes.CDLL(str(path.resolve()))
    except OSError as error:
        raise BackendError(
            f"{path} could not be loaded as a shared library for {platform.system()} {platform.machine()}: {error}; "
            f"build it with `cc -shared -fPIC` on this machine, linked with all that it needs."
        ) from error


def _find_function(library: ctypes.CDLL, name: str, result: Any = ctypes.c_int32) -> Callable[..., Any] | None:
    """The function `name`, or None where the library does not export it."""
    try:
        function = library[name]  # a pointer of its own, unlike an attribute
    except AttributeError:
        return None
    tensors, text = ctypes.POINTER(ctypes.POINTER(DLTensor)), [ctypes.c_char_p, ctypes.c_size_t]
    signatures: dict[str, list[Any]] = {
        "opproof_forward": [ctypes.POINTER(CallStruct), ctypes.c_int32, tensors, *text],
        "opproof_vjp": [ctypes.POINTER(CallStruct), ctypes.c_int32, tensors, tensors, *text],
        "opproof_init": text,
        "opproof_precision": [ctypes.c_char_p] * 3,
        "opproof_rounding": [ctypes.c_char_p] * 3,
        "opproof_bits": [ctypes.c_char_p] * 3,
        "opproof_set_threads": [ctypes.c_int32],
        "omp_set_num_threads": [ctypes.c_int],
    }
    function.argtypes, function.restype = signatures.get(name, []), result
    return function


def _check_version(library: ctypes.CDLL, path: Path) -> None:
    abi_version = _find_function(library, "opproof_abi_version")
    if abi_version is None:
        raise BackendError(
            f"{path} exports no opproof_abi_version, so it is no opproof backend: "
            f'include {HEADER}, define the functions that it requires, in C or as extern "C", and export them.'
        )
    found = abi_version()
    if found != ABI_VERSION:
        raise BackendError(
            f"{path} was built for version {found} of opproof's C interface, and this opproof speaks version "
            f"{ABI_VERSION}: build it again with {HEADER}, or install the opproof that it was built for."
        )


def _initialise(library: ctypes.CDLL, path: Path) -> None:
    init = _find_function(library, "opproof_init")
    if init is None:
        return
    message = ctypes.create_string_buffer(MESSAGE_SIZE)
    code = init(message, MESSAGE_SIZE)
    if code != STATUS_OK:
        reason = _decode(message.raw)
        raise BackendError(
            f"opproof_init of {path} returned {code} instead of {STATUS_OK}, "
            f"{f'saying: {reason}' if reason else 'and gave no reason'}; it must succeed before any case can run."
        )


def _read_alignment(library: ctypes.CDLL, path: Path) -> int:
    function = _find_function(library, "opproof_alignment")
    if function is None:
        return 64
    found = int(function())
    if not is_alignment(found):
        raise BackendError(f"opproof_alignment of {path} returned {found}: expected {AN_ALIGNMENT}.")
    return found


def _read_mixed(library: ctypes.CDLL, path: Path) -> bool:
    """Whether the library says that it takes floats of several dtypes in one call."""
    function = _find_function(library, "opproof_mixed")
    said = 0 if function is None else int(function())
    if said not in (0, 1):
        raise BackendError(f"opproof_mixed of {path} returned {said}: expected 1 where it takes mixed dtypes, or 0.")
    return said == 1


def _read_destinations(library: ctypes.CDLL, path: Path) -> tuple[Destination, ...]:
    """Where the library says that it can write results; nowhere in particular where it does not say."""
    function = _find_function(library, "opproof_destinations")
    flags = 0 if function is None else int(function())
    if flags not in range(sum(DESTINATIONS) + 1):
        raise BackendError(
            f"opproof_destinations of {path} returned {flags}: expected a sum of OPPROOF_IN_PLACE (1) and "
            f"OPPROOF_STRIDED (2), or 0."
        )
    return tuple(word for flag, word in DESTINATIONS.items() if flags & flag)


def _read_text(library: ctypes.CDLL, name: str, otherwise: str) -> str:
    function = _find_function(library, name, ctypes.c_char_p)
    found = None if function is None else function()
    return otherwise if found is None else found.decode(errors="replace")


def _decode(message: bytes) -> str:
    """The text before the first NUL, which the library may have forgotten."""
    return message.partition(b"\0")[0].decode(errors="replace").strip()


__all__ = ["load"]
