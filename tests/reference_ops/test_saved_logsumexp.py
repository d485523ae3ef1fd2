"""A backward pass may have kept each row's logsumexp alone: what that rounds, the bound allows, and no more."""

import numpy as np

from opproof.cases import Case
from opproof.harness.truth.posed import pose
from opproof.harness.truth.reference import expected_of
from opproof.reference_ops import load
from opproof.reference_ops._attention import recomputed_softmax, softmax
from opproof.vocabulary.modes import Mode

#: Sequence 2 reads block 3 twice: the same key twice, with the largest score of head 2, near -2 * 10^5.
PAGED = (
    "paged_attention[query=3x4x16;key_cache=6x4x2x16;value_cache=6x4x2x16;block_tables=3x3;context_lens=3,;f32;"
    "fill={};seed=1]"
)
VALUE_CACHE = 2  # of the gradients


def scale(fill):
    case = Case.parse(PAGED.format(fill))
    return expected_of(pose(case, load(case.op), Mode.GRADIENT).asked)[VALUE_CACHE].scale


def test_two_equal_shares_are_too_large_together():
    """1/2 + 1/2 is 1 in any order; exp(s - logsumexp) twice is off by what the logsumexp lost, 2^-24 of 2 * 10^5."""
    assert 2e4 < scale("opposed")[3, 1, 1, 1] < 2e6


def test_the_numbers_are_those_of_softmax():
    scores = np.array([[1.0, 2.0, -np.inf], [-np.inf] * 3, [5.0, 5.0, -900.0]])
    np.testing.assert_array_equal(recomputed_softmax(scores), softmax(scores)[0])


def test_where_one_key_has_all_nothing_is_rounded():
    """In `wide` data it is so in most rows: no share's sum may be off by more than a few units."""
    assert np.median(scale("wide")) < 8
