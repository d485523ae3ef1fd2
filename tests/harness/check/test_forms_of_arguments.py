"""Arguments and results in forms that code has: words of PyTorch, tuples with names, draws of several shapes."""

from __future__ import annotations

import json
from collections import namedtuple
from functools import partial

import pytest
from _runs import completed

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call import user_classes, wire  # noqa: E402

judged = partial(opproof.check, seconds=1e9, raises=False)

FILES = """
import torch
from typing import NamedTuple


class Cache(NamedTuple):
    keys: torch.Tensor
    length: int
    scale: torch.Tensor | None


def NAME(cache, out_dtype=None, device=None, columns=slice(None)):
    return (cache.keys[:, columns] * cache.length).to(out_dtype or torch.float32), cache.length


def inputs(seed):
    generator = torch.Generator().manual_seed(seed)
    return {
        "cache": Cache(torch.randn(4, 6, generator=generator), 3, None),
        "out_dtype": [torch.float64, None][seed % 2],
        "device": torch.device("cpu"),
        "columns": slice(1, None),
    }
"""


def test_words_of_pytorch_and_tuples_with_names_go_to_another_process(tmp_path):
    (tmp_path / "reference.py").write_text(FILES.replace("NAME", "reference"), encoding="utf-8")
    (tmp_path / "candidate.py").write_text(FILES.replace("NAME", "candidate"), encoding="utf-8")
    done = completed("check", "reference.py", "candidate.py", "--accept-partial", "--seconds", "1", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.parametrize(
    "value",
    [None, True, 3, 0.5, "mean", torch.float16, torch.strided, torch.device("cpu"), slice(1, None), 2j, range(3)],
)
def test_a_value_comes_back(value):
    assert wire.from_json(json.loads(json.dumps(wire.to_json(value))), {}) == value


def test_a_mapping_that_a_class_is_given_is_itself():
    assert wire.from_json({"width": [3, 5]}, {}) == {"width": [3, 5]}


def test_a_value_that_has_no_form_is_said():
    with pytest.raises(TypeError, match="a object"):
        wire.to_json(object())


def test_a_tree_comes_back_with_tuples_of_the_same_fields():
    from torch.utils._pytree import tree_flatten, tree_unflatten, treespec_loads

    kind = namedtuple("Pair", "left right")  # noqa: PYI024
    leaves, spec = tree_flatten((kind(1, [2, None]), {"of": 3}))
    text = user_classes.spec_to_text(spec)
    user_classes.look_into_named(text, {})
    first, second = tree_unflatten(leaves, treespec_loads(text))
    assert (first.left, first.right, second) == (1, [2, None], {"of": 3})


def scaled(x, scale):
    return x * scale


def test_draws_of_several_shapes():
    """A scale of one number, or of rows: other values are tried of what all draws have."""

    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        shape = [(), (4, 1)][seed % 2]
        return [torch.randn(4, 6, generator=generator), torch.rand(shape, generator=generator) + 0.5]

    assert judged(scaled, like=scaled, inputs=inputs).ok
    found = judged(lambda x, scale: x * scale + (x > 6), like=scaled, inputs=inputs)
    assert set(found.failures) == {"WRONG_VALUE"}


def weighed(scores, values):
    return scores.softmax(-1) @ values


def test_a_tensor_without_a_column():
    """No share of no key: what looks for attention's products meets empty ones."""
    torch.manual_seed(0)
    inputs = [torch.randn(3, 0, 5), torch.randn(3, 5, 2)]
    assert not judged(lambda s, v: weighed(s, v) + 0, like=weighed, inputs=inputs).failures
    both = [torch.randn(0, 12), torch.randn(5, 12), torch.randn(12, 4)]
    assert judged(lambda a, b, v: weighed(b, v), like=lambda a, b, v: weighed(b, v), inputs=both).ok


def test_a_number_of_float64_widens_nothing():
    class Skipped(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, skip):
            ctx.save_for_backward(x, skip)
            return x * skip

        @staticmethod
        def backward(ctx, g):
            x, skip = ctx.saved_tensors
            return g * skip, (g * x).sum(0).sum().double()

    torch.manual_seed(0)
    inputs = [torch.randn(33, 65), torch.tensor(0.7, dtype=torch.float64)]
    assert judged(Skipped.apply, like=scaled, inputs=inputs).ok
    wrong = judged(lambda x, skip: Skipped.apply(x, skip * 1.001), like=scaled, inputs=inputs)
    assert set(wrong.failures) == {"WRONG_VALUE", "WRONG_GRADIENT"}


def cut(x, lengths, longest):
    if int(lengths.max()) != longest:
        raise ValueError("longest")
    return x[:, :longest] * (torch.arange(longest) < lengths[:, None])


def test_an_argument_that_belongs_to_its_tensors():
    def inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        lengths = torch.tensor([[3, 7, 2], [8, 1, 5], [4, 4, 6]][seed % 3])
        return [torch.randn(3, 9, generator=generator), lengths, int(lengths.max())]

    assert judged(cut, like=cut, inputs=inputs).ok
    found = judged(lambda x, n, longest: cut(x, n, longest) * (longest != 8), like=cut, inputs=inputs)
    assert {"WRONG_VALUE", "WRONG_GRADIENT"} >= set(found.failures) >= {"WRONG_VALUE"}


def test_a_mask_that_is_boolean_in_one_draw_and_added_in_the_next():
    """Two forms: what joins them holds numbers for truth values, which nobody takes alike."""

    def like(x, mask):
        return torch.softmax(x.masked_fill(mask, -1e4) if mask.dtype == torch.bool else x + mask, -1)

    def exponentials(x, mask):
        y = torch.where(mask, -1e4, x) if mask.dtype == torch.bool else mask + x
        y = (y - y.amax(-1, keepdim=True)).exp()
        return y / y.sum(-1, keepdim=True)

    def inputs(seed, dtype):
        g = torch.Generator().manual_seed(seed)
        x, mask = torch.randn(2, 10, 18, generator=g).to(dtype)
        return [x, mask if seed % 2 else mask > 1]

    report = opproof.check(
        exponentials, like=like, inputs=inputs, dtype="f32", only="10 as 15 and 18 as 27", raises=False
    )
    assert report.ok, report
    masks = [r.case.partition(";mask=")[2] for r in report.results]
    assert len(masks) == 4, "values and gradients of two forms"
