"""Calls of `check` and its hooks that say nothing are one sentence, and blame no candidate."""

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.core.errors import UsageError  # noqa: E402


def softmax(x):
    return torch.softmax(x, -1)


@pytest.mark.parametrize(
    ("candidate", "options", "said"),
    [
        (None, {}, "the candidate is None: expected a function, a module or 'c:./lib.so:symbol'."),
        (softmax, {"like": 3}, "like is 3: expected a function or a module of PyTorch."),
        (torch.nn.ReLU, {}, "the candidate is the class ReLU: give one of it, as ReLU()."),
        (softmax, {"like": torch.nn.ReLU}, "like is the class ReLU: give one of it, as ReLU()."),
        (softmax, {"like": lambda x: None}, "it returns no tensor: give inputs that the reference takes."),
        (softmax, {"seconds": "5"}, "seconds='5': expected a number, of seconds of processors."),
        (softmax, {"seconds": float("nan")}, "seconds=nan: expected a number, of seconds of processors."),
        (softmax, {"seconds": -1}, "seconds=-1: expected a number, of seconds of processors."),
    ],
)
def test_a_bad_call_of_check(candidate, options, said):
    with pytest.raises(UsageError) as told:
        opproof.check(candidate, **{"like": softmax, "inputs": [(3, 4)], "neighbours": False, **options})
    assert str(told.value).endswith(said)
    assert "\n" not in str(told.value)


def test_a_bad_call_of_a_hook():
    with pytest.raises(UsageError, match="the reference is None: expected a function"):
        opproof.accuracy(None)
    with (
        pytest.raises(UsageError, match="the kernel is None: expected a function"),
        opproof.dispatch("aten::add", None),
    ):
        pass
