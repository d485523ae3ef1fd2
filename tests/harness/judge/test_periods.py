"""Answers to cases whose data repeat: whoever confuses rows is found, and one rounding is not counted many times."""

import numpy as np
import pytest
from _ask import attempted, judged
from _deep import few

from opproof.backends.numpy import NumPy
from opproof.core.dtypes import DTYPES
from opproof.harness.judge import periods as judge_periods
from opproof.harness.judge.array_statistics import measure_array
from opproof.harness.judge.bound import compare
from opproof.harness.judge.outputs import Outputs
from opproof.harness.reference import axes
from opproof.harness.reference.expected import expected_of
from opproof.harness.reference.question import Expected

RMS_NORM = "rms_norm[x=70001x4;weight=4,;f32]"
#: Rows: of a power of two, a tile, and neither.
FAR = (1, 3, 16, 48, 120, 256, 384, 2048)
SOFTMAX = "softmax[x=4096x128;dim=-1;f32]"
ADD = "add[a=512x1024;b=512x1024;f32]"
MATMUL = "matmul[a=65541x4;b=4x3;f32]"
HEADS = "query=1x96x16x32;key=1x96x16x32;value=1x96x16x32"
#: One case of every kind that is measured, in the modes that it has.
LARGE = [
    *((RMS_NORM, "forward"), (RMS_NORM, "gradient"), ("argsort[x=256x1025;dim=-1;f32]", "forward")),
    *((ADD, "forward"), (ADD, "gradient"), (SOFTMAX, "forward"), (SOFTMAX, "gradient")),
    *((MATMUL, "forward"), (MATMUL, "gradient"), ("matmul[a=4x4;b=4x65541;f16]", "gradient")),
    *(("conv2d[x=512x2x12x12;weight=3x2x3x3;bias=3,;f32]", mode) for mode in ("forward", "gradient")),
    *((f"scaled_dot_product_attention[{HEADS};f32]", mode) for mode in ("forward", "gradient")),
    *(("sort[x=4096x40;dim=-1;f16]", mode) for mode in ("forward", "gradient")),
    *(("cumsum[x=4096x40;dim=-1;bf16]", mode) for mode in ("forward", "gradient")),
    *(("embedding[weight=9x4;indices=140000,;f32]", mode) for mode in ("forward", "gradient")),
    *(("add[a=4096x64;b=64,;f32]", mode) for mode in ("forward", "gradient")),
    *((f"gelu[x=150000,;f16;fill={fill}]", mode) for fill in ("normal", "extreme", "special") for mode in ("forward",)),
    ("relu[x=300x500;f32;fill=kink]", "gradient"),
    ("bitwise_and[a=300x500;b=300x500;i32]", "forward"),
]


class Changed:
    """The numpy backend, its results changed by a function of them and of the inputs."""

    def __init__(self, change):
        self.honest, self.change = NumPy(), change

    def forward(self, op, inputs, params):
        given = [np.array(y) for y in self.honest.forward(op, inputs, params)]
        return self.change(given, inputs)

    def vjp(self, op, inputs, params, cotangents, needs):
        found = self.honest.vjp(op, inputs, params, cotangents, needs)
        return self.change([None if d is None else np.array(d) for d in found], inputs)


def test_the_cases_repeat_and_an_honest_answer_passes():
    for text, mode in LARGE:
        made = attempted(NumPy(), text, mode)
        assert made.posed.periods is not None, text
        assert made.judgement.verdict == "PASS", (text, mode, made.judgement.message)


def rows(index_of):
    """Rows of the first result that are those of other rows."""

    def change(given, _):
        given[0] = given[0][index_of(np.arange(len(given[0])))]
        return given

    return Changed(change)


def wrong(backend, text, mode="forward"):
    judgement = judged(backend, text, mode)
    assert judgement.verdict == ("WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT"), (text, mode, judgement)
    return judgement


@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_a_row_modulo_2_to_the_16(mode):
    judgement = wrong(rows(lambda i: i % 2**16), RMS_NORM, mode)
    assert judgement.worst.index[0] >= 2**16
    wrong(rows(lambda i: i % 2**16), MATMUL, mode)


@pytest.mark.parametrize("mode", ["forward", "gradient"])
@pytest.mark.parametrize("rows_of_block", [1, 2, 4, 8, 16])
def test_a_block_modulo_128(mode, rows_of_block):
    size = 128 * rows_of_block
    assert wrong(rows(lambda i: i % size), SOFTMAX, mode).worst.index[0] >= size


@pytest.mark.parametrize("mode", ["forward", "gradient"])
@pytest.mark.parametrize(
    "distances",
    few([pytest.param(FAR), pytest.param((*(2**k for k in range(12)), 6, 12, 24, 56, 96, 192, 1000))]),
)
def test_rows_at_any_distance_of_a_power_of_two_or_a_tile(mode, distances):
    for distance in distances:
        wrong(rows(lambda i, d=distance: np.where(i < len(i) - d, i, i - d)), SOFTMAX, mode)
    for distance in (1, 16, 64, 256):
        wrong(rows(lambda i, d=distance: np.where(i < d, i, i - d)), ADD, mode)


def test_the_stride_of_another_tensor():
    def change(given, inputs):
        a, b = inputs
        at = np.minimum(np.arange(512)[:, None] * 1000 + np.arange(1024), b.size - 1)
        return [a + b.reshape(-1)[at]]

    wrong(Changed(change), ADD)

    def transposed(given, inputs):
        a, b = inputs
        return [a + b.T.reshape(b.shape)]

    wrong(Changed(transposed), ADD)


@pytest.mark.parametrize(("text", "tile"), [(MATMUL, 64), (RMS_NORM, 256), (SOFTMAX.replace("4096", "4090"), 16)])
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_the_last_tile_that_is_not_whole(text, tile, mode):
    for value in ("nothing", "the tile before"):

        def change(given, _, value=value):
            y = given[0]
            whole = len(y) // tile * tile
            assert whole < len(y)
            y[whole:] = 0 if value == "nothing" else y[whole - tile : len(y) - tile]
            return given

        count = int(text.partition("=")[2].partition("x")[0])
        assert wrong(Changed(change), text, mode).worst.index[0] >= count // tile * tile


@pytest.mark.parametrize(("text", "mode"), [(RMS_NORM, "forward"), (RMS_NORM, "gradient"), (SOFTMAX, "gradient")])
def test_one_wrong_row_at_the_end(text, mode):
    def change(given, _):
        given[0][-1] *= 1.001
        return given

    judgement = wrong(Changed(change), text, mode)
    assert judgement.worst.index[0] == (70001 if text == RMS_NORM else 4096) - 1
    assert judgement.tensors[0].got.shape == judgement.tensors[0].expected.values.shape


def test_one_wrong_element_anywhere():
    for seed in range(20):
        at = np.random.default_rng(seed).integers(512 * 1024)

        def change(given, _, at=at):
            given[0].reshape(-1)[at] += 0.01
            return given

        judgement = wrong(Changed(change), ADD)
        assert judgement.worst.index == tuple(map(int, np.unravel_index(at, (512, 1024))))


def of_shared(change):
    """The gradient of the second tensor, which all rows share, of data that lack something."""

    class Lacking(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs):
            whole = list(super().vjp(op, inputs, params, cotangents, needs))
            g = np.array(cotangents[0])
            change(g)
            whole[1] = super().vjp(op, inputs, params, [g], needs)[1]
            return whole

    return Lacking()


@pytest.mark.parametrize("text", [RMS_NORM, MATMUL, "add[a=70001x4;b=4,;f32]", "prelu[x=70001x4;weight=4,;f32]"])
def test_sums_over_what_repeats(text):
    def without_rows(g):
        g[-64:] = 0

    def without_the_last(g):
        g[-1] = 0

    def without_a_period(g):
        g[len(g) // 509 * 509 :] = 0

    def one_twice(g):
        g[12345] *= 2

    def modulo(g):
        g[2**16 :] = g[: len(g) - 2**16]

    for change in (without_rows, without_the_last, without_a_period, one_twice, modulo):
        wrong(of_shared(change), text, "gradient")


def test_a_naive_sum_over_what_repeats_is_right():
    """In float32, one row after the other: no order of a sum is further off."""

    class Naive(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs):
            whole = list(super().vjp(op, inputs, params, cotangents, needs))
            g, a = cotangents[0], inputs[0]
            terms = g if op == "add" else a[:, :, None] * g[:, None, :]
            whole[1] = np.add.accumulate(terms, axis=0, dtype=np.float32)[-1].astype(terms.dtype)
            return whole

    for text in ("add[a=140001x4;b=4,;f32]", "matmul[a=140001x4;b=4x3;f32]"):
        for seed in range(4):
            judgement = judged(Naive(), f"{text[:-1]};seed={seed}]", "gradient")
            assert judgement.verdict == "PASS", (text, seed, judgement)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_figures_of_the_whole_are_those_of_one_period(dtype, monkeypatch):
    """A hundred times the rows are no more evidence: of each rounding only one is counted."""
    found = []
    monkeypatch.setattr(axes, "MIN_REPEATED_ELEMENTS", 1000)
    for count in (4, 40, 400):
        made = attempted(NumPy(), f"softmax[x={509 * count}x8;dim=-1;{dtype}]")
        assert [r.period for r in made.posed.periods.repeats] == [509]
        assert made.judgement.verdict == "PASS"
        found.append(made.judgement.figures)
    assert found[0] == found[1] == found[2]


def test_repeats_together_would_raise_false_alarms():
    """Errors that lean to no side have a slope by chance, which a thousand repeats of them make look like none."""
    rng = np.random.default_rng(5)
    found = {1: 0, 1000: 0}
    for _ in range(40):
        values = rng.uniform(1, 2, (4, 8))
        got = values + rng.normal(size=values.shape) * 16 * DTYPES["bf16"].u
        for count in found:
            exact, many = (np.tile(v, (count, 1)) for v in (values, got))
            expected = Expected(exact, np.full(exact.shape, 20.0), stored=3.0, spread=0.0)
            figures = measure_array(many, expected, compare(many, expected, "bf16"), "bf16")
            found[count] += bool(figures.slope)
    assert found[1] == 0
    assert found[1000] > 4


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_rows_truncated_here_and_there(share):
    """Truncation everywhere is seen in one period of rows taken from all over."""

    def change(given, inputs):
        rng = np.random.default_rng(0)
        y = given[0].astype(np.float64)
        exact = 1 / (1 + np.exp(-inputs[0].astype(np.float64)))
        there = rng.random(y.shape) < share
        down = given[0].view(np.uint16) - (given[0].astype(np.float64) > exact)
        given[0] = np.where(there, down.astype(np.uint16).view(given[0].dtype), given[0])
        return given

    judgement = judged(Changed(change), "sigmoid[x=300000,;f16]")
    assert judgement.verdict == ("WRONG_VALUE" if share == 0.5 else "PASS")


def test_repeats_with_other_bits_are_judged_by_the_bound():
    """Half of the rows are off by less than is allowed, as by other instructions at the end of a vector."""

    def change(given, _):
        given[0][1::2] = np.nextafter(given[0][1::2], np.float32(9))
        return given

    assert judged(Changed(change), SOFTMAX).verdict == "PASS"
    assert judged(Changed(change), SOFTMAX, "gradient").verdict == "PASS"


def test_conventions_of_some_rows_are_looked_up():
    """NaN and zeros of other signs, gradients at kinks: what no bound covers is judged as it is in small cases."""

    def other(given, _):
        given[0][100:] = np.where(given[0][100:] == 0, 1.0, given[0][100:])
        return given

    class RightAtKinks(NumPy):
        def vjp(self, op, inputs, params, cotangents, needs):
            there = np.where(np.arange(300)[:, None] < 100, inputs[0] > 0, inputs[0] >= 0)
            return [cotangents[0] * there]

    assert judged(RightAtKinks(), "relu[x=300x500;f32;fill=kink]", "gradient").verdict == "PASS"
    assert wrong(Changed(other), "relu[x=300x500;f32;fill=kink]").verdict == "WRONG_VALUE"


def test_large_cases_are_judged_in_a_small_memory():
    made = attempted(NumPy(), "add[a=2048x2048;b=2048x2048;f32]", judge_memory=2**27)
    assert made.judgement.verdict == "PASS"
    assert made.posed.inputs[0].dtype == np.float32
    judgement = attempted(rows(lambda i: i % 1024), "add[a=2048x2048;b=2048x2048;f32]", judge_memory=2**27).judgement
    assert judgement.verdict == "WRONG_VALUE"
    assert judgement.worst.index[0] >= 1024
    assert "data that repeat" in judgement.message


def test_what_one_period_may_be_is_what_is_expected_of_it():
    """The groups of an answer hold each result once, with the bound of the whole."""
    made = attempted(NumPy(), MATMUL, "gradient")
    groups = judge_periods.group_results(made.posed, Outputs(made.answer.arrays))
    assert [g.members for g in groups] == [(0,), (1,)]
    for group, whole in zip(groups, made.answer.arrays, strict=True):
        (i,) = group.members
        want = judge_periods.repeat_expected(group, i, expected_of(group.question)[i])
        np.testing.assert_allclose(whole, want.values, rtol=1e-3, atol=1e-3)
