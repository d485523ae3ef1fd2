"""Every entry of the table, one test each: `tox -e opinfo`. Not in the ordinary run, whose files begin with test_."""

from __future__ import annotations

import pytest
import torch
from _oracle import NOT_EXPRESSED, outcomes
from _page import counts, summary
from _rows import idle, uncovered
from _table import TABLE

torch.set_num_threads(1)


@pytest.mark.parametrize("entry", sorted(TABLE))
def test_entry_agrees_or_a_row_says_why_not(entry):
    found = list(outcomes(entry, TABLE[entry]))
    assert uncovered(found) == []
    assert idle(entry, found) == []
    assert any(o.kind != NOT_EXPRESSED for o in found), "no sample is expressed: take the entry from the table"
    assert summary(found)["samples"] == counts()[entry]["samples"], "run `python tests/opinfo/_page.py`"
    assert summary(found)["reasons"] == counts()[entry]["reasons"], "run `python tests/opinfo/_page.py`"
