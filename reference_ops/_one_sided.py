"""PyTorch's pools where the two sides of an axis have other paddings: x is padded first, which PyTorch leaves to us."""

from typing import Any

from opproof.reference_ops._pool import sides
from opproof.reference_ops._torch import widened
from opproof.reference_ops._windows import Sizes, per_axis


def symmetric(padding: Sizes, rank: int) -> bool:
    """Whether PyTorch's own padding will do, which is one number an axis."""
    return isinstance(padding, int) or len(padding) == rank


def _wide(torch: Any, x: Any, padding: Sizes, value: float) -> Any:
    """The planes of x (n, c, *) with cells of `value` before and after."""
    pairs = zip(*sides(padding, x.dim() - 2), strict=True)
    return torch.nn.functional.pad(x, [n for pair in reversed(list(pairs)) for n in pair], value=value)


def _begun(y: Any, x: Any, padding: Sizes, stride: Sizes) -> Any:
    """Without the windows that begin on the padding behind x, which only ceil_mode makes."""
    rank = x.dim() - 2
    before, strides = sides(padding, rank)[0], per_axis(stride, rank)
    for axis, (n, p, s) in enumerate(zip(x.shape[2:], before, strides, strict=True)):
        y = y.narrow(axis + 2, 0, min(y.shape[axis + 2], -(-(n + p) // s)))
    return y


def max_pool(
    torch: Any, x: Any, padding: Sizes, kernel: Sizes, stride: Sizes | None, dilation: Sizes, ceil: bool
) -> Any:
    """The largest elements and their places in the planes of x, as PyTorch's max_pool with return_indices."""
    rank = x.dim() - 2
    pool, step = getattr(torch.nn.functional, f"max_pool{rank}d"), kernel if stride is None else stride

    def pooled(v: Any) -> Any:
        both = pool(
            _wide(torch, v, padding, -torch.inf), kernel, step, 0, dilation, ceil_mode=ceil, return_indices=True
        )
        return (_begun(w, x, padding, step) for w in both)

    y, rest = pooled(x)
    rest = torch.where(y == -torch.inf, list(pooled(torch.zeros_like(x)))[1], rest)  # the first, padding left out
    size = [n + sum(pair) for n, pair in zip(x.shape[2:], zip(*sides(padding, rank), strict=True), strict=True)]
    places, cells = torch.zeros_like(rest), 1
    for n, m, p in reversed(list(zip(x.shape[2:], size, sides(padding, rank)[0], strict=True))):
        places, rest, cells = places + (rest % m - p) * cells, rest // m, cells * n
    return y, places


def avg_pool(
    torch: Any, x: Any, padding: Sizes, kernel: Sizes, stride: Sizes | None, ceil: bool, counts: bool,
    divisor: int | None = None,
) -> Any:  # fmt: skip
    """The means of the windows, as PyTorch's avg_pool; padding is part of them where it `counts`."""
    rank = x.dim() - 2
    pool, step = getattr(torch.nn.functional, f"avg_pool{rank}d"), kernel if stride is None else stride
    own = () if divisor is None else (divisor,)

    def pooled(v: Any) -> Any:
        return _begun(pool(_wide(torch, v, padding, 0.0), kernel, step, 0, ceil, True, *own), x, padding, step)

    if counts or divisor is not None:
        return pooled(x)
    (wide,) = widened(torch, x)
    return (pooled(wide) / pooled(torch.ones_like(wide))).to(x.dtype)
