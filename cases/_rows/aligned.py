"""Rows in which every extent that a tile covers is a multiple of 16, 64 or 128: what kernels for tiles can run.

Odd extents send such a kernel to its scalar path, so that rows of odd extents alone never run its main one.
"""

from __future__ import annotations

from itertools import cycle

from opproof.cases._rows.row import join

#: Layouts in turn. Broadcast is one tensor only: of tensors that all repeat, results would be one constant.
_LAYOUTS = ("", "transposed", "sliced", "offset", "FIRST:broadcast", "gapped", "cropped", "permuted")
_DTYPES = ("f16,f32", "f16,bf16")
#: Long rows, at which kernels take another path, one in each dtype at least.
LONG = {"16x1024": "f16,f32", "16x4096": "f16,bf16"}
_EVERY = "f16,f32,bf16"


def aligned(*rows: str) -> list[str]:
    """`rows` with layouts in turn, all in f16, and in f32 and bf16 by turns; a row's own layout or dtypes stay."""
    layouts, dtypes = cycle(_LAYOUTS), cycle(_DTYPES)
    found = []
    for row in rows:
        layout, given = next(layouts).replace("FIRST", row.partition("=")[0]), next(dtypes)
        parts = row.split(";")
        laid = "" if not layout or "layout=" in row else f"layout={layout}"
        found.append(join(row, "" if any(p.startswith(("f16", "f32")) for p in parts) else given, laid))
    return found


def aligned_rows(*rest: str, sixteen: bool = True, longest: int = 4096) -> list[str]:
    """Rows of one tensor `x`, along its last axis; parameter sets `rest` in turn.

    `sixteen=False` leaves bf16 out, where long rows give nearly one value whatever the data; rows end at `longest`.
    """
    turns = cycle(rest or ("",))
    shapes = ("16x64", "64x128", "32x128", "16x256", "2x16x64", "48x64", "2x3x16x32", "32x64", *LONG)
    rows = []
    for shape in shapes:
        if int(shape.rpartition("x")[2]) <= longest:
            given = _EVERY if shape == f"16x{longest}" == "16x1024" else LONG.get(shape, "")
            dtypes = given if sixteen else (given or "f16,f32").replace(",bf16", "")
            rows.append(join(f"x={shape}", next(turns), dtypes))
    return aligned(*rows)


def aligned_pairs(first: str, second: str, *rest: str) -> list[str]:
    """Rows of two tensors of one shape, along the last axis; parameter sets `rest` in turn."""
    turns = cycle(rest or ("",))
    shapes = ("16x64", "64x128", "32x128", "16x256", "2x16x64", "48x64", "2x3x16x32", "32x64")
    rows = [join(f"{first}={s}", f"{second}={s}", next(turns)) for s in shapes]
    long = (join(f"{first}={s}", f"{second}={s}", next(turns), dtypes) for s, dtypes in LONG.items())
    return aligned(*rows, *long)


def aligned_gated(*params: str) -> list[str]:
    """Rows of a gated unit: both halves in one tensor, swapped, and in two."""
    one = aligned_rows("", "swapped=true", longest=1024)
    two = aligned_pairs("x", "gate")[:6]
    turns = cycle(params or ("",))
    return [join(row, next(turns)) for row in (*one, *two)]
