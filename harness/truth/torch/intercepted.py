"""A block in which somebody else answers for every operation of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

#: The mode, the operation, its arguments by place and by name; what it gives.
Answer = Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Any]


def intercepted(answer: Answer) -> AbstractContextManager[Any]:
    """A mode of PyTorch's dispatch in which `answer` gives what operations give.

    Tensors of other classes (jagged ones) answer by themselves, out of operations on plain tensors, which come here.
    Operations that take functions come too: they have no schema.
    """
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    plain = torch.Tensor.__torch_dispatch__

    class Mode(TorchDispatchMode):  # type: ignore[misc]
        supports_higher_order_operators = True

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # skipping would import the compiler, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if any(t.__torch_dispatch__ is not plain for t in types):
                return NotImplemented
            return answer(self, func, args, kwargs or {})

    mode: AbstractContextManager[Any] = Mode()
    return mode
