"""Declared f16 and bf16 arithmetic that rounds further than a slope tells: another key is largest, and only then."""

import ml_dtypes
import numpy as np
import pytest
from _ask import judged

BF16 = np.dtype(ml_dtypes.bfloat16)
#: Two scores of a row near -2 * 10^5 differ by 186: in bfloat16 they are one number.
_ROWS = "scaled_dot_product_attention[query=2x4x3x16;key=2x2x37x16;value=2x2x37x16;enable_gqa=true;bf16;"
NEAR = _ROWS + "fill=opposed;seed=2]"
FAR = _ROWS + "fill=wide]"


class Composite:
    """Attention whose scores are stored in bfloat16, as a program of separate kernels has it."""

    name = "composite"

    def __init__(self, declared="storage", largest=np.max):
        self.declared, self.largest = declared, largest

    def compute(self, op, dtype, mode):
        return self.declared

    def forward(self, op, inputs, params):
        q, k, v = (x.astype(np.float32) for x in inputs[:3])
        k, v = (np.repeat(x, q.shape[1] // x.shape[1], axis=1) for x in (k, v))
        scores = (np.matmul(q, np.swapaxes(k, -1, -2)) / np.sqrt(np.float32(q.shape[-1]))).astype(BF16)
        scores = scores.astype(np.float32)
        e = np.exp(-np.abs(scores - self.largest(scores, axis=-1, keepdims=True)))
        shares = (e / e.sum(-1, keepdims=True)).astype(BF16).astype(np.float32)
        return [np.matmul(shares, v).astype(BF16)]


@pytest.mark.parametrize("case", [NEAR, FAR])
def test_what_declared_rounding_decides_is_right(case):
    assert judged(Composite(), case, "forward").verdict == "PASS"


def test_undeclared_it_is_wrong():
    assert judged(Composite(declared=None), NEAR, "forward").verdict == "WRONG_VALUE"


@pytest.mark.parametrize("case", [NEAR, FAR])
def test_a_key_that_no_rounding_makes_the_largest_is_wrong(case):
    assert judged(Composite(largest=np.median), case, "forward").verdict == "WRONG_VALUE"
