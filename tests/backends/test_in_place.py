"""ggml's `_inplace` functions, and PyTorch's `op_` and `out=`: they are what runs, and they pass."""

import numpy as np
import pytest
from _ask import judged

from opproof.backends import Unsupported


@pytest.fixture(scope="module")
def ggml():
    pytest.importorskip("pywhispercpp", reason="ggml: the wheel of pywhispercpp has the library")
    from opproof.backends.ggml import create

    return create()


@pytest.fixture(scope="module")
def torch():
    pytest.importorskip("torch")
    from opproof.backends.torch import create

    return create()


@pytest.fixture
def called(monkeypatch):
    """Names of the functions of ggml that make tensors, as they are called."""
    from opproof.backends.ggml.graph import Graph

    made, pointer = [], Graph.pointer

    def listed(graph, name, *args):
        made.append(name)
        return pointer(graph, name, *args)

    monkeypatch.setattr(Graph, "pointer", listed)
    return made


NO_BACKWARD = "ggml has no backward pass for operators that write into their input"
GGML = {
    "relu[x=7x33;f32;inplace=x]": "ggml_relu_inplace",
    "relu[x=7x33;f16;layout=gapped;inplace=x]": "ggml_relu_inplace",
    "sub[a=7x33;b=33,;f32;inplace=a]": "ggml_sub_inplace",
    "softmax[x=7x33;dim=-1;f32;inplace=x]": "ggml_soft_max_inplace",
    "rms_norm[x=7x33;weight=33,;f32;inplace=x]": "ggml_mul_inplace",
    "rope[x=2x5x3x34;positions=5,;n_dims=34;f32;inplace=x]": "ggml_rope_ext_inplace",
    "scale[x=7x33;s=-2.5;b=0.75;f32;inplace=x]": "ggml_scale_bias_inplace",
    "set[a=7x33;b=3x5;offset=(2,9);f32;inplace=a]": "ggml_set_inplace",
    "clamp[x=7x33;min=-0.5;max=1.5;f32;inplace=x]": "ggml_clamp",
}


@pytest.mark.parametrize("case", GGML)
def test_ggml_runs_its_own(ggml, called, case):
    assert judged(ggml, case).verdict == "PASS"
    assert GGML[case] in called
    assert "ggml_cont" not in called


@pytest.mark.parametrize(
    ("case", "mode", "said"),
    [
        ("sub[a=7x33;b=7x33;f32;inplace=b]", "forward", "ggml has no sub in place of this tensor"),
        ("relu[x=3x2x65;f32;layout=transposed;inplace=x]", "forward", "ggml has no relu in place of this tensor"),
        (
            "relu[x=7x33;f32;inplace=x]",
            "gradient",
            NO_BACKWARD,
        ),
        ("relu[x=7x33;f32;into=gapped]", "forward", "the backend does not declare the destination 'strided'"),
    ],
)
def test_what_ggml_would_copy_is_declined(ggml, case, mode, said):
    judgement = judged(ggml, case, mode)
    assert (judgement.verdict, judgement.message) == ("UNSUPPORTED", said)


@pytest.mark.parametrize("mode", ["forward", "gradient"])
@pytest.mark.parametrize(
    "case",
    [
        "relu[x=7x33;f32;inplace=x]",
        "exp[x=3x2x65;bf16;layout=transposed;inplace=x]",
        "mul[a=5x131;b=131,;f16;layout=a:gapped;inplace=a]",
        "mul[a=7x33;b=@a;f32;inplace=a]",
        "scatter_add[x=7x9;index=7x5;src=7x5;dim=1;f32;inplace=x]",
    ],
)
def test_torch_in_place(torch, case, mode):
    assert judged(torch, case, mode).verdict == "PASS"


def test_torch_writes_where_it_lies(torch):
    x = np.array([-1.0, 2.0], np.float32)
    torch.forward("relu", [x], {}, out=[x])
    assert x.tolist() == [0, 2]


@pytest.mark.parametrize("case", ["exp[x=5x9;f32;into=transposed]", "matmul[a=5x7;b=7x9;f32;into=gapped]"])
def test_torch_out(torch, case):
    assert judged(torch, case).verdict == "PASS"
    assert judged(torch, case, "gradient").message == "autograd gives gradients in memory of its own"


def test_what_torch_declines(torch):
    a, b = np.ones(3, np.float32), np.ones(3, np.float32)
    with pytest.raises(Unsupported, match="sub_ writes over its first tensor only"):
        torch.forward("sub", [a, b], {}, out=[b])
    with pytest.raises(Unsupported, match="PyTorch has no softmax_"):
        torch.forward("softmax", [a], {"dim": 0}, out=[a])
    with pytest.raises(Unsupported, match="takes no `out`"):
        torch.forward("softmax", [a], {"dim": 0}, out=[b])
