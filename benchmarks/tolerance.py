"""Whether the tolerances of `opproof tolerance` are neither too wide nor too tight, on PyTorch's kernels.

    python benchmarks/tolerance.py [--draws 1000]

Each pair is measured in eight draws. Then PyTorch's own kernel is held to it in many others, and to half of it.
The pair for any right kernel has to hold it too; half of that may hold it as well, since PyTorch adds up in pairs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from tabulate import tabulate
from tqdm import tqdm

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.precision.tolerance import load_kernel, measure_tolerances
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load
from opproof.reports.tolerance import Tolerance

CASES = (
    "softmax[x=64x1024;dim=-1;{}]",
    "layer_norm[x=64x1024;weight=1024,;bias=1024,;normalized_shape=(1024);{}]",
    "matmul[a=16x4096;b=4096x16;{}]",
    "scaled_dot_product_attention[query=1x2x64x64;key=1x2x64x64;value=1x2x64x64;{}]",
)
MEASURED_DRAWS = 8


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


def main() -> int:
    """Print the table; status 1 where a pair rejects an honest kernel, or half of its own pair rejects it nowhere."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    rows, good = [], True
    for template in CASES:
        for dtype in ("f32", "f16", "bf16"):
            case = Case.parse(template.format(dtype))
            lower = "storage" if "attention" in template and dtype != "f32" else None  # its scores are stored
            of_any, of_one = (
                measure_tolerances(case, load(case.op), Mode.FORWARD, MEASURED_DRAWS, lower, kernel=kernel)[0].tolerance
                for kernel in ("", "torch")
            )
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
