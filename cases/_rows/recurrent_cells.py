"""Rows of recurrent cells: a batch of n, inputs of k, states of m, weights of all gates at once."""

from __future__ import annotations

from opproof.cases._rows.aligned import aligned
from opproof.cases._rows.long import Limit, lengths
from opproof.cases._rows.row import join

#: n, k, m, whether there are biases, rest of the row; H stands for the states' names.
_ROWS = (
    (7, 5, 3, True, ""),
    (3, 9, 5, False, "fill=wide"),
    (33, 2, 4, True, ""),
    (4, 65, 7, True, "layout=transposed"),
    (5, 8, 6, True, "layout=sliced"),
    (3, 7, 32, True, "layout=gapped"),
    (5, 6, 3, True, "layout=offset"),
    (4, 3, 5, True, "layout=x:broadcast,H:broadcast"),
    (4, 3, 5, True, "layout=weight_ih:broadcast"),
    (4, 3, 5, True, "layout=weight_hh:broadcast,x:transposed"),
    (4, 3, 5, True, "needs=x,h"),
    (4, 3, 5, True, "needs=weight_hh,bias_ih"),
    (3, 6, 4, True, "fill=zeros"),
    (0, 3, 4, True, ""),
    (2, 97, 3, False, ""),
    (4, 7, 33, True, ""),
)
_STATES = Limit(0, "the weights of a state have as many rows as columns, times the gates")


def _make_row(states: str, gates: int, n: int | str, k: int | str, m: int, biases: bool, rest: str = "") -> str:
    tensors = [f"x={n}x{k}", *(f"{s}={n}x{m}" for s in states.split()), f"weight_ih={gates * m}x{k}"]
    tensors += [f"weight_hh={gates * m}x{m}", *(f"bias_{s}={gates * m}," for s in ("ih", "hh") if biases)]
    laid = rest.replace("H:broadcast", ",".join(f"{s}:broadcast" for s in states.split()))
    return join(*tensors, laid)


def rows(states: str, gates: int) -> tuple[list[str], list[str]]:
    """SMOKE and STANDARD rows."""
    found = [_make_row(states, gates, *row) for row in _ROWS]
    return found[:1], found[1:]


def laid_cells(states: str, gates: int) -> list[str]:
    """LAID rows."""
    return [_make_row(states, gates, 1, 1, 1, True, "layout=offset")]


def aligned_cells(states: str, gates: int) -> list[str]:
    """ALIGNED rows."""
    sizes = ((64, 64, 64), (64, 128, 64), (128, 64, 64), (64, 64, 64), (16, 32, 16), (64, 64, 64), (16, 16, 32))
    few = _make_row(states, gates, 2, 64, 64, True, "f32")  # a batch of which kernels make vectors times matrices
    return [*aligned(*(_make_row(states, gates, n, k, m, True) for n, k, m in sizes)), few]


def long_cells(states: str, gates: int) -> tuple[list[str], list[str]]:
    """LONG and LONGEST rows: of the batch and of the input, of which small numbers in f32, lest all gates are shut."""
    batch, full = lengths("!" + _make_row(states, gates, "{n}", 2, 1, True))
    inputs, full_inputs = lengths("!" + _make_row(states, gates, 2, "{n}", 1, False, "f32"))
    return [*batch, *map(_open_gates, inputs)], [*full, *map(_open_gates, full_inputs)]


def _open_gates(row: str) -> str:
    return join(row, "fill=small") if row.endswith(";f32") else row


def short_cells(states: str) -> dict[str, Limit]:
    """The axes of states, which are not long."""
    axes = [*(f"{s}.1" for s in states.split()), "weight_ih.0", "weight_hh.0", "weight_hh.1", "bias_ih.0", "bias_hh.0"]
    return dict.fromkeys(axes, _STATES)


def full_cells(states: str, gates: int) -> list[str]:
    """FULL rows."""
    return [_make_row(states, gates, 2, 12289, 1, True), _make_row(states, gates, 65537, 2, 1, False)]


WITHOUT = {
    "leading": "it has at most two axes",
    "NaN, inf": "what is special in the weights is so in nearly every result",
    "extreme": "in sums of products size is no special case, and partial sums overflow by their order",
}
