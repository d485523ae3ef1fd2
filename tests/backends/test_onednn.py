"""The oneDNN adapter: how its shim is found and built, what it covers, and broken twins."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version

import numpy as np
import pytest
from _adapters import results, unexpected

from opproof.backends import Unsupported, onednn
from opproof.core.errors import BackendError
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


def missing():
    try:
        return [p for p in ("onednn-cpu-gomp", "onednn-devel-cpu-gomp") if not version(p)]
    except PackageNotFoundError as error:
        return [error.name]


pytestmark = [
    pytest.mark.skipif(bool(missing()), reason="the oneDNN adapter needs pip onednn-cpu-gomp, onednn-devel-cpu-gomp"),
    pytest.mark.skipif(shutil.which("cc") is None, reason="the oneDNN adapter needs a C compiler"),
]


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    """A cache of these tests alone."""
    folder = tmp_path_factory.mktemp("cache")
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(folder)
    yield folder / "opproof-builds"
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before


def operators():
    """The table of the shim."""
    text = (onednn.SOURCES / "library.c").read_text(encoding="utf-8")
    return re.findall(r'^    {"(\w+)", \w+_forward', text, re.MULTILINE)


# What it covers


def test_it_covers_80_operators_in_order_and_no_other():
    table = operators()
    assert len(table) >= 80
    assert table == sorted(table)
    assert set(table) <= set(names())
    patterns = {op for entry in read_built_in("onednn") + read_built_in("onednn:plain") for op in entry.ops}
    assert patterns - {"conv*"} <= set(table)


def test_smoke():
    records = results("onednn", "onednn", level="smoke", dtypes=("f32",), ops=tuple(operators()))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 78
    assert len({r.op for r in records if r.verdict == "PASS" and r.mode == "gradient"}) >= 55


def test_tensors_that_lie_otherwise():
    cases = (
        "matmul[a=5x128;b=128x3;f32;layout=a:transposed]",
        "conv2d[x=2x6x7x9;weight=9x2x3x3;bias=9,;stride=2;padding=1;groups=3;f32;layout=permuted]",
        "max_pool2d[x=2x3x7x10;kernel_size=(2,4);stride=3;padding=(1,2);ceil_mode=true;f32;layout=sliced]",
        "layer_norm[x=5x63;weight=63,;bias=63,;normalized_shape=(63);f32;layout=x:broadcast]",
        "pixel_shuffle[x=2x8x3x5;upscale_factor=2;f32]",
    )
    for backend in ("onednn", "onednn:plain"):
        records = results(backend, backend, cases=cases)
        assert {r.verdict for r in records} == {"PASS"}, [r for r in records if r.verdict != "PASS"]


def test_what_onednn_lacks_is_declined():
    records = results("onednn", cases=("erf[x=7x33;f32]", "add[a=7x33;b=7x33;f32]", "relu[x=7x33;f64]"))
    said = {(r.op, r.mode): (r.verdict, r.message) for r in records}
    assert said["erf", "forward"] == ("UNSUPPORTED", "oneDNN has no primitive for erf")
    assert said["add", "forward"][0] == "PASS"
    assert said["add", "gradient"] == ("UNSUPPORTED", "oneDNN's binary primitive has no backward")
    assert said["relu", "forward"] == ("UNSUPPORTED", "oneDNN computes no float64 on a CPU")


def test_strides_that_onednn_refuses():
    backend = onednn.create()
    x = np.zeros((4, 32), np.float32)[:, ::3]
    with pytest.raises(Unsupported, match="refuses these strides"):
        backend.forward_into("relu", [x], {}, [np.zeros(x.shape, np.float32)])


# Broken twins, and what the ledger knows


def test_a_broken_twin_is_found(tmp_path, cache):
    """A slope of 1.01 times what is asked for, in the values alone. Built once, and without warnings."""
    include, library = onednn.locate()
    built = onednn.build_shim(include, library, ("-DPLANTED_SLOPE", "-Werror"))
    stamp = built.stat().st_mtime_ns
    assert onednn.build_shim(include, library, ("-DPLANTED_SLOPE", "-Werror")) == built
    assert built.stat().st_mtime_ns == stamp
    assert built.parent == cache
    assert not [p for p in cache.iterdir() if p.is_dir()]
    broken = tmp_path / "libbroken.so"
    shutil.copy(built, broken)
    case = "leaky_relu[x=7x33;f32]"
    assert {r.mode: r.verdict for r in results("onednn", cases=(case,))} == {"forward": "PASS", "gradient": "PASS"}
    found = {r.mode: r.verdict for r in results(str(broken), cases=(case,))}
    assert found == {"forward": "WRONG_VALUE", "gradient": "PASS"}


def test_it_is_compiled_where_a_host_may_open_files(tmp_path):
    """The judge's cache is there already; a folder in it, to be removed, was refused without end: RecursionError."""
    (tmp_path / "opproof" / "golden").mkdir(parents=True)
    program = "from opproof.backends import onednn\n"
    program += "from opproof.backends.worker.sandbox.import_guard import install_import_guard\n"
    program += "install_import_guard(); onednn.create()"
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert [p.suffix for p in (tmp_path / "opproof-builds").iterdir()] == [".so"]


def test_a_write_out_of_bounds_is_found():
    """oneDNN's own: the gradient of prelu's weights goes where their strides say."""
    case = "prelu[x=2x9x4x7;weight=9,;f32;layout=weight:sliced]"
    records = results("onednn", "onednn", cases=(case,))
    assert {r.mode: (r.verdict, bool(r.known)) for r in records} == {
        "forward": ("PASS", False),
        "gradient": ("OUT_OF_BOUNDS", True),
    }


# How it is found and built


def test_it_says_who_it_is():
    backend = onednn.create()
    assert (backend.name, backend.device, backend.alignment) == ("onednn", "cpu", 2)
    assert re.fullmatch(r"3\.\d+\.\d+", backend.version)


def test_not_installed(monkeypatch):
    def absent(package):
        raise PackageNotFoundError(package)

    monkeypatch.setattr(onednn, "distribution", absent)
    with pytest.raises(BackendError, match=r"pip install 'opproof\[onednn\]', or set OPPROOF_ONEDNN"):
        onednn.create()


def test_another_build(monkeypatch, tmp_path):
    include, library = onednn.locate()
    (tmp_path / "lib").mkdir()
    (tmp_path / "include").symlink_to(include)
    monkeypatch.setenv("OPPROOF_ONEDNN", str(tmp_path))
    with pytest.raises(BackendError, match="which holds no include/oneapi/dnnl/dnnl.h and lib/libdnnl.so"):
        onednn.create()
    (tmp_path / "lib" / "libdnnl.so").symlink_to(library)
    assert onednn.locate() == (tmp_path / "include", tmp_path / "lib" / "libdnnl.so")


def test_no_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("CC", "no-such-compiler")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BackendError, match=r"no-such-compiler is not installed: install one .*, or set CC"):
        onednn.create()


def test_what_does_not_compile(tmp_path):
    (tmp_path / "oneapi" / "dnnl").mkdir(parents=True)
    (tmp_path / "oneapi" / "dnnl" / "dnnl.h").write_text("#error no such version\n", encoding="utf-8")
    with pytest.raises(BackendError, match=r"does not compile against this oneDNN: .*no such version.*; the shim is"):
        onednn.build_shim(tmp_path, onednn.locate()[1])


def test_no_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(BackendError, match="could not be built in .*; set XDG_CACHE_HOME"):
        onednn.create()
