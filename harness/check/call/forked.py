"""A candidate in a copy of this process, which may die where a kernel of C, Triton or CUDA reads past its tensors.

Its code tells what it launches. The copy lasts from call to call, as what a kernel keeps does; another follows a death.
Calls with several threads of PyTorch and calls that are timed are made here.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from opproof.core.copies import CopyEnded, ProcessCopy
from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, Setting
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.clock import count, count_no_more

#: Seconds in which an answer comes, or none does.
MAX_CALL_SECONDS = 300.0
#: Settings of several threads.
_OF_THREADS = frozenset((Setting.THREAD, Setting.TWO, Setting.MANY, Setting.MOST, Setting.BESIDE))
#: Libraries whose threads a copy has not.
_THREADED = ("jax", "mlx.core", "tensorflow")
#: Classes of functions and libraries of C, and of kernels of Triton.
_CTYPES = (ctypes.CDLL, type(ctypes.pythonapi.Py_IsInitialized).__mro__[1])
_OF_TRITON = {"JITFunction": "Triton", "InterpretedFunction": "Triton's interpreter"}
#: Packages that launch nothing of a kernel's own.
_COMMON = frozenset(("torch", "numpy", "scipy", "opproof", "ml_dtypes"))
#: Dtypes of few digits, and what is said where Triton's interpreter meets them.
_NARROW = frozenset(("bf16", "f8e4m3", "f8e5m2"))
_OF_BITS = (
    "bf16 and float8 as a GPU has them: Triton's interpreter adds their bit patterns and truncates casts; call mend() "
    "of the interpreter.py that `opproof init triton` writes, or judge float32"
)


def find_native(candidate: Any) -> str:
    """Name what it launches beside Python's own functions, as far as its code tells; "" for nothing."""
    left, seen = [candidate], dict[int, Any]()
    while left:
        value = left.pop()
        if id(value) not in seen:
            seen[id(value)] = value
            if name := _name_native(value):
                return name
            left += _iter_parts(value)
    return ""


def _name_native(value: Any) -> str:
    if isinstance(value, _CTYPES) or (isinstance(value, str) and value.startswith("c:")):
        return "a function of C"
    if _package_of(type(value)) == "triton":
        return _OF_TRITON.get(type(value).__name__, "")
    name = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", None))
    if isinstance(value, FunctionType | type) or name.partition(".")[0] in _COMMON | sys.stdlib_module_names:
        return ""
    file = str(getattr(sys.modules.get(name), "__file__", None))
    compiled = file.endswith((".so", ".pyd")) and (callable(value) or isinstance(value, ModuleType))
    return "a compiled module" if compiled else ""


def _iter_parts(value: Any) -> Iterator[Any]:
    """What a value is made of, or names in its code."""
    if isinstance(value, FunctionType):
        names = dict(value.__globals__)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell
                names[name] = cell.cell_contents
        yield from (v for v in _iter_named(value.__code__, names) if _package_of(v) not in _COMMON)
    elif isinstance(value, partial):
        yield from (value.func, *value.args, *value.keywords.values())
    elif isinstance(value, type):
        yield from () if _package_of(value) in _COMMON else map(_unwrap, vars(value).values())
    elif hasattr(value, "named_modules"):
        yield from map(type, value.modules())
    elif _package_of(type(value)) == "triton":  # what tunes a kernel
        yield getattr(value, "fn", None)
    elif hasattr(value, "__self__"):
        yield from (value.__self__, _unwrap(value))


def _unwrap(value: Any) -> Any:
    return getattr(value, "__func__", value)


def _package_of(value: Any) -> str:
    return str(getattr(value, "__module__", "")).partition(".")[0]


def _iter_named(code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """What code names of its module and around it, and of modules that this names."""
    found = [names[name] for name in (*code.co_names, *code.co_freevars) if name in names]
    modules = [m for m in found if isinstance(m, ModuleType) and m.__name__.partition(".")[0] not in _COMMON]
    yield from (*found, *(vars(m)[name] for m in modules for name in code.co_names if name in vars(m)))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _iter_named(constant, names)


def describe_interpreter(candidate: Any, kinds: Iterable[str]) -> str:
    """What is said where Triton's interpreter, as it comes, computes with dtypes of few digits; "" elsewhere."""
    import torch

    if not _NARROW & {*kinds}:
        return ""
    if isinstance(candidate, Located):
        text = candidate.file.read_text(encoding="utf-8", errors="replace")
        asked = os.environ.get("TRITON_INTERPRET") == "1" or "TRITON_INTERPRET" in text
        interpreted = "triton" in text and "mend(" not in text and asked and not torch.cuda.is_available()
    else:
        module = sys.modules.get("triton.runtime.interpreter")
        mended = hasattr(getattr(module, "InterpreterBuilder", None), "narrow_numbers")
        interpreted = not mended and find_native(candidate) == _OF_TRITON["InterpretedFunction"]
    return _OF_BITS if interpreted else ""


def explain_no_fork(device: str) -> str:
    """Why a copy of this process would not do; "" where it would."""
    import torch

    if not hasattr(os, "fork"):
        return "this system has no fork"
    if device != "cpu" or torch.cuda.is_initialized() or torch.accelerator.is_available():
        return "an accelerator's threads and memory do not outlive a fork"
    loaded = next((name for name in _THREADED if name in sys.modules), "")
    return f"{loaded} is loaded, whose threads do not outlive a fork" if loaded else ""


@contextmanager
def forked(ask: Callable[[CallRequest], Reply]) -> Iterator[Callable[[CallRequest], Reply]]:
    """A block in which requests are answered by a copy of this process, as `ask` answers them here."""
    copies: list[ProcessCopy] = []

    def answer(request: CallRequest) -> Reply:
        import torch

        torch.set_num_threads(1)
        return ask(request)

    def end() -> None:
        for copy in copies:
            copy.end()
            count_no_more(copy.number)
        copies.clear()

    def asked(request: CallRequest) -> Reply:
        if request.repeats or request.setting in _OF_THREADS:
            return ask(request)
        sent = None
        with suppress(Exception):  # of what no pickle holds another copy has it already
            sent = pickle.dumps(request, pickle.HIGHEST_PROTOCOL) if copies else None
        if sent is None:
            end()
            copies.append(ProcessCopy(answer, request))
            count(copies[0].number)
        try:
            reply: Reply = copies[0].exchange(sent, MAX_CALL_SECONDS)
        except CopyEnded as ended:
            end()
            cause = Verdict.TIMEOUT if ended.late else Verdict.CRASH
            return Reply(error=f"the candidate {ended}, called with {describe_call(request)}", cause=cause)
        return reply

    try:
        yield asked
    finally:
        end()


def describe_call(request: CallRequest) -> str:
    """Name each tensor of a request by its dtype, its sizes, and how it lies."""
    each = (
        f"{t.name} {t.dtype} {list(t.shape)}{'' if t.layout == CONTIGUOUS else f' ({t.layout})'}"
        for t in request.tensors
    )
    return ", ".join(each)
