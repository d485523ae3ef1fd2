"""Rules of operations that PyTorch has as one: values against PyTorch's own, and where the noise enters."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from opproof.harness.reference.torch.arithmetic import Arithmetic, BranchTape  # noqa: E402
from opproof.harness.reference.torch.evaluate import TorchQuestion, compute_truth, evaluate_question  # noqa: E402

F = torch.nn.functional


def question(f, *inputs, seed=1):
    arrays = tuple(np.asarray(x) for x in inputs)
    y = f(*(torch.from_numpy(np.array(x)) for x in arrays)).detach().numpy()
    kinds = tuple("f32" if x.dtype.kind == "f" else "" for x in arrays)
    g = np.random.default_rng(seed).standard_normal(y.shape)
    return TorchQuestion(lambda *t: (f(*t),), arrays, tuple(map(bool, kinds)), ("f32",), kinds, (g,))


def meets_autograd(f, *inputs):
    """Values and gradients of the rules are those of PyTorch, and the noise is there."""
    asked = question(f, *inputs)
    found = evaluate_question(Arithmetic(torch, BranchTape()), asked, 0.0)
    leaves = [torch.from_numpy(np.array(x)).requires_grad_(n) for x, n in zip(asked.inputs, asked.needs, strict=True)]
    y = f(*leaves)
    wanted = [x for x in leaves if x.requires_grad]
    own = [y, *torch.autograd.grad(y, wanted, torch.from_numpy(asked.cotangents[0]), materialize_grads=True)]
    for mine, theirs in zip((v for v in found if v is not None), own, strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-9, atol=1e-11)
    known = compute_truth(asked, runs=2)
    for e in (*known.outputs, *(d for d in known.gradients if d is not None)):
        assert np.all(np.isfinite(e.scale))
        assert e.scale.any() == bool(e.values.any())
    return known


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


WAYS = list(itertools.product(("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)))


@pytest.mark.parametrize(("mode", "padding_mode", "align_corners"), WAYS)
def test_samples_of_a_plane(mode, padding_mode, align_corners):
    def f(x, grid):
        return F.grid_sample(x, grid, mode, padding_mode, align_corners)

    meets_autograd(f, normal(2, 3, 5, 7), 1.3 * normal(2, 4, 3, 2, seed=1))


@pytest.mark.parametrize("padding_mode", ["zeros", "border", "reflection"])
def test_samples_of_a_volume(padding_mode):
    def f(x, grid):
        return F.grid_sample(x, grid, "bilinear", padding_mode, False)

    meets_autograd(f, normal(2, 2, 3, 4, 5), 1.3 * normal(2, 2, 3, 2, 3, seed=1))


@pytest.mark.parametrize("padding_idx", [None, 2])
@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_of_embeddings(mode, padding_idx):
    indices, offsets = np.array([1, 2, 4, 2, 3, 1, 1, 0]), np.array([0, 3, 3, 7])

    def f(weight, indices, offsets):
        return F.embedding_bag(indices, weight, offsets, mode=mode, padding_idx=padding_idx)

    known = meets_autograd(f, normal(6, 5), indices, offsets)
    assert known.gradients[1] is None


def test_weighted_bags():
    def f(weight, indices, shares):
        return F.embedding_bag(indices, weight, per_sample_weights=shares, mode="sum")

    meets_autograd(f, normal(6, 5), np.array([[1, 2, 4], [5, 1, 1]]), normal(2, 3, seed=2))


@pytest.mark.parametrize(
    "f",
    [
        torch.linalg.inv,
        torch.linalg.det,
        lambda a: torch.linalg.slogdet(a)[1],
        lambda a: torch.linalg.cholesky(a @ a.mT),
        torch.linalg.matrix_exp,
        torch.linalg.pinv,
    ],
)
def test_functions_of_a_matrix(f):
    meets_autograd(f, normal(2, 5, 5) + 2 * np.eye(5))


def test_least_squares():
    meets_autograd(lambda a, b: torch.linalg.lstsq(a, b).solution, normal(2, 7, 3), normal(2, 7, 2, seed=1))


@pytest.mark.parametrize("f", [F.hardshrink, F.softshrink])
def test_shrunk(f):
    meets_autograd(f, np.append(normal(40), [0.5, -0.5, 0.0]))


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_nearest_neighbours_by_their_centres(axes):
    meets_autograd(lambda x: F.interpolate(x, scale_factor=1.7, mode="nearest-exact"), normal(2, 3, *(5, 7, 4)[:axes]))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("size", [(3, 4), (9, 11), (1, 6)])
def test_antialiased_planes(mode, align, size):
    def f(x):
        return F.interpolate(x, size=size, mode=mode, align_corners=align, antialias=True)

    known = meets_autograd(f, normal(1, 2, 7, 6))
    found = known.outputs[0]
    assert np.all(found.scale < 1e3), "the weights under noise are not PyTorch's"


def test_parts_of_numbers():
    known = meets_autograd(lambda x: torch.frexp(x)[0] * 3.1, normal(4, 5))
    assert np.all(known.outputs[0].scale <= 8 * np.abs(known.outputs[0].values))


def matrix(*shape):
    return normal(*shape) + 2 * np.eye(shape[-1])


@pytest.mark.parametrize(
    "f",
    [
        torch.linalg.svdvals,
        lambda a: torch.linalg.eigvalsh(a + a.mT),
        lambda a: torch.linalg.matrix_norm(a, "nuc"),
        lambda a: torch.linalg.qr(a)[1],
        lambda a: torch.linalg.lu(a)[2],
        lambda a: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), a.mT),
        lambda a: torch.cholesky_solve(a, torch.linalg.cholesky(a @ a.mT)),
    ],
)
def test_decompositions(f):
    meets_autograd(f, matrix(2, 5, 5))


def test_what_hangs_on_the_sign_of_a_vector_has_a_scale_as_large_as_itself():
    found = compute_truth(question(lambda a: torch.linalg.svd(a)[0], matrix(5, 5)), runs=64).outputs[0]
    assert np.median(found.scale / np.abs(found.values)) > 1e3


SCALARS = [
    lambda x: x.amax(),
    lambda x: x.amax(0),
    lambda x: x.max(),
    lambda x: x.logsumexp(0),
    lambda x: torch.zeros(()).double().index_reduce(0, torch.tensor([0]), x, "amax", include_self=False),
]


@pytest.mark.filterwarnings("ignore:index_reduce")  # which is in beta
@pytest.mark.parametrize("f", SCALARS)
def test_of_a_scalar(f):
    meets_autograd(f, np.asarray(0.7))


@pytest.mark.parametrize("order", [3, 5.0, 0.5])
def test_norms_of_other_orders(order):
    meets_autograd(lambda x: torch.linalg.vector_norm(x, order, -1), normal(4, 7))


@pytest.mark.parametrize("p", [0.0, 1.0, 2.0, 3.0])
def test_distances(p):
    meets_autograd(lambda a, b: torch.cdist(a, b, p), normal(5, 3), normal(4, 3, seed=1))


def test_products_of_three_and_of_batches():
    meets_autograd(F.bilinear, normal(4, 3), normal(4, 5, seed=1), normal(2, 3, 5, seed=2), normal(2, seed=3))
    meets_autograd(
        lambda c, a, b: torch.addbmm(c, a, b, beta=0.5, alpha=2.0),
        normal(4, 6), normal(3, 4, 5, seed=1), normal(3, 5, 6, seed=2),
    )  # fmt: skip
    meets_autograd(lambda a, b: torch.addr(torch.full((3, 4), torch.nan), a, b, beta=0), normal(3), normal(4, seed=1))


def test_places_in_the_whole_tensor():
    at = np.array([[1, 7], [7, 30]])
    meets_autograd(torch.take, normal(5, 7), at)
    meets_autograd(lambda x, v: x.put(torch.from_numpy(at), v, accumulate=True), normal(5, 7), normal(2, 2, seed=1))
    mask = torch.from_numpy(normal(5, 7, seed=2) > 0)
    meets_autograd(lambda x, v: x.masked_scatter(mask, v), normal(5, 7), normal(35, seed=1))
    part = torch.from_numpy(np.array([[0, 3], [4, 0]]))
    meets_autograd(lambda x, v: x.scatter_reduce(0, part, v, "amax"), normal(5, 7), normal(2, 2, seed=1))


def test_linear_systems():
    meets_autograd(torch.linalg.solve, normal(2, 5, 5) + 2 * np.eye(5), normal(2, 5, 3, seed=1))


def test_an_ill_conditioned_matrix_has_the_roundoff_of_its_condition():
    a = normal(4, 4) + 2 * np.eye(4)
    flat = a.copy()
    flat[:, 0] = flat[:, 1] + 1e-4 * normal(4, seed=5)
    small, large = (compute_truth(question(torch.linalg.inv, m)).outputs[0] for m in (a, flat))
    share = [float(np.max(e.scale) / np.max(np.abs(e.values))) for e in (small, large)]
    assert share[0] < 10
    assert share[1] > 1e3


def test_adding_zero_rounds_nothing():
    """Autograd adds the gradients of overlapping slices, zeros among them, as whole tensors."""

    def slices(x):
        return torch.cat([x[i : i + 1] for i in range(16)])

    x = normal(16, seed=3)
    found = compute_truth(question(slices, x), runs=64).gradients[0]
    assert np.all(found.scale < 1.5 * np.abs(found.values))
    added = compute_truth(question(lambda x: torch.cat([x, x]), x), runs=64).gradients[0]
    assert np.median(added.scale / np.abs(added.values)) > 1.2


def test_the_parts_of_a_complex_product_round_apart():
    """One part cancels, as that of a number turned by its own angle; the other's roundoff is no smaller."""

    def turned(x):
        z = torch.view_as_complex(x)
        return torch.view_as_real(z * torch.polar(torch.ones(()).double(), -z.angle().detach()))

    x = np.array([[3.0, 4.0], [1e-6, 1.0], [1.0, 0.0]])
    scale = compute_truth(question(turned, x), runs=64).outputs[0].scale
    assert scale[0, 1] > 1
    assert scale[1, 0] > 0.5
    assert scale[2, 1] < 1e-6


SEGMENTS = np.array([0, 0, 0, 1, 1, 3, 3, 3, 3, 5])


@pytest.mark.filterwarnings("ignore:index_reduce")  # which is in beta
@pytest.mark.parametrize("include_self", [True, False])
@pytest.mark.parametrize("reduce", ["sum", "mean", "prod", "amax", "amin"])
def test_reductions_by_index(reduce, include_self):
    places = torch.from_numpy(SEGMENTS)

    def scattered(x, values):
        index = places[:, None].expand(-1, 4)
        return x.scatter_reduce(0, index, values, reduce, include_self=include_self)

    known = meets_autograd(scattered, normal(6, 4), normal(10, 4, seed=1))
    y = known.outputs[0]
    assert np.all(y.scale[[2, 4]] <= 4 * np.abs(y.values[[2, 4]])), "what no index names is stored, no more"

    if reduce != "sum":

        def by_rows(x, values):
            return x.index_reduce(0, places, values, reduce, include_self=include_self)

        meets_autograd(by_rows, normal(6, 4), normal(10, 4, seed=1))


def test_extremes_by_index_have_the_noise_of_what_they_choose():
    index = torch.from_numpy(SEGMENTS)

    def f(x):
        return torch.full((6,), -torch.inf, dtype=x.dtype).scatter_reduce(0, index, x.exp(), "amax")[[0, 1, 3, 5]]

    known = compute_truth(question(f, normal(10)))
    units = known.outputs[0].scale / np.abs(known.outputs[0].values)
    assert np.all((units > 0.2) & (units < 3)), units


def test_a_reduction_by_index_without_a_rule_is_refused_by_name():
    from opproof.core.errors import OpError

    def f(x, weight):
        return F.embedding_bag(torch.tensor([[0, 1]]), weight, scale_grad_by_freq=True) + x

    with pytest.raises(OpError, match="scale_grad_by_freq=True has no rule under noise"):
        compute_truth(question(f, normal(1, 4), normal(3, 4)))


def test_a_sum_is_no_further_off_than_what_is_lost_in_it():
    """-1e10 + 3 is -1e10 in float32, which is off by 3, not by the roundoff of 1e10."""
    u = 2.0**-24
    for added in (lambda x: x - 1e10, lambda x: x + torch.tensor(-1e10), lambda x: -1e10 + x):
        (known,) = compute_truth(question(added, np.full(64, 3.0))).outputs
        assert np.all(known.scale < 5 * 3 / u)
        assert np.sqrt(np.mean(np.square(known.scale))) > 3 / u / 2
    (known,) = compute_truth(question(lambda x: x - 1e3, np.full(64, 3.0))).outputs
    assert 500 < np.median(known.scale) < 2000
