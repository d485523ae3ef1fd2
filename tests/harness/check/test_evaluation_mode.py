"""Modules are asked in evaluation mode too, once they are right in training: dropout and running statistics differ."""

from functools import partial

import pytest

torch = pytest.importorskip("torch")

import opproof  # noqa: E402
from opproof.harness.check.run import EVALUATION  # noqa: E402


class Model(torch.nn.Module):
    def __init__(self, factor=1.0):
        super().__init__()
        torch.manual_seed(0)
        self.linear, self.norm = torch.nn.Linear(5, 7, bias=False), torch.nn.BatchNorm1d(7)
        self.factor = factor

    def forward(self, x):
        y = torch.tanh(self.norm(self.linear(x)))
        return y if self.training else y * self.factor


judged = partial(opproof.check, like=Model(), inputs=[(9, 5)], seconds=0.3, raises=False)


def tried_wrong(report):
    return {report.variants[r.case] for rs in report.failures.values() for r in rs}


def test_wrong_in_evaluation_alone():
    report = judged(Model(1.1))
    assert tried_wrong(report) == {EVALUATION}
    assert f"only='{EVALUATION}'" in str(report)
    assert tried_wrong(judged(Model(1.1), only=EVALUATION)) == {EVALUATION}
    assert judged(Model(1.1), only="as given").ok


def test_right_in_both():
    report = judged(Model())
    assert report.ok
    assert report.tried[-1] == EVALUATION
    assert judged(Model(), only=EVALUATION).tried == (EVALUATION,)


def test_modules_given_in_evaluation_are_asked_so_alone():
    report = judged(Model().eval(), like=Model().eval())
    assert report.ok
    assert EVALUATION not in report.tried


def test_what_is_kept_by_one_parameter_where_another_changes():
    class Folded(torch.nn.Module):
        def __init__(self):
            super().__init__()
            torch.manual_seed(0)
            self.linear, self.norm = torch.nn.Linear(5, 7, bias=False), torch.nn.BatchNorm1d(7)
            self._kept = None

        def forward(self, x):
            if self.training:
                return torch.tanh(self.norm(self.linear(x)))
            norm = self.norm
            key = (self.linear.weight.data_ptr(), self.linear.weight._version)
            if self._kept is None or self._kept[0] != key:
                rate = norm.weight / (norm.running_var + norm.eps).sqrt()
                self._kept = key, self.linear.weight * rate[:, None], norm.bias - norm.running_mean * rate
            _, weight, bias = self._kept
            return torch.tanh(torch.nn.functional.linear(x, weight, bias))

    report = judged(Folded(), gradients=False)
    assert tried_wrong(report) == {EVALUATION}
    assert "the answer stays where" in str(report)
