"""How far defects of a float32 matmul stand above honest implementations, in units (docs/explanation/method.md).

python benchmarks/sharpness.py
"""

from __future__ import annotations

from collections.abc import Callable

import ml_dtypes
import numpy as np

from opproof.cases import Case
from opproof.core.arrays import Array
from opproof.core.verdicts import Mode
from opproof.harness.judge.bound import compare
from opproof.harness.reference.expected import expect_forward
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load


def _sequential(a: Array, b: Array) -> Array:
    total = np.zeros((a.shape[0], b.shape[1]), dtype=np.float32)
    for k in range(a.shape[1]):
        total += a[:, k : k + 1] * b[k]
    return total


def _half_accumulation(a: Array, b: Array) -> Array:
    total = np.zeros((a.shape[0], b.shape[1]), dtype=np.float16)
    for k in range(a.shape[1]):
        total = (total + a[:, k : k + 1] * b[k]).astype(np.float16)
    return total.astype(np.float32)


def _one_element(a: Array, b: Array) -> Array:
    y = a @ b
    y[3, 5] *= np.float32(1.001)
    return y


def _tf32(x: Array) -> Array:
    return ((x.view(np.uint32) + 0x1000) & np.uint32(0xFFFFE000)).view(np.float32)


def _bf16(x: Array) -> Array:
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


KINDS: dict[str, Callable[[Array, Array], Array]] = {
    "BLAS": lambda a, b: a @ b,
    "sequential float32 sum": _sequential,
    "one element × 1.001": _one_element,
    "all × (1 + 2^-16)": lambda a, b: (a @ b) * np.float32(1 + 2.0**-16),
    "TF32 inputs": lambda a, b: _tf32(a) @ _tf32(b),
    "bf16 inputs": lambda a, b: _bf16(a) @ _bf16(b),
    "f16 accumulation": _half_accumulation,
    "last term dropped": lambda a, b: a[:, :-1] @ b[:-1],
}


def main() -> None:
    sizes = (16, 256, 4096)
    print("| 64 × K × 64, float32 | " + " | ".join(f"K = {k}" for k in sizes) + " |")
    print("| --- | " + " | ".join("---" for _ in sizes) + " |")
    columns = [_units(k) for k in sizes]
    for name in KINDS:
        print(f"| {name} | " + " | ".join(f"{c[name]:.3g}" for c in columns) + " |")


def _units(k: int) -> dict[str, float]:
    posed = make_question(Case.parse(f"matmul[a=64x{k};b={k}x64;f32]"), load("matmul"), Mode.FORWARD).case_data
    expected = expect_forward(posed)[0]
    a, b = (v.astype(np.float32) for v in posed.inputs if v is not None)
    return {name: float(compare(f(a, b), expected, "f32").units.max()) for name, f in KINDS.items()}


if __name__ == "__main__":
    main()
