"""Blocks in which somebody else answers for every function of PyTorch, or for every operation, as it is called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

#: The function, its arguments by place and by name; what it gives.
FunctionHandler = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]
#: What is said of operations that take functions; `{}` is the operation.
TAKES_FUNCTIONS = (
    "{} takes functions and compiles them, so that the judge does not see their steps: write the reference with plain "
    "operations, attention with a score function as scores + bias, softmax and a product."
)


def with_intercepted_functions(answer: FunctionHandler) -> AbstractContextManager[Any]:
    """A mode of PyTorch's functions in which `answer` gives what they give; the mode itself is off meanwhile."""
    mode: AbstractContextManager[Any] = _make_function_mode()(answer)
    return mode


@functools.cache
def _make_function_mode() -> Any:
    """The class: made once, for an evaluation has several such blocks, and to make a class costs more than to call."""
    from torch.overrides import TorchFunctionMode

    class FunctionMode(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, answer: FunctionHandler) -> None:
            super().__init__()
            self.answer = answer

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            return self.answer(func, args, kwargs or {})

    return FunctionMode


def with_modes_off() -> AbstractContextManager[Any]:
    """A block in which nobody answers: what the judge computes for itself there is none of the reference's."""
    from torch.utils._python_dispatch import _disable_current_modes

    off: AbstractContextManager[Any] = _disable_current_modes()
    return off


#: The mode, the operation, its arguments by place and by name; what it gives.
OperationHandler = Callable[[Any, Any, Sequence[Any], Mapping[str, Any]], Any]


def with_intercepted_operations(answer: OperationHandler) -> AbstractContextManager[Any]:
    """A mode of PyTorch's dispatch in which `answer` gives what operations give.

    Tensors of other classes (jagged ones) answer by themselves, out of operations on plain tensors, which come here.
    Operations that take functions come too: they have no schema.
    """
    mode: AbstractContextManager[Any] = _make_dispatch_mode()(answer)
    return mode


@functools.cache
def _make_dispatch_mode() -> Any:
    """The class: made once, as that of functions.py."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    plain, lazy = torch.Tensor.__torch_dispatch__, _make_lazy_mode()

    class DispatchMode(TorchDispatchMode):  # type: ignore[misc]
        supports_higher_order_operators = True

        def __init__(self, answer: OperationHandler) -> None:
            super().__init__()
            self.answer = answer

        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # skipping would import the compiler, which takes seconds

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            for t in types:
                if t.__torch_dispatch__ is not plain:
                    return NotImplemented
            with lazy():
                return self.answer(self, func, args, kwargs or {})

    return DispatchMode


def _make_lazy_mode() -> Any:
    """The class of a block in which conjugates and negatives that are not made yet are made when they are read.

    PyTorch does not in a mode of its dispatch: an operator that is written in Python, as torch.library has them, reads
    there what is to be conjugated as it lies in memory.
    """
    import torch

    keys = (torch._C.DispatchKey.Conjugate, torch._C.DispatchKey.Negative)
    is_left_out = torch._C._dispatch_tls_is_dispatch_key_excluded
    leave_out = torch._C._dispatch_tls_set_dispatch_key_excluded

    class Lazy:
        def __enter__(self) -> None:
            self.left_out = [key for key in keys if is_left_out(key)]
            for key in self.left_out:
                leave_out(key, False)

        def __exit__(self, *_: object) -> None:
            for key in self.left_out:
                leave_out(key, True)

    return Lazy
