"""Cases of ssm_scan: Mamba-1 (one channel per head) and Mamba-2, groups, starting states shared and out of order."""

from opproof.cases._without import RECURRENCE


def _row(m: int, n: int, t: int, h: int, g: int, p: int, d: int, rest: str = "", columns: int | None = None) -> str:
    """A row; A has `columns`, d where None."""
    tensors = (
        f"state={m}x{h}x{p}x{d};x={n}x{t}x{h}x{p};dt={n}x{t}x{h};A={h}x{d if columns is None else columns};"
        f"B={n}x{t}x{g}x{d};C={n}x{t}x{g}x{d};ids={n},"
    )
    return f"{tensors};{rest}" if rest else tensors


SMOKE = [_row(3, 2, 4, 4, 2, 3, 5, columns=1), _row(2, 2, 4, 7, 1, 1, 5)]
STANDARD = [
    _row(1, 1, 1, 1, 1, 1, 1),
    _row(2, 2, 3, 9, 1, 1, 16),
    _row(2, 3, 4, 31, 1, 1, 16, "layout=x:transposed"),
    _row(3, 2, 5, 32, 1, 1, 15, "fill=wide"),
    _row(4, 3, 3, 33, 1, 1, 17, "layout=permuted"),
    _row(3, 3, 4, 6, 2, 4, 16, "layout=sliced", columns=1),
    _row(2, 4, 3, 4, 4, 5, 33, "layout=gapped", columns=1),
    _row(3, 2, 3, 6, 3, 7, 8, "layout=offset", columns=1),
    _row(2, 2, 3, 4, 1, 9, 64, "layout=B:transposed", columns=1),
    _row(2, 2, 3, 4, 2, 8, 65, "layout=state:transposed", columns=1),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=B:broadcast,C:broadcast", columns=1),
    _row(2, 5, 3, 4, 2, 3, 6, "layout=dt:transposed"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=A:transposed,C:transposed,x:broadcast,dt:broadcast"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=A:broadcast,state:broadcast"),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=x:transposed,B:transposed"),
    _row(2, 2, 6, 4, 2, 3, 5, "fill=small;f32", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=offset", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=zeros", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=negative"),
    _row(2, 2, 4, 3, 1, 3, 5, "fill=positive"),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=state,A", columns=1),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=dt"),
    _row(2, 0, 4, 4, 2, 3, 5, columns=1),
    _row(1, 1, 17, 2, 1, 2, 4, columns=1),
    _row(1, 1, 2, 127, 1, 1, 4),
    _row(1, 1, 2, 1, 1, 1, 4099, "f16,bf16"),
]
FULL = [_row(1, 1, 130, 2, 1, 2, 4, columns=1), _row(1, 1, 2, 12289, 1, 1, 2)]
WITHOUT = {rule: RECURRENCE[rule] for rule in ("extreme", "NaN, inf")}
