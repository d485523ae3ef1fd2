"""The process and its machine: garbage collection, folders of the user, imports, the allocator, cores, the host.

Modules are made of their source: a compiled file that says that it need not be checked takes its source's place without
a word, and a candidate may leave one for the next run.

Memory that a judge has freed stays its own: given back, each page of it is cleared anew for the next array. Noisy
arithmetic makes and frees arrays of the same sizes all the time. glibc maps one that is larger than 32 MB, or
than a limit that starts at 128 kB and follows what is freed, and gives the end of its heap back; both cost a fault a
page. Measured on 20 operators of numpy, cold: 4.97 ms of CPU a record, so 4.56.

The host, as headers of results and benches have it, is what the last bits of an answer may depend on.
"""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType


@contextmanager
def uncollected(*, kept: bool = False) -> Iterator[None]:
    """Without the collector, for what makes much that stays and few cycles.

    What the process has at the end, where that is `kept` as long as the process is, is never looked through again.
    Whoever runs meanwhile may switch the collector off for good: only its thresholds are touched.
    """
    before = gc.get_threshold()
    gc.set_threshold(0)
    try:
        yield
    finally:
        if kept:
            gc.freeze()
        if gc.get_threshold()[0] == 0:
            gc.set_threshold(*before)


def find_cache_folder() -> Path:
    """Where opproof keeps what it can make again; no backend is to read it or write to it."""
    return _find_cache_home() / "opproof"


def find_build_folder() -> Path:
    """Where backends keep what they have compiled: it is theirs, so it lies beside the folder that none may open."""
    return _find_cache_home() / "opproof-builds"


def _find_cache_home() -> Path:
    named = os.environ.get("XDG_CACHE_HOME", "")
    return Path(named) if named else Path.home() / ".cache"


class _FromSource(SourceFileLoader):
    """One that neither reads what was compiled nor writes it."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def spec_of(name: str, file: Path) -> ModuleSpec | None:
    """Of a module of this name, to be made of the file; None where it is no Python file."""
    loader = _FromSource(name, str(file)) if file.suffix in SOURCE_SUFFIXES else None
    return spec_from_file_location(name, file, loader=loader)


def import_from(folder: Path) -> None:
    """Let modules be imported from the folder, before others of their names, and of their sources."""
    sys.path.insert(0, str(folder))
    sys.path_hooks.insert(0, _make_finder(folder))
    for path in [path for path in sys.path_importer_cache if _is_in(path, folder)]:
        del sys.path_importer_cache[path]


def _make_finder(folder: Path) -> Callable[[str], FileFinder]:
    def finder(path: str) -> FileFinder:
        if not _is_in(path, folder):
            raise ImportError
        return FileFinder(path, (ExtensionFileLoader, EXTENSION_SUFFIXES), (_FromSource, SOURCE_SUFFIXES))

    return finder


def _is_in(path: str, folder: Path) -> bool:
    return Path(path).is_relative_to(folder)


#: <malloc.h>
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
#: So much at the end of the heap is kept; larger arrays are mapped each for itself.
_KEPT_HEAP_BYTES = 1 << 29
_MAX_HEAP_ARRAY_BYTES = 1 << 28


def keep_what_is_freed() -> None:
    """From now on, in this process; nothing where the C library is not glibc."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, _MAX_HEAP_ARRAY_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _KEPT_HEAP_BYTES)


def count_cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    count = os.cpu_count()
    return 1 if count is None else count


#: Vector extensions that libraries choose their code by, as Linux calls them in /proc/cpuinfo, and as they are told.
VECTORS = {
    **{name: name for name in ("sse4_2", "avx", "f16c", "fma", "avx2", "avx_vnni")},
    **{name: name for name in ("avx512f", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx10")},
    **{name: name for name in ("amx_bf16", "amx_int8", "amx_fp16")},
    "asimd": "neon",
    "asimdhp": "neon_fp16",
    "asimddp": "dotprod",
    "bf16": "bf16",
    "i8mm": "i8mm",
    **{name: name for name in ("sve", "sve2", "svebf16", "sme", "sme2")},
}
#: Those that are not told where the other is there, which has them.
IMPLIED = {"sse4_2": "avx", "avx": "avx2"}

#: Variables by which a library is told to take other code than it would choose.
VARIABLES = (
    "ATEN_CPU_CAPABILITY",
    "DNNL_MAX_CPU_ISA",
    "NPY_DISABLE_CPU_FEATURES",
    "NPY_ENABLE_CPU_FEATURES",
    "OMP_NUM_THREADS",
    "ONEDNN_MAX_CPU_ISA",
    "OPENBLAS_CORETYPE",
    "OPENBLAS_NUM_THREADS",
    "XLA_FLAGS",
)
#: How others of them begin: MKL_CBWR, MKL_ENABLE_INSTRUCTIONS, MKL_NUM_THREADS.
PREFIX = "MKL_"
#: Which opproof sets to one number, where nobody has: the first tells of those that are as it is.
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

_CPUINFO = Path("/proc/cpuinfo")


def describe_host() -> dict[str, str]:
    """System, processor, vector extensions, versions of Python and NumPy, cores, and the variables that are set.

    `cpus` are those of the machine, `cores` those that this process may use.
    """
    import numpy as np

    processor, vectors = parse_cpuinfo(read_cpuinfo())
    facts = {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": processor,
        "vectors": vectors,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpus": str(os.cpu_count()),
        "cores": str(count_cores()),
    }
    return {name: text for name, text in {**facts, **select_variables(os.environ)}.items() if text}


def parse_cpuinfo(cpuinfo: str) -> tuple[str, str]:
    """The processor's model and the vector extensions in use, from the first of the processors in /proc/cpuinfo.

    Arm's has no name there but two numbers: implementer 0x41, part 0xd40.
    """
    first = cpuinfo.partition("\n\n")[0]
    lines = (line.partition(":") for line in first.splitlines())
    said = {name.strip(): " ".join(text.split()) for name, _, text in lines}
    numbers = [f"{word} {said[f'CPU {word}']}" for word in ("implementer", "part") if f"CPU {word}" in said]
    flags = {*said.get("flags", "").split(), *said.get("Features", "").split()}
    names = [told for flag, told in VECTORS.items() if flag in flags and IMPLIED.get(flag) not in flags]
    return said.get("model name", ", ".join(numbers)), " ".join(names)


def select_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that select code paths or numbers of threads, as far as they are set."""
    named = [n for n in environment if n in VARIABLES or n.startswith(PREFIX)]
    first = environment.get(THREADS[0])
    return {n: environment[n] for n in sorted(named) if n not in THREADS[1:] or environment[n] != first}


def read_cpuinfo() -> str:
    """Return what Linux says of the processors; elsewhere one line with the model's name."""
    try:
        return _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # no Linux
        return f"model name: {platform.processor()}"


#: Seconds that a case has, where nobody says otherwise.
TIMEOUT = 30.0
#: Bytes that a host and all that it started may use, where nobody says otherwise.
HOST_MEMORY = 4096 * 2**20
