"""A block in which somebody else answers for every function of PyTorch, as it is called."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

#: The function, its arguments by place and by name; what it gives.
Answer = Callable[[Any, Sequence[Any], Mapping[str, Any]], Any]


def functions(answer: Answer) -> AbstractContextManager[Any]:
    """A mode of PyTorch's functions in which `answer` gives what they give; the mode itself is off meanwhile."""
    mode: AbstractContextManager[Any] = _mode()(answer)
    return mode


@functools.cache
def _mode() -> Any:
    """The class: made once, for an evaluation has several such blocks, and to make a class costs more than to call."""
    from torch.overrides import TorchFunctionMode

    class Mode(TorchFunctionMode):  # type: ignore[misc]
        def __init__(self, answer: Answer) -> None:
            super().__init__()
            self.answer = answer

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            del types
            return self.answer(func, args, kwargs or {})

    return Mode
