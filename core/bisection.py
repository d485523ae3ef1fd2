"""The one bisection: how near to what is clean something still shows, by a test of numbers between the two."""

from __future__ import annotations

from collections.abc import Callable


def bisect(shows: int, clean: int, test: Callable[[int], bool]) -> int:
    """Return the number nearest to `clean` at which it shows, as far as halving the way from `shows` finds it.

    `test` says of a number between them whether it shows there.
    """
    while abs(clean - shows) > 1:
        middle = (shows + clean) // 2
        if test(middle):
            shows = middle
        else:
            clean = middle
    return shows
