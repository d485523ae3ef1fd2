"""Truth from PyTorch: exact values, noise as large as that of the references, decisions that no noise flips."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.cases._registry import listed_cases  # noqa: E402
from opproof.core.errors import OpError  # noqa: E402
from opproof.core.tuples import tuple_of  # noqa: E402
from opproof.core.verdicts import Mode  # noqa: E402
from opproof.harness.reference.expected import evaluate_expected  # noqa: E402
from opproof.harness.reference.question import make_question  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth  # noqa: E402
from opproof.reference_ops import load  # noqa: E402

F = torch.nn.functional


def asked(f, *inputs, dtype="f32", needs=True, runs=16, compute=None, dtypes=None):
    def outputs(*tensors):
        return tuple_of(f(*tensors))

    inputs = tuple(np.asarray(x) for x in inputs)
    torch.manual_seed(0)
    ys = [y.detach().numpy() for y in outputs(*(torch.from_numpy(x.copy()) for x in inputs))]
    rng = np.random.default_rng(1)
    gs = tuple(rng.standard_normal(y.shape) if y.dtype.kind == "f" else None for y in ys)
    kinds = tuple(dtype if x.dtype.kind == "f" else "" for x in inputs)
    dtypes = dtypes or tuple(dtype if y.dtype.kind == "f" else "" for y in ys)
    wanted = tuple(needs and k != "" for k in kinds)
    return compute_truth(TorchQuestion(outputs, inputs, wanted, dtypes, kinds, gs if needs else (), compute), runs)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32).astype(np.float64)


#: Operators of every kind of rule, and how far the median may be: closer than the bar of benchmarks/torch_truth.py.
TWINS = """
    softmax layer_norm group_norm matmul conv1d conv_transpose1d gelu sigmoid std cumsum prod logsumexp
    avg_pool1d max_pool1d mean scatter_add upsample_bilinear upsample_bicubic solve_triangular
""".split()


@pytest.mark.parametrize("mode", [Mode.FORWARD, Mode.GRADIENT])
@pytest.mark.parametrize("name", TWINS)
def test_noise_is_as_large_as_that_of_the_reference(name, mode):
    op = load(name)
    case = next(c for c in listed_cases(name, "standard") if c.dtype == "f32" and c.fill == "normal")
    posed = make_question(case, op, mode).case_data
    kinds = tuple("" if x is None or x.dtype.kind != "f" else "f32" for x in posed.inputs)
    dtypes = tuple("f32" if y.dtype.kind == "f" else "" for y in posed.outputs)
    question = TorchQuestion(
        lambda *t: tuple_of(op.torch(torch, *t, **posed.params)),
        posed.inputs,
        posed.needs,
        dtypes,
        kinds,
        posed.cotangents,
    )
    found = compute_truth(question)
    for ours, theirs in zip(
        evaluate_expected(posed), found.outputs if mode is Mode.FORWARD else found.gradients, strict=True
    ):
        if ours is None or ours.exact:
            continue
        np.testing.assert_allclose(theirs.values, ours.values, rtol=1e-9, atol=1e-12)
        counts = (theirs.scale + ours.scale + np.abs(ours.values)) > 0
        ratio = (theirs.scale + np.abs(theirs.values))[counts] / (ours.scale + np.abs(ours.values))[counts]
        assert 1 / 1.5 < np.median(ratio) < 1.5
        assert np.quantile(ratio, 0.01) > 1 / 4
        assert np.quantile(ratio, 0.99) < 4


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x.flip(0)[1:].t().reshape(-1),
        lambda x: torch.relu(x) * 2,
        lambda x: x.sort(-1)[0],
        lambda x: torch.where(x > 0, x, -x),
        lambda x: torch.cat([x.amax(0), x.amin(0)]).clamp(-1, 1),
        lambda x: F.pad(x, (1, 1)).masked_fill(torch.zeros(()).bool(), 3.0),
    ],
)
def test_what_moves_and_selects_rounds_nothing_but_the_input(f):
    found = asked(f, normal(6, 5), needs=False, runs=32)
    scale, size = found.outputs[0].scale, np.abs(found.outputs[0].values)
    assert np.all(scale[size == 0] == 0)
    assert 0.5 < np.median((scale / np.maximum(size, 1e-9))[size > 0]) < 1.4


def test_sums_grow_with_the_root_of_their_terms():
    scales = [float(asked(lambda x: x.sum(), np.ones(n), needs=False, runs=64).outputs[0].scale) for n in (64, 1024)]
    assert scales[1] / 1024 / (scales[0] / 64) == pytest.approx(4, rel=0.4)


def test_noise_flips_no_branch():
    x = np.array([0.0, 1.0, 2.0, 2.0, 1.0])
    found = asked(lambda x: (x.floor(), x.argmax(), (x >= 1).double() * x, x.long()), x, needs=False)
    assert [e.exact for e in found.outputs] == [False, True, False, True]
    assert not found.outputs[0].scale.any()
    assert found.outputs[2].scale[0] == 0
    assert np.all(found.outputs[2].scale < 3 * x + 1e-9)


def test_control_flow_may_depend_on_data():
    def f(x):
        while float(x.abs().max()) > 1:
            x = x / 2
        return x

    assert np.all(asked(f, np.array([4.0, 1.0])).outputs[0].values == [1, 0.25])


def test_in_place_and_views_are_those_of_pytorch():
    def f(x, y):
        z = torch.zeros(4, 3)
        z[1:3] = x
        z[0].add_(y).mul_(3)
        z.view(-1)[-1] = y[0]
        return z

    x, y = normal(2, 3), normal(3, seed=1)
    found = asked(f, x, y)
    z = np.zeros((4, 3))
    z[1:3], z[0], z[3, 2] = x, 3 * y, y[0]
    np.testing.assert_allclose(found.outputs[0].values, z)
    assert found.outputs[0].scale[0].min() > 0
    assert found.outputs[0].scale[3, 0] == 0


def test_random_numbers_are_alike_in_every_run():
    found = asked(lambda x: F.dropout(x, 0.5), np.ones(64))
    values, scale = found.outputs[0].values, found.outputs[0].scale
    assert set(np.unique(values)) == {0.0, 2.0}
    assert np.all(scale[values == 0] == 0)
    assert np.all(scale[values > 0] < 8)
    assert np.all(found.gradients[0].values[values == 0] == 0)


def test_a_tail_in_which_float64_cancels_is_exact():
    x = np.array([-10.0, -8.0])
    exact = [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x]
    found = asked(F.gelu, x)
    np.testing.assert_allclose(found.outputs[0].values, exact, rtol=1e-12)
    assert np.all(found.outputs[0].scale > 1)  # 1 + erf(x) has no digit left of it


def test_a_confident_share_less_one_cancels():
    def f(x):
        return F.cross_entropy(x, torch.tensor([0]), reduction="none")

    gradient = asked(f, np.array([[12.0, 0.0, 0.0]])).gradients[0]
    assert gradient.scale[0, 0] / abs(gradient.values[0, 0]) > 100


def test_narrow_constants_are_promoted_and_their_line_is_named():
    def f(x):
        return x * torch.tensor(0.1) + x.float() * torch.full((1,), 0.5, dtype=torch.float32)

    found = asked(f, np.ones(3))
    assert found.outputs[0].values.tolist() == [0.6, 0.6, 0.6]
    assert len(found.promoted) == 1
    assert "test_torch.py" in found.promoted[0]
    assert "x.float()" in found.promoted[0]
    (hot,) = asked(lambda x: x + F.one_hot(torch.tensor([0, 1, 2])).sum(0) * 0.9, np.ones(3)).promoted
    assert "one_hot" in hot
    assert not asked(
        lambda x: x * torch.tensor(0.5) + torch.tensor(0.1, dtype=x.dtype) + x.new_tensor(0.1), np.ones(3)
    ).promoted


def test_outputs_have_noise_of_their_own_dtype():
    found = asked(lambda x: (x.exp(), x.exp()), normal(64), dtype="bf16", dtypes=("bf16", "f32"), needs=False)
    coarse, fine = found.outputs
    assert np.allclose(coarse.scale * 2**16, fine.scale, rtol=1)
    assert coarse.faithful
    assert not fine.faithful


def test_a_saved_output_was_stored():
    """The backward of exp in bf16 reads y as it is stored; that of x * x reads x, which is exact."""
    saved, not_saved = (asked(f, normal(256), dtype="bf16").gradients[0] for f in (torch.exp, lambda x: x * x))
    assert 0.3 < np.median(saved.scale / np.abs(saved.values)) < 0.8
    assert np.median(not_saved.scale / np.abs(not_saved.values)) < 0.01


def test_storage_may_be_declared():
    plain, stored = (
        asked(lambda x: (x + 1) * 3, normal(64), dtype="bf16", compute=c, needs=False) for c in (None, "storage")
    )
    assert np.median(stored.outputs[0].scale) > 100 * np.median(plain.outputs[0].scale)


def test_an_operation_without_a_rule_is_refused_by_name():
    with pytest.raises(OpError, match=r"aten\.geqrf"):
        asked(lambda x: torch.geqrf(x)[0], np.eye(3), needs=False)


def test_infinities_and_masks_are_no_noise():
    mask = np.where(np.tri(5) > 0, 0.0, -np.inf)
    found = asked(lambda x: torch.softmax(x + torch.from_numpy(mask), -1), normal(5, 5))
    assert found.outputs[0].scale[0, 0] < 4
    assert np.all(found.outputs[0].scale[np.triu_indices(5, 1)] == 0)
    assert found.outputs[0].scale[4].min() > 0
