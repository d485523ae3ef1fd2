"""Rows of pools over parts of one, two and three axes: parts that divide these and overlap, more parts than cells."""

from __future__ import annotations

from dataclasses import dataclass

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import lengths
from opproof.cases._rows.row import join

Pair = tuple[int, int]
#: Which of a plane's axes stand for the last one, two or three.
_AXES = {1: (1,), 2: (0, 1), 3: (0, 1, 0)}


@dataclass(frozen=True, slots=True)
class Parts:
    """Batch and channels; a plane, and into how many parts each of its axes is divided; rest of the row."""

    lead: Pair
    plane: Pair
    output_size: Pair | int
    rest: str = ""

    def row(self, rank: int) -> str:
        """The row of a pool over `rank` axes."""
        x = "x".join(map(str, (*self.lead, *(self.plane[axis] for axis in _AXES[rank]))))
        size = self.output_size
        many = size if isinstance(size, int) else tuple(size[axis] for axis in _AXES[rank])
        into = str(many) if isinstance(many, int) else f"({','.join(map(str, many))})" if rank > 1 else str(many[0])
        return join(f"x={x}", f"output_size={into}", self.rest)


SMOKE = Parts((2, 3), (7, 9), (3, 4))
_STANDARD = (
    Parts((2, 3), (9, 11), (2, 3), "fill=heavy;f16"),
    Parts((2, 3), (9, 11), (9, 4), "fill=special-rows"),
    Parts((1, 1), (1, 1), 1),
    Parts((2, 3), (6, 8), (3, 2)),
    Parts((2, 3), (5, 7), 1),
    Parts((2, 3), (7, 5), (2, 5), "layout=transposed"),
    Parts((2, 3), (7, 5), (4, 3), "layout=permuted"),
    Parts((2, 3), (10, 7), (7, 3), "layout=offset"),
    Parts((2, 3), (9, 11), 4, "layout=sliced"),
    Parts((2, 3), (9, 8), (5, 3), "layout=gapped"),
    Parts((3, 4), (6, 5), (4, 2), "layout=broadcast"),
    Parts((2, 3), (3, 4), (5, 7)),
    Parts((2, 3), (1, 9), (1, 4)),
    Parts((2, 3), (7, 5), 3, "fill=wide"),
    Parts((2, 3), (7, 5), 3, "fill=offset;f32,f16"),
    Parts((2, 3), (7, 5), 3, "fill=extreme"),
    Parts((2, 3), (7, 5), 3, "fill=zeros"),
    Parts((2, 3), (7, 5), (3, 4), "fill=negative;layout=transposed"),
    Parts((2, 3), (7, 5), (3, 2), "fill=small;f32,bf16"),
    Parts((2, 5), (4, 4), 3, "fill=special"),
    Parts((0, 3), (5, 5), 2),
    Parts((2, 65), (4, 3), (3, 2)),
    Parts((1, 3), (11, 33), (7, 6)),
    Parts((2, 3), (5, 130), (4, 67)),
)
#: What is the largest: ties, and the next numbers on both sides of one.
TIES = (
    Parts((2, 3), (7, 9), (3, 4), "fill=ties"),
    Parts((2, 3), (7, 9), 2, "fill=edges"),
    Parts((3, 5), (6, 5), (2, 3), "fill=constant"),
    Parts((2, 3), (5, 9), (3, 4), "fill=farther"),
)


def standard(rank: int) -> list[str]:
    """STANDARD rows, of a long sum too."""
    long = Parts((1, 2), (1, 4099), 1, "f16,bf16")
    return [*(parts.row(rank) for parts in _STANDARD), long.row(rank)]


def laid(rank: int) -> list[str]:
    """LAID rows."""
    return [
        Parts((2, 3), (5, 4), (3, 2), "layout=cropped").row(rank),
        Parts((1, 1), (1, 1), 2, "layout=offset").row(rank),
    ]


def whole(rank: int) -> list[str]:
    """ALIGNED rows."""
    sizes = (
        Parts((1, 16), (16, 16), (8, 8)),
        Parts((2, 16), (16, 16), 1),
        Parts((1, 16), (16, 32), (16, 16)),
        Parts((2, 16), (16, 32), (5, 7)),
        Parts((2, 16), (16, 32), 4),
        Parts((1, 32), (16, 16), (3, 8)),
        Parts((1, 16), (16, 64), (4, 16)),
    )
    return aligned(*(parts.row(rank) for parts in sizes))


def long(rank: int) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows: each axis of x, and of y."""
    shape, parts = ["1", "1", *"231"[:rank]], ["1", "2", "1"][:rank]
    found = [([*shape[:axis], "{n}", *shape[axis + 1 :]], parts) for axis in range(2 + rank)]
    found.insert(2, (shape, ["{n}", *parts[1:]]))
    rows = []
    for x, into in found:
        size = f"({','.join(into)})" if rank > 1 else into[0]
        rows.append(f"x={'x'.join(x)};output_size={size}")
    return lengths(*rows)


def full(rank: int) -> list[str]:
    """FULL rows."""
    return [Parts((1, 3), (33, 257), (7, 9)).row(rank), Parts((65537, 1), (2, 3), (1, 2)).row(rank)]
