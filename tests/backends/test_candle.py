"""The adapter of candle: what it covers, its smoke level, how tensors travel, and what of NaN it forgets."""

import re

import numpy as np
import pytest
from _adapters import declared, results, unexpected

pytest.importorskip("candle", reason="the candle adapter needs pip candle-nn")

from opproof.backends import Unsupported
from opproof.backends.candle import create, to_arrays, to_tensors
from opproof.harness.known_failures.findings import read_built_in
from opproof.reference_ops import names


def test_it_covers_50_operators_and_no_other():
    table = create().table
    assert len(table) >= 50
    assert set(table) <= set(names())
    assert declared("candle") <= set(table)
    assert {op for entry in read_built_in("candle") for op in entry.ops} <= set(table)


def test_smoke():
    records = results("candle", "candle", ops=tuple(sorted(create().table)), level="smoke", modes=("forward",))
    assert not unexpected(records)
    assert len({r.op for r in records if r.verdict == "PASS"}) >= 46


def test_tensors_stay_bit_for_bit():
    import candle
    import ml_dtypes

    given = {
        name: np.array([[0.1, -0.0, np.inf], [np.nan, 1e-7, 3]]).astype(name)
        for name in ("float64", "float32", "float16", ml_dtypes.bfloat16.__name__)
    } | {"empty": np.zeros((0, 3), np.float32), "number": np.float32(2).reshape(())}
    found = to_arrays(candle, to_tensors(candle, given))
    for name, array in given.items():
        assert found[name].dtype == array.dtype
        assert (found[name].shape, found[name].tobytes()) == (array.shape, array.tobytes())


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("relu[x=13x32;f32;fill=special]", "relu of NaN is 0"),
        ("amax[x=1x255x2x8;dim=None;keepdim=true;f32;fill=special]", "a comparison with NaN is false"),
        ("silu[x=1x2x1x63;f16;fill=wide]", "1 \\+ exp"),
        ("sum[x=16x4096;dim=-1;f16;layout=transposed]", "added up in 16 bits"),
    ],
)
def test_defects_of_candle_are_found_and_known(case, words):
    (record,) = results("candle", cases=(case,), modes=("forward",))
    assert (record.verdict, record.known) == ("WRONG_VALUE", "")
    (record,) = results("candle", "candle", cases=(case,), modes=("forward",))
    assert re.search(words, record.known)


def test_what_candle_refuses_is_declined_in_its_words():
    with pytest.raises(Unsupported, match=r'^candle: EmptyTensor \{ op: "reduce" \}$'):
        create().forward("amax", [np.zeros((0, 3), np.float32)], {"dim": -1, "keepdim": False})
