"""Graphs: their references by another way, what is said of malformed ones, and fused kernels that are wrong."""

import functools

import numpy as np
import pytest
import torch
from _ask import attempted, judged

from opproof.backends.numpy import NumPy
from opproof.backends.precision import load_built_in
from opproof.cases import Case, cases_of
from opproof.core.errors import OpError
from opproof.core.graph import parse_graph
from opproof.harness.diagnose.diagnosis import diagnose
from opproof.harness.judge.causes import find_causes
from opproof.harness.judge.gradient import Rules
from opproof.harness.known_failures.known import Known
from opproof.harness.run.plan import Selection, select_operators
from opproof.reference_ops import graph_names, load
from opproof.reference_ops._torch import autograd

LINEAR_RELU = "graph:linear_relu[x=7x33;w=33x5;bias=5,;f32]"
SCORES = "graph:softmax(add(mul(matmul(q,k),factor),mask),dim=-1)[q=5x16;k=16x9;factor=1,;mask=5x9;f32]"


def inputs_of(name, seed=0):
    """The graph's first row as float64 arrays and places."""
    op = load(name)
    case = cases_of(name, "smoke", op.rows)[0]
    rng, domain = np.random.default_rng(seed), op.domain(case.shapes, **case.kwargs)
    arrays = []
    for tensor in op.tensors:
        shape, held = case.shapes[tensor], domain.get(tensor)
        if isinstance(held, range):
            arrays.append(rng.integers(held.start, held.stop, shape))
        else:
            arrays.append(np.abs(rng.standard_normal(shape)) + 0.5 if held else rng.standard_normal(shape))
    return op, arrays, case.kwargs


@pytest.mark.parametrize("name", graph_names())
def test_values_and_gradients_are_those_of_pytorch(name):
    op, arrays, params = inputs_of(name)
    tensors = [torch.from_numpy(np.array(a)) for a in arrays]
    outputs = op.forward(*arrays, **params)
    outputs = outputs if isinstance(outputs, list) else [outputs]
    twins = op.torch(torch, *tensors, **params)
    for ours, twin in zip(outputs, twins if isinstance(twins, list) else [twins], strict=True):
        np.testing.assert_allclose(ours, twin.numpy(), rtol=1e-9, atol=1e-12)
    if op.vjp is None:  # a step of training
        return
    cotangents = [np.random.default_rng(1).standard_normal(y.shape) for y in outputs]
    needs = [a.dtype.kind == "f" for a in arrays]
    given = cotangents if len(cotangents) > 1 else cotangents[0]
    ours = op.vjp(given, None, *arrays, **params)
    twin = functools.partial(op.torch, torch, **params)
    for d, t in zip(ours, autograd(torch, twin, tensors, needs, list(map(torch.from_numpy, cotangents))), strict=True):
        if t is not None and d is not None:  # running statistics have none here
            np.testing.assert_allclose(d, t.numpy(), rtol=1e-8, atol=1e-11)


def test_a_graph_whose_results_are_parameters_after_a_step_has_no_gradient():
    assert load("graph:step_of_mlp_by_sgd").vjp is None
    assert load("graph:mlp_loss").vjp is not None
    assert load("graph:(softmax(x,dim=-1),argmax(x,dim=-1))").vjp is not None


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("graph:linear_gelo", "did you mean linear_gelu?"),
        ("graph:relu(add(a,b)", "'(' was never closed"),
        ("graph:relu(a+b)", "'a + b' is neither a call, nor a name, nor None"),
        ("graph:rleu(a)", "unknown operator 'rleu'; did you mean relu"),
        ("graph:add(a)", "add takes the tensors a, b; expected these, got 1"),
        ("graph:softmax(x)", "softmax needs its parameter 'dim'"),
        ("graph:softmax(x,dmi=1,dim=1)", "softmax has no parameter 'dmi'; did you mean dim?"),
        ("graph:topk(x,k=2).index", "topk has no output 'index'; expected one of y, indices"),
        ("graph:softmax(x,dim=x)", "x is a tensor in one place and a parameter in another"),
        ("graph:(x,relu(x))", "a result is no call"),
        ("graph:softmax(x,dim={1})", "dim={1} is neither a number, a word nor a name"),
        ("graph:softmax(x,dim=1+a)", "dim=1 + a is neither a number, a word nor a name"),
    ],
)
def test_a_malformed_graph_gets_one_sentence(name, said):
    with pytest.raises(OpError, match=".*") as raised:
        load(name)
    assert said in str(raised.value)


def test_what_is_written_twice_is_computed_once():
    graph = parse_graph("graph:add(relu(x),mul(relu(x),y))")
    assert [node.op for node in graph.nodes] == ["relu", "mul", "add"]
    assert graph.tensors == ("x", "y")


def test_the_word_graphs_means_all_of_them():
    assert [op.name for op in select_operators(Selection(ops=("graphs",)))] == graph_names()


def test_outputs_are_named_and_the_expression_is_written_out():
    op = load("graph:mul(topk(x,k=count).indices,scale)")
    assert op.called == "graph:mul(topk(x, k=count, dim=-1, largest=True)[1], scale)"
    assert (op.tensors, [*op.params]) == (("x", "scale"), ["count"])
    assert Case.parse("graph:mul(topk(x,k=count).indices,scale)[x=3x4;scale=1,;count=2;f32]").kwargs == {"count": 2}


class Fused(NumPy):
    """The references, but for one graph, whose fused kernel is `wrong(*inputs)`."""

    def __init__(self, wrong):
        super().__init__()
        self.wrong = wrong

    def forward(self, op, inputs, params, out=None):
        if op.startswith("graph:"):
            return [np.asarray(self.wrong(*(np.asarray(x, dtype=np.float32) for x in inputs)), inputs[0].dtype)]
        return super().forward(op, inputs, params, out)


def scores(q, k, factor, mask):
    s = q @ k * factor + mask
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize(
    ("case", "wrong", "verdict"),
    [
        (LINEAR_RELU, lambda x, w, bias: np.maximum(x @ w + bias, 0), "PASS"),
        (LINEAR_RELU, lambda x, w, bias: np.maximum(x @ w, 0), "WRONG_VALUE"),  # the bias is left out,
        (LINEAR_RELU, lambda x, w, bias: np.maximum(x @ w, 0) + bias, "WRONG_VALUE"),  # or comes late
        (SCORES, scores, "PASS"),
        (SCORES, lambda q, k, factor, mask: scores(q, k, factor, 0 * mask), "WRONG_VALUE"),
        (SCORES, lambda q, k, factor, mask: scores(q, k, factor, mask[:1]), "WRONG_VALUE"),  # the first row's for all
    ],
)
def test_a_fused_kernel_is_judged_as_one(case, wrong, verdict):
    assert judged(Fused(wrong), case).verdict == verdict


@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_who_stores_in_between_is_right_and_who_does_not(dtype):
    case = SCORES.replace("f32", dtype)
    kind = np.float16 if dtype == "f16" else torch.bfloat16

    def stored(a):
        if dtype == "f16":
            return a.astype(kind).astype(np.float32)
        return torch.from_numpy(np.array(a)).to(kind).float().numpy()

    def one_by_one(q, k, factor, mask):
        s = stored(stored(stored(q @ k) * factor) + mask)
        return scores(np.eye(len(s), dtype=np.float32), s, 1, 0)

    assert judged(Fused(scores), case).verdict == "PASS"
    assert judged(Fused(one_by_one), case).verdict == "PASS"
    assert judged(Fused(lambda *given: 1.05 * one_by_one(*given)), case).verdict == "WRONG_VALUE"


@pytest.mark.parametrize(
    ("case", "wrong", "said"),
    [
        (LINEAR_RELU, lambda x, w, bias: x @ w + bias, "y is that of the graph without relu"),
        (LINEAR_RELU, lambda x, w, bias: np.maximum(x @ w, 0), "the input bias is ignored: it counts as 0"),
        (
            SCORES,
            lambda q, k, factor, mask: scores(q, k, factor, 0 * mask),
            "the input mask is ignored: it counts as 0",
        ),
        (SCORES, lambda q, k, factor, mask: scores(q, k, 1, mask), "the input factor is ignored: it counts as 1"),
    ],
)
def test_a_call_that_is_left_out_is_named(case, wrong, said):
    found = attempted(Fused(wrong), case)
    assert diagnose(found.posed, found.answer, found.judgement) == said


CAUSES = "def add_a_half(x):\n    return x / 8 + 0.5\n"
LINEAR_SIGMOID = "graph:linear_sigmoid[x=7x33;w=33x5;bias=5,;f32]"


def test_a_known_failure_of_an_operator_explains_a_graph_that_calls_it_and_nothing_beneath(tmp_path):
    (tmp_path / "causes.py").write_text(CAUSES)
    known = (Known(reason="a line", operators=("sigmoid",), forward="add_a_half", folder=str(tmp_path)),)

    def fused(x, w, bias):
        return (x @ w + bias) / 8 + 0.5

    def explained(kernel, case):
        found = attempted(Fused(kernel), case)
        return found.judgement.verdict, find_causes(known, found.posed, found.judgement, Rules())

    assert explained(fused, LINEAR_SIGMOID) == ("WRONG_VALUE", ("forward=add_a_half",))
    assert explained(lambda *given: 1.01 * fused(*given), LINEAR_SIGMOID) == ("WRONG_VALUE", ())
    assert explained(fused, LINEAR_RELU) == ("WRONG_VALUE", ())


def test_a_graph_is_declared_as_its_least_precise_call():
    compute, _ = load_built_in("jax")
    called = load("graph:linear_softmax").called
    assert compute("softmax", "bf16", "gradient") == "storage"
    assert compute(called, "bf16", "gradient") == "storage"
    assert compute(load("graph:transpose_add").called, "f32", "forward") is None
