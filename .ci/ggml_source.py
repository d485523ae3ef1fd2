"""Build ggml from source, and hold this build and the wheel's to their list of known failures: `tox -e ggml-source`.

    python .ci/ggml_source.py FOLDER [options of opproof run]

ggml has no release that pip knows; the newest at hand is what the sdist of llama-cpp-python carries. It is downloaded
and built in FOLDER, once: a second call goes on from there. The exit code is that of the run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

SDIST = "llama-cpp-python==0.3.36"  # carries ggml 0.25.3
SOURCE = "vendor/llama.cpp/ggml/"
BUILD = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_BUILD_TESTS=OFF",  # their folders are not in the sdist
    "-DGGML_BUILD_EXAMPLES=OFF",
)


def main(folder: Path, options: list[str]) -> int:
    """Build, run, and return the exit code."""
    folder.mkdir(parents=True, exist_ok=True)
    libraries = folder / "build" / "src"
    if not any(libraries.glob("libggml-cpu.*")):
        build(unpack(download(folder), folder / "source"), folder / "build")
    wheel_and_source = ("-b", "ggml", "-b", f"ggml:{libraries}")
    run = [sys.executable, "-m", "opproof.harness", "run", *wheel_and_source, "--out", str(folder / "report"), *options]
    return subprocess.run(run, check=False).returncode


def download(folder: Path) -> Path:
    """The sdist, by pip; what makes its metadata is installed beforehand, so nothing is compiled."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--no-build-isolation", "--dest", str(folder), SDIST], check=True)
    return next(folder.glob("llama_cpp_python-*.tar.gz"))


def unpack(sdist: Path, into: Path) -> Path:
    """The folder of ggml's source."""
    with tarfile.open(sdist) as archive:
        inside = [m for m in archive if m.name.partition("/")[2].startswith(SOURCE)]
        archive.extractall(into, inside, filter="data")
    source = next(into.glob(f"*/{SOURCE}"))
    (source / "ggml.pc.in").touch()  # which CMake configures, and the sdist lacks
    return source


def build(source: Path, into: Path) -> None:
    """Its shared libraries, in the folder `src` of `into`."""
    subprocess.run(["cmake", "-S", str(source), "-B", str(into), "-G", "Ninja", *BUILD], check=True)
    subprocess.run(["cmake", "--build", str(into), "--parallel", str(os.cpu_count() or 1)], check=True)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("expected a folder to build in: python .ci/ggml_source.py FOLDER [options of opproof run]")
    sys.exit(main(Path(sys.argv[1]).absolute(), sys.argv[2:]))
