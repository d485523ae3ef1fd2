"""The adapter of array API libraries: what it covers, real libraries at smoke, devices, and what is no such library."""

import re

import numpy as np
import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("array_api_strict", reason="the tests of array libraries need pip array-api-strict")

from opproof.backends import Unsupported
from opproof.backends.array_api import list_devices
from opproof.backends.load import load_backend
from opproof.core.errors import BackendError
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names

STRICT, DASK, NDONNX = "array_api:array_api_strict", "array_api:array_api_compat.dask.array", "array_api:ndonnx"


def test_it_covers_120_operators_and_no_other():
    table = load_backend(STRICT).table
    assert len(table) >= 120
    assert set(table) <= set(names())
    assert declared("array_api") <= set(table)
    assert {op for spec in (STRICT, DASK, NDONNX) for entry in read_built_in(spec) for op in entry.ops} <= set(table)


def test_smoke_of_the_strict_one():
    ops = tuple(sorted(load_backend(STRICT).table))
    records = results(STRICT, STRICT, ops=ops, level="smoke", dtypes=("f32",), modes=("forward",))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 120


@pytest.mark.parametrize(
    ("spec", "module", "ops"),
    [
        (DASK, "array_api_compat.dask", ("add", "sum", "std", "concat", "roll", "tensordot", "rfft")),
        (NDONNX, "ndonnx", ("add", "log2", "sum", "argsort", "roll", "take_along_dim")),
    ],
    ids=["dask", "ndonnx"],
)
def test_some_of_another_at_smoke(spec, module, ops):
    pytest.importorskip(module)
    records = results(spec, spec, ops=ops, level="smoke", modes=("forward",))
    assert not unexpected(records)
    assert {r.op for r in records if r.verdict == "PASS"} >= set(ops) - {"rfft"}


@pytest.mark.parametrize(
    ("spec", "found"),
    [
        (STRICT, {"isin[elements=7x33;tests=9,;invert=true;i32]": ("WRONG_VALUE", "never looked at")}),
        (
            DASK,
            {
                "cholesky[x=4x4;f32]": ("WRONG_VALUE", "the upper factor unless lower is said"),
                "eye[n=5;m=7;k=1;f32]": ("ERROR", "no piece is made for the rest"),
                "inverse[x=4x4;f32]": ("WRONG_DTYPE", "unit matrix of float64"),
                "amax[x=2x0x5;dim=1;keepdim=true;f32]": ("WRONG_SHAPE", "another shape than it says"),
                "searchsorted[sorted=9,;values=0d;f32;fill=ties]": ("ERROR", "NumPy scalar"),
            },
        ),
        (NDONNX, {"cumprod[x=7x9;dim=-1;f32]": ("WRONG_VALUE", "NaN from the first negative number on")}),
    ],
    ids=["strict", "dask", "ndonnx"],
)
def test_defects_are_found_and_known(spec, found):
    pytest.importorskip(spec.partition(":")[2])
    records = results(spec, spec, cases=tuple(found), modes=("forward",))
    assert {r.case: r.verdict for r in records} == {case: verdict for case, (verdict, _) in found.items()}
    assert all(found[r.case][1] in r.known for r in records), [(r.case, r.known) for r in records]


def test_what_a_library_has_not_is_declined_by_name():
    with pytest.raises(Unsupported, match=r"^array_api_strict has no float16$"):
        load_backend(STRICT).forward("exp", [np.ones(3, np.float16)], {})
    pytest.importorskip("dask.array")
    with pytest.raises(Unsupported, match=r"^dask\.array has no acos$"):
        load_backend("array_api:dask.array").forward("acos", [np.ones(3, np.float32)], {})


def test_arrays_of_dask_are_in_pieces():
    pytest.importorskip("array_api_compat.dask")
    backend = load_backend(DASK)
    backend.table["abs"] = lambda x: np.array([x.npartitions])
    assert backend.forward("abs", [np.ones((4, 6), np.float32)], {})[0] == [4]


def test_a_device_is_named():
    assert f"{STRICT}@device1" in list_devices("array_api_strict")
    (record,) = results(f"{STRICT}@device1", cases=("add[a=7x33;b=7x33;f32]",), modes=("forward",))
    assert record.verdict == "PASS"


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("array_api", "needs the module of a library: write array_api:array_api_strict."),
        ("array_api:no_such.library", "needs the module no_such.library, which is not installed; install it"),
        ("array_api:json", "the module json has no function asarray: give one that follows the array API standard."),
        (f"{STRICT}@gpu", "has no device 'gpu' on this machine; give one that it has: CPU_DEVICE, device1"),
    ],
)
def test_what_is_no_library_is_a_sentence(spec, sentence):
    with pytest.raises(BackendError, match=re.escape(sentence)):
        load_backend(spec)
