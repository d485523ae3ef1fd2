"""Finding and loading ggml: its shared libraries, and where its public struct keeps what has no accessor.

Searched: the folder or file asked for, else the one that OPPROOF_GGML names, else the wheel of pywhispercpp.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import re
import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.backends.protocol import Unsupported
from opproof.core.errors import BackendError

#: Numbers of the types in enum ggml_type. They stand in every GGUF file, so they cannot shift; checked at load.
TYPES = {"f32": 0, "f16": 1, "i8": 24, "i16": 25, "i32": 26, "i64": 27, "bf16": 30}
#: Quantised types; each build has its own choice of them.
QUANTISED = {
    "q4_0": 2, "q4_1": 3, "q5_0": 6, "q5_1": 7, "q8_0": 8, "q8_1": 9, "q2_k": 10, "q3_k": 11, "q4_k": 12, "q5_k": 13,
    "q6_k": 14, "iq2_xxs": 16, "iq2_xs": 17, "iq3_xxs": 18, "iq1_s": 19, "iq4_nl": 20, "iq3_s": 21, "iq2_s": 22,
    "iq4_xs": 23, "iq1_m": 29, "tq1_0": 34, "tq2_0": 35, "mxfp4": 39, "nvfp4": 40, "q1_0": 41,
}  # fmt: skip
_ENDINGS = (".so", ".dylib", ".dll")
#: How the names of the libraries begin, in the order in which they need each other; a wheel adds hexadecimal digits.
_CPU = ("gomp", "ggml-base", "ggml-cpu")
_REGISTRY = r"ggml(-[0-9a-f]{8})?\."


@dataclass(frozen=True)
class TensorOffsets:
    """Byte offsets in struct ggml_tensor of its type, its sizes ne[4] and its strides nb[4]."""

    type: int
    ne: int
    nb: int


@dataclass(frozen=True)
class Library:
    """Loaded ggml. `handles` are searched in order for a function's name."""

    path: Path
    version: str
    handles: tuple[ctypes.CDLL, ...]
    layout: TensorOffsets

    def function(self, name: str) -> Any:
        """The C function, with its result untyped. Raises Unsupported where this build lacks it."""
        return _find_function(self.handles, name)

    @property
    def folder(self) -> Path:
        """Where its files lie."""
        return self.path if self.path.is_dir() else self.path.parent

    def has_type(self, name: str) -> bool:
        """Whether this build has the type."""
        type_name = self.function("ggml_type_name")
        type_name.restype = ctypes.c_char_p
        said = type_name(ctypes.c_int({**TYPES, **QUANTISED}[name])) or b""
        return bool(said.decode().lower() == name)

    def has(self, name: str) -> bool:
        """Whether this build has the C function."""
        return any(hasattr(handle, name) for handle in self.handles)


class InitParams(ctypes.Structure):
    """struct ggml_init_params."""

    _fields_ = (("mem_size", ctypes.c_size_t), ("mem_buffer", ctypes.c_void_p), ("no_alloc", ctypes.c_bool))


def load_library(asked: str = "", *, registry: bool = False) -> Library:
    """The ggml at `asked`, or the one found, ready for use, on request with its registry of devices.

    Raises BackendError, one sentence that says what to do.
    """
    os.environ.setdefault("GGML_NO_BACKTRACE", "1")  # an abort would start gdb for each, which takes seconds
    path, files = _find(asked, (*_CPU, _REGISTRY) if registry else _CPU)
    try:
        handles = [ctypes.CDLL(str(f)) for f in files]  # not global: two builds in one process keep to themselves
    except OSError as error:
        raise BackendError(f"backend ggml: {path} could not be loaded: {error}.") from None
    searched = tuple(reversed(handles))
    try:
        for name in ("ggml_cpu_init", "ggml_init", "ggml_backend_cpu_init"):
            _find_function(searched, name)
    except Unsupported:
        raise BackendError(
            f"backend ggml: {path} is no ggml with a CPU backend; give a libggml, or a folder of them."
        ) from None
    places = {ctypes.cast(h.ggml_init, ctypes.c_void_p).value for h in handles if hasattr(h, "ggml_init")}
    if len(places) > 1:  # the loader took the base library of another build, for it has the same name
        raise BackendError(f"backend ggml: {path} meets another ggml of the same name; validate each in its own run.")
    _find_function(searched, "ggml_cpu_init")()  # fills the table of f16, without which every f16 reads as zero
    return Library(path, _read_version(searched), searched, _measure_layout(searched))


def _find_function(handles: Iterable[ctypes.CDLL], name: str) -> Any:
    for handle in handles:
        if hasattr(handle, name):
            return getattr(handle, name)
    raise Unsupported(f"this ggml has no {name}")


def _find(asked: str, kinds: Sequence[str]) -> tuple[Path, list[Path]]:
    """The place, and the files of these kinds to load in order."""
    places = [p for p in (asked, os.environ.get("OPPROOF_GGML", "")) if p]
    if places:
        path = Path(places[0])
        if not path.exists():
            said = f"ggml:{path}" if asked else f"OPPROOF_GGML={path}"
            raise BackendError(f"backend ggml: {said} names no file; give a libggml or the folder of its libraries.")
        if path.is_dir() or path.name.startswith("libggml-"):
            return path, _order_libraries(path if path.is_dir() else path.parent, kinds, path)
        return path, [path]
    spec = importlib.util.find_spec("pywhispercpp")
    if spec is None or spec.origin is None:
        raise BackendError(
            "backend ggml needs libggml; pip install 'opproof[ggml]', or set OPPROOF_GGML to a libggml or its folder."
        )
    package = Path(spec.origin).parent
    for folder in (package.parent / "pywhispercpp.libs", package / ".dylibs", package.parent):
        if folder.is_dir() and (files := _order_libraries(folder, kinds)):
            return folder, files
    raise BackendError(f"backend ggml: no libggml beside {package}; set OPPROOF_GGML to a libggml or its folder.")


def _order_libraries(folder: Path, kinds: Sequence[str], asked: Path | None = None) -> list[Path]:
    """The libraries of a folder in the order of `kinds`; one file of each, `asked` before others."""
    found = sorted((p for p in folder.iterdir() if any(e in p.name for e in _ENDINGS)), key=lambda p: (p != asked, p))
    first = [next((p for p in found if re.match(f"(lib)?{kind}", p.name)), None) for kind in kinds]
    return [p for p in first if p is not None]


def _read_version(handles: tuple[ctypes.CDLL, ...]) -> str:
    try:
        function = _find_function(handles, "ggml_version")
    except Unsupported:
        return "unknown"  # before ggml 0.9
    function.restype = ctypes.c_char_p
    return str(function().decode())


def _measure_layout(handles: tuple[ctypes.CDLL, ...]) -> TensorOffsets:
    """Measured on tensors whose sizes and types are known. Raises BackendError where they are not found."""
    type_name = _find_function(handles, "ggml_type_name")
    type_name.restype = ctypes.c_char_p
    if any(type_name(ctypes.c_int(number)).decode() != name for name, number in TYPES.items()):
        raise BackendError("backend ggml: this build numbers its types differently; it is too old, or too new.")
    init, new = _find_function(handles, "ggml_init"), _find_function(handles, "ggml_new_tensor_4d")
    init.restype = new.restype = ctypes.c_void_p
    size = _find_function(handles, "ggml_tensor_overhead")
    size.restype = ctypes.c_size_t
    context = ctypes.c_void_p(init(InitParams(64 * size(), None, True)))
    sizes = [ctypes.c_int64(n) for n in (3, 5, 7, 11)]
    images = {t: ctypes.string_at(new(context, ctypes.c_int(t), *sizes), size()) for t in TYPES.values()}
    _find_function(handles, "ggml_free")(context)
    places = [
        at for at in range(0, size() - 3, 4) if all(im[at : at + 4] == struct.pack("i", t) for t, im in images.items())
    ]
    ne, nb = images[0].find(struct.pack("4q", 3, 5, 7, 11)), images[0].find(struct.pack("4Q", 4, 12, 60, 420))
    if len(places) != 1 or min(ne, nb) < 0:
        raise BackendError("backend ggml: struct ggml_tensor of this build is laid out in a way that is not known.")
    return TensorOffsets(places[0], ne, nb)
