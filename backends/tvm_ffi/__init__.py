"""tvm_ffi: functions of a shared library that speaks TVM-FFI, in the destination-passing style of its modules.

`-b tvm_ffi:./libmine.so` calls `opproof_OP(inputs..., params..., outputs...)` and `opproof_OP_vjp(inputs...,
params..., cotangents..., gradients...)`; docs/reference/backends/tvm_ffi.md has the details. Tensors are borrowed
where they lie, guarded and with any strides, and results are written in place.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from opproof.backends.protocol import BackendFailed, Unsupported
from opproof.backends.table import import_library
from opproof.backends.tvm_ffi.tensor import Borrowed
from opproof.core.arrays import Array
from opproof.core.errors import BackendError

LIBRARIES = (".so", ".dylib", ".dll")


class TvmFfi:
    """The functions of one module."""

    device = "cpu"

    def __init__(self, path: Path, module: Any, version: str) -> None:
        self.name, self.version = path.stem, f"tvm-ffi {version}"
        self._path, self._module = path, module
        self._functions: dict[str, Callable[..., None] | None] = {}

    def forward_into(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], outputs: Sequence[Array | None]
    ) -> None:
        self._call(op, f"opproof_{op}", inputs, params, outputs)

    def vjp_into(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], gradients: Sequence[Array | None],
    ) -> None:  # fmt: skip
        self._call(op, f"opproof_{op}_vjp", inputs, params, cotangents, gradients)

    def _call(
        self, op: str, name: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        *others: Sequence[Array | None],
    ) -> None:  # fmt: skip
        function = self._function(name)
        if function is None:
            raise Unsupported(f"{self._path.name} exports no {name}")
        given = [None if a is None else Borrowed(a) for a in inputs]
        rest = [None if a is None else Borrowed(a) for group in others for a in group]
        try:
            function(*given, *params.values(), *rest)
        except MemoryError:
            raise
        except Exception as error:
            raise _translate_error(error) from None

    def _function(self, name: str) -> Callable[..., None] | None:
        if name not in self._functions:
            self._functions[name] = self._module.get_function(name) if self._module.implements_function(name) else None
        return self._functions[name]


def create(variant: str = "") -> TvmFfi:
    """The functions of the shared library `variant`. Raises BackendError."""
    path = Path(variant)
    if path.suffix not in LIBRARIES:
        raise BackendError(f"backend tvm_ffi needs a module, got {variant!r}: expected tvm_ffi:./libmine.so.")
    if not path.is_file():
        raise BackendError(f"there is no file {path}: expected a TVM-FFI module; build it first, or correct the path.")
    # It would import PyTorch, for seconds; no tensor of it is passed here.
    os.environ.setdefault("TVM_FFI_DISABLE_TORCH_C_DLPACK", "1")
    tvm_ffi = import_library("tvm_ffi", "tvm_ffi", "TVM-FFI")
    try:
        module = tvm_ffi.load_module(str(path.resolve()))
    except Exception as error:
        said = " ".join(str(error).split())
        raise BackendError(
            f"{path} could not be loaded as a TVM-FFI module for {platform.system()} {platform.machine()}: {said}; "
            f"build it on this machine, with what `tvm-ffi-config` prints."
        ) from None
    return TvmFfi(path, module, str(tvm_ffi.__version__))


def _translate_error(error: Exception) -> Exception:
    """NotImplementedError declines; any other error is a failure, with its kind."""
    found = getattr(error, "__tvm_ffi_error__", None)
    kind, message = (found.kind, found.message) if found is not None else (type(error).__name__, str(error))
    text = " ".join(str(message).split())
    return Unsupported(text) if kind == "NotImplementedError" else BackendFailed(f"{kind}: {text}")
