"""Rows in which some tensors have another dtype than the rest, as kernels meet them in models.

weights  16 bits beside data of f32, as ggml's products have them by default, or 8 bits beside data of 16
norms    weights of f32 with f16 or bf16 data, as most models keep those of norms, and biases
"""

from __future__ import annotations

#: The dtype of data and results, and that of the other tensors.
WEIGHTS = (("f32", "f16"), ("f32", "bf16"), ("bf16", "f8e4m3"), ("f16", "f8e5m2"))
HALVES = (("f32", "f16"), ("f32", "bf16"))
NORMS = (("bf16", "f32"), ("f16", "f32"))


def mixed(names: str, pairs: tuple[tuple[str, str], ...], first: str, *others: str) -> list[str]:
    """MIXED rows: `first` in every one of `pairs`, `others` in one each by turns; `names` are the tensors apart.

    Of `names`, with commas between them, only those count that a row has.
    """
    rows = [(first, pair) for pair in pairs]
    rows += [(row, pairs[i % len(pairs)]) for i, row in enumerate(others)]
    return [f"{row};{dtype};mixed={_name_others(row, names, other)}" for row, (dtype, other) in rows]


def _name_others(row: str, names: str, dtype: str) -> str:
    own = {part.partition("=")[0] for part in row.split(";")}
    return ",".join(f"{name}:{dtype}" for name in names.split(",") if name in own)
