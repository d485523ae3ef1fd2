"""The diagnosis names planted defects, and is silent rather than wrong."""

import functools

import numpy as np
import pytest
from _ask import attempted
from _deep import few
from _planted import DEFECTS, Planted, as_true, bits_of, findings

from opproof.backends.numpy import create
from opproof.cases import Case
from opproof.harness.diagnose.diagnosis import diagnose, find_other_patterns

#: Cases a defect.
counts = pytest.mark.parametrize("count", few([3, 5]))


@functools.cache
def measured(count):
    return [f for defect in DEFECTS for f in findings(defect, count)]


@counts
def test_right_in_most_and_wrong_in_few(count):
    found = measured(count)
    told = [f for f in found if not f.scant]
    right = sum(f.right for f in told) / len(told)
    wrong = [f for f in found if not f.right and not f.silent]
    assert len(told) >= 40 * count
    assert right >= 0.93, [(f.defect.name, f.case, f.mode) for f in told if not f.right]
    assert len(wrong) <= 0.02 * len(found), [(f.defect.name, f.case, f.mode, f.sentence) for f in wrong]


@counts
def test_nothing_to_tell_by_is_rare_and_no_excuse_for_a_wrong_sentence(count):
    scant = [f for f in measured(count) if f.scant]
    assert len(scant) <= 0.04 * len(measured(count)), [(f.defect.name, f.case, f.mode) for f in scant]
    assert all(f.silent for f in scant)


@pytest.mark.parametrize(
    ("defect", "case", "mode", "least", "most"),
    [
        ("times 1.37", "exp[x=7x33;f32]", "forward", 231 * 19, 231 * 20),
        ("tf32 inputs", "dot[a=97,;b=97,;f32;fill=positive]", "forward", 10, 12),
        ("last term dropped", "logsumexp[x=9,;dim=0;bf16]", "forward", 0, 10),  # one number of 8 digits
        ("first row wrong", "norm[x=9x97;p=2.0;dim=-1;f32;fill=negative]", "forward", 3, 4),  # one of nine
        ("wrong at negatives", "erf[x=2x99;f32;fill=negative;layout=transposed]", "gradient", 0, 0),  # all of them
        ("offset ignored", "atan[x=0d;bf16;layout=offset]", "gradient", 0, 0),  # NaN
    ],
)
def test_what_an_answer_has_to_tell_a_defect_by(defect, case, mode, least, most):
    chosen = next(d for d in DEFECTS if d.name == defect)
    assert least <= bits_of(chosen, attempted(Planted(chosen), case, mode).judgement) <= most


@pytest.mark.parametrize(
    ("defect", "label", "case", "mode", "so"),
    [
        ("sibling", "constant added", "ceil[x=19,;bf16]", "forward", True),
        ("sibling", "constant added", "ceil[x=5x7;f32;fill=exact]", "forward", False),  # integers among them
        ("plus a half", "other parameter", "fill[x=2x3x5x9;value=2.5;f16;layout=cropped]", "forward", True),
        ("plus a half", "factor", "fill[x=2x3x5x9;value=2.5;f16;layout=cropped]", "forward", False),
        ("over n", "parameter ignored", "kl_div[x=1x1025;target=1x1025;reduction=sum;f32]", "gradient", True),
        ("over n", "parameter ignored", "kl_div[x=5x7;target=5x7;reduction=sum;f32]", "gradient", False),
    ],
)
def test_another_label_is_as_true_only_where_it_gives_the_same_numbers(defect, label, case, mode, so):
    chosen = next(d for d in DEFECTS if d.name == defect)
    assert as_true(chosen, label, Case.parse(case), mode) is so


def test_every_defect_is_recognised_somewhere():
    named = {f.defect.name for f in measured(3) if f.right}
    assert named == {d.name for d in DEFECTS}


def test_a_diagnosis_is_one_sentence():
    assert all("\n" not in f.sentence and len(f.sentence) < 250 for f in measured(3))


class Odd:
    """relu and friends by the numpy backend, changed by a function of the result."""

    def __init__(self, change):
        self.change = change

    def forward(self, op, inputs, params):
        return [self.change(y) for y in create().forward(op, inputs, params)]


def said(text, change):
    made = attempted(Odd(change), text)
    assert made.judgement.verdict == "WRONG_VALUE"
    return diagnose(made.posed, made.answer, made.judgement)


@pytest.mark.parametrize(
    ("case", "change", "sentence"),
    [
        ("relu[x=7x33;f32]", lambda y: 2 * y, "every element of y is 2 × the expected value"),
        ("sum[x=7x33;dim=-1;f32]", lambda y: y / np.float32(33), "1/33 × the expected value (33 is the size of axis 1"),
        ("tanh[x=7x33;bf16]", lambda y: -y, "every element of y has the wrong sign"),
        ("exp[x=5x31;f16]", lambda y: np.where(np.arange(31) >= 28, y + 1, y), "past 28 along axis 1"),
        ("matmul[a=5x7;b=7x5;f32]", lambda y: np.ascontiguousarray(y.T), "y is transposed"),
        # Of every number in order a threshold is told as one, not as the place where it lies.
        ("atan[x=256x256;f16;fill=every]", lambda y: np.where(y > 1.25, np.nan, y), "only the elements where x ≥ 3"),
    ],
)
def test_sentences(case, change, sentence):
    assert sentence in said(case, lambda y: change(y).astype(y.dtype))


class EpsOutside:
    """1 / (√q + eps): the rows of x less their mean or not, by their deviation or their root mean square."""

    def forward(self, op, inputs, params):
        x, *affine = (v if v is None else v.astype(np.float64) for v in inputs)
        centred = x - x.mean(-1, keepdims=True) if op == "layer_norm" else x
        y = centred / (np.sqrt(np.mean(centred**2, -1, keepdims=True)) + params["eps"])
        weight, bias = (*affine, None, None)[:2]
        y = y if weight is None else y * weight
        return [(y if bias is None else y + bias).astype(inputs[0].dtype)]


@pytest.mark.parametrize(
    "text",
    [
        "rms_norm[x=6x11;f32;fill=small]",
        "rms_norm[x=9x33;weight=33,;eps=0.1;bf16]",
        "layer_norm[x=9x33;weight=33,;bias=33,;normalized_shape=(33);eps=0.01;f32]",
        "layer_norm[x=6x11;normalized_shape=(11);f16;fill=small]",
    ],
)
def test_eps_on_the_other_side_of_the_root(text):
    made = attempted(EpsOutside(), text)
    assert made.judgement.verdict == "WRONG_VALUE"
    sentence = diagnose(made.posed, made.answer, made.judgement)
    assert sentence == "eps stands outside the root: 1 / (√q + eps) in place of 1 / √(q + eps)"


def test_all_that_fits_is_told_beside_what_says_most():
    """Of one case; which of them is right, several cases tell."""
    made = attempted(Odd(lambda y: np.where(np.arange(33) >= 32, y + 1, y).astype(y.dtype)), "exp[x=5x33;f32]")
    text = diagnose(made.posed, made.answer, made.judgement)
    assert text == "only the elements past 32 along axis 1 (the last multiple of 4; the last slice) of y are wrong"
    beside = [s for _, s in find_other_patterns(made.posed, made.answer, made.judgement, text)]
    assert text not in beside
    assert {text.replace("4; the last slice", str(n)) for n in (4, 8, 16, 32)} <= set(beside)
    assert "only the elements of the last slice along axis 1 of y are wrong" in beside


def test_noise_without_a_pattern_is_left_alone():
    def change(y):
        return y + np.random.default_rng(1).permutation(y.ravel()).reshape(y.shape)

    assert said("exp[x=7x33;f32]", change) == ""


def test_one_wrong_element_in_the_middle_is_left_alone():
    def change(y):
        y[3, 17] += 1
        return y

    assert said("sin[x=7x33;f32]", change) == ""


def test_the_same_axis_counted_from_the_front_is_no_other_axis():
    """x / norm is subnormal in float16 before the cotangent meets it; dim=1 of a matrix is dim=-1."""

    def vjp(op, inputs, params, cotangents, needs):
        (x,), (g,) = inputs, cotangents
        norm = np.sqrt((x.astype(np.float64) ** 2).sum(1, keepdims=True)).astype(np.float16)
        return [x / norm * g[:, None]]

    backend = Odd(lambda y: y)
    backend.vjp = vjp
    made = attempted(backend, "norm[x=16x4096;dim=-1;f16;layout=transposed;seed=3]", "gradient")
    assert made.judgement.verdict == "WRONG_GRADIENT"
    assert "dim" not in diagnose(made.posed, made.answer, made.judgement)


@pytest.mark.parametrize(
    "text", ["topk[x=7x9;k=3;dim=-1;f64]", "sort[x=7x33;dim=-1;f64]", "split[x=7x33;sizes=(20,13);dim=1;f64]"]
)
def test_operators_with_several_outputs(text):
    """A diagnosis has no complaint of its own about them."""
    backend = Odd(lambda y: y)
    backend.vjp = lambda *call: [None if d is None else d[..., ::-1] * 3 for d in create().vjp(*call)]
    made = attempted(backend, text, "gradient")
    assert made.judgement.verdict == "WRONG_GRADIENT"
    assert isinstance(diagnose(made.posed, made.answer, made.judgement), str)


def _in_the_limit(y, x):
    """Shares, or their logarithms, where an infinity has them all: no number comes of it by any formula in use."""
    rows = np.any(x == np.inf, axis=-1, keepdims=True) & ~np.any(np.isnan(x), axis=-1, keepdims=True)
    return np.where(rows, x == np.inf if np.nanmax(y) > 0 else np.where(x == np.inf, 0, -np.inf), y).astype(y.dtype)


@pytest.mark.parametrize(
    "case", ["softmax[x=25x7;dim=-1;f32;fill=special-rows]", "log_softmax[x=65x3;dim=-1;f32;fill=special]"]
)
def test_rows_with_an_infinity_are_told_from_places_that_happen_to_hold_them(case):
    backend = Odd(lambda y: y)
    backend.forward = lambda op, inputs, params: [_in_the_limit(*create().forward(op, inputs, params), inputs[0])]
    made = attempted(backend, case, "forward")
    said = diagnose(made.posed, made.answer, made.judgement)
    assert said == "only the rows where x is inf of y are wrong"
