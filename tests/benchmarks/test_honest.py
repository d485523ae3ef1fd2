"""The honest C library: every variant builds and passes smoke in f32, f16 and bf16, and variants do differ."""

import os
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from _c_build import header_folder, needs_cc
from _deep import few
from _runs import completed

from opproof.backends.c.library import load
from opproof.core.verdicts import Verdict
from opproof.reports._results import read_results

pytestmark = needs_cc

HONEST = Path(__file__).parents[2] / "benchmarks" / "honest"
VARIANTS = ("sequential", "sequential-fma", "lanes8", "lanes16-fma", "pairwise", "pairwise-fma")


@pytest.fixture(scope="session")
def libraries(tmp_path_factory):
    folder = tmp_path_factory.mktemp("honest")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MAKE")}
    command = ["make", f"BUILD={folder}", f"INCLUDE={header_folder()}"]
    done = subprocess.run(command, cwd=HONEST, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {variant: folder / f"honest-{variant}.so" for variant in VARIANTS}


@pytest.fixture(scope="module", params=few(["1/3", "1/1"]))
def records(request, libraries, tmp_path_factory):
    """Of a run with all of them, for which what is expected is worked out once."""
    folder = tmp_path_factory.mktemp("run")
    backends = [word for variant in VARIANTS for word in ("-b", libraries[variant])]
    options = (
        "--level",
        "smoke",
        "--dtype",
        "f32,f16,bf16",
        "--shard",
        request.param,
        "-j",
        1,
        "--quiet",
        "--out",
        "out",
    )
    done = completed("run", *backends, *options, cwd=folder)
    assert done.returncode == 0, done.stdout
    return read_results(folder / "out")[1]


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_failure(records, libraries, variant):
    results = [r for r in records if r.backend == str(libraries[variant])]
    assert {r.verdict for r in results} <= {Verdict.PASS, Verdict.UNSUPPORTED}
    passed = [r for r in results if r.verdict is Verdict.PASS]
    assert len({r.op for r in passed}) >= 70
    assert {r.dtype for r in passed} == {"f32", "f16", "bf16"}


def test_variants_compute_differently(libraries):
    x = np.random.default_rng(0).normal(size=4099).astype(np.float32) + 3
    params = {"dim": None, "keepdim": False, "correction": 1}
    sums = {v: bytes(_forward(load(libraries[v]), "sum", [x], params)) for v in ("sequential", "lanes8", "pairwise")}
    assert len(set(sums.values())) == 3
    spreads = {bytes(_forward(load(libraries[v]), "var", [x], params)) for v in ("sequential", "sequential-fma")}
    assert len(spreads) == 2


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
def test_every_number_of_16_bits_is_read_and_written_as_it_is(libraries, dtype):
    """And those half way between two go to the even one: mul by a power of two and back is the identity."""
    x = np.arange(2**16, dtype=np.uint16).view(dtype)
    y = _forward(load(libraries["sequential"]), "neg", [x], {})
    with np.errstate(all="ignore"):
        assert np.array_equal(y, -x, equal_nan=True)
        half = _forward(load(libraries["sequential"]), "scale", [x], {"s": 0.5, "b": 0.0})
        assert np.array_equal(half, (x.astype(np.float32) * np.float32(0.5)).astype(dtype), equal_nan=True)


def _forward(library, op, inputs, params):
    y = np.empty((), inputs[0].dtype) if op in ("sum", "var") else np.empty_like(inputs[0])
    library.forward_into(op, inputs, params, [y])
    return y
