"""What no user can mean a reference refuses, as PyTorch does, so that no such case is drawn."""

import pytest
import torch

from opproof.cases import Case
from opproof.core.errors import CaseError
from opproof.harness.reference.data import fill_parameters, inputs_of, order_arguments
from opproof.harness.reference.valid_case import check_case
from opproof.reference_ops import load

REFUSED = {
    "hardtanh[x=3x4;min_val=0.5;max_val=-0.5;f64]": "bounds in order, they are 0.5 and -0.5",
    "im2col[x=2x3x1x9;kernel_size=2;padding=(0,1);f64]": "no window of",
    "cross_entropy[x=5x4;target=5x4;ignore_index=1;f64]": "probabilities are no class that ignore_index=1",
    "logsumexp[x=5x4;dim=(2,3);f64]": "names axes that a tensor of 2 has not",
    "logsumexp[x=0d;dim=1;f64]": "names axes that a tensor of 0 has not",
    "pad[x=2x3x1;pad=(1,0);mode=reflect;f64]": "1 cells mirror 1, which are too few",
    "slice[x=3,;dim=1;f64]": "names axes that a tensor of 1 has not",
    "avg_pool1d[x=2x3x9;kernel_size=2;padding=2;f64]": "would lie wholly on padding",
    "avg_pool2d[x=2x3x9x9;kernel_size=1;padding=(1,0);f64]": "would lie wholly on padding",
}


@pytest.mark.parametrize(("text", "said"), REFUSED.items())
def test_a_call_without_a_meaning_is_refused_by_the_reference_and_by_pytorch(text, said):
    case = Case.parse(text)
    with pytest.raises(CaseError, match=said):
        check_case(case)
    op = load(case.op)
    tensors = [torch.tensor(v) for v in order_arguments(case, op, inputs_of(case, op)) if v is not None]
    with pytest.raises((RuntimeError, ValueError, IndexError)):
        op.torch(torch, *tensors, **fill_parameters(case, op))


def test_a_volume_without_a_window_is_refused():
    """PyTorch has no such function."""
    with pytest.raises(CaseError, match="no window of"):
        check_case(Case.parse("im2col_3d[x=1x2x1x9x9;kernel_size=2;f64]"))


def test_nothing_that_is_left_goes_around():
    """PyTorch gives what the memory held."""
    with pytest.raises(CaseError, match="1 cells are taken away of 1"):
        check_case(Case.parse("pad[x=2x3x1x9;pad=(0,0,1,-1);mode=circular;f64]"))


@pytest.mark.parametrize(
    "text",
    [
        "hardtanh[x=3x4;min_val=0.5;max_val=0.5;f64]",
        "im2col[x=2x3x1x9;kernel_size=2;padding=1;f64]",
        "cross_entropy[x=5x4;target=5x4;ignore_index=-1;f64]",
        "logsumexp[x=0d;dim=-1;f64]",
        "logsumexp[x=5x4;dim=(1,-2);f64]",
        "pad[x=2x3x2;pad=(1,1);mode=reflect;f64]",
        "slice[x=3x4;dim=-2;f64]",
        "avg_pool1d[x=2x3x9;kernel_size=3;padding=(2,0);f64]",
    ],
)
def test_what_lies_beside_it_is_a_case(text):
    assert check_case(Case.parse(text))
