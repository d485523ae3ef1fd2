"""fill=every: each f16 and bf16 number once, one of every stretch of longer dtypes, in parts that make the whole."""

from dataclasses import replace

import numpy as np
import pytest

from opproof.cases import Case
from opproof.cases._fills.exhaustive import draw_every, part_of
from opproof.cases._fills.tensors import draw_tensor
from opproof.core.dtypes import DTYPES
from opproof.core.errors import CaseError
from opproof.core.verdicts import Mode
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load, load_file


def patterns(values, dtype):
    kind = DTYPES[dtype].numpy
    return values.astype(kind).view(f"u{kind.itemsize}").ravel()


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_all_patterns_of_16_bits_are_there(dtype):
    x = draw_every("every", (256, 256), DTYPES[dtype])
    numbers = ~np.isnan(x).ravel()  # NaN is NaN, whatever its payload
    assert np.array_equal(patterns(x, dtype)[numbers], np.arange(65536)[numbers])
    assert np.count_nonzero(~numbers) == {"f16": 2046, "bf16": 254}[dtype]


def test_of_f32_there_is_one_number_of_every_stretch():
    x = draw_every("every", (256, 256), DTYPES["f32"])
    numbers = ~np.isnan(x).ravel()
    assert np.array_equal((patterns(x, "f32") >> 16)[numbers], np.arange(65536)[numbers])
    assert {0.0, 1.0, np.inf, -np.inf} <= set(x[~np.isnan(x)])
    assert 0.9 < np.mean((patterns(x, "f32")[numbers] & 0xFFFF) != 0) < 1  # no bf16 holds them


def test_parts_make_the_whole():
    parts = [draw_every(f"every:{k}/16", (4096,), DTYPES["f16"]) for k in range(1, 17)]
    assert np.array_equal(np.concatenate(parts), draw_every("every", (65536,), DTYPES["f16"]), equal_nan=True)
    second = draw_every("every:2/4096", (2**20,), DTYPES["f32"])
    assert np.array_equal(patterns(second, "f32"), np.arange(2**20, 2**21))


def test_a_seed_changes_the_order_alone():
    x, y = (draw_tensor(Case.parse(f"exp[x=256x256;f16;fill=every;seed={s}]"), "x", (256, 256), None, "variant=0")
            for s in (0, 1))  # fmt: skip
    assert not np.array_equal(x, y, equal_nan=True)
    assert np.array_equal(np.sort(x, axis=None), np.sort(y, axis=None), equal_nan=True)


@pytest.mark.parametrize("fill", ["every:0/4", "every:5/4", "every:", "every:1", "every:a/b"])
def test_a_malformed_part_is_refused(fill):
    with pytest.raises(CaseError, match="expected every or every:K/N"):
        part_of(fill)


def test_gradients_are_asked_for_where_they_are_defined():
    case = Case.parse("log[x=256x256;f16;fill=every]")
    whole, gradient = (
        make_question(case, load("log"), mode).case_data.inputs[0] for mode in (Mode.FORWARD, Mode.GRADIENT)
    )
    assert np.isnan(whole).any()
    assert (whole < 0).any()
    assert (np.isfinite(gradient) & (gradient > 0)).all()
    assert set(gradient.flat) == {v for v in whole.flat if 0 < v < np.inf}


def test_zero_is_left_out_where_the_operator_divides_by_it():
    gradient = make_question(
        Case.parse("reciprocal[x=256x256;f16;fill=every]"), load("reciprocal"), Mode.GRADIENT
    ).case_data
    assert np.isfinite(gradient.inputs[0]).all()
    assert (gradient.inputs[0] != 0).all()


def test_no_cotangent_is_zero():
    """Times a derivative past the largest number it is none, which tells nothing of the derivative."""
    g = make_question(Case.parse("cosh[x=256x256;f16;fill=every]"), load("cosh"), Mode.GRADIENT).case_data.cotangents[0]
    assert (g != 0).all()


CONFINED = '''"""confined: the square root of x - 1, for x above 1."""
import numpy as np

TRAITS = ("pointwise",)
SMOKE = ["x=7x33", "x=256x256;f16;fill=every"]


def domain(shapes, **params):
    return {"x": (1.0, 9.0)}


def forward(x):
    return np.sqrt(x - 1)
'''


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.GRADIENT])
def test_numbers_outside_of_a_domain_are_replaced_unless_they_are_judged_too(tmp_path, mode):
    (tmp_path / "confined.py").write_text(CONFINED, encoding="utf-8")
    op = load_file(tmp_path / "confined.py")
    x = make_question(Case.parse("confined[x=256x256;f16;fill=every]"), op, mode).case_data.inputs[0]
    inside = draw_every("every", (256, 256), DTYPES["f16"])
    assert set(x.flat) == set(inside[(inside > 1) & (inside < 9)].flat)
    beyond = replace(op, facts={**op.facts, "BEYOND": True})
    x = make_question(Case.parse("confined[x=256x256;f16;fill=every]"), beyond, mode).case_data.inputs[0]
    assert bool((x < 1).any()) is (mode is Mode.FORWARD)
