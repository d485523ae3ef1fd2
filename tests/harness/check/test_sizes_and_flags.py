"""Where bugs hide: sizes under a flag of another seed, batches, last tiles that are neither 1 nor full."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402

TILE = 16


def scan(x, backwards):
    return x.flip(-1).cumsum(-1).flip(-1) if backwards else x.cumsum(-1)


def drawn(seed):
    torch.manual_seed(seed)
    return [torch.randn(3, 48), seed % 2 == 1]


def in_tiles(x, backwards, wrong):
    y = scan(x, backwards)
    if backwards and wrong and x.shape[-1] % TILE:
        y = y - y[:, -(x.shape[-1] % TILE) :][:, :1]
    return y


def tried_wrong(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


@pytest.mark.parametrize("wrong", [True, False])
def test_last_tiles_under_a_flag(wrong):
    kernel = partial(in_tiles, wrong=wrong)
    report = opproof.check(kernel, like=scan, inputs=drawn, seconds=20, raises=False)
    assert report.ok is not wrong
    found = tried_wrong(report)
    assert not wrong or (found and all(v.startswith("arguments of seed 1, 48 as") for v in found)), found


def pooled(x):
    return torch.nn.functional.relu(x).mean((2, 3))


def images(seed):
    torch.manual_seed(seed)
    return [torch.randn(2, 5, 6, 7)]


def test_a_batch_of_which_the_first_four_are_done():
    def kernel(x):
        y = pooled(x)
        return torch.where(torch.arange(len(y))[:, None] < 4, y, 0 * y)

    report = opproof.check(kernel, like=pooled, inputs=images, seconds=20, raises=False)
    assert tried_wrong(report) == {"2 as 9"}
    assert opproof.check(pooled, like=pooled, inputs=images, seconds=20).ok


def test_channels_that_are_last_in_memory():
    def kernel(x):
        last = x.is_contiguous(memory_format=torch.channels_last) and not x.is_contiguous()
        return pooled(x) * (1.5 if last else 1)

    report = opproof.check(kernel, like=pooled, inputs=images, seconds=20, raises=False)
    assert tried_wrong(report) == {"channels"}


def test_the_last_of_five_numbers():
    def step(p, g, lr, b1, b2, decay, eps):
        return p * (1 - lr * decay) - lr * (1 - b1) * g / (((1 - b2) * g * g).sqrt() + eps)

    def kernel(p, g, lr, b1, b2, decay, eps):
        return step(p, g, lr, b1, b2, 0.1, eps)

    def given(seed):
        torch.manual_seed(seed)
        return [torch.randn(5, 24), torch.randn(5, 24), 0.5, 0.9, 0.99, 0.1, 1e-8]

    report = opproof.check(kernel, like=step, inputs=given, seconds=20, raises=False)
    assert "decay as 0.075" in tried_wrong(report)


def test_a_count_is_a_count_where_values_are_small():
    """A step of 110 times 2^-20 is none, whose bias correction is 0 in float32."""

    def adam(p, g, step):
        return p - 0.1 * g / (1 - 0.9**step)

    def given(seed):
        torch.manual_seed(seed)
        return [torch.randn(5, 24), torch.randn(5, 24), torch.tensor(110.0)]

    def kernel(p, g, step):
        assert step.item() == 110
        return adam(p, g, step)

    report = opproof.check(kernel, like=adam, inputs=given, seconds=20, raises=False)
    assert report.ok
    assert "small values" in report.tried
