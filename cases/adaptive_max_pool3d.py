"""Cases of adaptive_max_pool3d: parts that divide it and parts that overlap, more parts than cells, ties."""

from opproof.cases._rows.adaptive_pools import SMOKE as FIRST
from opproof.cases._rows.adaptive_pools import TIES, full, laid, long, standard, whole

SMOKE = [FIRST.row(3)]
STANDARD = [*standard(3), *(parts.row(3) for parts in TIES)]
LAID = laid(3)
ALIGNED = whole(3)
LONG, LONGEST = long(3)
FULL = full(3)
