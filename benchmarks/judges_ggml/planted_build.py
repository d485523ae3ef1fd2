"""Builds ggml 0.25.3 with all mistakes, each behind a number, and test-backend-ops with it."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from collections.abc import Sequence
from pathlib import Path

from mistake import Mistake, plant

SDIST = "llama-cpp-python==0.3.36"  # carries ggml 0.25.3 and its tests
VENDOR = "vendor/llama.cpp/"
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_BUILD_TESTS=OFF",  # their folders are not in the sdist
    "-DGGML_BUILD_EXAMPLES=OFF",
)


def build(folder: Path, mistakes: Sequence[Mistake]) -> tuple[Path, Path]:
    """The folder of the libraries, and test-backend-ops. What is built is not built again."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries, program = folder / "build" / "src", folder / "test-backend-ops"
    if not program.exists():
        source = _unpack(_find_sdist(folder), folder / "source")
        plant(source / "ggml" / "src", mistakes)
        cmake = ["cmake", "-S", str(source / "ggml"), "-B", str(folder / "build"), "-G", "Ninja", *OPTIONS]
        subprocess.run(cmake, check=True)
        jobs = str(os.cpu_count() or 1)
        subprocess.run(["cmake", "--build", str(folder / "build"), "--parallel", jobs], check=True)
        compiler = ["g++", "-std=c++17", "-O1", f"-I{source / 'ggml' / 'include'}", f"-I{source / 'ggml' / 'src'}"]
        linker = [f"-L{libraries}", f"-Wl,-rpath,{libraries}", "-lggml", "-lggml-cpu", "-lggml-base", "-pthread"]
        test = str(source / "tests" / "test-backend-ops.cpp")
        subprocess.run([*compiler, test, "-o", str(program), *linker], check=True)
    return libraries, program


def _find_sdist(folder: Path) -> Path:
    """The one that lies in the folder, or downloaded by pip."""
    if not list(folder.glob("llama_cpp_python-*.tar.gz")):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
        subprocess.run([*pip, "--no-build-isolation", "--dest", str(folder), SDIST], check=True)
    return next(folder.glob("llama_cpp_python-*.tar.gz"))


def _unpack(sdist: Path, into: Path) -> Path:
    with tarfile.open(sdist) as archive:
        for member in archive:
            if (name := member.name.partition("/")[2]).startswith((VENDOR + "ggml/", VENDOR + "tests/")):
                archive.extract(member.replace(name=name.removeprefix(VENDOR)), into, filter="data")
    (into / "ggml" / "ggml.pc.in").touch()  # which CMake configures, and the sdist lacks
    return into
