"""The ggml adapter: values, layouts, gradients, what it declines, and how it says that there is no ggml."""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.ggml.graph import Graph
from opproof.backends.ggml.views import ensure_rows
from opproof.core.errors import BackendError
from opproof.core.verdicts import FAILED
from opproof.harness.known_failures.findings import read_built_in
from opproof.harness.known_failures.known import mark
from opproof.harness.run.plan import Selection, make_tasks, select_cases, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits

pytest.importorskip("pywhispercpp", reason="ggml: the wheel of pywhispercpp has the library")

ATTENTION = "scaled_dot_product_attention"
RNG = np.random.default_rng(4)


def normal(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


@pytest.fixture(scope="module")
def ggml():
    from opproof.backends.ggml import create

    return create()


def test_says_which_build_it_is(ggml):
    assert (ggml.name, ggml.device) == ("ggml", "cpu")
    assert ggml.version[0].isdigit()


def test_values_with_and_without_broadcasting(ggml):
    a, b = normal(2, 3, 5), normal(3, 1)
    np.testing.assert_allclose(ggml.forward("mul", [a, b], {})[0], a * b)
    np.testing.assert_allclose(ggml.forward("sub", [b, a], {})[0], b - a)
    np.testing.assert_allclose(ggml.forward("tanh", [a], {})[0], np.tanh(a), rtol=1e-6)


def test_what_lacks_the_first_axis_alone_is_repeated_as_a_whole_by_ggml_itself(ggml):
    """ggml takes a second operand of sizes that divide the first's: two axes as one call that path."""
    a, b, g = normal(3, 2, 4, 5), normal(2, 4, 5), normal(3, 2, 4, 5)
    for small in (b, b[None], normal(2, 1, 5), normal(2, 4, 1)):
        np.testing.assert_array_equal(ggml.forward("add", [a, small], {})[0], a + small)
    np.testing.assert_array_equal(ggml.forward("sub", [a[..., ::-1], b], {})[0], a[..., ::-1] - b)
    da, db = ggml.vjp("mul", [a, b], {}, [g], [True, True])
    np.testing.assert_allclose(da, g * b, rtol=1e-6)
    np.testing.assert_allclose(db, (g * a).sum(0), rtol=1e-5, atol=1e-6)


def test_columns_with_gaps_go_to_the_kernels_that_take_them(ggml):
    """ggml_pad_ext counts columns by their stride: no copy stands before it."""
    x = normal(5, 4).T
    with Graph(ggml._device) as g:
        leaf = g.leaf(x)
        assert ensure_rows(g, leaf, "ggml_pad_ext") is leaf
        assert ensure_rows(g, leaf, "ggml_rms_norm") is not leaf
        g.over = leaf
        assert ensure_rows(g, leaf, "ggml_pad_ext") is not leaf
    y = ggml.forward("pad", [x], {"pad": (1, 1), "mode": "constant", "value": None})[0]
    np.testing.assert_array_equal(y, np.pad(x, ((0, 0), (1, 1))))


def test_cross_entropy_without_reduction_is_a_call_for_each_row(ggml):
    x, target = 90 * normal(5, 7), np.array([0, 6, 3, 3, 1])
    how = {"ignore_index": -100, "label_smoothing": 0.0, "reduction": "none"}
    y = ggml.forward("cross_entropy", [x, target, None], how)[0]
    wide = x.astype(np.float64)
    top = wide.max(1)
    expected = np.log(np.exp(wide - top[:, None]).sum(1)) + top - wide[np.arange(5), target]
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(Unsupported, match="of 33 alone each is a call"):
        ggml.forward("cross_entropy", [normal(33, 7), np.zeros(33, np.int64), None], how)
    x[0, 2] = -np.inf
    with pytest.raises(Unsupported, match="0 times minus infinity"):
        ggml.forward("cross_entropy", [x, target, None], how)


def test_matmul_of_every_rank(ggml):
    for left, right in ((5, (5,)), ((4, 5), (5,)), ((2, 1, 4, 5), (3, 5, 7)), ((2, 4, 5), (5, 7)), ((5,), (3, 5, 2))):
        a, b = normal(*np.atleast_1d(left)), normal(*right)
        y = ggml.forward("matmul", [a, b], {})[0]
        assert y.shape == np.matmul(a, b).shape
        np.testing.assert_allclose(y, a @ b, rtol=1e-4, atol=1e-5)


def test_matmul_over_one_element_whose_transposed_view_has_rows_of_one(ggml):
    a, b = normal(2, 3, 1), normal(2, 1, 5)
    np.testing.assert_allclose(ggml.forward("matmul", [a, b], {})[0], a * b, rtol=1e-6)


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.transpose(0, 1, 3, 2),
        lambda x: x.transpose(3, 2, 1, 0),
        lambda x: x[..., ::2],
        lambda x: x[..., :-1],
        lambda x: x[:, 1:],
        lambda x: np.broadcast_to(x[:1], x.shape),
        lambda x: x[:, ::-1],
    ],
    ids=["transposed", "reversed", "strided", "gapped", "offset", "broadcast", "backwards"],
)
def test_views(ggml, view):
    x = view(normal(2, 3, 4, 6))
    g = normal(*x.shape)
    np.testing.assert_allclose(ggml.forward("relu", [x], {})[0], np.maximum(x, 0))
    np.testing.assert_allclose(ggml.vjp("square", [x], {}, [g], [True])[0], 2 * x * g, rtol=1e-6)


def test_a_strided_leaf_is_a_view_of_the_callers_memory(ggml):
    from opproof.backends.ggml.graph import Graph

    x = normal(4, 6)[:, ::2]
    with Graph(ggml._device) as graph:
        leaf = graph.leaf(x)
        assert graph.sizes(leaf.pointer) == (3, 4, 1, 1)
        assert graph.strides(leaf.pointer)[:2] == (8, 24)
        assert graph.pointer("ggml_get_data", ctypes.c_void_p(leaf.pointer)) == x.ctypes.data
        assert not graph.asks("ggml_is_contiguous", leaf)
        assert graph.type(leaf) == "f32"


def test_gradients_of_two_inputs(ggml):
    a, b, g = normal(3, 4), normal(4, 5), normal(3, 5)
    da, db = ggml.vjp("matmul", [a, b], {}, [g], [True, True])
    np.testing.assert_allclose(da, g @ b.T, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(db, a.T @ g, rtol=1e-5, atol=1e-5)
    assert ggml.vjp("matmul", [a, b], {}, [g], [False, True])[0] is None


def test_the_cotangent_matters(ggml):
    x, g = normal(4, 7), normal(4, 7)
    y = np.exp(x - x.max(-1, keepdims=True))
    y /= y.sum(-1, keepdims=True)
    expected = y * (g - (g * y).sum(-1, keepdims=True))
    np.testing.assert_allclose(ggml.vjp("softmax", [x], {"dim": -1}, [g], [True])[0], expected, rtol=1e-4, atol=1e-6)
    swapped = ggml.vjp("softmax", [x.T], {"dim": 0}, [g.T], [True])[0]
    np.testing.assert_allclose(swapped, expected.T, rtol=1e-4, atol=1e-6)


def test_no_backward_pass_is_declined_in_ggmls_words_and_the_process_lives(ggml):
    before = os.getpid()
    with pytest.raises(Unsupported, match="unsupported unary op for backward pass: TANH"):
        ggml.vjp("tanh", [normal(3)], {}, [normal(3)], [True])
    with pytest.raises(Unsupported, match="write into their input"):
        ggml.vjp("clamp", [normal(3)], {"min": 0.0, "max": 1.0}, [normal(3)], [True])
    assert os.getpid() == before
    assert ggml.forward("tanh", [np.zeros(3, np.float32)], {})[0].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("op", "dtype", "params", "reason"),
    [
        ("softmax", np.float16, {"dim": -1}, "ggml_soft_max on the CPU takes f32, not f16"),
        ("tanh", np.float64, {}, "does not compute in f64"),
        ("elu", np.float32, {"alpha": 2.0}, "alpha = 1 only"),
        ("cast", np.int32, {"to": "f16"}, "casts i32 to f32 alone"),
    ],
)
def test_declines_with_a_reason(ggml, op, dtype, params, reason):
    with pytest.raises(Unsupported, match=reason):
        ggml.forward(op, [normal(2, 3).astype(dtype)], params)


def test_an_integer_of_eight_bits_is_a_byte(ggml):
    x = np.arange(12, dtype=np.int8).reshape(3, 4, 1)
    (y,) = ggml.forward("slice", [x], {"dim": 0, "start": 1, "end": 3, "step": 1})
    assert np.array_equal(y, x[1:3])


def test_a_pool_without_indices_is_judged_by_its_values(ggml):
    how = {"kernel_size": 2, "stride": None, "padding": 0, "dilation": 1, "ceil_mode": False}
    x = normal(2, 3, 8)
    y, indices = ggml.forward("max_pool1d", [x], how)
    assert np.array_equal(y, x.reshape(2, 3, 4, 2).max(-1))
    assert indices is None


@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("space", [(), (3, 2)])
def test_classes_become_rows_of_ones_and_zeros(ggml, reduction, space):
    import torch

    how = {"ignore_index": -100, "label_smoothing": 0.0, "reduction": reduction}
    x, target = normal(4, 5, *space), np.random.default_rng(0).integers(0, 5, (4, *space))
    leaf = torch.from_numpy(x).requires_grad_()
    expected = torch.nn.functional.cross_entropy(leaf, torch.from_numpy(target), reduction=reduction)
    expected.backward()
    np.testing.assert_allclose(ggml.forward("cross_entropy", [x, target, None], how)[0], expected.detach(), rtol=1e-5)
    g = np.ones((), np.float32)
    dx = ggml.vjp("cross_entropy", [x, target, None], how, [g], [True, False, False])[0]
    np.testing.assert_allclose(dx, leaf.grad, rtol=1e-4, atol=1e-6)
    with pytest.raises(Unsupported, match="classes to ignore"):
        ggml.forward("cross_entropy", [x, target, None], {**how, "ignore_index": int(target.flat[0])})


def test_a_causal_attention_is_one_with_a_mask(ggml):
    q, k, v = normal(1, 2, 3, 8), normal(1, 2, 5, 8), normal(1, 2, 5, 8)
    how = {"scale": None, "enable_gqa": False, "softcap": 0.0, "max_bias": 0.0}
    keep = np.tri(3, 5, dtype=np.int64)
    by_mask = ggml.forward(ATTENTION, [q, k, v, None, keep, None], {**how, "is_causal": False})[0]
    np.testing.assert_array_equal(
        ggml.forward(ATTENTION, [q, k, v, None, None, None], {**how, "is_causal": True})[0], by_mask
    )
    keep[1, 0] = 0
    both = ggml.forward(ATTENTION, [q, k, v, None, keep, None], {**how, "is_causal": True})[0]
    assert np.array_equal(both[0, :, [0, 2]], by_mask[0, :, [0, 2]])
    assert not np.array_equal(both[0, :, 1], by_mask[0, :, 1])


def test_supports(ggml):
    assert ggml.supports("tanh", ["f16"], {}) is True
    assert ggml.supports("erf", ["f32"], {}) == "ggml has no erf"


def test_five_axes_are_folded_where_they_lie_so(ggml):
    x = normal(2, 3, 2, 3, 4)
    assert ggml.forward("abs", [x], {})[0].shape == x.shape
    with pytest.raises(Unsupported, match="at most 4 axes"):
        ggml.forward("abs", [x.transpose(1, 0, 2, 3, 4)], {})


def test_inputs_are_not_written(ggml):
    x = normal(3, 4)
    before = x.copy()
    ggml.forward("clamp", [x], {"min": 0.0, "max": 0.1})
    ggml.forward("set_rows", [x, normal(1, 4), np.array([1])], {})
    assert np.array_equal(x, before)


def test_a_write_behind_a_tensor_is_seen(ggml):
    """What ggml writes there it has read behind x: zeros, not by chance the poison that it is written over."""
    x = np.append(normal(36), np.zeros(4, np.float32))[:36].reshape(1, 2, 2, 9)
    with pytest.raises(BackendFailed, match="wrote 4 bytes behind the end of a tensor"):
        ggml.forward(
            "rope",
            [x, np.arange(2)],
            {
                "n_dims": 6, "mode": "neox", "freq_base": 10000.0, "freq_scale": 1.0, "ext_factor": 0.0,
                "attn_factor": 1.0, "beta_fast": 32.0, "beta_slow": 1.0, "n_ctx_orig": 0, "sections": (0, 0, 0, 0),
            },
        )  # fmt: skip


def test_refusals_and_other_aborts_of_a_child_differ():
    from opproof.backends.ggml.probe import find_refusal

    def says(text):
        os.write(2, text.encode())
        os.kill(os.getpid(), signal.SIGABRT)

    said = find_refusal(lambda: says("/x/ggml.c:12: unsupported ggml op for backward pass: NORM\n"))
    assert said == "unsupported ggml op for backward pass: NORM"
    assert find_refusal(lambda: says("/x/ggml.c:12: GGML_ASSERT(ggml_are_same_shape(a, b)) failed\n")) == ""
    assert find_refusal(lambda: None) == ""


def test_wrong_path(monkeypatch, tmp_path):
    from opproof.backends.ggml import create

    monkeypatch.setenv("OPPROOF_GGML", str(tmp_path / "libggml.so"))
    with pytest.raises(BackendError, match=r"^backend ggml: OPPROOF_GGML=.* names no file; give a libggml[^.]*\.$"):
        create()
    monkeypatch.setenv("OPPROOF_GGML", str(tmp_path))
    with pytest.raises(BackendError, match=r"is no ggml with a CPU backend; give a libggml"):
        create()
    text = tmp_path / "libggml.so"
    text.write_text("not a library")
    monkeypatch.setenv("OPPROOF_GGML", str(text))
    with pytest.raises(BackendError, match=r"could not be loaded: "):
        create()
    with pytest.raises(BackendError, match=r"^backend ggml: ggml:/no/such names no file"):
        create("/no/such")


def test_no_library(monkeypatch):
    import opproof.backends.ggml.library as library

    monkeypatch.delenv("OPPROOF_GGML", raising=False)
    monkeypatch.setattr(library.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(BackendError, match=r"^backend ggml needs libggml; pip install [^.]* OPPROOF_GGML [^.]*\.$"):
        library.load_library()


def test_another_build_by_its_folder(monkeypatch, ggml):
    from opproof.backends.ggml import create

    path = ggml._device.library.path
    for asked in (path, next(p for p in Path(path).iterdir() if p.name.startswith("libggml-cpu"))):
        monkeypatch.setenv("OPPROOF_GGML", str(asked))
        assert create().version == ggml.version
        assert create(str(asked)).version == ggml.version


def test_two_builds_of_one_name_are_not_mixed_up(tmp_path, ggml):
    from opproof.backends.ggml import create

    for file in Path(ggml._device.library.path).glob("libg*"):
        shutil.copy(file, tmp_path)
    with pytest.raises(BackendError, match="meets another ggml of the same name; validate each in its own run"):
        create(str(tmp_path))


def test_smoke_fails_nothing_outside_the_ledger():
    selected = Selection(level="smoke")
    known = read_built_in("ggml")
    with Pool(HostLimits(jobs=2, timeout=60.0, memory=2**30)) as pool:
        results = [
            mark(r, known) for r in pool.run(with_known(make_tasks(["ggml"], select_cases(selected), selected), known))
        ]
    failed = [r for r in results if r.verdict in FAILED and not r.known]
    unexpected = [f"{r.verdict} {r.case} {r.mode}: {r.message}" for r in failed]
    assert not unexpected, "\n".join(unexpected[:10])
    passed = {(r.mode, r.op) for r in results if r.verdict == "PASS"}
    assert sum(mode == "forward" for mode, _ in passed) >= 90
    assert sum(mode == "gradient" for mode, _ in passed) >= 35
    assert all(r.message for r in results if r.verdict == "UNSUPPORTED")


def test_what_is_refused_of_one_dtype_is_not_of_another(ggml):
    import ml_dtypes

    a, g = normal(5, 33), normal(5, 17)
    for weights, said in ((np.float16, "OUT_PROD"), (ml_dtypes.bfloat16, "GGML_TYPE_F16"), (np.float16, "OUT_PROD")):
        with pytest.raises(Unsupported, match=said):
            ggml.vjp("matmul", [a, normal(33, 17).astype(weights)], {}, [g], [True, True])
