"""Cases of ssm_scan: Mamba-1 (one channel per head) and Mamba-2, groups, starting states shared and out of order."""


def _row(m: int, n: int, t: int, h: int, g: int, p: int, d: int, rest: str = "", a: int = 0) -> str:
    """A row; A has `a` columns, d where it is 0."""
    tensors = (
        f"state={m}x{h}x{p}x{d};x={n}x{t}x{h}x{p};dt={n}x{t}x{h};A={h}x{a if a else d};"
        f"B={n}x{t}x{g}x{d};C={n}x{t}x{g}x{d};ids={n},"
    )
    return f"{tensors};{rest}" if rest else tensors


SMOKE = [_row(3, 2, 4, 4, 2, 3, 5, a=1), _row(2, 2, 4, 7, 1, 1, 5)]
STANDARD = [
    _row(1, 1, 1, 1, 1, 1, 1),
    _row(2, 2, 3, 9, 1, 1, 16),
    _row(2, 3, 4, 31, 1, 1, 16, "layout=x:transposed"),
    _row(3, 2, 5, 32, 1, 1, 15, "fill=wide"),
    _row(4, 3, 3, 33, 1, 1, 17, "layout=permuted"),
    _row(3, 3, 4, 6, 2, 4, 16, "layout=sliced", a=1),
    _row(2, 4, 3, 4, 4, 5, 33, "layout=gapped", a=1),
    _row(3, 2, 3, 6, 3, 7, 8, "layout=offset", a=1),
    _row(2, 2, 3, 4, 1, 9, 64, "layout=B:transposed", a=1),
    _row(2, 2, 3, 4, 2, 8, 65, "layout=state:transposed", a=1),
    _row(3, 2, 4, 4, 2, 3, 6, "layout=B:broadcast,C:broadcast", a=1),
    _row(2, 5, 3, 4, 2, 3, 6, "layout=dt:transposed"),
    _row(2, 2, 6, 4, 2, 3, 5, "fill=small", a=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=offset", a=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=zeros", a=1),
    _row(2, 2, 4, 4, 2, 3, 5, "fill=negative"),
    _row(2, 2, 4, 3, 1, 3, 5, "fill=positive"),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=state,A", a=1),
    _row(2, 2, 4, 4, 2, 3, 5, "needs=dt"),
    _row(2, 0, 4, 4, 2, 3, 5, a=1),
    _row(1, 1, 17, 2, 1, 2, 4, a=1),
    _row(1, 1, 2, 127, 1, 1, 4),
]
FULL = [_row(1, 1, 130, 2, 1, 2, 4, a=1), _row(1, 1, 2, 12289, 1, 1, 2)]
