"""Cases of geglu_quick: a half through gelu_quick times the other, in one tensor, swapped, and in two."""

from opproof.cases._gated import gated

SMOKE = ["x=7x66", "x=7x66;swapped=true", "x=7x33;gate=7x33"]
STANDARD = gated()
FULL = ["x=2x24578", "x=65537x6;swapped=true"]
