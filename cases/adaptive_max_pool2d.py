"""Cases of adaptive_max_pool2d: parts that divide it and parts that overlap, more parts than cells, ties."""

from opproof.cases._rows.adaptive_pools import SMOKE as FIRST
from opproof.cases._rows.adaptive_pools import TIES, full, laid, long, standard, whole

SMOKE = [FIRST.row(2)]
STANDARD = [*standard(2), *(parts.row(2) for parts in TIES)]
LAID = laid(2)
ALIGNED = whole(2)
LONG, LONGEST = long(2)
FULL = full(2)
