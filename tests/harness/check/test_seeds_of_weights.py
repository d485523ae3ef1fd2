"""The line that tries a failure of modules again holds the seed of their weights."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402


class Eager(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(8, 4)

    def forward(self, x):
        return torch.tanh(self.out(x))


class Wrong(Eager):
    def forward(self, x):
        return super().forward(x) * 1.01


def judged(seed):
    torch.manual_seed(seed)
    return opproof.check(Wrong(), like=Eager(), inputs=[(5, 8)], only="as given", raises=False, seconds=1e9)


def test_the_line_makes_the_same_weights():
    first = judged(1234)
    line = first.repro(first.worst)
    assert line.startswith("torch.manual_seed(1234); opproof.check(Wrong(...), like=Eager(...), inputs=..., only=")
    torch.manual_seed(5)
    made = line.replace("(...)", "()").replace("inputs=...", "inputs=[(5, 8)]").replace("only=", "raises=False, only=")
    names = {"torch": torch, "opproof": opproof, "Wrong": Wrong, "Eager": Eager}
    seeded, _, call = made.partition("; ")
    exec(seeded, names)
    again = eval(call, names)
    assert again.worst.worst == first.worst.worst
    assert again.worst.units == first.worst.units
    assert judged(5).worst.worst != first.worst.worst, "other weights have another worst element"


def test_functions_have_no_weights():
    def reference(x):
        return x.tanh()

    report = opproof.check(
        lambda x: x.tanh() * 1.01, like=reference, inputs=[(5, 8)], only="as given", raises=False, seconds=1e9
    )
    assert report.repro(report.worst).startswith("opproof.check(")
