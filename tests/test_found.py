"""What leads the pages of backends follows their known failures."""

from __future__ import annotations

import pytest
from _site import DOCS, parts

found = parts["found"]

ROW = {"patterns": ["exp[*;f16*", "exp[x=3;f32]"], "modes": ["forward"], "verdict": "WRONG_VALUE", "units": 90}


def test_a_cause_tells_operators_dtypes_and_the_largest_size():
    r = found.defects.Reproduction(
        "n",
        "A title",
        "",
        (("exp", "forward"), ("log", "gradient")),
        (),
        (),
        "https://github.com/a/b/issues/7",
        "",
        "",
        "",
        "",
    )
    rows = [ROW, {**ROW, "units": 1200, "patterns": ["log[x=3;bf16]"], "modes": ["gradient"]}]
    row = found.cause("torch", r, found.entries(rows))
    assert row == (
        "[A title](../defects/torch.md#n)",
        "`exp`, `log` gradient",
        "f32 f16 bf16",
        "1,200 units; 90 units",
        "[b#7](https://github.com/a/b/issues/7)",
    )


@pytest.mark.parametrize(
    ("row", "size"),
    [
        ({"nonfinite": True, "units": 3}, "not finite"),
        ({"units": 2e7}, "a million units and more"),
        ({"share": 0.5}, "50% of the elements"),
        ({"verdict": "CRASH"}, "crash"),
        ({"operators": ["a"], "verdict": "CRASH", "message": "m"}, "crash"),
        ({"operators": ["a"], "vjp": "f", "arithmetic": "storage"}, "another formula, in storage arithmetic"),
        ({"operators": ["a"], "undefined": "f"}, "undefined elements"),
    ],
)
def test_the_size_of_an_entry(row, size):
    pattern = {} if "operators" in row else {"patterns": ["abs[x=3;f32]"], "verdict": "WRONG_VALUE"}
    (entry,) = found.entries([{**pattern, "modes": ["forward"], **row}])
    assert entry.size == size


@pytest.mark.parametrize("library", sorted(found.defects.LIBRARIES))
def test_the_page_of_a_library_has_its_causes(library):
    page = (DOCS / "reference" / "backends" / f"{library}.md").read_text(encoding="utf-8")
    assert f"\n<!-- built: found {library} -->\n" in page
    built = found.part(library)
    for r in found.defects.reproductions(library):
        assert (f"](../defects/{library}.md#{r.name}) |" in built) is bool(r.ledger), r.name
