"""Cases of adaptive_avg_pool3d: parts that divide it and parts that overlap, one part, more parts than cells."""

from opproof.cases._rows.adaptive_pools import SMOKE as FIRST
from opproof.cases._rows.adaptive_pools import full, laid, long, standard, whole

SMOKE = [FIRST.row(3)]
STANDARD = standard(3)
LAID = laid(3)
ALIGNED = whole(3)
LONG, LONGEST = long(3)
FULL = full(3)
