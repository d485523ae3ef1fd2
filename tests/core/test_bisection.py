"""The bisection ends beside what is clean, wherever it begins, with a test for each halving."""

import pytest

from opproof.core.bisection import bisect


@pytest.mark.parametrize(("shows", "clean"), [(0, 100), (100, 0), (7, 8), (3, 3)])
def test_it_finds_the_last_number_that_shows(shows, clean):
    way = range(shows, clean, 1 if clean > shows else -1)
    for last in way:
        asked = []

        def shows_at(n, last=last, asked=asked):
            asked.append(n)
            return n <= last if clean > shows else n >= last

        assert bisect(shows, clean, shows_at) == last
        assert len(asked) <= max(abs(clean - shows) - 1, 1).bit_length()


def test_of_a_number_that_shows_alone_nothing_is_asked():
    assert bisect(4, 5, pytest.fail) == 4
