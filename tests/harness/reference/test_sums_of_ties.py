"""Sums of few different numbers: one term after term in float32 leans, which is honest; one without a term is not."""

import numpy as np
import pytest
from _ask import judged

from opproof.harness.reference.montecarlo.sums import has_ties, lean_of_products, lean_of_scan, measure_lean


class InTurn:
    """Sums in float32, term after term, without the last `dropped` terms."""

    def __init__(self, dropped=0):
        self.dropped = dropped

    def forward(self, op, inputs, params):
        if op == "matmul":
            return [self.matmul(*inputs)]
        (x,) = inputs
        if op == "cumsum":
            return [np.add.accumulate(x, axis=-1) * np.float32(1 - self.dropped / x.shape[-1])]
        if op == "sum":
            return [self.sum(x)]
        shares = np.exp(x - x.max(-1, keepdims=True))
        return [shares / self.sum(shares)[..., None]]

    def sum(self, x):
        return np.add.accumulate(x, axis=-1)[..., -1 - self.dropped]

    def matmul(self, a, b):
        return self.sum(a[:, None, :] * b.T[None])


CASES = [
    "softmax[x=9x1031;dim=-1;f32;fill=ties]",
    "softmax[x=9x4099;dim=-1;f32;fill=ties]",
    "softmax[x=2x1031;dim=-1;f32;fill=zeros]",
    "sum[x=9x4099;dim=-1;f32;fill=constant]",
    "cumsum[x=9x4099;dim=-1;f32;fill=constant]",
    "matmul[a=3x4099;b=4099x5;f32;fill=constant]",
]


@pytest.mark.parametrize("case", CASES)
def test_a_sum_in_turn_passes_and_one_without_a_few_terms_does_not(case):
    assert judged(InTurn(), case).verdict == "PASS"
    assert judged(InTurn(dropped=8), case).verdict == "WRONG_VALUE"


class SquaresInTurn:
    """A variance in float64 in two passes, squares added term after term, without the last `dropped` of them."""

    def __init__(self, dropped=0):
        self.dropped = dropped

    def forward(self, op, inputs, params):
        x = inputs[0].ravel()
        squares = np.add.accumulate((x - x.mean()) ** 2)[-1 - self.dropped]
        return [np.reshape(squares / (x.size - 1), (1, 1, 1, 1))]


def test_squares_of_numbers_of_few_digits_lean_in_float64():
    """PyTorch's own: 265 roundings off, as the mean's last digits are cut off alike in each sum."""
    text = "var[x=1x1x1x1280;dim=(1,3);keepdim=true;f64;fill=offset;layout=x:transposed]"
    assert judged(SquaresInTurn(), text).verdict == "PASS"
    assert judged(SquaresInTurn(dropped=1), text).verdict == "WRONG_VALUE"


def test_what_few_numbers_are():
    drawn = np.random.default_rng(0)
    assert not has_ties(drawn.standard_normal((3, 1000)))
    assert not has_ties(np.ones((3, 63)))  # too few to lean
    assert not has_ties(np.ones((0, 100)))
    assert has_ties(np.ones((3, 64)))
    assert has_ties(drawn.choice([1.0, 2.0, 3.0], (3, 1000)))
    assert has_ties(np.stack([drawn.standard_normal(1000), np.ones(1000)]))
    often, never = (np.where(np.arange(1000) % 3 == 0, alike, drawn.standard_normal(1000)) for alike in (1.0, 0.0))
    assert has_ties(often[None])
    assert not has_ties(never[None])  # to add 0 rounds nothing


def test_the_lean_is_half_of_what_the_sum_is_off_by():
    rows = np.full((2, 4099), 0.1)
    rows[1] = 0.5  # every partial sum is exact
    exact = rows.sum(-1)
    off = abs(np.add.accumulate(rows.astype("f4"), axis=-1)[:, -1] - exact) * 2**24
    assert off[0] > 100
    assert measure_lean(rows, exact) == pytest.approx(off / 2)
    scan = np.cumsum(rows, axis=-1)
    assert lean_of_scan(rows, scan, 1)[:, -1] == pytest.approx(off / 2)
    assert lean_of_products(rows[:1], np.ones((4099, 1)), exact[:1, None])[0, 0] == pytest.approx(off[0] / 2)


def test_other_numbers_have_no_lean():
    rows = np.random.default_rng(0).standard_normal((2, 4099))
    assert not measure_lean(rows, rows.sum(-1)).any()
    assert lean_of_scan(rows, np.cumsum(rows, -1), 1) == 0.0
    assert lean_of_products(rows, rows.T, rows @ rows.T) == 0.0
