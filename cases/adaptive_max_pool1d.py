"""Cases of adaptive_max_pool1d: parts that divide it and parts that overlap, more parts than cells, ties."""

from opproof.cases._rows.adaptive_pools import SMOKE as FIRST
from opproof.cases._rows.adaptive_pools import TIES, full, laid, long, standard, whole

SMOKE = [FIRST.row(1)]
STANDARD = [*standard(1), *(parts.row(1) for parts in TIES)]
LAID = laid(1)
ALIGNED = whole(1)
LONG, LONGEST = long(1)
FULL = full(1)
