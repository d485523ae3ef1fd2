"""Whether the tolerances of `opproof tolerance` are neither too wide nor too tight, on PyTorch's kernels.

    python benchmarks/tolerance.py [--draws 1000]
    python benchmarks/tolerance.py --published docs/data/tolerances.json    what the tolerances of others let pass

Each pair is measured in eight draws. Then PyTorch's own kernel is held to it in many others, and to half of it.
The pair for any right kernel has to hold it too; half of that may hold it as well, since PyTorch adds up in pairs.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from opproof.cases import Case
from opproof.core.text import dump_json
from opproof.core.verdicts import Mode
from opproof.harness.precision.tolerance import draw_results, load_kernel, measure_tolerances
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load
from opproof.reports.tolerance import NmseLimit, Tolerance

CASES = (
    "softmax[x=64x1024;dim=-1;{}]",
    "layer_norm[x=64x1024;weight=1024,;bias=1024,;normalized_shape=(1024);{}]",
    "matmul[a=16x4096;b=4096x16;{}]",
    "scaled_dot_product_attention[query=1x2x64x64;key=1x2x64x64;value=1x2x64x64;{}]",
)
MEASURED_DRAWS = 8

#: Tolerances as they are published, by dtype, and for which operators; all where none are named.
PUBLISHED: dict[str, tuple[dict[str, Tolerance | NmseLimit], tuple[str, ...]]] = {
    "torch.testing.assert_close 2.13": (
        {"f32": Tolerance(1e-5, 1.3e-6), "f16": Tolerance(1e-5, 1e-3), "bf16": Tolerance(1e-5, 1.6e-2)},
        (),
    ),
    "OpInfo of torch 2.13, test_numpy_refs": ({"f32": Tolerance(1e-5, 1e-3)}, ("layer_norm",)),
    "OpInfo of torch 2.13, test_out": ({"f32": Tolerance(1e-4, 0.0)}, ("matmul",)),
    "OpInfo of torch 2.13, TestCommon": ({"f32": Tolerance(5e-5, 5e-6)}, ("scaled_dot_product_attention",)),
    "ONNX 1.23 node tests": ({"f32": Tolerance(1e-7, 1e-3), "f16": Tolerance(1e-7, 1e-3)}, ()),
    "KernelBench": ({"f32": Tolerance(1e-2, 1e-2), "f16": Tolerance(1e-2, 1e-2), "bf16": Tolerance(1e-2, 1e-2)}, ()),
    "ExecuTorch, XNNPACK's tests": ({"f32": Tolerance(1e-3, 1e-3)}, ()),
    "ggml, test-backend-ops": ({"f32": NmseLimit(1e-7), "f16": NmseLimit(1e-7)}, ("softmax", "layer_norm")),
    "ggml, test_mul_mat and test_flash_attn_ext": (
        {"f32": NmseLimit(5e-4), "f16": NmseLimit(5e-4)},
        ("matmul", "scaled_dot_product_attention"),
    ),
}


def count_inside(case: Case, pairs: list[Tolerance], draws: int) -> list[int]:
    """In how many draws PyTorch's kernel keeps each pair; none of the draws is one that they were measured in."""
    op, ask, inside = load(case.op), load_kernel("torch"), [0] * len(pairs)
    for seed in tqdm(range(MEASURED_DRAWS, MEASURED_DRAWS + draws), desc=str(case), leave=False, disable=None):
        posed = make_question(case.with_seed(seed), op, Mode.FORWARD).case_data
        (got,), truth = ask(posed), posed.outputs[0]
        off = np.abs(np.asarray(got, dtype=np.float64) - truth)
        for i, pair in enumerate(pairs):
            inside[i] += bool(pair.allows(off, truth).all())
    return inside


def judge_published() -> list[dict[str, object]]:
    """A row for each published tolerance and dtype: which right kernels it may reject, what is wrong and passes."""
    rows: list[dict[str, object]] = []
    for name, (by_dtype, ops) in tqdm(PUBLISHED.items(), disable=None):
        for dtype, tolerance in by_dtype.items():
            rejected, passing = {}, Counter[str]()
            cases = [Case.parse(template.format(dtype)) for template in CASES]
            cases = [case for case in cases if not ops or case.op in ops]
            for case in cases:
                drawn = draw_results(case, load(case.op), Mode.FORWARD, MEASURED_DRAWS, declare_precision(case))
                (report,) = measure_tolerances(drawn, tolerance)
                if report.rejected:
                    rejected[case.op] = report.rejected
                passing.update(n for n, draws in report.passing.items() if draws == report.draws)
            row = {"tolerance": name, "dtype": dtype, "limit": str(tolerance), "operators": [c.op for c in cases]}
            rows.append({**row, "rejected": rejected, "passing": passing})
    return rows


def find_pair(case: Case, kernel: str) -> Tolerance:
    """The least pair that right kernels keep, or the one of a backend."""
    drawn = draw_results(case, load(case.op), Mode.FORWARD, MEASURED_DRAWS, declare_precision(case), kernel)
    pair = measure_tolerances(drawn)[0].tolerance
    assert isinstance(pair, Tolerance)
    return pair


def declare_precision(case: Case) -> str | None:
    """What right kernels may compute in: scores of attention in 16 bits are stored."""
    return "storage" if case.op == "scaled_dot_product_attention" and case.dtype != "f32" else None


def main() -> int:
    """Print the table; status 1 where a pair rejects an honest kernel, or half of its own pair rejects it nowhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--published", type=Path, metavar="FILE")
    options = parser.parse_args()
    if options.published:
        options.published.write_text(dump_json(judge_published()), encoding="utf-8")
        return 0
    draws = options.draws
    rows, good = [], True
    for template in CASES:
        for dtype in ("f32", "f16", "bf16"):
            case = Case.parse(template.format(dtype))
            of_any, of_one = (find_pair(case, kernel) for kernel in ("", "torch"))
            half = Tolerance(of_one.atol / 2, of_one.rtol / 2)
            inside = count_inside(case, [of_any, of_one, half], draws)
            good &= inside[0] == inside[1] == draws and inside[2] < draws
            pairs = (f"{p.atol:g} {p.rtol:g}" for p in (of_any, of_one))
            rows.append([str(case)[:60], *pairs, *inside])
    heads = ["case", "atol rtol of any", "of PyTorch's", "inside", "inside its own", "inside half of it"]
    print(tabulate(rows, heads))
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())
