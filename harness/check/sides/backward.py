"""Whether gradients are taken by PyTorch, step by step, or by a formula that somebody wrote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

#: PyTorch's own nodes of a graph: of its operators, of leaves, of views and copies, and of what it has compiled.
_OF_TORCH = re.compile(r"\w+Backward\d+|AccumulateGrad|CopySlices|CompiledFunctionBackward|torch::autograd::\w+")


def has_own_backward(outputs: Sequence[Any]) -> bool:
    """Whether the graph of outputs, which are tensors of PyTorch, has a node that is not PyTorch's own."""
    left = [y.grad_fn for y in outputs if y.grad_fn is not None]
    seen = set(left)
    while left:
        node = left.pop()
        if not _OF_TORCH.fullmatch(node.name()):
            return True
        new = {n for n, _ in node.next_functions if n is not None} - seen
        seen |= new
        left += new
    return False
