"""A diagnosis takes no more memory than there is room for, and the judge goes on."""

import sys

import numpy as np
import pytest

from opproof.harness.diagnose.diagnosis import _try_pattern, with_bounded_memory

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is bounded on Linux alone")


def test_what_is_too_large_is_refused_and_afterwards_not():
    """More than a process may have kept of what it freed; none of it is touched."""
    with with_bounded_memory(2**28), pytest.raises(MemoryError):
        np.empty(2**33, np.uint8)
    assert np.empty(2**33, np.uint8).size == 2**33


def test_a_pattern_that_would_take_more_does_not_fit():
    assert _try_pattern(lambda _: str(np.ones(2**33, np.uint8).sum()), None) is None
    assert _try_pattern(lambda _: "it fits", None) == "it fits"
