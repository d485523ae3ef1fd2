"""opproof in loops of others: an autotuner's check of accuracy, a kernel in place of an operator of a model."""

import re

import pytest

import opproof
from opproof.core.errors import UsageError
from opproof.harness.__main__ import COMMANDS, cli, main

torch = pytest.importorskip("torch")


def rms_norm(x, weight):
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-6) * weight


def outside_the_root(x, weight):
    return x / (x.square().mean(-1, keepdim=True).sqrt() + 1e-3) * weight


def tune(configurations, args, baseline_fn, check):
    """Which of them an autotuner keeps: Helion 1.5.1 calls its settings so."""
    baseline = baseline_fn(*args)
    kept = []
    for name, kernel in configurations.items():
        try:
            check(kernel(*args), baseline)
        except AssertionError:
            continue
        kept.append(name)
    return kept


def in_tiles(x, weight):
    return torch.cat([rms_norm(rows, weight) for rows in x.split(3)])


def in_tiles_but_the_last(x, weight):
    whole = len(x) // 3 * 3
    return torch.cat([in_tiles(x[:whole], weight), torch.zeros_like(x[whole:])])


def test_an_autotuner_keeps_what_is_right():
    torch.manual_seed(0)
    judge = opproof.accuracy(rms_norm)
    some = {"whole": rms_norm, "eps": outside_the_root, "tiles": in_tiles, "lost tail": in_tiles_but_the_last}
    args = (torch.randn(8, 64), torch.randn(64))
    assert tune(some, args, judge.baseline, judge) == ["whole", "tiles"]
    other = (torch.randn(3, 128), torch.randn(128))
    assert tune(some, other, judge.baseline, judge) == ["whole", "tiles", "lost tail"], "nothing is lost of 3 rows"


def test_a_baseline_is_of_inputs_as_they_were():
    torch.manual_seed(0)
    judge, x, weight = opproof.accuracy(rms_norm), torch.randn(8, 64), torch.randn(64)
    right = judge.baseline(x, weight)
    x.zero_()
    judge(right)
    with pytest.raises(AssertionError, match="out of their bounds"):
        judge(torch.zeros_like(right))


def test_a_check_without_inputs_says_what_to_do():
    with pytest.raises(UsageError, match="call baseline"):
        opproof.accuracy(rms_norm)(torch.zeros(3))
    with pytest.raises(UsageError, match="inplace"):
        opproof.accuracy(lambda x: None).baseline(torch.zeros(3))


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.inner, self.outer = torch.nn.Linear(6, 24), torch.nn.Linear(24, 24)

    def forward(self, x):
        return self.outer(self.inner(x).softmax(-1)).softmax(0)


def softmax(x, dim, half_to_float):
    del half_to_float
    shifted = (x - x.amax(dim, keepdim=True)).exp()
    return shifted / shifted.sum(dim, keepdim=True)


def softmax_of_last_axis(x, dim, half_to_float):
    return softmax(x, -1, half_to_float)


def test_a_kernel_answers_the_calls_of_a_model():
    x = torch.randn(5, 6)
    with opproof.dispatch("aten::_softmax", softmax) as found:
        y = Model()(x)
    assert (found.calls, found.failures) == (2, [])
    assert found.sentence == "aten::_softmax: all of 2 calls are right"
    torch.testing.assert_close(y, Model()(x))


def test_each_call_is_judged_by_its_own_inputs():
    with opproof.dispatch("aten::_softmax", softmax_of_last_axis, raises=False) as found:
        Model()(torch.randn(5, 6)).sum().backward()
    assert found.calls == 2
    assert [text.partition(":")[0] for text in found.failures] == ["call 2, of (5, 24)"]
    with (
        pytest.raises(AssertionError, match=r"1 of 2 calls are wrong\ncall 2"),
        opproof.dispatch("aten::_softmax", softmax_of_last_axis),
    ):
        Model()(torch.randn(5, 6))


def test_a_kernel_that_writes_its_argument_is_told():
    def relu(x):
        return x.clamp_(min=0)

    with opproof.dispatch("aten::relu", relu, raises=False) as found:
        torch.relu(torch.randn(9))
    assert found.failures == ["call 1, of (9,): argument 0 was modified"]


def test_tensors_in_a_list_are_arguments_too():
    def cat(tensors, dim=0):
        tensors[0].zero_()
        return torch.ops.aten.cat(tensors, dim)

    with opproof.dispatch("aten::cat", cat, raises=False) as found:
        torch.cat([torch.ones(2), torch.zeros(3)])
    assert found.failures == ["call 1, of (2,), (3,): argument 0 was modified"]
    judge = opproof.accuracy(torch.cat)
    given = [torch.ones(2), torch.zeros(3)]
    right = judge.baseline(given)
    given[0].zero_()
    judge(right)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("softmax", "a name of torch.ops"),
        ("aten::sofmax", "a name of torch.ops"),
        ("aten::add.Nothing", "one of Tensor"),
        ("aten::relu_", "writes its arguments"),
        ("aten::bernoulli.p", "or draws"),
        ("aten::softmax", "give one of aten::_softmax, which were"),
    ],
)
def test_a_wrong_name_is_one_sentence(name, said):
    with pytest.raises(UsageError, match=said), opproof.dispatch(name, softmax):
        torch.randn(3, 4).softmax(-1)


def test_the_skill_names_commands_and_options_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["skill"])
    text = capsys.readouterr().out
    assert text.startswith("---\nname: opproof\n")
    assert text.count("\n") <= 150
    called = set(re.findall(r"`opproof ([a-z-]+)", text))
    assert called >= {"check", "run", "tolerance"}
    assert called <= set(COMMANDS)
    options = {o for c in called for p in cli.get_command(None, c).params for o in p.opts}
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= options
    assert set(re.findall(r"opproof\.([a-z_]+)\(", text)) <= set(opproof.__all__)
