"""The machine that judges, as headers of results and benches have it: what the last bits of an answer may depend on."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from opproof.harness.cores import cores

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


def host() -> dict[str, str]:
    """System, processor, vector extensions, versions of Python and NumPy, cores, and the variables that are set.

    `cpus` are those of the machine, `cores` those that this process may use.
    """
    processor, vectors = described(_read())
    facts = {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": processor,
        "vectors": vectors,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpus": str(os.cpu_count()),
        "cores": str(cores()),
    }
    return {name: text for name, text in {**facts, **variables(os.environ)}.items() if text}


def described(cpuinfo: str) -> tuple[str, str]:
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


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Those that select code paths or numbers of threads, as far as they are set."""
    named = [n for n in environment if n in VARIABLES or n.startswith(PREFIX)]
    first = environment.get(THREADS[0])
    return {n: environment[n] for n in sorted(named) if n not in THREADS[1:] or environment[n] != first}


def _read() -> str:
    try:
        return _CPUINFO.read_text(encoding="utf-8", errors="replace")
    except OSError:  # no Linux
        return f"model name: {platform.processor()}"
