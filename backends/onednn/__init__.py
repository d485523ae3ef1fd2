"""onednn: Intel's oneDNN on the CPU through a shim in C (shim/), which the C compiler builds at first use.

`-b onednn` lets oneDNN choose the memory format of convolutions and matrix products, as frameworks do;
`-b onednn:plain` gives it every tensor as it lies. OPPROOF_ONEDNN=/prefix names another build than the wheels'
(include/oneapi/dnnl/dnnl.h and lib/libdnnl.so below it). The built shim lies in
${XDG_CACHE_HOME:-~/.cache}/opproof-builds.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from opproof.backends.c.library import load
from opproof.backends.capabilities import select_possible
from opproof.backends.table import check_variant
from opproof.core.errors import BackendError
from opproof.core.system import find_build_folder

HERE = Path(__file__).parent
HEADER = HERE.parent / "opproof.h"
SOURCES = HERE / "shim"
FLAGS = ("-std=c11", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wextra")

#: Macros that the shim is compiled with, by variant.
VARIANTS: dict[str, tuple[str, ...]] = {"": (), "plain": ("-DSHIM_PLAIN",)}


#: oneDNN's names of what it generates code for at most.
CAPABILITIES = {
    name: {"ONEDNN_MAX_CPU_ISA": isa}
    for name, isa in (
        ("sse4", "SSE41"),
        ("avx", "AVX"),
        ("avx2", "AVX2"),
        ("avx512", "AVX512_CORE"),
        ("avx512_vnni", "AVX512_CORE_VNNI"),
        ("avx512_bf16", "AVX512_CORE_BF16"),
    )
}


def create(variant: str = "") -> object:
    """oneDNN, in formats of its choice ("") or on tensors as they lie ("plain").

    Raises BackendError without oneDNN, its headers or a C compiler.
    """
    check_variant("onednn", variant, "plain")
    include, library = locate()
    backend = load(build_shim(include, library, VARIANTS[variant]))
    backend.capabilities = select_possible(CAPABILITIES)
    return backend


def locate() -> tuple[Path, Path]:
    """The folder of oneDNN's headers and its library. Raises BackendError where either is missing."""
    prefix = os.environ.get("OPPROOF_ONEDNN", "")
    if prefix:
        folder = Path(prefix)
        found = [path for lib in ("lib", "lib64") if (path := folder / lib / "libdnnl.so").exists()]
        if not found or not (folder / "include/oneapi/dnnl/dnnl.h").exists():
            raise BackendError(
                f"OPPROOF_ONEDNN is {prefix}, which holds no include/oneapi/dnnl/dnnl.h and lib/libdnnl.so: "
                "give the prefix that a oneDNN 3 was installed to."
            )
        return folder / "include", found[0]
    header = _find_installed("onednn-devel-cpu-gomp", "include/oneapi/dnnl/dnnl.h")
    return header.parents[2], _find_installed("onednn-cpu-gomp", "libdnnl.so")


def _find_installed(package: str, ending: str) -> Path:
    """The file of an installed wheel whose path ends so."""
    try:
        files = distribution(package).files
    except PackageNotFoundError:
        files = None
    for file in files if files is not None else ():
        path = Path(str(file.locate()))
        if file.as_posix().endswith(ending) and path.exists():
            return path.resolve().parent / path.name
    raise BackendError(
        f"backend onednn needs {ending} of the package {package}, which is not installed; "
        "pip install 'opproof[onednn]', or set OPPROOF_ONEDNN to the prefix of a oneDNN 3."
    )


def build_shim(include: Path, library: Path, macros: Sequence[str] = ()) -> Path:
    """The shim as a shared library, compiled unless the cache holds it. Raises BackendError where that fails."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, *FLAGS, *macros, f"-I{include}", f"-I{HEADER.parent}"]
    command += [*map(str, sorted(SOURCES.glob("*.c"))), str(library), f"-Wl,-rpath,{library.parent}", "-lm"]
    target = find_build_folder() / f"onednn-{_key_of(command, include)}.so"
    if not target.exists():
        _compile(command, target)
    return target


def _key_of(command: Sequence[str], include: Path) -> str:
    """A hash of all that the shim is made of: its sources, opproof.h, the version of oneDNN, the command."""
    files = [*sorted(SOURCES.glob("*.[ch]")), HEADER, include / "oneapi/dnnl/dnnl_version.h"]
    parts = [shlex.join(command).encode(), *(f.read_bytes() for f in files if f.exists())]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def _compile(command: Sequence[str], target: Path) -> None:
    """Compile beside the target and move it there, so that no process meets half a file."""
    if shutil.which(command[0]) is None:
        raise BackendError(
            f"backend onednn compiles its shim with a C compiler, and {command[0]} is not installed: "
            "install one (apt-get install gcc), or set CC to it."
        )
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent) as folder:
            output = Path(folder) / target.name
            done = subprocess.run([*command, "-o", str(output)], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                output.replace(target)
    except OSError as error:
        raise BackendError(
            f"the oneDNN shim could not be built in {target.parent}: {error.strerror}; set XDG_CACHE_HOME to a folder "
            "that can be written."
        ) from None
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line or "undefined" in line]
        reason = lines[0] if lines else f"{command[0]} returned {done.returncode}"
        raise BackendError(
            f"the oneDNN shim in {SOURCES} does not compile against this oneDNN: {reason.strip()}; "
            "the shim is for oneDNN 3, set OPPROOF_ONEDNN to one."
        )


__all__ = ["create"]
