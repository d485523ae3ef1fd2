"""Lists of tensors longer than any draw has, and forms of arguments that few draws have."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.option_pairs import make_longer_lists  # noqa: E402

judged = partial(opproof.check, seconds=6, raises=False, dtype="f32")


def wrong_at(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def clipped(grads, limit):
    norm = sum(g.square().sum() for g in grads).sqrt()
    return [g * (limit / norm) for g in grads]


def lists(seed, dtype):
    generator = torch.Generator().manual_seed(seed)
    return [[torch.randn(3, 5, generator=generator).to(dtype) for _ in range(2 + seed % 3)], 0.5]


def of_eight(grads, limit):
    norm = sum(g.square().sum() for g in grads[-(len(grads) % 8 or 8) :]).sqrt()
    return [g * (limit / norm) for g in grads]


def test_a_list_that_is_longer_than_any():
    found = wrong_at(judged(of_eight, like=clipped, inputs=lists))
    assert found == {"lists of 20 tensors or more"}
    assert wrong_at(judged(of_eight, like=clipped, inputs=lists, only=next(iter(found)))) == found
    assert judged(clipped, like=clipped, inputs=lists, only=next(iter(found))).ok


def test_lists_of_one_length_stay():
    assert make_longer_lists(lambda seed: [lists(0, torch.float32)[0], 0.5], 0) == []
    assert make_longer_lists(lambda seed: torch.zeros(3), 0) == []
    (one,) = make_longer_lists(lambda seed: {"of": lists(seed, torch.float32)[0], "with": torch.zeros(2)}, 0)
    assert len(one(1)["of"]) >= 20
    assert set(one(1)) == {"of", "with"}


def test_a_form_that_one_draw_in_twenty_has():
    def like(x, bias):
        return x if bias is None else x + bias

    def kernel(x, bias):
        return like(x, bias) if bias is None else x

    def inputs(seed, dtype):
        generator = torch.Generator().manual_seed(seed)
        x, bias = (torch.randn(4, 9, generator=generator).to(dtype) for _ in range(2))
        return [x, bias if seed % 20 == 19 else None]

    found = wrong_at(judged(kernel, like=like, inputs=inputs))
    assert found == {"draw of seed 19"}
    assert wrong_at(judged(kernel, like=like, inputs=inputs, only="draw of seed 19")) == found
