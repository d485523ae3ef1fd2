"""Asking ggml a question whose wrong answer is abort(): in a child process, which reports what ggml said."""

from __future__ import annotations

import faulthandler
import os
import re
import sys
import warnings
from collections.abc import Callable

#: What ggml says where an operator has no backward pass; any other abort is a failure of the case itself.
_REFUSALS = re.compile(r"backward pass|not implemented|unsupported|!node->view_src|->type == GGML_TYPE", re.IGNORECASE)
_PLACE = re.compile(r"^\S+:\d+: ")


def find_refusal(build: Callable[[], object]) -> str:
    """What ggml says where `build()` aborts because a backward pass is missing, else nothing."""
    lines = [line for line in (read_last_words(build) or "").splitlines() if _REFUSALS.search(line)]
    if lines and "view_src" in lines[0]:
        return "ggml has no backward pass for operators that write into their input"
    return _PLACE.sub("", lines[0]).strip() if lines else ""


def read_last_words(build: Callable[[], object]) -> str | None:
    """What `build()` says before it dies of a signal; None where it lives.

    It runs in a fork and may call ggml only. Without fork (Windows) nothing is asked, and such a case crashes.
    """
    if sys.platform == "win32":
        return None
    read, write = os.pipe()
    with warnings.catch_warnings():  # the worker has a watching thread; the child never takes a lock of its
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if not child:
        faulthandler.disable()  # it would report the abort as ours
        os.dup2(write, 2)
        try:
            build()
        finally:
            os._exit(0)  # whatever Python raised here, the parent will see by itself
    os.close(write)
    with os.fdopen(read, encoding="utf-8", errors="replace") as pipe:
        said = pipe.read()
    _, status = os.waitpid(child, 0)
    return said if os.WIFSIGNALED(status) else None
