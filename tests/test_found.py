"""docs/found.py: what leads the pages of backends follows their ledgers."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parent.parent / "docs"
_SPEC = importlib.util.spec_from_file_location("found", DOCS / "found.py")
assert _SPEC is not None
assert _SPEC.loader is not None
found = importlib.util.module_from_spec(_SPEC)
sys.modules["found"] = found
_SPEC.loader.exec_module(found)

ROW = {"patterns": ["exp[*;f16*", "exp[x=3;f32]"], "modes": ["forward"], "verdict": "WRONG_VALUE", "units": 90}


def test_a_cause_tells_operators_dtypes_and_the_largest_size():
    r = found.upstream.Reproduction(
        "n",
        "A title",
        "",
        (("exp", "forward"), ("log", "gradient")),
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
        "| [A title](../../upstream/torch.md#n) | `exp`, `log` gradient | f32 f16 bf16 | 1,200 units; 90 units "
        "| [b#7](https://github.com/a/b/issues/7) |"
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


def test_a_page_without_marks_says_where_they_belong():
    with pytest.raises(ValueError, match="put them below its title"):
        found.page("torch", "# PyTorch\n")


def test_an_old_part_is_replaced():
    text = f"# PyTorch\n\n{found.BEGIN}\nstale\n{found.END}\n\nrest\n"
    now = found.page("torch", text)
    assert "stale" not in now
    assert now.startswith("# PyTorch\n\n")
    assert now.endswith("\n\nrest\n")
