"""PyTorch's own backend: what its host does not import, and that its gradients are those of torch.autograd.grad."""

import subprocess
import sys

import numpy as np
import pytest
import torch
from _ask import judged

from opproof.backends.torch import create, with_refusals
from opproof.reference_ops._torch import autograd, step_once

#: Steps of every optimizer, a gradient, and operators that are gradients, each of which made PyTorch import its
#: compiler, or SymPy.
CALLS = """
import sys
from opproof.backends.torch import create
from opproof.cases import cases_of
from opproof.harness.reference.question import make_question
from opproof.reference_ops import load, names

backend = create()
for name in ["gelu", *(n for n in names() if n.startswith(("opt_step", "lbfgs")) or n.endswith("_back"))]:
    pair = make_question(cases_of(name, "smoke")[0], load(name), "forward")
    given = [None if x is None else x.astype("f4") if x.dtype.kind == "f" else x for x in pair.case_data.inputs]
    (first, *_) = backend.forward(name, given, pair.case_data.params)
    needs = [x is not None and x.dtype.kind == "f" for x in given]
    name == "gelu" and backend.vjp(name, given, pair.case_data.params, [first], needs)
print([m for m in ("torch._dynamo", "sympy") if m in sys.modules])
"""


def test_neither_the_compiler_nor_sympy_is_imported():
    """They are a second and more of each host's time: PyTorch imports them to say that nothing is compiled."""
    run = subprocess.run([sys.executable, "-c", CALLS], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def leaves(*shapes):
    rng = np.random.default_rng(0)
    return [torch.from_numpy(rng.standard_normal(shape)) for shape in shapes]


@pytest.mark.parametrize("needs", [(True, True, True), (True, False, True), (False, True, False)])
def test_gradients_are_those_of_autograds_own_function(needs):
    """Also of an output in another layout, an expanded cotangent, and a tensor that no output depends on."""
    x, y, unused, g = leaves((4, 3), (3, 4), (2,), (1, 4))
    cotangents = [g.expand(4, 4).T, None]
    got = autograd(torch, lambda a, b, _: ((a @ b).T, (a > 0)), (x, y, unused), needs, cotangents)
    own = [t.clone().requires_grad_() for t in (x, y, unused)]
    asked = [t for t, n in zip(own, needs, strict=True) if n]
    expected = iter(torch.autograd.grad((own[0] @ own[1]).T, asked, cotangents[0], allow_unused=True))
    for gradient, need, tensor in zip(got, needs, own, strict=True):
        if not need:
            assert gradient is None
            continue
        wanted = next(expected)
        assert torch.equal(gradient, torch.zeros_like(tensor) if wanted is None else wanted)


def test_a_cotangent_of_another_shape_is_refused_in_pytorchs_words():
    """The engine alone would sum it to the shape."""
    x, g = leaves((4, 3), (2, 4, 3))
    with pytest.raises(RuntimeError, match="Mismatch in shape"):
        autograd(torch, lambda a: a * 2, (x,), (True,), (g,))


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adagrad", "RMSprop"])
def test_a_step_is_the_optimizers(name):
    moved = []
    for step in (lambda o: o.step(), lambda o: step_once(torch, o)):
        parameter = torch.nn.Parameter(torch.arange(4.0))
        optimizer = getattr(torch.optim, name)([parameter], lr=0.1, weight_decay=0.01)
        for _ in range(3):
            parameter.grad = parameter.detach() * 2 - 1
            step(optimizer)
        moved.append(parameter.detach().clone())
    assert torch.equal(*moved)
    assert not torch.equal(moved[0], torch.arange(4.0))


@pytest.mark.parametrize(
    "text",
    [
        "group_norm[x=1x6x1;num_groups=6;f32]",
        "instance_norm[x=1x6x1;weight=6,;f32]",
        "avg_pool1d[x=2x3x9;kernel_size=3;padding=2;f32]",
        "clamp[x=3x4;f32]",
        "avg_pool3d[x=2x3x4x1x9;kernel_size=2;padding=1;f32]",
        "local_response_norm[x=5x9;size=3;alpha=0.5;f32]",
        "pad[x=3x1x2;pad=(3,0);mode=circular;f32]",
    ],
)
@pytest.mark.parametrize("mode", ["forward", "gradient"])
def test_what_pytorch_refuses_by_a_rule_of_its_own_is_declined(text, mode):
    record = judged(create(), text, mode)
    assert str(record.verdict) == "UNSUPPORTED"
    assert "PyTorch refuses it: " in record.message


def test_other_errors_of_pytorch_are_its_own():
    with pytest.raises(ValueError, match="other"), with_refusals([]):
        raise ValueError("other")


MISALIGNED = """
import numpy as np
import torch
from opproof.reference_ops import rope

raw = np.zeros(8 * 48 * 15 * 4 + 16, np.uint8)
x = raw[(8 - raw.ctypes.data) % 16 :][: 8 * 48 * 15 * 4].view(np.float64).reshape(48, 15, 2, 2)
params = dict(n_dims=2, mode="norm", freq_base=500.0, freq_scale=1.0, ext_factor=0.0, attn_factor=1.0)
params |= dict(beta_fast=32.0, beta_slow=1.0, n_ctx_orig=0, sections=(0, 0, 0, 0))
print(rope.torch(torch, torch.from_numpy(x), torch.arange(15), **params).shape)
"""


def test_pairs_of_channels_need_no_memory_of_complex_numbers():
    """float64 lies at multiples of 8 bytes; a view of it as complex128 dies where that is none of 16."""
    run = subprocess.run([sys.executable, "-c", MISALIGNED], capture_output=True, text=True, check=False)
    assert run.stdout.strip() == "torch.Size([48, 15, 2, 2])"


@pytest.mark.parametrize(
    ("text", "mode", "verdict"),
    [
        ("matmul[a=2x128x13;b=2x13x2;f32;mixed=b:f16;into=gapped]", "forward", "UNSUPPORTED"),
        ("max_pool1d[x=17x9x2;kernel_size=2;padding=1;dilation=2;f32]", "forward", "PASS"),
        ("max_pool1d[x=17x9x12;kernel_size=2;stride=3;padding=2;dilation=3;f32]", "forward", "UNSUPPORTED"),
        ("max_pool1d[x=65x13x2;kernel_size=3;padding=(1,2);ceil_mode=true;f64;fill=special-rows]", "forward", "PASS"),
        ("pow[a=256x1x13x1;exponent=0.5;f16;fill=special]", "forward", "PASS"),
        ("pow[a=256x1x13x1;exponent=0.5;f32;fill=special]", "forward", "PASS"),
        ("opt_step_sgd[param=8x15;grad=8x15;lr=0.1;weight_decay=0.01;f32;fill=special]", "forward", "PASS"),
        (
            "wkv7[r=1x129x2x2;w=1x129x2x2;k=@r;v=1x129x2x2;a=1x129x2x2;b=1x129x2x2;state=1x2x2x2;f32;fill=offset]",
            "gradient",
            "PASS",
        ),
    ],
)
def test_calls_that_drawn_cases_found(text, mode, verdict):
    assert judged(create(), text, mode).verdict == verdict
