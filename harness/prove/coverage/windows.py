"""Predicates on cases of windows, planes and resizes."""

from __future__ import annotations

from collections.abc import Sequence

from opproof.cases import Case
from opproof.cases._case import Shape
from opproof.harness.prove.coverage.sizes import pair
from opproof.reference_ops import Op


def sides(op: Op, cases: Sequence[Case]) -> tuple[str, ...]:
    """H larger than W and W larger than H, where there are planes."""
    del op
    return ("H > W", "W > H") if any(map(_planes, cases)) else ()


def _planes(case: Case) -> list[Shape]:
    """Height and width of tensors that have them, and of a result whose size is asked for."""
    asked = [pair(v) for n, v in case.params if n in ("size", "output_size")]
    results = [tuple(n for n in v if isinstance(n, int)) for v in asked if len(v) > 1]
    return [*(s[-2:] for s in case.shapes.values() if len(s) > 3), *results]


def uneven(case: Case, op: Op) -> list[str]:
    """H larger than W, W larger than H, where kernels or parameters differ along the two as well."""
    del op
    tuples = [v for _, v in case.params if isinstance(v, tuple) and len(set(v)) > 1]
    if not tuples and len(set(case.shapes.get("weight", ())[-2:])) < 2:
        return []
    planes = _planes(case)
    return [
        name
        for name, met in (("H > W", any(h > w for h, w in planes)), ("W > H", any(h < w for h, w in planes)))
        if met
    ]


def padded(case: Case) -> bool:
    """Padding, and where it has several numbers, not all alike."""
    given = [v for n, v in case.params if n.startswith("pad") and v is not None]
    flat = "x" in case.shapes and len(case.shapes["x"]) == 3 and "padding" in case.kwargs
    return any((len(set(v)) > 1 if isinstance(v, tuple) else v != 0 and flat) for v in given)


def leftover(case: Case, op: Op) -> list[str]:
    """Some stride leaves cells over: (n + 2 p - d (k - 1) - 1) mod s is not 0 where windows lie on n cells."""
    if "output_padding" in op.params:  # how many cells are left over is given
        return [""] if case.kwargs.get("output_padding") else []
    kernel = case.shapes["weight"][2:] if "weight" in case.shapes else pair(case.kwargs.get("kernel_size", 1))
    asked = case.kwargs.get("output_size", case.kwargs.get("size"))
    plane = spread(asked, len(pair(asked))) if asked is not None else case.shapes["x"][2:]
    rows = zip(
        plane, *(spread(v, len(plane)) for v in (kernel, stride(case), case.kwargs.get("padding", 0),
                                                  case.kwargs.get("dilation", 1))), strict=True
    )  # fmt: skip
    return ["" for n, k, s, p, d in rows if s > 1 and (n + 2 * p - d * (k - 1) - 1) % s]


def stride(case: Case) -> object:
    stride = case.kwargs.get("stride")
    return stride if stride is not None else case.kwargs.get("kernel_size", 1) if "kernel_size" in case.kwargs else 1


def spread(value: object, rank: int) -> tuple[int, ...]:
    values = tuple(v for v in pair(value) if isinstance(v, int))
    return values if len(values) == rank else values[:1] * rank


def groups(case: Case) -> bool:
    stride = pair(case.kwargs.get("stride", 1))
    groups = case.kwargs.get("groups", 1)
    odd = any(n % 2 for n in case.shapes["x"][2:])
    return isinstance(groups, int) and groups > 1 and any(s != 1 for s in stride) and odd


def fraction(case: Case) -> bool:
    """Some axis is resized by a factor that is no whole number either way."""
    sizes = pair(case.kwargs["output_size"] if "output_size" in case.kwargs else case.kwargs["size"])
    plane = next(iter(case.shapes.values()))[2:]
    return any(n and m and n % m and m % n for n, m in zip(plane, spread(sizes, len(plane)), strict=True))
