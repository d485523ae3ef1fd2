"""Cases of adaptive_avg_pool1d: parts that divide it and parts that overlap, one part, more parts than cells."""

from opproof.cases._rows.adaptive_pools import SMOKE as FIRST
from opproof.cases._rows.adaptive_pools import full, laid, long, standard, whole

SMOKE = [FIRST.row(1)]
STANDARD = standard(1)
LAID = laid(1)
ALIGNED = whole(1)
LONG, LONGEST = long(1)
FULL = full(1)
