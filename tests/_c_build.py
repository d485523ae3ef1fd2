"""Compiling C for the tests: the example library, and small libraries written in a test."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from opproof.backends.c.library import load
from opproof.core.errors import BackendError

EXAMPLE = Path(__file__).parents[1] / "examples" / "c_library"

needs_cc = pytest.mark.skipif(shutil.which("cc") is None or shutil.which("make") is None, reason="no C compiler")


def header_folder() -> Path:
    """The folder of opproof.h, in the tree or in the installed package."""
    from opproof import backends

    return Path(backends.__file__).parent


def example(folder: Path, *, broken: bool = False) -> Path:
    """Build the example library, or its broken twin, in `folder`."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    command = ["make", *(["broken"] if broken else []), f"BUILD={folder}", f"INCLUDE={header_folder()}"]
    done = subprocess.run(command, cwd=EXAMPLE, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / ("libexample_broken.so" if broken else "libexample.so")


def compiled(folder: Path, source: str, name: str = "libsmall.so", flags: tuple[str, ...] = ()) -> Path:
    """Compile C text, after opproof.h and the usual headers, to a shared library in `folder`."""
    heads = "".join(f"#include <{h}>\n" for h in ("opproof.h", "inttypes.h", "stdio.h", "string.h"))
    (folder / "small.c").write_text(heads + source, encoding="utf-8")
    command = ["cc", "-shared", "-fPIC", f"-I{header_folder()}", *flags, "-o", str(folder / name)]
    subprocess.run([*command, str(folder / "small.c")], check=True)
    return folder / name


def refusal(path: Path) -> str:
    """Why the library at `path` is not loaded: one sentence, which names it."""
    with pytest.raises(BackendError) as caught:
        load(path)
    text = str(caught.value)
    assert str(path) in text
    assert text.endswith(".")
    assert "\n" not in text
    return text
