"""PyTorch's operators that write over their first tensor (`op_`, and `inplace=True`), and those that take `out=`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opproof.backends.protocol import Unsupported

#: Methods of the same name with an underscore, of our tensors and without parameters.
_METHODS = (
    "abs acos asin atan ceil cos cosh erf exp exp2 expm1 floor log log1p log2 neg reciprocal relu round rsqrt sigmoid "
    "sign sin sinh sqrt square tan tanh trunc add sub mul div atan2 fmod remainder lerp acosh asinh atanh erfinv "
    "bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift"
).split()
#: Functions of torch.nn.functional with `inplace`, and parameters of our names.
_FUNCTIONS = "celu elu hardsigmoid hardswish leaky_relu mish relu6 selu silu threshold hardtanh".split()

#: Functions of torch that take `out`, where the reference's twin is one call of them.
OUT = frozenset(
    "abs acos asin atan ceil cos cosh erf exp exp2 expm1 floor log log1p log2 neg reciprocal round rsqrt sigmoid sign "
    "sin sinh sqrt square tan tanh trunc add sub mul div atan2 fmod remainder lerp maximum minimum clamp cumsum "
    "cumprod matmul bmm gather index_select tril triu eq ne lt le gt ge logical_and logical_or logical_not argmax "
    "argmin amax amin addcdiv addcmul acosh asinh atanh erfinv bitwise_and bitwise_or bitwise_xor bitwise_not "
    "bitwise_left_shift bitwise_right_shift logcumsumexp".split()
)

#: Parameters that autograd wants positive where it has the result only to tell the branch of x by: it says so itself.
FROM_RESULT = {"leaky_relu": ("negative_slope",), "elu": ("alpha",), "celu": ("alpha",)}


def _method(name: str) -> Callable[..., Any]:
    return lambda _, x, *others: getattr(x, f"{name}_")(*others)


def _function(name: str) -> Callable[..., Any]:
    return lambda torch, x, **params: getattr(torch.nn.functional, name)(x, **params, inplace=True)


def _set(_: Any, a: Any, b: Any, *, offset: tuple[int, ...]) -> Any:
    a[tuple(slice(o, o + n) for o, n in zip(offset, b.shape, strict=True))] = b
    return a


#: Our operator by what PyTorch does in place of its first tensor.
IN_PLACE: dict[str, Callable[..., Any]] = {
    **{name: _method(name) for name in _METHODS},
    **{name: _function(name) for name in _FUNCTIONS},
    "add1": lambda _, a, b: a.add_(b.reshape(())),
    "addcdiv": lambda _, x, a, b, *, value: x.addcdiv_(a, b, value=value),
    "addcmul": lambda _, x, a, b, *, value: x.addcmul_(a, b, value=value),
    "clamp": lambda _, x, *, min, max: x.clamp_(min, max),
    "cumprod": lambda _, x, *, dim: x.cumprod_(dim),
    "cumsum": lambda _, x, *, dim: x.cumsum_(dim),
    "fill": lambda _, x, *, value: x.fill_(value),
    "floor_divide": lambda _, a, b: a.div_(b, rounding_mode="floor"),
    "index_add": lambda _, x, index, source, *, dim, alpha: x.index_add_(dim, index, source, alpha=alpha),
    "masked_fill": lambda _, x, mask, *, value: x.masked_fill_(mask != 0, value),
    "pow": lambda _, a, b=None, *, exponent: a.pow_(b if exponent is None else exponent),
    "scatter": lambda _, x, index, src, *, dim: x.scatter_(dim, index, src),
    "scatter_add": lambda _, x, index, src, *, dim: x.scatter_add_(dim, index, src),
    "set": _set,
    "tril": lambda _, x, *, diagonal: x.tril_(diagonal),
    "triu": lambda _, x, *, diagonal: x.triu_(diagonal),
}


def find_over_first(op: str, where: int) -> Callable[..., Any]:
    """What computes `op` over its tensor `where`. Raises Unsupported."""
    if op not in IN_PLACE:
        raise Unsupported(f"PyTorch has no {op}_")
    if where:
        raise Unsupported(f"PyTorch's {op}_ writes over its first tensor only")
    return IN_PLACE[op]


class Into:
    """torch, with one function that writes into `out`."""

    def __init__(self, torch: Any, name: str, out: Any) -> None:
        self._torch, self._name, self._out = torch, name, out

    def __getattr__(self, name: str) -> Any:
        function = getattr(self._torch, name)
        if name != self._name:
            return function
        return lambda *args, **kwargs: function(*args, **kwargs, out=self._out)
