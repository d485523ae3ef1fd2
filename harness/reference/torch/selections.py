"""What selects: extremes, order, clamps. Which element it is, the exact evaluation says; its value has the noise."""

from __future__ import annotations

import math
from typing import Any

from opproof.harness.reference.torch.arithmetic import Algorithm, Arithmetic
from opproof.harness.reference.torch.sums import axes_of, map_rules

#: What PyTorch leaves open where elements are equal: which of them comes first.
_ANY_OF_EQUALS = frozenset(("aten::sort", "aten::topk", "aten::kthvalue", "aten::median", "aten::mode"))

#: Of these, what gives several in order.
_IN_ORDER = frozenset(("aten::sort", "aten::topk"))


def choose_operand(noise: Arithmetic, y: Any, a: Any, b: Any) -> Any:
    """`a` where the result `y` of the exact evaluation is a's, else b."""
    mask = noise.decide("chosen", lambda: y == a)
    return y if noise.exact else noise.torch.where(mask, a, b)


def choose_larger(noise: Arithmetic, func: Any, a: Any, b: Any) -> Any:
    """maximum, minimum, fmax, fmin."""
    return choose_operand(noise, func(a, b), a, b)


def bound_values(noise: Arithmetic, func: Any, x: Any, low: Any = None, high: Any = None) -> Any:
    """clamp, also by tensors."""
    del func
    torch = noise.torch
    for limit, pick in ((low, torch.maximum), (high, torch.minimum)):
        if limit is not None:
            bound = limit if hasattr(limit, "shape") else torch.tensor(limit, dtype=x.dtype)
            x = choose_larger(noise, pick, x, bound)
    return x


def bound_from_above(noise: Arithmetic, func: Any, x: Any, high: Any) -> Any:
    """clamp_max."""
    return bound_values(noise, func, x, None, high)


def compute_relu(noise: Arithmetic, func: Any, x: Any) -> Any:
    del func
    return x.masked_fill(noise.decide("relu", lambda: x <= 0), 0.0)


def compute_hardtanh(noise: Arithmetic, func: Any, x: Any, low: Any = -1, high: Any = 1) -> Any:
    return bound_values(noise, func, x, low, high)


def split_mantissa(noise: Arithmetic, func: Any, x: Any) -> tuple[Any, Any]:
    """frexp: the exponent is decided, the mantissa is x by a power of two."""
    exponent = noise.decide("frexp", lambda: func(x)[1])
    return x * noise.torch.exp2(-exponent.double()), exponent


def compute_absolute(noise: Arithmetic, func: Any, x: Any) -> Any:
    if x.is_complex():
        return noise.rounded(func(x))
    return x * noise.decide("sign", lambda: noise.torch.where(x < 0, -1.0, 1.0))


def find_extreme(noise: Arithmetic, func: Any, x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """amax, amin, and max, min of all elements."""
    if not x.dim():
        return x.clone()
    largest = func._schema.name.endswith("max")  # "aten::max": what the operation is called says which
    axes = axes_of(x, dim)
    kept = [a for a in range(x.dim()) if a not in axes]
    flat = x.permute(*kept, *axes).flatten(len(kept))
    where = noise.decide("extreme", lambda: flat.argmax(-1, True) if largest else flat.argmin(-1, True))
    y = flat.gather(-1, where).squeeze(-1)
    return y.reshape([1 if a in axes else n for a, n in enumerate(x.shape)]) if keepdim else y


def find_maximum(noise: Arithmetic, func: Any, x: Any, *args: Any, **options: Any) -> Any:
    """Max and min in all their forms: of all elements, along an axis, of two tensors."""
    if not args and not options:
        return find_extreme(noise, func, x)
    if args and hasattr(args[0], "shape"):
        return choose_larger(noise, func, x, args[0])
    return order_elements(noise, func, x, *args, **options)


def order_elements(noise: Arithmetic, func: Any, x: Any, *args: Any, **options: Any) -> Any:
    """sort, topk, kthvalue, median, mode, cummax: values and their positions along an axis."""
    given = {**dict(zip((a.name for a in func._schema.arguments[1:]), args, strict=False)), **options}
    dim = given.get("dim", -1)

    def made() -> Any:
        if (
            noise.algorithm is Algorithm.LAST_OF_TIES
            and x.dim()
            and func._schema.name in _ANY_OF_EQUALS
            and not given.get("stable")
        ):
            if func._schema.name in _IN_ORDER:
                return _find_last_of_equals(noise, x, given, func(x, *args, **options)[1])
            return x.shape[dim] - 1 - func(x.flip(dim), *args, **options)[1]
        return func(x, *args, **options)[1]

    places = noise.decide("ordered", made)
    if noise.exact and noise.algorithm is not Algorithm.LAST_OF_TIES:
        return func(x, *args, **options)
    if not x.dim():
        return x.clone(), places
    if places.dim() < x.dim():  # the axis is gone
        return x.gather(dim, places.unsqueeze(dim)).squeeze(dim), places
    return x.gather(dim, places), places


def _find_last_of_equals(noise: Arithmetic, x: Any, given: dict[str, Any], places: Any) -> Any:
    """Of elements in order the places of the last of equals; where these are taken already, of the first."""
    dim, down = given.get("dim", -1), bool(given.get("largest", given.get("descending", "k" in given)))
    count = places.shape[dim]

    def stable(of: Any) -> Any:
        return noise.torch.sort(of, dim=dim, descending=down, stable=True)[1].narrow(dim, 0, count)

    last = x.shape[dim] - 1 - stable(x.flip(dim))
    return noise.torch.where(last == places, stable(x), last)


def find_median(noise: Arithmetic, func: Any, x: Any, *args: Any, **options: Any) -> Any:
    """Median and nanmedian, also of all elements."""
    if args or options:
        return order_elements(noise, func, x, *args, **options)
    y, flat = func(x), x.reshape(-1)
    return flat[noise.decide("median", lambda: (flat - y).abs().nan_to_num(math.inf).argmin())].clone()


def find_distinct(noise: Arithmetic, func: Any, x: Any, *args: Any, **options: Any) -> Any:
    """_unique2: each number once, where it comes first; which element is which of them, how often each comes."""
    found = func(x, *args, **options)
    flat = x.reshape(-1)
    places = noise.decide("unique", lambda: (flat[:, None] == found[0]).to(noise.torch.int8).argmax(0))

    def decided(y: Any) -> Any:
        return noise.decide("unique", lambda: y)

    return flat[places], *map(decided, found[1:])


def differentiate_shrink(noise: Arithmetic, func: Any, g: Any, x: Any, size: Any) -> Any:
    """The gradient of hardshrink and softshrink: g where x is larger than `size`."""
    del func
    return g.masked_fill(noise.decide("shrunk", lambda: x.abs() <= size), 0.0)


def compute_remainder(noise: Arithmetic, func: Any, a: Any, b: Any) -> Any:
    """Fmod and remainder: a - q b without rounding, the integer q of the exact evaluation."""
    y = func(a, b)
    q = noise.decide("quotient", lambda: ((a - y) / b).round())
    return y if noise.exact else a - q * b


def compute_fraction(noise: Arithmetic, func: Any, x: Any) -> Any:
    """Frac."""
    whole = noise.decide("trunc", x.trunc)
    return func(x) if noise.exact else x - whole


SELECTIONS = map_rules(
    (split_mantissa, "frexp"),
    (choose_larger, "maximum minimum fmax fmin"),
    (bound_values, "clamp clamp_min clip"),
    (bound_from_above, "clamp_max"),
    (compute_relu, "relu"),
    (compute_hardtanh, "hardtanh"),
    (compute_absolute, "abs"),
    (find_extreme, "amax amin"),
    (find_maximum, "max min"),
    (order_elements, "sort topk kthvalue mode cummax cummin"),
    (find_median, "median nanmedian"),
    (differentiate_shrink, "hardshrink_backward softshrink_backward"),
    (compute_remainder, "fmod remainder"),
    (compute_fraction, "frac"),
    (find_distinct, "_unique2"),
)
