"""Cases that are named by their ids: tried before a run begins, where they are not the registry's own."""

import pytest

from opproof.cases import cases_of
from opproof.core.errors import CaseError
from opproof.harness.reference.valid_case import check_case
from opproof.harness.run import plan
from opproof.harness.run.plan import Selection, select_cases

OWN = [str(case) for case in cases_of("add")]


@pytest.fixture
def tried(monkeypatch):
    """Ids of the cases that are tried."""
    seen, checked = [], check_case
    monkeypatch.setattr(plan, "check_case", lambda case, folders=(): seen.append(str(case)) or checked(case, folders))
    return seen


def test_of_many_the_registrys_own_are_not_tried(tried):
    foreign = "add[a=4x34;b=4x34;f32]"
    named = (*OWN, foreign, "relu[x=4x33;f32]")
    assert len(OWN) > 100
    assert [str(case) for case in select_cases(Selection(cases=named))] == [*named]
    assert tried == [foreign, "relu[x=4x33;f32]"]


def test_few_are_all_tried(tried):
    assert len(select_cases(Selection(cases=tuple(OWN[:3])))) == len(tried) == 3


def test_one_wrong_id_among_many_is_told():
    with pytest.raises(CaseError, match="cannot be computed so"):
        select_cases(Selection(cases=(*OWN, "add[a=4x34;b=5x34;f32]")))
