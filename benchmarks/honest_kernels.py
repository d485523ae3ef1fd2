"""Honest fused kernels against `check`: which are called wrong, which are given up, and which wrong twins are found.

A kernel is a reference of a few lines of PyTorch, its inputs, and the ways in which others compute it: online, in
blocks, by a hand-written backward. Each is tried in float32, and in bfloat16 with stores at the places marked `s`,
declared by compute="storage". Its twins have one defect each.

    python benchmarks/honest_kernels.py --out found.jsonl [--only swiglu] [--twins | --defects] [--shard 0/2]
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

import opproof

sys.path.insert(0, str(Path(__file__).parent / "fused_kernels"))
for _file in sorted((Path(__file__).parent / "fused_kernels").glob("fused_*.py")):
    importlib.import_module(_file.stem)
_KERNEL = importlib.import_module("fused_kernel")
KERNELS: dict[str, Any] = _KERNEL.KERNELS
BF16: str = _KERNEL.BF16
#: An entry of KERNELS; Any, for its module is found by the path above.
Kernel = Any

#: By what a twin is too large: in bfloat16 a number is off by 0.4 % for being stored alone.
FACTORS = {"f32": 1.01, BF16: 1.05}


def make_candidate(kernel: Kernel, dtype: str, **defect: str) -> Callable[..., Any]:
    """The kernel as `check` calls it; its wrong twin where a defect is named."""
    narrow = dtype == BF16

    def store(x: Any) -> Any:
        return x.bfloat16().float() if narrow else x

    def candidate(*tensors: Any) -> Any:
        return _finish(kernel.run(store, *_widen(tensors), **defect), tensors)

    candidate.__name__ = kernel.run.__name__
    return candidate


def _widen(tensors: Sequence[Any]) -> list[Any]:
    return [t.float() if t.is_floating_point() else t for t in tensors]


def _finish(ys: Any, tensors: Sequence[Any]) -> Any:
    if isinstance(ys, tuple):
        return tuple(y.to(tensors[0].dtype) if y.is_floating_point() else y for y in ys)
    return ys.to(tensors[0].dtype)


def _lose_tail(y: Any) -> Any:
    """The last element is that of another kernel."""
    flat = y.flatten()
    return torch.cat([flat[:-1], flat[-1:] + flat.detach().abs().amax()]).reshape(y.shape)


def _of_first(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda ys: (
        (*ys[:-1], change(ys[-1]))
        if isinstance(ys, tuple) and ys[-1].is_floating_point()
        else ((change(ys[0]), *ys[1:]) if isinstance(ys, tuple) else change(ys))
    )


class _Scaled(torch.autograd.Function):  # type: ignore[misc]
    """The identity; its gradient is too large by a factor."""

    @staticmethod
    def forward(ctx: Any, x: Any, factor: float) -> Any:
        ctx.factor = factor
        return x.clone()

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        return g * ctx.factor, None


def make_twins(kernel: Kernel, dtype: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """The kernel with one defect each."""
    right = make_candidate(kernel, dtype)

    def half(x: Any) -> Any:
        return x.half().float()

    def first_argument(change: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda x, *rest: right(change(x), *rest)

    kept: list[Any] = []

    def stale(*tensors: Any) -> Any:
        kept[:] = kept or [right(*tensors)]
        return kept[0]

    for defect in kernel.defects:
        yield defect, make_candidate(kernel, dtype, defect=defect)
    factor = FACTORS[dtype]
    yield f"{factor:g} too large", lambda *t: _of_first(lambda y: y * factor)(right(*t))
    yield "the last element lost", lambda *t: _of_first(_lose_tail)(right(*t))
    yield "stale", stale
    if kernel.options.get("gradients", True):
        yield "zeros as the gradient of the first", first_argument(lambda x: _Scaled.apply(x, 0.0))
        yield f"a gradient {factor:g} too large", first_argument(lambda x: _Scaled.apply(x, factor))
    if dtype == "f32":
        yield "stores of float16", lambda *t: _finish(kernel.run(half, *t), t)


def judge(kernel: Kernel, candidate: Callable[..., Any], dtype: str, seconds: float, **options: Any) -> dict[str, Any]:
    """What `check` says, in a few fields."""
    given: dict[str, Any] = {"dtype": "bf16", "compute": "storage"} if dtype == BF16 else {"dtype": "f32"}
    start = time.process_time()
    report = opproof.check(
        candidate, like=kernel.like, inputs=kernel.inputs, raises=False, seconds=seconds,
        **given, **kernel.options, **options,
    )  # fmt: skip
    worst = [r for rs in report.failures.values() for r in rs]
    said = "wrong" if report.failures else "right" if report.ok else "given up"
    return {
        "said": said,
        "causes": {k: len(v) for k, v in report.failures.items()},
        "variants": [f"{report.variants[r.case]} | {r.mode} | {r.message[:120]} | {r.diagnosis[:160]} | {r.units}"
                     for r in worst[:4]],
        "sentence": report.sentence[:300],
        "open": [f"{report.variants[r.case]} | {r.mode} | {r.verdict} | {r.message[:160]}" for r in report.results
                 if str(r.verdict) in ("VACUOUS", "INCONCLUSIVE", "MISTRUSTED")][:4],
        "seconds": round(time.process_time() - start, 1),
        "asked": report.asked, "left": report.left,
    }  # fmt: skip


def main() -> None:
    """Judge what was asked for, one line each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--dtype", choices=("f32", "storage"))
    parser.add_argument("--twins", action="store_true")
    parser.add_argument("--defects", action="store_true", help="the twins that a kernel names, all of them")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--shard", default="0/1")
    wish = parser.parse_args()
    at, of = map(int, wish.shard.split("/"))
    wanted = [
        (name, dtype)
        for name, kernel in KERNELS.items()
        for dtype in kernel.dtypes
        if (not wish.only or name in wish.only) and (wish.dtype is None or dtype.endswith(wish.dtype))
    ][at::of]
    counts: dict[str, int] = {}
    for i, (name, dtype) in enumerate(wanted):
        kernel = KERNELS[name]
        twins = list(make_twins(kernel, dtype))
        named = [(defect, candidate) for defect, candidate in twins if defect in kernel.defects]
        # Two twins of each, by turns.
        some = (
            [twins[(2 * i + j) % len(twins)] for j in range(2)] if wish.twins else [("", make_candidate(kernel, dtype))]
        )
        for twin, candidate in named if wish.defects else some:
            said = judge(kernel, candidate, dtype, wish.seconds, **({"only": "as given"} if twin else {}))
            if twin in kernel.defects and said["said"] != "wrong":  # it may show at other sizes alone
                said = judge(kernel, candidate, dtype, wish.seconds)
            found = {"kernel": name, "dtype": dtype, "twin": twin, **said}
            counts[found["said"]] = counts.get(found["said"], 0) + 1
            line = json.dumps(found)
            print(line, flush=True)
            if wish.out is not None:
                with wish.out.open("a") as file:
                    file.write(line + "\n")
    print(json.dumps(counts))


if __name__ == "__main__":
    main()
