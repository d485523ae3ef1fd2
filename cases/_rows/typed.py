"""Rows in the dtypes beside floats: of the rows that an operator has anyway a few, in one or two of these dtypes each.

integers        odd extents, whole tiles, strides, a broadcast layout, nothing at all; the ends of the range, and
                numbers of one digit more than float32 has
float8          odd extents, whole tiles, strides; NaN and infinities
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from opproof.cases._case import RESERVED, Case, Param
from opproof.cases._rows.row import are_dtypes
from opproof.core.dtypes import DTYPES

#: The most elements of a row's tensors together.
_MOST = 2048
_DTYPES = {
    "odd": ("i8", "f8e4m3"),
    "even": ("i32", "f8e5m2"),
    "strided": ("i16", "f8e5m2"),
    "broadcast": ("u8", ""),
    "empty": ("i8", ""),
}
_LEFT_OUT = set(RESERVED) - {"layout"}
_KEPT = {f"fill={fill}" for fill in ("ties", "signs", "zeros", "exact", "constant")}
_FILLS = (("ends", "i8,i32,u8"), ("past-f32", "i32"), ("special", "f8e5m2"))


def typed(kinds: str, *rows: str, ends: bool = True, special: bool = True) -> list[str]:
    """TYPED rows of the `kinds` of numbers (words of Kind), made of `rows`, which the first of is the odd one.

    `ends` and `special` say whether a row of only such numbers could show anything.
    """
    wanted = [name for name, dtype in DTYPES.items() if dtype.kind in kinds.split()]
    found: dict[str, None] = {}
    for place, (whole, float8) in _DTYPES.items():
        for asked, params_fit in ((whole, _has_whole_params), (float8, _is_any)):
            row = next((r for r in _iter_bare(rows) if params_fit(_read(r)) and _PLACES[place](_read(r))), "")
            found.update(dict.fromkeys(_in(row, asked, wanted)))
    first = {
        True: next((r for r in _iter_bare(rows) if _has_whole_params(_read(r))), ""),
        False: next(_iter_bare(rows), ""),
    }
    for (fill, asked), is_wanted in zip(_FILLS, (ends, ends, special), strict=True):
        row = first[fill != "special"]
        found.update(dict.fromkeys(_in(_with_fill(fill, row) if row and is_wanted else "", asked, wanted)))
    found.update(dict.fromkeys(_in(_find_strided_place(rows), "i16,u8", wanted)))
    return list(found)


def _find_strided_place(rows: Iterable[str]) -> str:
    """The first row whose result lies in the memory of a strided tensor: its elements are of 1 byte, and of 2."""
    for row in rows:
        parts = [p for p in row.split(";") if not p.startswith("fill=") and not are_dtypes(p)]
        case = _read(";".join(parts))
        if case.inplace and case.layout != "contiguous" and _has_whole_params(case):
            return ";".join(parts)
    return ""


def _in(row: str, asked: str, wanted: Sequence[str]) -> Iterator[str]:
    dtypes = [d for d in asked.split(",") if d in wanted]
    if row and dtypes:
        yield f"{row};{','.join(dtypes)}"


def _with_fill(fill: str, row: str) -> str:
    return ";".join([*(p for p in row.split(";") if p not in _KEPT), f"fill={fill}"])


def _iter_bare(rows: Iterable[str]) -> Iterator[str]:
    """Small rows without dtypes, destinations and needs, and without fills that draw fractions."""
    for row in rows:
        parts = [p for p in row.split(";") if p.partition("=")[0] not in _LEFT_OUT or p in _KEPT]
        bare = ";".join(p for p in parts if not are_dtypes(p))
        if "@" not in bare and sum(map(math.prod, _read(bare).shapes.values())) <= _MOST:
            yield bare


def _read(row: str) -> Case:
    return Case.parse(f"op[{row};f32]")


def _has_whole_params(case: Case) -> bool:
    def whole(value: Param) -> bool:
        return all(map(whole, value)) if isinstance(value, tuple) else not isinstance(value, float)

    return all(whole(value) for value in case.kwargs.values())


def _is_any(case: Case) -> bool:
    return True


def _has_elements(case: Case) -> bool:
    return all(math.prod(shape) > 0 for shape in case.shapes.values())


#: What a row must be to stand in its place.
_PLACES: dict[str, Callable[[Case], bool]] = {
    "odd": lambda case: _has_elements(case) and case.layout == "contiguous",
    "even": lambda case: _has_elements(case) and any(s and s[-1] % 16 == 0 for s in case.shapes.values()),
    "strided": lambda case: _has_elements(case) and any(w in case.layout for w in ("transposed", "permuted", "sliced")),
    "broadcast": lambda case: _has_elements(case) and "broadcast" in case.layout,
    "empty": lambda case: not _has_elements(case),
}
