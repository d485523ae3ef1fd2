"""Memory that a judge has freed stays its own: given back, each page of it is cleared anew for the next array.

Noisy arithmetic makes and frees arrays of the same sizes all the time. glibc maps one that is larger than 32 MB, or
than a limit that starts at 128 kB and follows what is freed, and gives the end of its heap back; both cost a fault a
page. Measured on 20 operators of numpy, cold: 4.97 ms of CPU a record, so 4.56.
"""

from __future__ import annotations

import ctypes
import sys

#: <malloc.h>
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: So much at the end of the heap is kept; larger arrays are mapped each for itself.
_KEPT, _LARGEST = 1 << 29, 1 << 28


def keep_what_is_freed() -> None:
    """From now on, in this process; nothing where the C library is not glibc."""
    if sys.platform != "linux":
        return
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_MMAP_THRESHOLD, _LARGEST)
        mallopt(_TRIM_THRESHOLD, _KEPT)
