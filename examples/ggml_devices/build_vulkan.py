"""Build ggml with its Vulkan backend from the source that llama-cpp-python carries, to be tested on any Vulkan device.

    apt-get install cmake ninja-build g++ glslc libvulkan-dev spirv-headers mesa-vulkan-drivers
    pip install 'scikit-build-core[pyproject]'
    python build_vulkan.py FOLDER [JOBS]

The libraries come to lie in FOLDER/build/src. A second call goes on where the first was stopped.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

SDIST = "llama-cpp-python==0.3.36"  # carries ggml 0.25.3
SOURCE = "vendor/llama.cpp/ggml/"
OPTIONS = (
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=ON",
    "-DGGML_VULKAN=ON",
    "-DGGML_BUILD_TESTS=OFF",  # their folders are not in the sdist
    "-DGGML_BUILD_EXAMPLES=OFF",
    "-DCMAKE_CXX_FLAGS_RELEASE=-O1",  # ggml-vulkan.cpp has 16,557 lines
)
GUARD = "#ifdef VK_EXT_layer_settings\n"


def main(folder: Path, jobs: str) -> None:
    """Download, unpack, build."""
    source, build = folder / "source", folder / "build"
    if not source.is_dir():
        unpack(download(folder), source)
    subprocess.run(["cmake", "-S", str(source), "-B", str(build), "-G", "Ninja", *OPTIONS], check=True)
    subprocess.run(["cmake", "--build", str(build), "--parallel", jobs], check=True)
    print(f"opproof list backends -b ggml:{build / 'src'}")


def download(folder: Path) -> Path:
    """The sdist, by pip; what makes its metadata is installed beforehand, so nothing is compiled."""
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
    subprocess.run([*pip, "--no-build-isolation", "--dest", str(folder), SDIST], check=True)
    return next(folder.glob("llama_cpp_python-*.tar.gz"))


def unpack(sdist: Path, into: Path) -> None:
    """Unpack ggml's source, made fit for Vulkan headers before 1.3.272, which have no VK_EXT_layer_settings."""
    with tarfile.open(sdist) as archive:
        for member in archive:
            if (name := member.name.partition("/")[2]).startswith(SOURCE):
                archive.extract(member.replace(name=name.removeprefix(SOURCE)), into, filter="data")
    (into / "ggml.pc.in").touch()  # which CMake configures, and the sdist lacks
    code = into / "src" / "ggml-vulkan" / "ggml-vulkan.cpp"
    code.write_text(guard_layer_settings(code.read_text(encoding="utf-8")), encoding="utf-8")


def guard_layer_settings(text: str) -> str:
    """The code that makes an instance, with layer settings only where the headers know them."""
    begin, last = "    std::vector<vk::LayerSettingEXT> settings = {", "layer_setting_info(settings);\n"
    before, _, rest = text.partition(begin)
    settings, _, after = rest.partition(last)
    argument = ", &layer_setting_info);"
    return (
        f"{before}{GUARD}{begin}{settings}{last}#else\n    (void) enable_best_practice;\n#endif\n"
        f"{after.replace(argument, f'{chr(10)}{GUARD}        , &layer_setting_info{chr(10)}#endif{chr(10)}    );', 1)}"
    )


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("expected a folder to build in: python build_vulkan.py FOLDER [JOBS]")
    main(Path(sys.argv[1]).absolute(), sys.argv[2] if len(sys.argv) > 2 else "1")
