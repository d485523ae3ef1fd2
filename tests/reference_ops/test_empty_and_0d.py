"""References of tensors that are empty or have no axes: values, shapes and gradients as PyTorch's, or both refuse."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from opproof.harness.reference.question import needs_of

torch = pytest.importorskip("torch")

from opproof.cases import Case, cases_of  # noqa: E402
from opproof.core.tuples import tuple_of  # noqa: E402
from opproof.core.verdicts import Mode  # noqa: E402
from opproof.harness.reference import expected  # noqa: E402
from opproof.harness.reference.data import cotangents_of, fill_parameters, inputs_of, list_arguments, order_arguments  # noqa: E402
from opproof.harness.reference.question import Question  # noqa: E402
from opproof.reference_ops import load, names  # noqa: E402
from opproof.reference_ops._torch import autograd  # noqa: E402

#: Where PyTorch's own answer is none, or is wrong, by the start of a case: what is refused, or answered, and why.
OF_PYTORCH = {
    "adaptive_avg_pool2d[x=2x0x7x9": "its forward answers no channels, its backward refuses them",
    "adaptive_avg_pool1d[x=2x0x9": "the same",
    "adaptive_avg_pool3d[x=2x0x7x9x7": "it refuses no channels, which other pools of averages answer",
    "batch_norm_training[x=5x0": "it looks at the first of no channels",
    "batch_norm_training[x=0x0": "it looks at the first of no channels",
    **{f"{name}[x={n}": "its gradient of nothing is x itself" for name in ("cummax", "cummin") for n in ("0x", "7x0")},
    "conv1d[x=2x0x9;weight=4x0x0": "it gives no channels where four are made, with a kernel of nothing",
    "conv2d[x=2x0x7x9;weight=4x0x0x0": "the same",
    "conv3d[x=1x0x4x5x6;weight=3x0x0x3x0": "the same",
    "conv_integer[x=2x0x7x9;weight=4x0x0x0": "the same",
    "qlinear_conv[x=2x0x7x9": "the same",
    "fft[re=0x8": "MKL refuses no rows",
    "rfft[x=0x8": "MKL refuses no rows",
    "stft[x=0x33": "MKL refuses no rows",
    "irfft[re=0x5": "MKL refuses no rows",
    "pixel_unshuffle[": "what is empty comes back as it is",
    "pixel_shuffle[": "its backward reshapes to -1, which nothing tells",
    **{f"max_unpool2d[x={n}": "it refuses no channels and no cells" for n in ("0x0", "2x0", "2x3x0", "2x3x4x0")},
    "roi_align[x=2x0x9x7": "the twin pools, and PyTorch pools no channels",
    "amax[x=7x0": "it has no largest of nothing, NumPy and others have -inf",
    "amax[x=0x0": "the same",
    "amin[x=7x0": "the same",
    "amin[x=0x0": "the same",
    "attention_quantized[query=1x4x5x64;key=1x0": "four heads are no multiple of no groups",
    "attention_quantized[query=1x4x5x64;key=1x2x7x0": "keys of nothing for queries of 64",
    "paged_attention[query=3x4x8;key_cache=9x4x0": "four heads are no multiple of no groups",
    "scaled_dot_product_attention[query=0x4x5x9;key=0x0": "four heads are no multiple of no groups",
    "sliding_window_attention[query=0x4x5x9;key=0x0": "four heads are no multiple of no groups",
    "varlen_attention[query=17x4x9;key=19x0": "four heads are no multiple of no groups",
    "varlen_attention[query=17x0x9": "no ends of sequences, of which there are 17 rows",
    "index_add[x=0x9;index=5,": "it lets indices name rows that are not there",
}


def shapes_tried(case):
    """Tensors with the axes of each size empty, whichever tensors have it, with all empty, and without axes."""
    sizes = dict.fromkeys(n for _, shape in case.tensors for n in shape)
    yield from (tuple((name, tuple(0 if k == n else k for k in shape)) for name, shape in case.tensors) for n in sizes)
    yield tuple((name, (0,) * len(shape)) for name, shape in case.tensors)
    yield tuple((name, ()) for name, _ in case.tensors)


def cases_tried(name):
    first = next(iter(cases_of(name, "smoke")), None)
    if first is None:
        return []
    plain = replace(first.uniform, dtype="f64", layout="contiguous")
    return [c for c in dict.fromkeys(replace(plain, tensors=t) for t in shapes_tried(plain)) if c != plain]


def of_numpy(case, op, inputs):
    """Outputs, cotangents, what gradients are asked for, and the gradients; the noise goes through too."""
    absent = tuple(False for _ in inputs)
    posed = Question(case, op, Mode.FORWARD, tuple(list_arguments(case, op)), inputs, (), absent)
    outputs = [e.values for e in expected.expect_forward(posed)]
    if op.vjp is None:
        return outputs, (), absent, None
    needs = tuple(needs_of(replace(case, needs=None), op, inputs, posed.outputs))
    cotangents = tuple(cotangents_of(case, posed.outputs))
    if not any(needs):
        return outputs, cotangents, needs, None
    given = posed.given(mode=Mode.GRADIENT, needs=needs, cotangents=cotangents)
    return outputs, cotangents, needs, [None if e is None else e.values for e in expected.expect_vjp(given)]


def of_torch(case, op, inputs, cotangents, needs):
    def tensors(arrays):
        return [None if a is None else torch.from_numpy(np.array(a)) for a in arrays]

    params = fill_parameters(case, op)
    outputs = [y.detach().numpy() for y in tuple_of(op.torch(torch, *tensors(inputs), **params))]
    if not any(needs):
        return outputs, None
    found = autograd(torch, lambda *t: op.torch(torch, *t, **params), tensors(inputs), needs, tensors(cotangents))
    return outputs, [None if d is None else d.numpy() for d in found]


def answer(of, *args):
    """What a reference gives, or the exception that it raises."""
    try:
        return of(*args), ""
    except Exception as error:  # each has its own
        return None, f"{type(error).__name__}: {error}"


def unlike(case, op):
    """What the two references disagree about; empty where they agree."""
    try:
        inputs = tuple(order_arguments(case, op, inputs_of(case, op)))
    except (IndexError, ValueError):  # no numbers to draw, as of no rows to name
        return ""
    ours, refused = answer(of_numpy, case, op, inputs)
    cotangents, needs = (ours[1], ours[2]) if ours else ((), tuple(False for _ in inputs))
    theirs, also = answer(of_torch, case, op, inputs, cotangents, needs)
    if ours is None or theirs is None:
        return "" if ours is theirs else f"NumPy: {refused or 'an answer'}; PyTorch: {also or 'an answer'}"
    for what, mine, other in (("values", ours[0], theirs[0]), ("gradients", ours[3] or [], theirs[1] or [])):
        for a, b in zip(mine, other, strict=True):
            if a is None or b is None:
                continue
            if a.shape != b.shape:
                return f"{what} of shape {a.shape}, PyTorch's of {b.shape}"
            if not op.drawn_from and not np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True):
                return f"{what} {a.ravel()[:3]}, PyTorch's {b.ravel()[:3]}"
    return ""


@pytest.mark.parametrize("name", names())
def test_empty_tensors_and_numbers_are_answered_as_pytorch_does(name):
    op = load(name)
    if op.torch is None:
        pytest.skip("no twin in PyTorch")
    said = {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for case in cases_tried(name):
            if not any(str(case).startswith(known) for known in OF_PYTORCH):
                said[str(case)] = unlike(case, op)
    assert {case: what for case, what in said.items() if what} == {}


@pytest.mark.parametrize(
    ("case", "shapes"),
    [
        ("softmax[x=5x0x0;dim=-1;f64]", [(5, 0, 0)]),
        ("log_softmax[x=5x0x0;dim=1;f64]", [(5, 0, 0)]),
        ("mean[x=0d;dim=0;f64]", [()]),
        ("mean[x=0d;dim=-1;f64]", [()]),
        ("var[x=0d;dim=0;correction=0;f64]", [()]),
        ("sum[x=0d;dim=0;f64]", [()]),
        ("topk[x=0d;k=1;f64]", [(), ()]),
        ("split[x=0x33;sizes=(20,13);dim=1;f64]", [(0, 20), (0, 13)]),
        ("split[x=7x3;sizes=(0,3,0);dim=1;f64]", [(7, 0), (7, 3), (7, 0)]),
        ("split[x=0,;sizes=(0);f64]", [(0,)]),
        ("split[x=7x33;sizes=(33);dim=1;f64]", [(7, 33)]),
        ("avg_pool2d[x=0x3x7x9;kernel_size=3;f64]", [(0, 3, 2, 3)]),
    ],
)
def test_shapes_of_what_is_empty(case, shapes):
    case = Case.parse(case)
    op = load(case.op)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert unlike(case, op) == ""
        assert [y.shape for y in of_numpy(case, op, tuple(order_arguments(case, op, inputs_of(case, op))))[0]] == shapes


@pytest.mark.parametrize(
    ("name", "part", "fault", "said"),
    [
        ("softmax", "forward", lambda x, *, dim: x / np.max(x, axis=dim), "NumPy: ValueError"),
        ("argmax", "forward", lambda x, **_: np.zeros(1, dtype=np.int64), "values of shape (1,), PyTorch's of ()"),
        ("avg_pool2d", "forward", lambda x, **_: np.zeros((2, 0, 4, 5)), "NumPy: an answer; PyTorch: RuntimeError"),
        ("add", "vjp", lambda g, y, a, b, **_: (g, np.zeros((1, *b.shape))), "gradients of shape"),
    ],
)
def test_a_reference_that_answers_otherwise_is_found(name, part, fault, said):
    broken = replace(load(name), **{part: fault})
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert any(said in unlike(case, broken) for case in cases_tried(name))
