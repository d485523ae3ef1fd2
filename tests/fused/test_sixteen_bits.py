"""Fused kernels with interiors of float32 that store 16 bits: small defects fail, unusual orders of summation pass."""

import math

import pytest

torch = pytest.importorskip("torch")
F = torch.nn.functional

import opproof  # noqa: E402

pytestmark = pytest.mark.usefixtures("usual_values")

#: Bits of a float32 that a truncating store drops.
DROPPED = {torch.bfloat16: 16, torch.float16: 13}


def project(x, weight, matrix):
    """RMS norm, then a product."""
    return normed(x, weight) @ matrix


def normed(x, weight, eps=1e-6):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + eps) * weight


def gated(x, gate, up, down):
    return (F.silu(x @ gate) * (x @ up)) @ down


def masked(q, k):
    mask = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).tril()
    return (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -math.inf)


def attention(q, k, v):
    return masked(q, k).softmax(-1) @ v


def entropy(x, matrix, target):
    return F.cross_entropy(x @ matrix, target)


def classes(seed, dtype):
    drawn = torch.Generator().manual_seed(seed)
    x, matrix = torch.randn(12, 64, generator=drawn), torch.randn(64, 40, generator=drawn) / 8
    return [x.to(dtype), matrix.to(dtype), torch.randint(0, 40, (12,), generator=drawn)]


INPUTS = {
    project: [(8, 64), (64,), (64, 48)],
    gated: [(8, 64), (64, 48), (64, 48), (48, 48)],
    attention: [(2, 16, 32)] * 3,
    entropy: classes,
}


def stored(function, how=lambda y, dtype: y):
    """A candidate that computes `function` in float32 and stores its dtype once."""

    def candidate(*tensors):
        dtype = tensors[0].dtype
        return how(function(*(t.float() if t.is_floating_point() else t for t in tensors)), dtype).to(dtype)

    return candidate


def truncated(y, dtype):
    bits = y.contiguous().view(torch.int32)
    return (bits >> DROPPED[dtype] << DROPPED[dtype]).view(torch.float32)


class Summed(torch.autograd.Function):
    """A product whose sums are kept in 16 bits, four terms at a time."""

    @staticmethod
    def forward(ctx, a, b, dtype):
        ctx.save_for_backward(a, b)
        y = torch.zeros(*a.shape[:-1], b.shape[-1], dtype=dtype)
        for i in range(0, a.shape[-1], 4):
            y = (y.float() + a[..., i : i + 4] @ b[..., i : i + 4, :]).to(dtype)
        return y.float()

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        return g @ b.mT, a.mT @ g, None


class Backward(torch.autograd.Function):
    """The identity, with something done to its gradient."""

    @staticmethod
    def forward(ctx, x, how):
        ctx.how = how
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return ctx.how(g), None


def through(y, dtype):
    """A truncating store whose gradient is that of a right one."""
    return y + (truncated(y.detach(), dtype) - y.detach())


def in_16_bits(make):
    """A candidate made for the dtype that it is given."""
    return lambda *tensors: stored(make(tensors[0].dtype))(*tensors)


def last_row(q, k, v):
    scores = masked(q, k).clone()
    scores[..., -1, -1] = -math.inf
    return scores.softmax(-1) @ v


def outside(x, weight, matrix):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-6) * weight @ matrix


DEFECTS = {
    "times 1.005": (project, stored(project, lambda y, _: y * 1.005)),
    "times 0.995": (attention, stored(attention, lambda y, _: y * 0.995)),
    "the loss times 1.005": (entropy, stored(entropy, lambda y, _: y * 1.005)),
    "a truncating store of a product": (project, stored(project, through)),
    "a truncating store of attention": (attention, stored(attention, through)),
    "a truncated gradient": (
        project,
        in_16_bits(lambda dtype: lambda x, w, m: project(x, w, Backward.apply(m, lambda g: truncated(g, dtype)))),
    ),
    "sums of a product in 16 bits": (project, in_16_bits(lambda d: lambda x, w, m: Summed.apply(normed(x, w), m, d))),
    "sums of a gated product": (
        gated,
        in_16_bits(lambda dtype: lambda x, a, b, c: Summed.apply(F.silu(x @ a) * (x @ b), c, dtype)),
    ),
    "sums of attention": (
        attention,
        in_16_bits(lambda dtype: lambda q, k, v: Summed.apply(masked(q, k).softmax(-1), v, dtype)),
    ),
    "a mask off by one in its last row": (attention, stored(last_row)),
    "eps outside the root": (project, stored(outside)),
}


@pytest.mark.parametrize("dtype", ["bf16", "f16"])
@pytest.mark.parametrize("name", DEFECTS)
def test_a_small_defect_fails(name, dtype, monkeypatch):
    monkeypatch.setattr("opproof.harness.check.summary.MAX_DIAGNOSED", 0)  # what is told is told without it
    reference, candidate = DEFECTS[name]
    only = "small values" if name == "eps outside the root" else "as given"
    report = opproof.check(
        candidate, like=reference, inputs=INPUTS[reference], dtype=dtype, raises=False, only=only, seconds=600
    )
    assert report.failures, report
    if "truncat" in name:
        (failed,) = (r for r in report.results if r.verdict != "PASS")
        assert failed.verdict == ("WRONG_GRADIENT" if "gradient" in name else "WRONG_VALUE")
        assert "rounded towards zero (truncated)" in failed.message


def online(q, k, v, block=5):
    """Attention by blocks of keys, with a running maximum."""
    rows = torch.arange(q.shape[-2])[:, None]
    top, total, y = torch.full((*q.shape[:-1], 1), -math.inf), torch.zeros(*q.shape[:-1], 1), torch.zeros_like(v)
    for i in range(0, k.shape[-2], block):
        keys = torch.arange(i, min(i + block, k.shape[-2]))
        scores = (q @ k[..., keys, :].mT / math.sqrt(q.shape[-1])).masked_fill(keys > rows, -math.inf)
        new = torch.maximum(top, scores.detach().amax(-1, keepdim=True))
        old = torch.where(top == -math.inf, 0.0, (top - new).exp())
        shares = (scores - new).exp()
        top, total, y = new, total * old + shares.sum(-1, keepdim=True), y * old + shares @ v[..., keys, :]
    return y / total


def split(x, weight, matrix):
    """Four sums of a quarter of the terms; the norm's factor afterwards."""
    parts = [a @ b for a, b in zip((x * weight).chunk(4, -1), matrix.chunk(4, 0), strict=True)]
    return ((parts[3] + parts[1]) + (parts[2] + parts[0])) * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6)


def chunked(x, matrix, target, width=7):
    """Cross-entropy by chunks of classes, with a running maximum."""
    top, total, at = torch.full(x.shape[:1], -math.inf), torch.zeros(len(x)), torch.zeros(len(x))
    for j in range(0, matrix.shape[1], width):
        y = x @ matrix[:, j : j + width]
        new = torch.maximum(top, y.detach().amax(-1))
        total, top = total * (top - new).exp() + (y - new[:, None]).exp().sum(-1), new
        own = y.gather(1, (target - j).clamp(0, y.shape[1] - 1)[:, None])[:, 0]
        at = at + torch.where((target >= j) & (target < j + y.shape[1]), own, 0.0)
    return (top + total.log() - at).sum() / len(x)


def by_terms(x, gate, up, down):
    """Products added up one after the other, each a fused multiplication and addition."""
    g, u = torch.zeros(len(x), gate.shape[1]), torch.zeros(len(x), up.shape[1])
    for k in range(x.shape[1]):
        g, u = torch.addcmul(g, x[:, k : k + 1], gate[k]), torch.addcmul(u, x[:, k : k + 1], up[k])
    return (g * torch.sigmoid(g) * u) @ down


HONEST = {online: attention, split: project, chunked: entropy, by_terms: gated, project: project}


@pytest.mark.parametrize("seed", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in range(1, 5))])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16"])
@pytest.mark.parametrize("kernel", HONEST, ids=lambda k: k.__name__)
def test_an_honest_kernel_passes(kernel, dtype, seed):
    reference = HONEST[kernel]
    report = opproof.check(
        stored(kernel), like=reference, inputs=INPUTS[reference], dtype=dtype, neighbours=False, seed=seed
    )
    assert {str(r.verdict) for r in report.results} == {"PASS"}, report


def test_assert_close_tells_a_truncating_store():
    x, weight = torch.randn(64, 64).bfloat16(), torch.rand(64).bfloat16()
    y = normed(x.float(), weight.float())
    opproof.assert_close(y.bfloat16(), like=normed, inputs=[x, weight])
    with pytest.raises(AssertionError, match="truncated"):
        opproof.assert_close(truncated(y, torch.bfloat16).bfloat16(), like=normed, inputs=[x, weight])
