"""Judges of kernels side by side: how many wrong ones each finds, how many right ones it rejects, and its seconds.

The kernels are those of honest_kernels.py: right ways of computing a reference, and a wrong twin or two of each. The
rules of others are written anew from their sources, which are named beside them; all judge on the processor, with the
kernel's own inputs, one after the other in this process.

    python benchmarks/judges.py --json docs/data/judges.json [--every 12] [--seconds 10]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from tqdm import tqdm

from opproof.core.text import dump_json

sys.path.insert(0, str(Path(__file__).parent))
import honest_kernels

#: A rule of two functions: whether the second computes what the first does, of inputs by seed.
Rule = Callable[[Callable[..., Any], Callable[..., Any], Callable[[int], list[Any]]], bool]
BF16: str = honest_kernels.BF16
#: Trials with other data that KernelBench's scripts make, and FlashInfer-Bench's by default.
KERNELBENCH_TRIALS = 5
FLASHINFER_TRIALS = 3
#: Kernels that lose digits, or may: docs/explanation/false-alarms.md. They are neither right nor wrong here.
LOSING = frozenset(
    "swiglu_by_tanh logcumsumexp_in_blocks ring_attention minimal_gru_in_logarithms composite_in_logarithms "
    "winograd_of_three_taps long_conv_by_fft class_focal_with_backward".split()
)
#: Draws in which a wrong twin may show.
TWIN_DRAWS = 3
#: Sources of the rules.
SOURCES = {
    "values, assert_close": "torch.testing.assert_close of PyTorch 2.13 with its defaults, of one draw",
    "values and gradients, assert_close": "the same, and of the gradients of every input",
    "KernelBench": "src/kernelbench/eval.py, 0d12226: allclose of five draws, 1e-4 in float32 and 1e-2 in 16 bits",
    "KernelBench v0": "the same with 1e-2 in all, as its paper has it",
    "BackendBench": "BackendBench/eval.py, 015f5cb: assert_close with 1e-2, of one draw; not with OpInfo's samples",
    "FlashInfer-Bench": "bench/config.py and utils.py, 1039e39 and 00a1ec8: off by 1e-2 and by 1 %, of three draws",
    "ggml": "test-backend-ops' limit of the NMSE, 1e-7, of one draw; in 16 bits 5e-4, as of products",
    "gradcheck": "torch.autograd.gradcheck of PyTorch 2.13 with its defaults, which are for float64",
    "opproof": "opproof.check, with compute='storage' in 16 bits",
}


@dataclass(frozen=True)
class Candidate:
    """A kernel that is judged, and whether it is right."""

    kernel: Any  # a Kernel of fused_kernel.py
    dtype: str
    twin: str  # what is wrong with it; empty of a right one
    number: int = 0  # among the twins

    def draw(self, seed: int) -> list[Any]:
        """The kernel's own inputs, in this dtype."""
        made = self.kernel.inputs(seed, torch.bfloat16 if self.dtype == BF16 else torch.float32)
        return list(made.values()) if isinstance(made, dict) else list(made)

    def make(self) -> Callable[..., Any]:
        """The function, which remembers nothing yet."""
        if not self.twin:
            made: Callable[..., Any] = honest_kernels.make_candidate(self.kernel, self.dtype)
            return made
        return list(honest_kernels.make_twins(self.kernel, self.dtype))[self.number][1]


def list_results(function: Callable[..., Any], tensors: Sequence[Any]) -> list[Any]:
    """The results of a function, its own copies of the tensors given."""
    found = function(*(t.clone() for t in tensors))
    return list(found) if isinstance(found, tuple | list) else [found]


def list_gradients(function: Callable[..., Any], tensors: Sequence[Any]) -> list[Any]:
    """The gradients of every input of floats, for cotangents that are the same for who computes the same."""
    leaves = [t.clone().requires_grad_(t.is_floating_point()) for t in tensors]
    found = function(*leaves)
    results = [y for y in (found if isinstance(found, tuple | list) else [found]) if y.requires_grad]
    rng = torch.Generator().manual_seed(0)
    cotangents = [torch.randn(y.shape, generator=rng).to(y.dtype) for y in results]
    wanted = [x for x in leaves if x.requires_grad]
    return list(torch.autograd.grad(results, wanted, cotangents, allow_unused=True, materialize_grads=True))


def is_close(got: Sequence[Any], expected: Sequence[Any], **tolerance: Any) -> bool:
    """Whether torch.testing.assert_close says so of all."""
    try:
        for y, e in zip(got, expected, strict=True):
            torch.testing.assert_close(y, e, **tolerance)
    except AssertionError:
        return False
    return True


def by_values(like: Any, candidate: Any, draw: Any) -> bool:
    tensors = draw(0)
    return is_close(list_results(candidate, tensors), list_results(like, tensors))


def by_values_and_gradients(like: Any, candidate: Any, draw: Any) -> bool:
    tensors = draw(0)
    return by_values(like, candidate, draw) and is_close(
        list_gradients(candidate, tensors), list_gradients(like, tensors)
    )


def _by_allclose(like: Any, candidate: Any, draw: Any, trials: int, tolerance: float) -> bool:
    for seed in range(trials):
        tensors = draw(seed)
        pairs = zip(list_results(candidate, tensors), list_results(like, tensors), strict=True)
        if not all(y.shape == e.shape and torch.allclose(y, e, atol=tolerance, rtol=tolerance) for y, e in pairs):
            return False
    return True


def by_kernelbench(like: Any, candidate: Any, draw: Any) -> bool:
    narrow = any(t.dtype == torch.bfloat16 for t in draw(0))
    return _by_allclose(like, candidate, draw, KERNELBENCH_TRIALS, 1e-2 if narrow else 1e-4)


def by_kernelbench_v0(like: Any, candidate: Any, draw: Any) -> bool:
    return _by_allclose(like, candidate, draw, KERNELBENCH_TRIALS, 1e-2)


def by_backendbench(like: Any, candidate: Any, draw: Any) -> bool:
    tensors = draw(0)
    return is_close(list_results(candidate, tensors), list_results(like, tensors), atol=1e-2, rtol=1e-2, equal_nan=True)


def by_flashinfer(like: Any, candidate: Any, draw: Any) -> bool:
    for seed in range(FLASHINFER_TRIALS):
        tensors = draw(seed)
        for y, e in zip(list_results(candidate, tensors), list_results(like, tensors), strict=True):
            off = (y.float() - e.float()).abs()
            if y.shape != e.shape or bool(((off > 1e-2) & (off / (e.float().abs() + 1e-8) > 1e-2)).any()):
                return False
    return True


def by_ggml(like: Any, candidate: Any, draw: Any) -> bool:
    tensors = draw(0)
    for y, e in zip(list_results(candidate, tensors), list_results(like, tensors), strict=True):
        limit = 5e-4 if e.dtype == torch.bfloat16 else 1e-7
        off = (y.double() - e.double()).square().sum() / e.double().square().sum()
        if not bool(off <= limit):
            return False
    return True


def by_gradcheck(like: Any, candidate: Any, draw: Any) -> bool:
    del like
    leaves = [t.double().requires_grad_() if t.is_floating_point() else t for t in draw(0)]
    try:
        return bool(torch.autograd.gradcheck(candidate, leaves, raise_exception=False))
    except RuntimeError:  # of results that are not differentiable
        return False


RULES: dict[str, Rule] = {
    "values, assert_close": by_values,
    "values and gradients, assert_close": by_values_and_gradients,
    "KernelBench": by_kernelbench,
    "KernelBench v0": by_kernelbench_v0,
    "BackendBench": by_backendbench,
    "FlashInfer-Bench": by_flashinfer,
    "ggml": by_ggml,
    "gradcheck": by_gradcheck,
}


def iter_candidates(every: int) -> Iterator[Candidate]:
    """Of every so many kernels and dtypes the right one, and two wrong twins by turns."""
    kernels = (kernel for name, kernel in honest_kernels.KERNELS.items() if name not in LOSING)
    pairs = [(kernel, dtype) for kernel in kernels for dtype in kernel.dtypes]
    for i, (kernel, dtype) in enumerate(pairs[::every]):
        yield Candidate(kernel, dtype, "")
        twins = [
            Candidate(kernel, dtype, name, n) for n, (name, _) in enumerate(honest_kernels.make_twins(kernel, dtype))
        ]
        twins = [twin for twin in twins if is_another(twin)]
        yield from (twins[(2 * i + j) % len(twins)] for j in range(min(2, len(twins))))


def is_another(twin: Candidate) -> bool:
    """Whether a twin gives other numbers than the right kernel in one of a few draws."""
    right, wrong = honest_kernels.make_candidate(twin.kernel, twin.dtype), twin.make()
    for seed in range(TWIN_DRAWS):
        tensors = twin.draw(seed)
        several = [list_results] + [list_gradients] * _has_gradients(twin)
        if any(not all(map(torch.equal, of(right, tensors), of(wrong, tensors))) for of in several):
            return True
    return False


def _has_gradients(candidate: Candidate) -> bool:
    return bool(candidate.kernel.options.get("gradients", True))


def _judge(candidate: Candidate, judge: str, seconds: float) -> bool:
    """Whether it passes."""
    kernel, function = candidate.kernel, candidate.make()
    if judge == "opproof":
        return bool(honest_kernels.judge(kernel, function, candidate.dtype, seconds)["said"] == "right")
    rule = RULES[judge]
    if rule is by_values_and_gradients and not _has_gradients(candidate):
        rule = by_values
    try:
        return rule(kernel.like, function, candidate.draw)
    except Exception:  # a kernel's, of any type: whoever raises does not pass
        return False


def main() -> None:
    """Judge, and write how often each judge was right."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--every", type=int, default=12, help="of so many kernels one")
    parser.add_argument("--seconds", type=float, default=10.0, help="that opproof may take, of processors")
    options = parser.parse_args()
    judges = [*RULES, "opproof"]
    passed: dict[tuple[str, str, bool], list[bool]] = {}
    taken: dict[str, list[float]] = {judge: [] for judge in judges}
    for candidate in tqdm(list(iter_candidates(options.every)), disable=None):
        for judge in judges:
            if judge == "gradcheck" and not _has_gradients(candidate):
                continue
            begun = time.process_time()
            said = _judge(candidate, judge, options.seconds)
            if said is bool(candidate.twin) and judge == "opproof":
                tqdm.write(f"{candidate.kernel.run.__name__} {candidate.dtype} {candidate.twin}: wrongly judged")
            taken[judge].append(time.process_time() - begun)
            passed.setdefault((judge, candidate.dtype, not candidate.twin), []).append(said)
    rows = []
    for judge in judges:
        row: dict[str, Any] = {"judge": judge, "source": SOURCES[judge]}
        for dtype in ("f32", BF16):
            right, wrong = (passed.get((judge, dtype, is_right), []) for is_right in (True, False))
            row[dtype] = {
                "right": len(right),
                "rejected": right.count(False),
                "wrong": len(wrong),
                "found": wrong.count(False),
            }
        row["seconds"] = round(sorted(taken[judge])[len(taken[judge]) // 2], 3)
        rows.append(row)
    options.json.write_text(dump_json(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
