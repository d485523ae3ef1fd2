"""A share is all only where nothing is left."""

import pytest
from mutation.report import Score


@pytest.mark.parametrize(
    ("killed", "survivors", "rate"),
    [(30256, 1, "99.99 %"), (30256, 0, "100.00 %"), (1, 2, "33.33 %"), (0, 0, "0.00 %"), (0, 3, "0.00 %")],
)
def test_a_share_is_rounded_down(killed, survivors, rate):
    assert Score(killed, equivalent=7, survivors=survivors, without_effect=9).rate == rate
