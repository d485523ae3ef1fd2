"""Large cases, judged in slices: the verdicts and units of the whole, one wrong element found, memory bounded."""

import sys
import tracemalloc

import numpy as np
import pytest
from _ask import attempted, judged

from opproof.backends.numpy import NumPy

MIB = 2**20
EXP = "exp[x=40x5000;f32]"
MATMUL = "matmul[a=400x300;b=300x350;{}]"
HEADS = "query=1x8x160x64;key=1x4x160x64;value=1x4x160x64"
ATTENTION = f"scaled_dot_product_attention[{HEADS};is_causal=true;enable_gqa=true;f16]"
#: Case, mode, MiB in which it is judged in slices.
LARGE = [
    (EXP, "forward", 16),
    (EXP, "gradient", 16),
    (MATMUL.format("f32"), "forward", 16),
    (MATMUL.format("f16"), "forward", 16),
    (MATMUL.format("bf16"), "gradient", 64),
    (ATTENTION, "forward", 16),
    (ATTENTION, "gradient", 24),
    ("softmax[x=300x500;dim=-1;f32]", "forward", 16),
    ("softmax[x=500x300;dim=0;f16]", "gradient", 16),
    ("layer_norm[x=300x500;weight=500,;bias=500,;normalized_shape=(500);f32]", "gradient", 32),
    ("mul[a=300x500;b=300x500;f32]", "forward", 16),
    ("linear[x=2x200x300;weight=200x300;bias=200,;f32]", "forward", 16),
    ("conv2d_depthwise[x=2x24x60x50;weight=24x1x3x3;padding=1;f32]", "forward", 16),
]


@pytest.fixture(autouse=True)
def _all_data_drawn(monkeypatch):
    """No data repeat: those of large cases are as different as those of small ones."""
    monkeypatch.setattr("opproof.harness.reference.axes.MIN_REPEATED_ELEMENTS", sys.maxsize)


class Kept:
    """The numpy backend, which computes nothing twice."""

    def __init__(self):
        self.honest, self.known = NumPy(), {}

    def forward(self, op, inputs, params):
        return self._once((op, inputs[0].dtype, inputs[0].tobytes()), lambda: self.honest.forward(op, inputs, params))

    def vjp(self, op, inputs, params, cotangents, needs):
        key = (op, "gradient", inputs[0].dtype, inputs[0].tobytes())
        return self._once(key, lambda: self.honest.vjp(op, inputs, params, cotangents, needs))

    def _once(self, key, compute):
        if key not in self.known:
            self.known[key] = compute()
        return self.known[key]


HONEST = Kept()


class Changed:
    """The numpy backend, the results of every call changed by a function."""

    def __init__(self, change):
        self.change = change

    def forward(self, *call):
        return self.change(HONEST.forward(*call))

    def vjp(self, *call):
        return self.change(HONEST.vjp(*call))


def in_slices(backend, text, mode, memory):
    judgement = judged(backend, text, mode, judge_memory=memory * MIB)
    assert "judged in slices" in judgement.message
    return judgement


@pytest.mark.parametrize(("text", "mode", "memory"), LARGE)
def test_an_honest_answer_passes_with_the_units_of_the_whole(text, mode, memory):
    whole, sliced = judged(HONEST, text, mode), in_slices(HONEST, text, mode, memory)
    assert "slices" not in whole.message
    assert whole.verdict == sliced.verdict == "PASS"
    assert 0.5 < (sliced.units / sliced.limit) / (whole.units / whole.limit) < 4
    assert 0.7 < sliced.figures.rms / whole.figures.rms < 1.4


def planted(seed, share):
    """One element off, and where."""
    places = []

    def plant(arrays):
        rng = np.random.default_rng(seed)
        arrays = [None if a is None else np.array(a) for a in arrays]
        array = arrays[rng.choice([i for i, a in enumerate(arrays) if a is not None])]
        place = tuple(int(rng.integers(n)) for n in array.shape)
        array[place] += np.asarray(share * (1 + abs(float(array[place]))), array.dtype)
        places.append(place)
        return arrays

    return plant, places


@pytest.mark.parametrize(
    ("text", "mode", "memory", "share", "times"),
    [
        (EXP, "forward", 16, 2e-5, 20),
        (MATMUL.format("f32"), "forward", 16, 3e-3, 20),
        (MATMUL.format("f16"), "forward", 16, 2e-2, 20),
        (ATTENTION, "forward", 16, 5e-3, 20),
        (ATTENTION, "gradient", 24, 1e-2, 4),
    ],
)
def test_one_wrong_element_is_found_every_time(text, mode, memory, share, times):
    for seed in range(times):
        plant, places = planted(seed, share)
        judgement = in_slices(Changed(plant), text, mode, memory)
        assert judgement.verdict == ("WRONG_VALUE" if mode == "forward" else "WRONG_GRADIENT")
        assert judgement.worst.index == places[0]


def spoilt(arrays):
    """Element 4321 of the first array is off by much."""
    at = np.arange(arrays[0].size).reshape(arrays[0].shape) == 4321
    with np.errstate(all="ignore"):
        return [np.where(at, arrays[0] / 2 + 1, arrays[0]).astype(arrays[0].dtype)]


@pytest.mark.parametrize("fill", ["mixed", "extreme", "special", "exact", "subnormal", "zeros", "wide"])
@pytest.mark.parametrize("text", ["exp[x=40x5000;f16;fill={}]", "matmul[a=400x300;b=300x350;f32;fill={}]"])
def test_every_fill_has_the_verdict_of_the_whole(text, fill):
    case = text.format(fill)
    for backend in (HONEST, Changed(spoilt)):
        whole, sliced = (judged(backend, case, judge_memory=memory * MIB) for memory in (2**20, 16))
        assert whole.verdict == sliced.verdict
        assert whole.verdict in ("PASS", "VACUOUS", "WRONG_VALUE")
        if whole.verdict == "WRONG_VALUE":
            assert whole.worst.index == sliced.worst.index


@pytest.mark.parametrize(("share", "verdict"), [(6.5, "PASS"), (9, "WRONG_VALUE")])
def test_elements_that_are_nearly_out_have_noise_of_their_own(share, verdict):
    """A hundred at nine tenths of their bound: beyond the least scale that the drawn slices have, and right."""
    case = MATMUL.format("f32")
    right = attempted(HONEST, case).answer.arrays[0].astype(np.float64)
    sizes = np.sqrt(300 * (np.square(right) / 3 + 300 * 1.3**4 / 2)) + np.abs(right)

    def off(arrays):
        at = np.arange(right.size).reshape(right.shape) % 1400 == 7
        return [np.where(at, arrays[0] + share * 2.0**-24 * sizes, arrays[0]).astype(np.float32)]

    whole, sliced = judged(Changed(off), case), in_slices(Changed(off), case, "forward", 16)
    assert whole.verdict == sliced.verdict == verdict
    assert sliced.units > 10


def test_an_error_that_one_row_shares_is_held_against_its_elements_alone():
    """The row is judged because it is the farthest out: that all of it is off says nothing of the others."""
    case = "softmax[x=300x500;dim=-1;f32]"

    def off(units):
        row = np.arange(300)[:, None] == 123
        return Changed(lambda arrays: [np.where(row, a * np.float32(1 + units * 2.0**-24), a) for a in arrays])

    for units, verdict in [(60, "PASS"), (320, "WRONG_VALUE")]:
        whole, sliced = judged(off(units), case), in_slices(off(units), case, "forward", 16)
        assert whole.verdict == sliced.verdict == verdict


WHOLE = {
    "a factor": (lambda a: (a * 1.004).astype(a.dtype), MATMUL.format("f16"), "WRONG_VALUE"),
    "zeros": (np.zeros_like, MATMUL.format("f16"), "WRONG_VALUE"),
    "NaN": (lambda a: np.full_like(a, np.nan), EXP, "WRONG_VALUE"),
    "a row of NaN": (
        lambda a: np.where(np.arange(400)[:, None] == 399, np.nan, a).astype(a.dtype),
        MATMUL.format("f16"),
        "WRONG_VALUE",
    ),
}  # fmt: skip


@pytest.mark.parametrize("defect", WHOLE)
def test_what_is_wrong_with_the_whole_is_seen_in_slices(defect):
    change, case, verdict = WHOLE[defect]
    judgement = in_slices(Changed(lambda arrays: [change(a) for a in arrays]), case, "forward", 16)
    assert judgement.verdict == verdict
    assert judgement.zeros == (defect == "zeros")
    assert bool(judgement.nonfinite) == ("NaN" in defect)


def test_memory_is_bounded():
    """512 x 512 x 512 in 32 MiB: the judge's own arrays, those of the calls aside."""
    case = "matmul[a=512x512;b=512x512;f16]"
    attempted(HONEST, case, judge_memory=32 * MIB)
    tracemalloc.start()
    try:
        attempted(HONEST, case, judge_memory=32 * MIB)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    arrays = 2 * 3 * 512 * 512 * 2 * 3  # of the two questions: in the judge, laid out, and in the arena
    assert most < 32 * MIB + arrays


def test_what_declares_no_slices_says_what_memory_it_needs():
    case = "cumprod[x=400x500;dim=0;f32]"
    judgement = judged(HONEST, case, judge_memory=16 * MIB)
    assert judgement.verdict == "HARNESS_ERROR"
    needed = int(judgement.message.split("give --judge-memory ")[1].split()[0])
    assert 16 < needed < 200
    assert judged(HONEST, case, judge_memory=needed * MIB).verdict == "PASS"


def test_slices_too_large_for_the_memory_say_so():
    judgement = judged(HONEST, ATTENTION, "gradient", judge_memory=MIB)
    assert judgement.verdict == "HARNESS_ERROR"
    assert "--judge-memory is 1; give --judge-memory" in judgement.message


def test_one_slice_does_not_tell_the_scale_of_another():
    """Heads are drawn apart, and a softmax that is nearly 1 rounds to a thousandth of another."""
    from opproof.backends.torch import create

    shapes = "query=2x65535x2x1;key=2x1x2x1;value=2x1x2x1"
    layout = "layout=query:exchanged,key:cropped,value:middle"
    text = f"sliding_window_attention[{shapes};left=15;right=2;f64;{layout}]"
    assert in_slices(create(), text, "gradient", 256).verdict == "PASS"
