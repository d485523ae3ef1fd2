"""Helpers of rows: lengths by level, whole tiles with layouts and dtypes in turn, windows with every attribute."""

import pytest

from opproof.cases import Case
from opproof.cases._rows import backward, fused_norms, gated, losses, reductions, ternary
from opproof.cases._rows.aligned import aligned, aligned_rows
from opproof.cases._rows.elementwise import binary, elementwise
from opproof.cases._rows.long import LENGTHS, lengths
from opproof.cases._rows.windows import WINDOWS, column_attributes, conv_attributes, pool_attributes
from opproof.core.errors import CaseError


def test_lengths_past_65536_are_of_full_level_unless_marked():
    standard, full = lengths("x={n}x2", "!x=3x{n}", "!!x=4x{n}", "x={n},")
    assert [row for row in standard if "65537" in row] == ["x=3x65537;f16", "x=4x65537;f16", "x=65537,;f16"]
    assert [row for row in standard if "131073" in row] == ["x=4x131073;f32"]
    assert full == ["x=65537x2;f16", "x=131073x2;f32", "x=3x131073;f32", "x=131073,;f32"]
    assert all(any(f"x={n}x2" in row for row in (*standard, *full)) for n in LENGTHS)


def test_lengths_take_dtypes_and_an_end():
    assert lengths("x={n},;f64", upto=1025) == (["x=1025,;f64"], [])
    assert lengths("x={m},;y={n},", dtype="f32", upto=4099)[0] == ["x=2050,;y=1025,;f32", "x=8198,;y=4099,;f32"]


def test_tiles_have_layouts_in_turn_and_are_always_in_f16():
    rows = aligned("a=16x16;b=16x16", "a=32x16;b=16x16", "a=16x16;b=16x48;layout=b:gapped")
    assert rows == [
        "a=16x16;b=16x16;f16,f32",
        "a=32x16;b=16x16;f16,bf16;layout=transposed",
        "a=16x16;b=16x48;layout=b:gapped;f16,f32",
    ]
    assert not [row for row in aligned_rows("dim=-1", longest=128) if "x256" in row or "4096" in row]


def test_every_window_fits():
    assert min(min(window.places) for window in WINDOWS) > 0
    for row in (*conv_attributes(2), *pool_attributes(1), *column_attributes("grad")):
        Case.parse(f"op[{row.replace('f16,f32', 'f32').replace('f16,bf16', 'f32')}]")
    assert len(set(conv_attributes(3))) == len(conv_attributes(3))


HELPERS = {
    "elementwise": elementwise,
    "binary": binary,
    "losses": losses.losses,
    "gated": gated.gated,
    "ternary": lambda drop: ternary.ternary(("a", "b", "c"), drop=drop),
    "backward": lambda drop: backward.rows("grad", "y", drop=drop),
    "fused_norms": lambda drop: fused_norms.rows("x={s};weight={n}", drop=drop),
}


@pytest.mark.parametrize("helper", HELPERS)
def test_a_fill_that_is_dropped_is_one_of_the_rows(helper):
    rows = HELPERS[helper]
    assert [r for r in rows(drop=()) if "fill=wide" not in r] == rows(drop=("wide",))
    with pytest.raises(CaseError, match=r"drop='wdie' names a fill that none of these rows has: expected .*wide"):
        rows(drop=("wide", "wdie"))


def test_a_part_that_is_dropped_is_one_of_the_rows():
    assert reductions.one_axis(drop=("fill=wide",)) != reductions.one_axis()
    with pytest.raises(CaseError, match="drop='fill=wdie' is no part of any of these rows"):
        reductions.one_axis(drop=("fill=wdie",))
