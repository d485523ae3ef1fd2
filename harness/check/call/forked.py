"""A candidate in a copy of this process, which may die where a kernel of C, Triton or CUDA reads past its tensors.

The copy lasts from call to call, as what a kernel keeps does; after a death there is another. Calls with several
threads of PyTorch and calls that are timed are made here: threads do not outlive a fork.
"""

from __future__ import annotations

import ctypes
import faulthandler
import os
import pickle
import resource
import signal
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from types import CodeType, FunctionType, ModuleType
from typing import Any

from opproof.core.verdicts import Verdict
from opproof.harness.check.call.exchange import CallRequest, Reply, Setting
from opproof.harness.check.call.isolated import Located
from opproof.harness.check.tensors import CONTIGUOUS
from opproof.harness.clock import count, count_no_more

#: Seconds in which an answer comes, or none does.
_MAX_CALL_SECONDS = 300.0
#: Settings of several threads.
_OF_THREADS = frozenset((Setting.THREAD, Setting.TWO, Setting.MANY, Setting.MOST, Setting.BESIDE))
#: Libraries whose threads a copy has not.
_THREADED = ("jax", "mlx.core", "tensorflow")
#: Types of what is launched, by what they are of.
_CTYPES = (ctypes.CDLL, type(ctypes.pythonapi.Py_IsInitialized).__mro__[1])
_OF_TRITON = frozenset(("JITFunction", "Autotuner", "Heuristics"))
#: Triton where kernels are functions of Python, and what is said of it where it meets numbers of so few digits.
_INTERPRETER = "Triton's interpreter"
_NARROW = frozenset(("bf16", "f8e4m3", "f8e5m2"))
_OF_BITS = (
    "bf16 and float8 as a GPU has them: Triton's interpreter adds their bit patterns and truncates casts; call mend() "
    "of the interpreter.py that `opproof init triton` writes, or judge float32"
)
#: Packages whose own libraries are none of a kernel's.
_COMMON = frozenset(("torch", "numpy", "scipy", "triton", "opproof", "ml_dtypes"))


def find_native(candidate: Any) -> str:
    """Name what it launches beside Python's own functions, as far as its code tells; "" for nothing."""
    return next(_generate_native(candidate, set()), "")


def _generate_native(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    seen.add(id(value))
    kind = type(value)
    if isinstance(value, _CTYPES) or (isinstance(value, str) and value.startswith("c:")):
        yield "a function of C"
    elif kind.__name__ == "InterpretedFunction" and kind.__module__.startswith("triton."):
        yield _INTERPRETER
    elif kind.__name__ in _OF_TRITON and kind.__module__.startswith("triton."):
        yield next(_generate_native(getattr(value, "fn", None), seen), "Triton")
    elif _is_compiled(value):
        yield "a compiled module"
    elif isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _generate_native(part, seen)
    elif isinstance(value, FunctionType):
        names = dict(value.__globals__)
        for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
            with suppress(ValueError):  # an empty cell
                names[name] = cell.cell_contents
        for named in _list_named(value.__code__, names):
            yield from _generate_native(named, seen)
    elif isinstance(value, type):
        own = vars(value).values() if value.__module__.partition(".")[0] not in _COMMON else ()
        for part in own:
            yield from _generate_native(getattr(part, "__func__", part), seen)
    elif hasattr(value, "__self__"):
        yield from _generate_native(getattr(value, "__func__", None), seen)
        yield from _generate_native(value.__self__, seen)
    elif hasattr(value, "named_modules"):
        for module in value.modules():
            yield from _generate_native(type(module), seen)


def _list_named(code: CodeType, names: dict[str, Any]) -> Iterator[Any]:
    """What code names of its module and around it, and of modules that this names; nothing of what all have."""
    found = [names[name] for name in (*code.co_names, *code.co_freevars) if name in names]
    modules = [m for m in found if isinstance(m, ModuleType) and m.__name__.partition(".")[0] not in _COMMON]
    found += [vars(m)[name] for m in modules for name in code.co_names if name in vars(m)]
    yield from (v for v in found if str(getattr(v, "__module__", "")).partition(".")[0] not in (_COMMON - {"triton"}))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _list_named(constant, names)


def _is_compiled(value: Any) -> bool:
    """Whether it is a function of a library that Python loaded, or such a module, and none that all have."""
    name = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", None))
    if isinstance(value, FunctionType | type) or name.partition(".")[0] in (_COMMON | sys.stdlib_module_names):
        return False
    file = str(getattr(sys.modules.get(name), "__file__", None) or "")
    return file.endswith((".so", ".pyd")) and (callable(value) or isinstance(value, ModuleType))


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
        interpreted = not mended and find_native(candidate) == _INTERPRETER
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
    copy: list[_Copy] = []

    def asked(request: CallRequest) -> Reply:
        if request.repeats or request.setting in _OF_THREADS:
            return ask(request)
        sent = None
        with suppress(Exception):  # of what no pickle holds there is a copy that has it already
            sent = pickle.dumps(request, pickle.HIGHEST_PROTOCOL) if copy else None
        if copy and sent is None:
            copy.pop().end()
        if sent is None:
            copy.append(_Copy(ask, request))
        answer = copy[0].exchange(sent)
        if isinstance(answer, Reply):
            return answer
        copy.pop().end()
        return Reply(error=f"{answer[1]}, called with {describe_call(request)}", cause=answer[0])

    try:
        yield asked
    finally:
        for one in copy:
            one.end()


def run_in_copy(call: Callable[[], Any]) -> Any:
    """What it returns, called in a copy of this process that ends with it; None where it died."""
    one = _Copy(lambda _: call(), CallRequest(()))
    found = one.exchange(None)
    one.end()
    return None if isinstance(found, tuple) else found


def describe_call(request: CallRequest) -> str:
    """Name each tensor of a request by its dtype, its sizes, and how it lies."""
    each = (
        f"{t.name} {t.dtype} {list(t.shape)}{'' if t.layout == CONTIGUOUS else f' ({t.layout})'}"
        for t in request.tensors
    )
    return ", ".join(each)


class _Copy:
    """A copy of this process, that answers a first request, and then those that are sent."""

    def __init__(self, ask: Callable[[CallRequest], Any], first: CallRequest) -> None:
        self.connection, own = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of threads, which wait where nothing is called
            self.number = os.fork()
        if not self.number:
            self.connection.close()
            _serve(own, ask, first)
        own.close()
        count(self.number)

    def exchange(self, sent: bytes | None) -> Any:
        """The answer to what is sent, or to the first request; how the copy ended, a verdict and words, if it did."""
        with suppress(EOFError, OSError):
            if sent is not None:
                self.connection.send_bytes(sent)
            if not self.connection.poll(_MAX_CALL_SECONDS):
                return Verdict.TIMEOUT, f"the candidate gave no answer within {_MAX_CALL_SECONDS:g} s"
            return pickle.loads(self.connection.recv_bytes())  # noqa: S301 - of a copy of this process
        ended = os.waitid(os.P_PID, self.number, os.WEXITED | os.WNOWAIT)
        by_signal = ended is not None and ended.si_code != os.CLD_EXITED
        status = ended.si_status if ended is not None else 0
        how = f"died of {signal.Signals(status).name}" if by_signal else f"ended its process with status {status}"
        return Verdict.CRASH, f"the candidate {how}"

    def end(self) -> None:
        """End it, if it has not."""
        self.connection.close()
        with suppress(ProcessLookupError):
            os.kill(self.number, signal.SIGKILL)
        os.waitpid(self.number, 0)
        count_no_more(self.number)


def _serve(connection: Connection, ask: Callable[[CallRequest], Any], request: CallRequest) -> None:
    """Answer until the other side is gone, and end the process, whatever comes."""
    import torch

    status = 1
    try:
        faulthandler.disable()
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        torch.set_num_threads(1)
        while True:
            answer = pickle.dumps(ask(request), pickle.HIGHEST_PROTOCOL)
            connection.send_bytes(answer)
            request = pickle.loads(connection.recv_bytes())  # noqa: S301 - of the process that this is a copy of
    except (EOFError, OSError):
        status = 0
    finally:
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)
