"""A backward pass may have kept each row's logsumexp alone: what that rounds, the bound allows, and no more."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends.numpy import NumPy
from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness.reference.expected import evaluate_expected
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load
from opproof.reference_ops._attention import recomputed_softmax, softmax

#: Sequence 2 reads block 3 twice: the same key twice, with the largest score of head 2, near -2 * 10^5.
PAGED = (
    "paged_attention[query=3x4x16;key_cache=6x4x2x16;value_cache=6x4x2x16;block_tables=3x3;context_lens=3,;f32;"
    "fill={};seed=1]"
)
VALUE_CACHE = 2  # of the gradients


def scale(fill):
    case = Case.parse(PAGED.format(fill))
    return evaluate_expected(make_question(case, load(case.op), Mode.GRADIENT).case_data)[VALUE_CACHE].scale


def test_two_equal_shares_are_too_large_together():
    """1/2 + 1/2 is 1 in any order; exp(s - logsumexp) twice is off by what the logsumexp lost, 2^-24 of 2 * 10^5."""
    assert 2e4 < scale("opposed")[3, 1, 1, 1] < 2e6


def test_the_numbers_are_those_of_softmax():
    scores = np.array([[1.0, 2.0, -np.inf], [-np.inf] * 3, [5.0, 5.0, -900.0]])
    np.testing.assert_array_equal(recomputed_softmax(scores, scores + 0)[0], softmax(scores)[0])


class Rescaled(NumPy):
    """Attention's gradient by a saved logsumexp: it was made of scaled scores, and here the keys are scaled."""

    def __init__(self, kept=np.float32):
        self.kept = kept  # what the logsumexp is stored in

    def vjp(self, op, inputs, params, cotangents, needs):
        (q, k, v), (g,) = inputs[:3], cotangents
        keys, values = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
        scale = np.float32(params["scale"] or 1 / np.sqrt(q.shape[-1]))
        scores = q @ np.swapaxes(keys, -1, -2) * scale
        top = np.max(scores, axis=-1, keepdims=True)
        total = np.sum(np.exp(scores - top), axis=-1, keepdims=True)
        y = np.exp(scores - top) @ values / total
        kept = (top + np.log(total)).astype(self.kept).astype(np.float32)
        p = np.exp(q @ np.swapaxes(keys * scale, -1, -2) - kept)
        ds = p * (g @ np.swapaxes(values, -1, -2) - np.sum(g * y, axis=-1, keepdims=True)) * scale
        dk, dv = (np.swapaxes(m, -1, -2) @ x for m, x in ((ds, q), (p, g)))
        dk, dv = (np.sum(np.reshape(x, (*k.shape[:2], -1, *x.shape[2:])), axis=2) for x in (dk, dv))
        return [ds @ keys, dk, dv, None, None, None]


OPPOSED = "scaled_dot_product_attention[query=2x4x3x16;key=2x2x37x16;value=2x2x37x16;enable_gqa=true;f32;fill=opposed]"
PLAIN = "scaled_dot_product_attention[query=2x4x5x9;key=2x2x7x9;value=2x2x7x9;enable_gqa=true;f32]"


@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("case", [OPPOSED, PLAIN], ids=["opposed", "random"])
def test_scores_that_are_rounded_anew(case, seed):
    """In `opposed` data the share of the one key that is seen is 1.03, by scores of 10^5 that round otherwise."""
    assert judged(Rescaled(), f"{case[:-1]};seed={seed}]", "gradient").verdict == "PASS"


def test_a_logsumexp_kept_in_16_bits_is_wrong():
    assert judged(Rescaled(np.float16), PLAIN, "gradient").verdict == "WRONG_GRADIENT"
