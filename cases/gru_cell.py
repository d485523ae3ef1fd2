"""Cases of gru_cell: states and inputs of unequal sizes, with biases and without, each tensor laid out in turn."""

from opproof.cases._rows.recurrent_cells import (
    WITHOUT,
    aligned_cells,
    full_cells,
    laid_cells,
    long_cells,
    rows,
    short_cells,
)

_STATES, _GATES = "h", 3

SMOKE, STANDARD = rows(_STATES, _GATES)
STANDARD += ["x=4099x2;h=4099x1;weight_ih=3x2;weight_hh=3x1;bias_ih=3,;bias_hh=3,;fill=growing;f16,bf16"]
LAID = laid_cells(_STATES, _GATES)
ALIGNED = aligned_cells(_STATES, _GATES)
LONG, LONGEST = long_cells(_STATES, _GATES)
SHORT = short_cells(_STATES)
FULL = full_cells(_STATES, _GATES)

PAIRED = [
    "x=5x4;h=5x3;weight_ih=9x4;weight_hh=9x3",
]

__all__ = ["ALIGNED", "FULL", "LAID", "LONG", "LONGEST", "PAIRED", "SHORT", "SMOKE", "STANDARD", "WITHOUT"]
