"""What a factory's values are in every draw they are in every variant; what they are not, they need not be."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import take_tensor  # noqa: E402
from opproof.harness.check.variants.properties import find_properties, restore_properties  # noqa: E402
from opproof.harness.check.variants.variant import generate_variants  # noqa: E402

F = torch.nn.functional


def normal(seed, *shape):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def length_1(seed, *shape, dim=-1):
    x = normal(seed, *shape)
    return x / x.norm(dim=dim, keepdim=True)


def covariance(seed, n):
    a = normal(seed, 2, n, n)
    return a @ a.mT


def boxes(seed, n):
    corner, size = normal(seed, n, 2), normal(seed + 100, n, 2).abs() + 0.1
    return torch.cat([corner, corner + size], -1)


def padded(seed, n):
    x = normal(seed, n, 16)
    x[:, 9 + seed % 3 :] = 0
    return x


MADE = {
    "in order": lambda seed: torch.sort(normal(seed, 9))[0],
    "in order, down": lambda seed: -torch.sort(normal(seed, 9))[0],
    "in order, columns": lambda seed: torch.sort(normal(seed, 9, 4), dim=0)[0],
    "of length 1": lambda seed: length_1(seed, 5, 4),
    "of length 1, columns": lambda seed: length_1(seed, 5, 4, dim=0),
    "a distribution": lambda seed: torch.softmax(normal(seed, 5, 7), -1),
    "a distribution's logarithm": lambda seed: torch.log_softmax(normal(seed, 5, 7), -1),
    "symmetric": lambda seed: normal(seed, 4, 4) + normal(seed, 4, 4).mT,
    "positive semidefinite": lambda seed: covariance(seed, 4),
    "triangular": lambda seed: torch.tril(normal(seed, 4, 4)),
    "triangular, upper": lambda seed: torch.triu(normal(seed, 4, 4)),
    "in order from column 0 to 2": lambda seed: boxes(seed, 10),
    "zero in places": lambda seed: padded(seed, 4),
    "alike in both halves of a row": lambda seed: normal(seed, 3, 8).repeat(1, 2),
    "alike in pairs": lambda seed: normal(seed, 3, 8).repeat_interleave(2, -1),
}
DTYPES = ("f32", "bf16", "f16")


def draws(make, dtype, count=6):
    return [take_tensor("x", make(seed), dtype) for seed in range(count)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", MADE)
def test_it_is_noticed_and_kept_in_every_variant(name, dtype):
    some = draws(MADE[name], dtype)
    properties = find_properties(some)
    said = name.partition(", ")[0]
    assert said in {p.said for p in properties}
    for v in generate_variants(some[:1], some[1:2], [properties], resized=False):
        for t in (*v.case_data, *v.decoy_data):
            assert said in {p.said for p in properties if p.bits(t.values, 2.0**-7)}, v.name
    fills = {v.name: v.case_data[0].values for v in generate_variants(some[:1], some[1:2], [properties], resized=False)}
    if said in ("in order", "symmetric", "triangular", "zero in places"):  # and values are others all the same
        assert not np.array_equal(fills["wide values"], fills["as given"])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: normal(seed, 5, 7),
        lambda seed: normal(seed, 8, 3),
        lambda seed: normal(seed, 4, 4),
        lambda seed: normal(seed, 3),
        lambda seed: normal(seed, 2, 2),
        lambda seed: torch.rand(5, 7, generator=torch.Generator().manual_seed(seed)),
        lambda _: torch.ones(7),
        lambda _: torch.ones(4, 4),
        lambda _: torch.zeros(9),
        lambda _: torch.tensor(0.5),
        lambda _: torch.tensor([1.0]),
        lambda _: torch.cos(torch.arange(7)[:, None] * torch.tensor([1.0, 0.1, 0.01, 0.001])),
    ],
)
def test_numbers_without_a_property_have_none(make, dtype):
    """Weights of ones and numbers from 0 to 1 above all: a kernel that ignores them is found by others."""
    assert find_properties(draws(make, dtype)) == ()


def test_what_only_some_draws_have_is_none():
    assert (
        find_properties(draws(lambda seed: torch.sort(normal(seed, 9))[0] if seed % 2 else normal(seed, 9), "f32"))
        == ()
    )
    assert find_properties([*draws(MADE["symmetric"], "f32"), take_tensor("x", normal(9, 4, 4))]) == ()


def test_what_cannot_be_so_again_stays():
    some = draws(MADE["positive semidefinite"], "f32")
    assert restore_properties(find_properties(some), some[0], some[0].values - 100) is None
    assert restore_properties(find_properties(some), some[0], some[0].values * 6) is not None
    names = {
        v.name: v.case_data[0].values
        for v in generate_variants(some[:1], some[1:2], [find_properties(some)], resized=False)
    }
    assert np.array_equal(names["negative values"], names["as given"])
    assert not np.array_equal(names["wide values"], names["as given"])


def factory(*makes):
    return lambda seed, dtype: [make(seed).to(dtype) for make in makes]


def judged(candidate, like, inputs, **options):
    return opproof.check(candidate, like=like, inputs=inputs, dtype="f32", raises=False, seconds=1e9, **options)


def digitized(x, edges):
    return torch.bucketize(x, edges) * x


def rotated(q, v):
    w, u = q[:, :1], q[:, 1:]
    t = 2 * torch.linalg.cross(u, v)
    return v + w * t + torch.linalg.cross(u, t)


def by_matrix(q, v):
    w, x, y, z = q.unbind(-1)
    rows = [
        1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y),
    ]  # fmt: skip
    return (torch.stack(rows, -1).view(-1, 3, 3) @ v[..., None])[..., 0]


def by_squares(q, v):
    """Right for quaternions of length 1 alone."""
    w, x, y, z = q.unbind(-1)
    rows = [
        w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y),
        2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
        2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z,
    ]  # fmt: skip
    return (torch.stack(rows, -1).view(-1, 3, 3) @ v[..., None])[..., 0]


HONEST = {
    "edges": (
        lambda x, e: (x[:, None] > e).sum(1) * x,
        digitized,
        factory(lambda s: normal(s, 50), lambda s: torch.sort(normal(s + 9, 11))[0]),
    ),
    "edges given": (
        lambda x, e: (x[:, None] > e).sum(1) * x,
        digitized,
        [normal(0, 50), torch.sort(normal(1, 11))[0]],
    ),
    "quaternions": (
        by_squares,
        by_matrix,
        factory(lambda s: length_1(s, 8, 4), lambda s: normal(s + 9, 8, 3)),
    ),
    "distributions": (
        lambda p, q: 1 - 2 * (p * q).sum(-1) + (q * q).sum(-1),
        lambda p, q: p.sum(-1) - 2 * (p * q).sum(-1) + (q * q).sum(-1),
        factory(MADE["a distribution"], lambda s: torch.softmax(normal(s + 9, 5, 7), -1)),
    ),
    "covariances": (
        lambda a: 2 * torch.linalg.cholesky(a).diagonal(dim1=-2, dim2=-1).log().sum(-1),
        lambda a: torch.linalg.slogdet(a)[1],
        factory(lambda s: covariance(s, 4) + torch.eye(4)),
    ),
    "boxes": (
        lambda b: (b[:, 2] - b[:, 0]).clamp(min=0) * (b[:, 3] - b[:, 1]).clamp(min=0),
        lambda b: (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1]),
        factory(lambda s: boxes(s, 10)),
    ),
    "triangles": (
        lambda a, x: torch.tril(a) @ x,
        lambda a, x: a @ x,
        factory(lambda s: torch.tril(normal(s, 9, 9)), lambda s: normal(s + 9, 9, 3)),
    ),
    "angles": (  # of a rotation, which has each of them once
        lambda x, cos: x * cos[:, :8].repeat(1, 2),
        lambda x, cos: x * cos,
        factory(lambda s: normal(s, 5, 16), lambda s: normal(s + 9, 5, 8).repeat(1, 2)),
    ),
}


@pytest.mark.parametrize("name", HONEST)
def test_a_kernel_made_for_the_property_is_right(name):
    report = judged(*HONEST[name], gradients=False)
    assert report.ok, report
    assert any("they are in every draw" in text for text in report.not_judged)


def test_it_is_told():
    report = judged(*HONEST["edges"], gradients=False)
    assert "values of edges that are not in order: they are in every draw" in report.not_judged


def test_several_properties_of_one_tensor_are_one_line():
    report = judged(*HONEST["boxes"], gradients=False, neighbours=True)
    told = [text for text in report.not_judged if "they are in every draw" in text]
    columns = "in order from column 0 to 2 or in order from column 1 to 3"
    assert any(columns in text for text in told)
    assert len(told) == len({text.split(" that ")[0] for text in told})


def found(report):
    return {(report.variants[r.case], str(r.verdict)) for rs in report.failures.values() for r in rs}


def test_without_the_property_the_same_kernel_is_wrong():
    candidate, like, _ = HONEST["quaternions"]
    report = judged(candidate, like, factory(lambda s: normal(s, 8, 4), lambda s: normal(s + 9, 8, 3)), gradients=False)
    assert ("as given", "WRONG_VALUE") in found(report)
    report = judged(rotated, by_matrix, HONEST["quaternions"][2], gradients=False)
    assert report.ok


def test_what_is_wrong_among_values_that_are_so_is_found():
    def last_left_out(x, e):
        return (x[:, None] > e[: len(e) // 4 * 4]).sum(1) * x

    inputs = factory(lambda s: normal(s, 50), lambda s: torch.sort(normal(s + 9, 12))[0])
    assert any(" as " in name for name, _ in found(judged(last_left_out, digitized, inputs)))


def test_weights_of_ones_and_numbers_from_0_to_1_are_tried_with_others():
    inputs = factory(lambda s: normal(s, 5, 7), lambda _: torch.ones(7))
    report = judged(lambda x, w: x + 0 * w, lambda x, w: x * w, inputs)
    assert ("wide values", "WRONG_VALUE") in found(report)
    inputs = factory(lambda s: torch.rand(5, 7, generator=torch.Generator().manual_seed(s)))
    assert ("negative values", "WRONG_VALUE") in found(judged(torch.clone, F.relu, inputs, beyond=True))
    told = judged(torch.clone, F.relu, inputs).beyond  # no given input is negative
    assert told[0].startswith("negative values: input is not positive there, as it is in all inputs given: WRONG_VALUE")
