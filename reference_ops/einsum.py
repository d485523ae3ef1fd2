"""einsum: the sum of products of two tensors over the indices that the result lacks, as `equation` names them.

equation is as NumPy's, without ... and without an index twice in one tensor, each index of a tensor in the other or in
the result: "ij,jk->ik" is a product of matrices.
Shapes: a and b as the indices before the arrow say, y as those behind it.
Gradient: da = the sum of g b over the indices that a lacks, by the equation with a and y in each other's places; db
likewise.
Source: Einstein, Die Grundlage der allgemeinen Relativitätstheorie (1916), section 5.
PyTorch: torch.einsum. ONNX: Einsum. ggml: none.
"""

from typing import Any

import numpy as np

from opproof.core.arrays import Array

ANALYTIC = True
MULTILINEAR = True
TRAITS = ("long sum", "multiplies")


def _parts(equation: str) -> list[str]:
    return equation.replace("->", ",").split(",")


def forward(a: Array, b: Array, *, equation: str) -> Array:
    return np.einsum(equation, a, b)  # type: ignore[no-any-return]


def vjp(g: Array, y: Array, a: Array, b: Array, *, equation: str) -> tuple[Array, Array]:
    of_a, of_b, of_y = _parts(equation)
    return np.einsum(f"{of_y},{of_b}->{of_a}", g, b), np.einsum(f"{of_y},{of_a}->{of_b}", g, a)


def torch(torch: Any, a: Any, b: Any, *, equation: str) -> Any:
    return torch.einsum(equation, a, b)
