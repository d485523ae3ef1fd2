"""The list of forms that libraries accept and no operator here has: each is refused, and the list only shrinks."""

import re
from pathlib import Path

import pytest

from opproof.cases import Case
from opproof.core.errors import CaseError
from opproof.harness.reference.valid_case import check_case

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "forms.md"
#: Forms in the list: the number may only fall.
MOST = 16


def listed():
    rows = [line.split(" | ") for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    return [re.fullmatch(r"`(.+)`", row[2]).group(1) for row in rows if row[2].startswith("`")]


def test_every_form_has_a_case_and_a_reason():
    rows = [
        line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith(("| `", "| ONNX", "| TOSA"))
    ]
    assert len(rows) == len(listed()) <= MOST
    assert all(len(row.split(" | ")[3].rstrip(" |")) > 9 for row in rows)


@pytest.mark.parametrize("case", listed())
def test_a_form_of_the_list_cannot_be_computed(case):
    """What can be has an operator by now, and leaves the list."""
    with pytest.raises(CaseError):
        check_case(Case.parse(case))


def test_a_form_that_has_an_operator_does_not_pass_for_missing():
    check_case(Case.parse("take_along_dim[x=2x3x9x5;indices=2x3x4x1;dim=-2;f32]"))
