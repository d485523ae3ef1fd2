"""Given tensors lie as they were given, gaps and all; what lies between is no number of theirs."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.tensors import layout_of_cotangents, take_tensor, to_torch  # noqa: E402
from opproof.harness.check.variants.variant import generate_variants  # noqa: E402


def drawn(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(
    ("given", "layout"),
    [
        (drawn(2, 5, 3, 4, 8).unbind(2)[1], "axes 0123 x1,x3,x1,x1 32"),
        (drawn(3, 4, 9)[..., :6], "axes 012 x1,+3,x1 0"),
        (drawn(3, 4, 12)[..., 6:].transpose(0, 1), "axes 102 x1,x2,x1 6"),
        (drawn(2, 7, 4, 8).transpose(1, 2), "axes 0213"),
        (drawn(9)[::2], "axes 0 x2 0"),
        (torch.arange(24).view(4, 6)[:, 1:4], "axes 01 x2,x1 1"),
        (drawn(4, 7).bfloat16()[:, :3], "axes 01 +4,x1 0"),
        (torch.randn(4, 6, dtype=torch.complex64)[:, :3], "axes 01 x2,x1 0"),
    ],
)
def test_strides_and_what_lies_before_stay(given, layout):
    taken = take_tensor("x", given)
    assert taken.layout == layout
    made = to_torch(torch, taken, "cpu")
    assert torch.equal(made, given)
    assert (made.stride(), made.storage_offset()) == (given.stride(), given.storage_offset() % 64)
    larger = to_torch(torch, taken.holding(taken.values.repeat(2, axis=0)), "cpu")
    assert larger.shape == (2 * given.shape[0], *given.shape[1:])


@pytest.mark.parametrize("given", [drawn(10).unfold(0, 3, 1), drawn(3, 1).expand(3, 4), drawn(2, 3), drawn(0, 4)])
def test_windows_that_overlap_and_what_is_whole_are_contiguous(given):
    assert take_tensor("x", given).layout == "contiguous"


def test_gradients_come_in_the_order_of_axes_without_gaps():
    parts = [take_tensor("q", t) for t in drawn(2, 5, 3, 4, 8).unbind(2)]
    assert layout_of_cotangents(parts) == "contiguous"
    assert layout_of_cotangents([take_tensor("q", drawn(2, 5, 3, 8).unbind(2)[0].transpose(0, 1))]) == "axes 102"


def attention(q, k, v):
    return torch.softmax(q.transpose(1, 2) @ k.permute(0, 2, 3, 1) / 8**0.5, -1) @ v.transpose(1, 2)


def of_packed_rows(q, k, v):
    """Attention of who takes a token's heads to lie right behind those of the token before."""

    def read(t):
        _, s, h, d = t.shape
        return t.as_strided(t.shape, (s * h * d, h * d, d, 1), t.storage_offset())

    return attention(read(q), read(k), read(v))


def parts(seed):
    return list(drawn(2, 5, 3, 4, 8, seed=seed).unbind(2))


def whole(seed):
    return [drawn(2, 5, 4, 8, seed=3 * seed + i) for i in range(3)]


def test_who_takes_rows_to_be_packed_is_wrong_for_parts_of_a_projection_as_given():
    report = opproof.check(of_packed_rows, like=attention, inputs=parts, raises=False, neighbours=False)
    assert {*report.failures} == {"WRONG_VALUE", "WRONG_GRADIENT"}
    assert "got nan" in str(report)
    assert opproof.check(attention, like=attention, inputs=parts, neighbours=False).ok
    copied = opproof.check(
        lambda *t: of_packed_rows(*(x.contiguous() for x in t)), like=attention, inputs=parts, seconds=2
    )
    assert copied.ok
    assert "packed" in copied.tried


def test_who_takes_rows_to_be_packed_is_found_among_the_first_where_they_are_given_so():
    report = opproof.check(of_packed_rows, like=attention, inputs=whole, raises=False, seconds=4)
    wrong = [report.variants[r.case] for some in report.failures.values() for r in some]
    assert {"gapped", "cropped"} <= {*wrong}
    assert report.tried.index("gapped") <= 4


def test_layouts_of_projections_come_with_the_first_values_where_there_are_three_axes():
    for shape, is_first in (((3, 4, 6), True), ((4, 6), False)):
        tensors = [take_tensor("x", drawn(*shape))]
        names = [v.name for v in generate_variants(tensors, tensors, [()], True)]
        assert (names.index("gapped") < names.index("small values")) is is_first


def test_what_lies_between_is_looked_at_though_it_is_no_number():
    def between(q, k, v):
        with torch.no_grad():
            q.as_strided(q.shape, q.stride(), q.storage_offset() + 32)[0, 0, 0, 0] = 1.0
        return attention(q, k, v)

    report = opproof.check(between, like=attention, inputs=parts, raises=False, neighbours=False)
    assert "memory between the rows of q was written, or beside it" in str(report)
