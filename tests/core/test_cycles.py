"""The collector of cycles stands still where it is told to, and is as it was afterwards."""

import gc

import pytest

from opproof.core.system import uncollected


@pytest.fixture
def thresholds():
    before = gc.get_threshold()
    yield before
    gc.set_threshold(*before)
    gc.enable()
    gc.unfreeze()


def collections(make):
    """How many there are while `make` runs."""
    seen = []
    gc.callbacks.append(lambda phase, _: seen.append(phase))
    make()
    gc.callbacks.pop()
    return len(seen)


def lists():
    return [[] for _ in range(10 * gc.get_threshold()[1] * 1000)]


def test_nothing_is_collected_meanwhile(thresholds):
    def within():
        with uncollected(), uncollected():
            lists()

    assert collections(lists)
    assert not collections(within)
    assert gc.get_threshold() == thresholds


def test_also_after_an_exception(thresholds):
    with pytest.raises(KeyError, match="as it was"), uncollected():
        raise KeyError("as it was")
    assert gc.get_threshold() == thresholds


def test_what_stays_is_not_looked_through_again(thresholds):
    with uncollected(kept=True):
        kept = [[] for _ in range(1000)]
    assert gc.get_freeze_count() >= len(kept)


def test_who_switches_it_off_meanwhile_has_it_off(thresholds):
    """A backend, as it is loaded."""
    with uncollected(kept=True):
        gc.disable()
    assert not gc.isenabled()


def test_who_sets_thresholds_meanwhile_has_them(thresholds):
    with uncollected(kept=True):
        gc.set_threshold(12345, 6, 7)
    assert gc.get_threshold() == (12345, 6, 7)
