"""What adapters state of their library's switches has an effect: the library itself tells, as far as it can."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from opproof.backends import capabilities, load
from opproof.backends.capabilities import LEVELS, find_features, select_possible
from opproof.backends.load import load_backend
from opproof.harness.run.hosts.start import capabilities_of
from opproof.harness.run.task import HostLimits

STATING = ("torch", "jax", "onednn", "openvino", "numpy", "tinygrad")
#: Libraries that choose for themselves, whatever they are told: none of their variables is of vector features.
SILENT = ("onnxruntime", "ggml", "mlx", "aidge", "autograd", "warp")

x86 = pytest.mark.skipif("AVX2" not in find_features(), reason="the levels are those of x86 with AVX2")


def stated(name):
    """The capabilities of an adapter, asked in a process of its own; skips where its library is not there."""
    if load.find_missing(name):
        pytest.skip(f"{name} is not installed")
    return capabilities_of(name, HostLimits(1, 60.0, 2**33))


def ends_of(some):
    """The first and the last of what is stated, each in a process of its own: what is set in two is no constant."""
    return [*some.items()][:: max(len(some) - 1, 1)]


def printed(program, variables):
    """What a program of Python says, with these variables in its environment."""
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=True)
    return run.stdout


@x86
@pytest.mark.parametrize("name", STATING)
def test_an_adapter_states_levels_of_this_processor(name):
    some = stated(name)
    assert {"avx2"} <= some.keys() <= LEVELS.keys()
    assert all(variables and all(map(str.isidentifier, variables)) for variables in some.values())
    has = find_features()
    assert all(has.issuperset(LEVELS[level]) for level in some)


@pytest.mark.parametrize("name", SILENT)
def test_others_state_none(name):
    assert stated(name) == {}


def test_a_level_that_the_processor_lacks_is_not_stated(monkeypatch):
    monkeypatch.setattr(capabilities, "find_features", lambda: frozenset(LEVELS["avx2"]))
    assert select_possible({"avx2": {"A": "1"}, "avx512": {"A": "2"}, "avx": {"A": "3"}}) == {"avx2": {"A": "1"}}


@x86
def test_torch_and_its_onednn_have_the_level_they_are_told():
    levels = {"sse4": "DEFAULT", "avx2": "AVX2", "avx512": "AVX512", "avx512_bf16": "AVX512"}
    program = (
        "import torch; x, w = torch.ones(1, 8, 16, 16), torch.ones(8, 8, 3, 3)\n"
        "torch.mkldnn_convolution(x, w, None, (0, 0), (1, 1), (1, 1), 1)\n"
        "print('level', torch.backends.cpu.get_cpu_capability())"
    )
    for name, variables in ends_of(stated("torch")):
        said = printed(program, {**variables, "ONEDNN_VERBOSE": "1"})
        assert f"level {levels[name]}\n" in said
        used = re.search(r"exec,cpu,convolution,\S*?(sse41|avx2|avx512)", said)
        assert used is not None, said
        assert used[1] == {"sse4": "sse41", "avx2": "avx2"}.get(name, "avx512")


@x86
def test_onednn_has_the_level_it_is_told():
    program = (
        "import numpy as np; from opproof.backends.load import load_backend; b = load_backend('onednn')\n"
        "y = [np.zeros((4, 33), 'f4')]; b.forward_into('exp', [np.ones((4, 33), 'f4')], {}, y)"
    )
    for name, variables in ends_of(stated("onednn")):
        said = printed(program, {**variables, "ONEDNN_VERBOSE": "1"})
        used = re.search(r"exec,cpu,eltwise,jit:(\w+)", said)
        assert used is not None, said
        assert used[1].startswith({"sse4": "sse41", "avx": "avx", "avx2": "avx2"}.get(name, "avx512_core"))
        assert (used[1] == "avx") == (name == "avx")


@x86
def test_numpy_has_the_kernels_and_openblas_the_core_that_they_are_told():
    program = (
        "import ctypes, json, numpy as np\n"
        "from numpy._core._multiarray_umath import __cpu_features__ as has\n"
        "maps = open('/proc/self/maps').read().split()\n"
        "blas = ctypes.CDLL(next(w for w in maps if 'openblas' in w)) if any('openblas' in w for w in maps) else None\n"
        "core = getattr(blas, 'scipy_openblas_get_corename64_', None)\n"
        "if core: core.restype = ctypes.c_char_p\n"
        "print(json.dumps([[f for f in ('X86_V3', 'X86_V4', 'AVX512_ICL') if has.get(f)],"
        " core().decode() if core else None]))"
    )
    kept = {"sse4": [], "avx2": ["X86_V3"], "avx512": ["X86_V3", "X86_V4"]}
    cores = {"sse4": "Nehalem", "avx2": "Haswell", "avx512": "SkylakeX"}
    for name, variables in stated("numpy").items():
        has, core = json.loads(printed(program, variables))
        assert has == kept[name]
        assert core in (cores[name], None)


@x86
@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump reads the code that XLA made")
def test_jax_compiles_for_the_level_it_is_told(tmp_path):
    program = (
        "import jax, jax.numpy as jnp; jax.config.update('jax_platforms', 'cpu')\n"
        "jax.jit(lambda x: jnp.tanh(x) * x + jnp.exp(x))(jnp.ones((1024,)))"
    )
    some = stated("jax")
    for name in ("sse4", "avx2", "avx512"):
        if name not in some:
            continue
        folder = tmp_path / name
        printed(program, {"XLA_FLAGS": f"{some[name]['XLA_FLAGS']} --xla_dump_to={folder}"})
        objects = [*folder.glob("*lambda*.o")]
        assert objects
        code = "".join(subprocess.check_output(["objdump", "-d", file], text=True) for file in objects)
        assert ("%ymm" in code) == (name != "sse4")
        assert ("vfmadd" in code) == (name in ("avx2", "avx512"))
        assert (re.search(r"%k[1-7]", code) is not None) == (name == "avx512")


@x86
def test_a_capability_of_jax_adds_to_the_flags_of_its_user(monkeypatch):
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_enable_fast_math=false")
    if load.find_missing("jax"):
        pytest.skip("jax is not installed")
    program = (
        "import json; from opproof.backends.load import load_backend as b\nprint(json.dumps(b('jax').capabilities))"
    )
    said = json.loads(printed(program, {}))
    assert said["avx2"]["XLA_FLAGS"] == "--xla_cpu_enable_fast_math=false --xla_cpu_max_isa=AVX2"


@x86
def test_openvino_has_the_level_it_is_told():
    program = (
        "import openvino as ov, numpy as np; from openvino import opset13 as o; core = ov.Core()\n"
        "for make in (lambda x: o.softmax(x, 1), lambda x: o.reduce_sum(x, o.constant(np.array([1])), False)):\n"
        "    x = o.parameter([4, 33], np.float32); c = core.compile_model(ov.Model([make(x)], [x]), 'CPU')\n"
        "    c([np.ones((4, 33), np.float32)])\n"
        "    for n in c.get_runtime_model().get_ops():\n"
        "        info = n.get_rt_info()\n"
        "        if info['layerType'].astype(str) in ('Softmax', 'Reduce'): print(info['primitiveType'].astype(str))"
    )
    for name, variables in stated("openvino").items():
        kinds = printed(program, variables).split()
        assert len(kinds) == 2
        assert all(("avx512" in kind) == (name != "avx2") and "avx" in kind for kind in kinds)


@x86
def test_tinygrad_compiles_for_the_level_it_is_told(tmp_path):
    if shutil.which("clang") is None:
        pytest.skip("the tinygrad adapter needs clang")
    program = (
        "import numpy as np; from opproof.backends.load import load_backend; b = load_backend('tinygrad')\n"
        "b.forward('exp', [np.ones((4, 33), 'f4')], {})"
    )
    spy = tmp_path / "clang"
    spy.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/calls\nexec {shutil.which("clang")} "$@"\n')
    spy.chmod(0o755)
    for _, variables in ends_of(stated("tinygrad")):
        (tmp_path / "calls").write_text("")
        printed(program, {**variables, "CC": str(spy), "CACHELEVEL": "0"})
        told = {w for w in (tmp_path / "calls").read_text().split() if w.startswith("-march=")}
        assert told == {f"-march={variables['DEV'].rpartition(',')[2]}"}


def test_a_variant_that_clang_does_not_compile_states_none():
    if load.find_missing("tinygrad"):
        pytest.skip("tinygrad is not installed")
    assert load_backend("tinygrad:python").capabilities == {}
