"""Arguments of a user's own classes, members of enums, functions and generators: here, and in another process."""

from __future__ import annotations

import argparse
import enum
import json
import math
import operator
import types
from dataclasses import dataclass, field
from functools import partial

import pytest
from _runs import completed

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.call import user_classes, wire  # noqa: E402
from opproof.harness.check.call.subject import replace_generator, restore_generator  # noqa: E402
from opproof.harness.check.variants.inputs import take_inputs  # noqa: E402

judged = partial(opproof.check, seconds=1e9, raises=False)

COMMON = """
import enum
from dataclasses import dataclass

import torch


class Pooling(enum.Enum):
    SUM = "sum"
    MEAN = "mean"
"""
CONFIG = """

@dataclass(frozen=True)
class Config:
    scale: float
    pooling: Pooling
    bias: torch.Tensor
"""
FUNCTION = """

def NAME(x, config, act, generator=None):
    kept = torch.rand(x.shape[0], 1, generator=generator) < 0.7
    y = act(x * FACTOR + config.bias) * kept
    return y.sum(0) if config.pooling is Pooling.SUM else y.mean(0)
"""
INPUTS = """

def inputs(seed):
    g = torch.Generator().manual_seed(seed)
    config = Config([2.0, 0.5][seed % 2], list(Pooling)[seed % 2], torch.randn(6, generator=g))
    act = [torch.tanh, torch.nn.functional.silu][seed % 2]
    return {"x": torch.randn(4, 6, generator=g), "config": config, "act": act, "generator": g}
"""


def run(tmp_path, candidate, *options):
    reference = COMMON + CONFIG + FUNCTION.replace("NAME", "reference").replace("FACTOR", "config.scale") + INPUTS
    (tmp_path / "reference.py").write_text(reference, encoding="utf-8")
    (tmp_path / "candidate.py").write_text(candidate.replace("NAME", "candidate"), encoding="utf-8")
    files = ("reference.py", "candidate.py")
    return completed("check", *files, "--accept-partial", "--seconds", "1", *options, cwd=tmp_path)


def test_a_class_that_the_candidate_has_or_has_not_goes_to_another_process(tmp_path):
    function = FUNCTION.replace("FACTOR", "config.scale")
    for candidate in (COMMON + CONFIG + function, COMMON + function):
        done = run(tmp_path, candidate)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout


def test_a_number_of_a_configuration_is_an_argument_that_draws_vary(tmp_path):
    done = run(tmp_path, COMMON + CONFIG + FUNCTION.replace("FACTOR", "2.0"), "--only", "arguments of seed 1")
    assert done.returncode == 1
    assert "arguments of seed 1" in done.stdout


class Mode(enum.Enum):
    LOW = 1
    HIGH = "two"


class Count(enum.IntEnum):
    ONE = 1


class Kind(enum.Enum):
    HALF = torch.float16


@pytest.mark.parametrize("value", [Mode.HIGH, Count.ONE, Kind.HALF])
@pytest.mark.parametrize("has_it", [True, False])
def test_a_member_of_an_enum_comes_back(value, has_it):
    written = json.loads(json.dumps(wire.to_json(value)))
    written["of"][0] = "nowhere"
    own = {type(value).__name__: type(value)} if has_it else {}
    back = wire.from_json(written, own)
    assert (back.name, back.value, type(back).__name__) == (value.name, value.value, type(value).__name__)
    assert back is wire.from_json(written, own)
    assert isinstance(back, int) == isinstance(value, int)
    assert (back is value) == has_it


@pytest.mark.parametrize(
    "value", [torch.tanh, torch.nn.functional.softplus, torch.nn.GELU, math.exp, operator.mul, max]
)
def test_a_function_of_a_library_comes_back(value):
    assert wire.from_json(json.loads(json.dumps(wire.to_json(value))), {}) is value


def test_a_partial_function_comes_back():
    value = partial(torch.nn.functional.leaky_relu, negative_slope=0.5)
    back = wire.from_json(json.loads(json.dumps(wire.to_json(value))), {})
    assert (back.func, back.args, back.keywords) == (value.func, value.args, value.keywords)


def test_a_function_that_no_library_has_is_said():
    with pytest.raises(TypeError, match="the function '<lambda>', which no library has"):
        wire.to_json(lambda x: x)


@dataclass
class Options:
    width: int
    half: int = field(init=False, default=3)


class Acting:
    def __init__(self):
        self.size = 3

    def grow(self):
        self.size += 1


@pytest.mark.parametrize(
    "value", [Options(4), types.SimpleNamespace(width=4, half=3), argparse.Namespace(width=4, half=3)]
)
def test_what_an_object_holds_are_arguments(value):
    x = torch.ones(3)
    arguments, (tensor,), _ = take_inputs(lambda: [x, value], ["x", "options"], None, 0)
    assert arguments.rest == (None, 4, 3)
    assert arguments.labels(["x", "options"]) == ["x", "options.width", "options.half"]
    (_, back), _ = arguments.split([x])
    assert back == value
    assert type(back) is type(value)
    assert tensor.name == "x"


def test_tensors_in_a_nesting_are_called_by_where_they_lie():
    tree = {"gate": {"weight": torch.ones(2)}, "experts": [torch.ones(3), torch.ones(4)]}
    _, tensors, _ = take_inputs(lambda: [torch.ones(1), tree], ["x", "params"], None, 0)
    assert {t.name for t in tensors} == {"x", "params.gate.weight", "params.experts.0", "params.experts.1"}
    _, tensors, _ = take_inputs(lambda: [{"a b": torch.ones(2)}], ["params"], None, 0)
    assert [t.name for t in tensors] == ["x0"]


def text_of(value):
    from torch.utils._pytree import tree_flatten

    user_classes.look_into([value])
    return user_classes.spec_to_text(tree_flatten((value,))[1])


def test_of_a_class_that_nobody_has_there_is_one_with_the_same_fields():
    from torch.utils._pytree import tree_unflatten, treespec_loads

    text = text_of(Options(4)).replace(__name__, "nowhere")
    user_classes.look_into_named(text, {})
    (back,) = tree_unflatten([5, 6], treespec_loads(text))
    assert (type(back).__name__, back.width, back.half) == ("Options", 5, 6)
    assert type(back) is not Options


def test_a_class_with_methods_is_to_be_had():
    text = text_of(Acting()).replace(__name__, "nowhere")
    with pytest.raises(LookupError, match="an argument is a Acting, which has methods"):
        user_classes.look_into_named(text, {})
    user_classes.look_into_named(text, {"Acting": Acting})


def test_what_is_no_configuration_stays_what_it_is():
    for value in (torch.nn.ReLU(), torch.tanh, Mode.LOW, Options, torch.ones(2), 3, "text", torch.float16):
        arguments, _, _ = take_inputs(lambda v=value: [torch.ones(2), v], ["x", "y"], None, 0)
        assert len(arguments.rest) == 2


def test_every_call_draws_from_a_generator_in_the_state_of_the_first():
    generator = torch.Generator().manual_seed(3)
    kept = replace_generator(generator)
    first = torch.rand(4, generator=generator)
    for _ in range(2):
        assert torch.equal(torch.rand(4, generator=restore_generator(kept)), first)
    assert kept == replace_generator(generator)
    assert repr(kept) == repr(replace_generator(generator))
    assert restore_generator(3) == replace_generator(3) == 3


def test_a_candidate_that_draws_otherwise_is_found():
    def dropped(x, generator):
        return x * (torch.rand(x.shape, generator=generator) < 0.7)

    def other(x, generator):
        torch.rand(1, generator=generator)
        return dropped(x, generator)

    def inputs(seed):
        return [torch.randn(4, 6), torch.Generator().manual_seed(seed)]

    assert not judged(dropped, like=dropped, inputs=inputs).failures
    assert judged(other, like=dropped, inputs=inputs).failures
