"""Numbers rounded to codes: to which side halves go, and what becomes of those that are too large."""

import numpy as np
import pytest
from test_patterns import Changed, told

QUANTISED = "quantize_linear[x=7x33;scale=1x33;type=i8;f32;fill=halves]"
BYTES = "quantize_linear[x=32x64;scale=1x64;type=u8;f32;fill=halves]"
PRODUCT = (
    "qlinear_conv[x=2x3x7x9;x_scale=0d;x_zero_point=0d;weight=4x3x3x3;weight_scale=0d;weight_zero_point=0d;"
    "y_scale=0d;y_zero_point=0d;bias=4,;padding=1;type=u8;weight_type=i8;f32]"
)


def away(q):
    return np.where(np.abs(q) % 1 == 0.5, np.trunc(q) + np.sign(q), np.rint(q))


def toward(q):
    return np.where(np.abs(q) % 1 == 0.5, np.trunc(q), np.rint(q))


def up(q):
    return np.floor(q + 0.5)


def down(q):
    return np.ceil(q - 0.5)


class Quantises:
    """x / scale as codes of i8 or u8: rounded by a function, then saturated or not."""

    def __init__(self, rounds, ends=True):
        self.rounds, self.ends = rounds, ends

    def forward(self, op, inputs, params):
        x, scale, *_ = (None if v is None else v.astype(np.float64) for v in inputs)
        least, largest = {"i8": (-128, 127), "u8": (0, 255)}[params["type"]]
        q = self.rounds(x / scale)
        return [(np.clip(q, least, largest) if self.ends else q).astype(np.int64).astype(np.uint8)]


HALVES = "y is right but for halves: they are rounded {}, not to even"


@pytest.mark.parametrize(
    ("rounds", "how"), [(away, "away from zero"), (toward, "toward zero"), (up, "up"), (down, "down")]
)
def test_halves_are_told(rounds, how):
    assert told(Quantises(rounds), QUANTISED) == HALVES.format(how)


def test_halves_of_which_none_is_negative_may_go_two_ways():
    assert told(Quantises(away), BYTES) == HALVES.format("away from zero or up")


@pytest.mark.parametrize(
    "rounds",
    [
        np.trunc,
        np.floor,
        lambda q: np.where(np.random.default_rng(1).random(q.shape) < 0.3, away(q), toward(q)),
        lambda q: away(q) + (np.random.default_rng(4).random(q.shape) < 0.1),
        lambda q: np.where(np.abs(np.abs(q) % 1 - 0.5) < 0.2, up(q + 0.2), np.rint(q)),  # near halves too
    ],
    ids=["truncated", "floor", "either way", "others too", "near ones"],
)
@pytest.mark.parametrize("case", [QUANTISED, BYTES])
def test_where_others_than_halves_are_wrong_or_go_either_way_nothing_is_told_of_them(rounds, case):
    assert "halves" not in told(Quantises(rounds), case)


def test_halves_of_a_requantised_product_are_told():
    def change(found, inputs):
        scale, zero = inputs[1].astype(np.float64) * inputs[4] / inputs[6], float(inputs[7])
        x, weight = (inputs[i].astype(np.int64) for i in (0, 3))
        x, weight = x - int(inputs[2]), weight.astype(np.int8).astype(np.int64) - int(inputs[5])
        x = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
        sums = np.einsum("nchwij,ocij->nohw", windows, weight) + inputs[8].reshape(-1, 1, 1)
        return [np.clip(away(sums * scale) + zero, 0, 255).astype(np.uint8)]

    assert told(Changed(change), PRODUCT) == HALVES.format("away from zero")


WRAPPED = "y is wrapped around at 8 bits where it is to be saturated"
TOO_LARGE = [
    "quantize_linear[x=7x33;scale=1x33;type=i8;f16;fill=halves]",
    "quantize_linear[x=7x33;scale=1x33;type=u8;f32;fill=halves]",
]


@pytest.mark.parametrize("case", TOO_LARGE)
def test_codes_that_wrap_around_are_told(case):
    assert told(Quantises(np.rint, ends=False), case) == WRAPPED


@pytest.mark.parametrize("case", TOO_LARGE)
def test_codes_that_are_otherwise_wrong_where_they_end_do_not_wrap_around(case):
    class Others(Quantises):
        def forward(self, op, inputs, params):
            (y,) = super().forward(op, inputs, params)
            ended = np.isin(y, (127, 128) if params["type"] == "i8" else (0, 255))
            return [np.where(ended, np.random.default_rng(2).integers(0, 100, y.shape), y).astype(np.uint8)]

    assert "wrapped" not in told(Others(np.rint), case)
