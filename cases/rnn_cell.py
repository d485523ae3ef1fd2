"""Cases of rnn_cell: unequal sizes, both functions, with biases and without, each tensor laid out."""

from opproof.cases._rows.recurrent_cells import (
    WITHOUT,
    aligned_cells,
    full_cells,
    laid_cells,
    long_cells,
    rows,
    short_cells,
)
from opproof.cases._rows.row import join

_STATES, _GATES = "h", 1

SMOKE, STANDARD = rows(_STATES, _GATES)
STANDARD += ["x=4099x2;h=4099x1;weight_ih=1x2;weight_hh=1x1;bias_ih=1,;bias_hh=1,;fill=growing;f16,bf16"]
#: Rows in which every tanh is 1, and lets no gradient through.
_SHUT = ("fill=wide", "x=2x97", "fill=growing")
STANDARD = [join(row, "nonlinearity=relu") if any(part in row for part in _SHUT) else row for row in STANDARD]
STANDARD += [
    "x=5x7;h=5x4;weight_ih=4x7;weight_hh=4x4;nonlinearity=relu",
    "x=5x7;h=5x4;weight_ih=4x7;weight_hh=4x4;bias_ih=4,;bias_hh=4,;nonlinearity=relu;layout=transposed",
]
LAID = laid_cells(_STATES, _GATES)
ALIGNED = aligned_cells(_STATES, _GATES)
LONG, LONGEST = long_cells(_STATES, _GATES)
SHORT = short_cells(_STATES)
FULL = full_cells(_STATES, _GATES)

PAIRED = [
    "x=5x4;h=5x3;weight_ih=3x4;weight_hh=3x3",
]

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "PAIRED", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
