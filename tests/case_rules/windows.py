"""Predicates on cases of windows, planes and resizes."""

from __future__ import annotations

from collections.abc import Sequence

from case_rules.predicates import to_tuple
from opproof.cases import Case
from opproof.cases._case import Shape
from opproof.reference_ops import Op


def list_side_parts(op: Op, cases: Sequence[Case]) -> tuple[str, ...]:
    """H larger than W and W larger than H, where there are planes."""
    del op
    return ("H > W", "W > H") if any(map(_list_planes, cases)) else ()


def _list_planes(case: Case) -> list[Shape]:
    """Height and width of tensors that have them, and of a result whose size is asked for."""
    asked = [to_tuple(v) for n, v in case.params if n in ("size", "output_size")]
    results = [tuple(n for n in v if isinstance(n, int))[-2:] for v in asked if len(v) > 1]
    return [*(s[-2:] for s in case.shapes.values() if len(s) > 3), *results]


def find_uneven(case: Case, op: Op) -> list[str]:
    """H larger than W, W larger than H, where kernels or parameters differ along the two as well."""
    del op
    tuples = [v for _, v in case.params if isinstance(v, tuple) and len(set(v)) > 1]
    if not tuples and len(set(case.shapes.get("weight", ())[-2:])) < 2:
        return []
    planes = _list_planes(case)
    return [
        name
        for name, met in (("H > W", any(h > w for h, w in planes)), ("W > H", any(h < w for h, w in planes)))
        if met
    ]


def is_padded(case: Case) -> bool:
    """Padding, and where it has several numbers, not all alike."""
    given = [v for n, v in case.params if n.startswith("pad") and v is not None]
    flat = "x" in case.shapes and len(case.shapes["x"]) == 3 and "padding" in case.kwargs
    return any((len(set(v)) > 1 if isinstance(v, tuple) else v != 0 and flat) for v in given)


def find_leftover(case: Case, op: Op) -> list[str]:
    """Some stride leaves cells over: (n + p - d (k - 1) - 1) mod s is not 0 on n cells with p of padding."""
    if "output_padding" in op.params:  # how many cells are left over is given
        return [""] if case.kwargs.get("output_padding") else []
    kernel = case.shapes["weight"][2:] if "weight" in case.shapes else to_tuple(case.kwargs.get("kernel_size", 1))
    asked = case.kwargs.get("output_size", case.kwargs.get("size"))
    plane = to_rank(asked, len(to_tuple(asked))) if asked is not None else case.shapes["x"][2:]
    given = (to_rank(v, len(plane)) for v in (kernel, stride_of(case), case.kwargs.get("dilation", 1)))
    rows = zip(plane, _sum_padding(case, len(plane)), *given, strict=True)
    return ["" for n, p, k, s, d in rows if s > 1 and (n + p - d * (k - 1) - 1) % s]


def _sum_padding(case: Case, rank: int) -> list[int]:
    """Cells of padding of each axis, before and after it together: two numbers an axis name them apart."""
    padding = case.kwargs.get("padding", 0)
    twice = to_rank(padding, 2 * rank) if len(to_tuple(padding)) == 2 * rank else 2 * to_rank(padding, rank)
    return [before + after for before, after in zip(twice[:rank], twice[rank:], strict=True)]


def stride_of(case: Case) -> object:
    stride = case.kwargs.get("stride")
    return stride if stride is not None else case.kwargs.get("kernel_size", 1) if "kernel_size" in case.kwargs else 1


def to_rank(value: object, rank: int) -> tuple[int, ...]:
    values = tuple(v for v in to_tuple(value) if isinstance(v, int))
    return values if len(values) == rank else values[:1] * rank


#: Attributes of windows, as they are when left out.
_USUAL = {"stride": 1, "padding": 0, "dilation": 1, "output_padding": 0}


def _attributes_of_axes(case: Case) -> list[dict[str, int]]:
    """Size of the kernel and the attributes of windows, along each axis."""
    kernel = case.shapes["weight"][2:] if "weight" in case.shapes else to_tuple(case.kwargs.get("kernel_size", 1))
    asked = case.kwargs.get("output_size", case.kwargs.get("size"))
    rank = max(2, len(to_tuple(asked))) if asked is not None else len(case.shapes["x"]) - 2
    values = {name: case.kwargs.get(name, usual) for name, usual in _USUAL.items()}
    spreads = {n: to_rank(v, rank) for n, v in {**values, "stride": stride_of(case), "kernel": kernel}.items()}
    return [{name: value[axis] for name, value in spreads.items()} for axis in range(rank)]


def find_attributes(case: Case, op: Op) -> set[str]:
    """Attributes alone, in pairs on one axis, over a kernel of 1, and unequal along the axes in either order."""
    axes = _attributes_of_axes(case)
    taken = [name for name in _USUAL if name in op.params]
    odd = [{n for n in taken if axis[n] != _USUAL[n]} for axis in axes]
    met = {name for name in taken if set().union(*odd) == {name}}
    for axis, names in zip(axes, odd, strict=True):
        met |= {f"{a} x {b}" for a in names for b in names if a < b}
        met |= {f"kernel of 1 x {name}" for name in names if axis["kernel"] == 1}
    for name in ("kernel", *taken):
        first, last = axes[0][name], axes[-1][name]
        met |= {f"{name} {'rises' if first < last else 'falls'}"} if first != last else set()
    return met


def attribute_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    """What an operator of windows owes: no pool pads a kernel of 1, and output padding needs a stride."""
    taken = [name for name in _USUAL if name in op.params]
    alone = set(taken) - {"output_padding"}
    pools = "pool" in op.name
    single = {f"kernel of 1 x {name}" for name in alone if not (pools and name == "padding")}
    pairs = {f"{a} x {b}" for a in taken for b in taken if a < b}
    planes = max(len(_attributes_of_axes(case)) for case in cases) > 1
    orders = {f"{name} {way}" for name in ("kernel", *alone) for way in ("rises", "falls")} if planes else set()
    return alone | pairs | single | orders


def classify_channels(case: Case, op: Op) -> tuple[str, ...]:
    """Whether the number of channels is odd or even, and to 16, to 32 or above."""
    del op
    n = case.shapes["x"][1]
    size = "to 16" if n <= 16 else "to 32" if n <= 32 else "above 32"
    return (f"{'odd' if n % 2 else 'even'}, {size}",) if n > 1 else ()


def list_channel_parts(op: Op, cases: Sequence[Case]) -> set[str]:
    del op, cases
    return {f"{kind}, {size}" for kind in ("odd", "even") for size in ("to 16", "to 32", "above 32")}


def find_widths(case: Case, op: Op) -> list[str]:
    """Rows narrower than a vector under a kernel, rows much wider, strides that leave no cell uncovered."""
    axes, plane = _attributes_of_axes(case), case.shapes["x"][2:]
    covered = any(axis["stride"] > 1 for axis in axes) and len(find_leftover(case, op)) == 0
    narrow = axes[-1]["kernel"] > 1 and 1 < plane[-1] < 4
    return [n for n, met in (("narrow", narrow), ("wide", plane[-1] > 64), ("all covered", covered)) if met]


def groups(case: Case) -> bool:
    stride = to_tuple(case.kwargs.get("stride", 1))
    groups = case.kwargs.get("groups", 1)
    odd = any(n % 2 for n in case.shapes["x"][2:])
    return isinstance(groups, int) and groups > 1 and any(s != 1 for s in stride) and odd


def has_fraction(case: Case) -> bool:
    """Some axis is resized by a factor that is no integer either way."""
    sizes = to_tuple(case.kwargs["output_size"] if "output_size" in case.kwargs else case.kwargs["size"])
    plane = next(iter(case.shapes.values()))[2:]
    return any(n and m and n % m and m % n for n, m in zip(plane, to_rank(sizes, len(plane)), strict=True))
