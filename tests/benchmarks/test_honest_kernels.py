"""The honest fused kernels: each is near its reference, its twins are not, and some of both are judged."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

_FILE = Path(__file__).parents[2] / "benchmarks" / "honest_kernels.py"
_SPEC = importlib.util.spec_from_file_location("honest_kernels", _FILE)
honest = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(honest)

#: What float32 may part by at these sizes, relative to the largest element; and bfloat16 where nothing cancels.
NEAR = {"f32": 1e-5, honest.BF16: 0.05}
#: Whose scores are near enough to each other that stores choose among them, or whose loss is a difference.
DECIDED = ("route_by_shares", "gate_of_near_equal_shares", "prune_stored_shares", "moe_by_expert", "dpo_by_softplus")


def flat(ys):
    return [y.double() for y in (ys if isinstance(ys, tuple) else (ys,)) if y.is_floating_point()]


def off(name, dtype, candidate):
    kernel = honest.KERNELS[name]
    tensors = kernel.inputs(0, torch.bfloat16 if dtype == honest.BF16 else torch.float32)
    wide = [t.double() if t.is_floating_point() else t for t in tensors]
    pairs = zip(flat(candidate(*tensors)), flat(kernel.like(*wide)), strict=True)
    return max(float((y - x).abs().max() / x.abs().max()) for y, x in pairs)


@pytest.mark.parametrize("name", honest.KERNELS)
def test_a_kernel_is_near_its_reference(name):
    for dtype in honest.KERNELS[name].dtypes:
        if dtype == "f32" or name not in DECIDED:
            assert off(name, dtype, honest.make_candidate(honest.KERNELS[name], dtype)) < NEAR[dtype]


def test_there_are_a_hundred_and_more():
    assert sum(len(kernel.dtypes) for kernel in honest.KERNELS.values()) >= 130
    assert len({kernel.run for kernel in honest.KERNELS.values()}) == len(honest.KERNELS) >= 60


@pytest.mark.parametrize("dtype", ["f32", honest.BF16])
@pytest.mark.parametrize("name", ["swiglu", "product_then_max"])
def test_a_kernel_passes_and_a_twin_fails(name, dtype):
    kernel = honest.KERNELS[name]
    found = honest.judge(kernel, honest.make_candidate(kernel, dtype), dtype, 1e9, only="as given")
    assert found["said"] == "right", found
    twins = dict(honest.make_twins(kernel, dtype))
    assert len(twins) == (6 if dtype == "f32" else 5)
    found = honest.judge(kernel, twins["stale"], dtype, 1e9, only="as given")
    assert found["said"] == "wrong", found


def test_a_named_twin_fails():
    kernel = honest.KERNELS["swiglu_clamped"]
    twins = dict(honest.make_twins(kernel, "f32"))
    assert {*kernel.defects} <= {*twins}
    found = honest.judge(kernel, twins["a gradient through the clamp"], "f32", 1e9, only="as given")
    assert found["causes"] == {"WRONG_GRADIENT": 1}, found
