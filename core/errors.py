"""Bad input: one sentence that says what, expected, got and what to do next; the command line exits with 2.

What somebody may have meant by a word that is none.
"""

from __future__ import annotations

from collections.abc import Iterable


class BadInput(ValueError):
    """What somebody gave opproof is wrong; the text is a sentence for them."""


class UsageError(BadInput):
    """The call itself is wrong."""


class CaseError(BadInput):
    """A case id or a row of a case file is malformed."""


class OpError(BadInput):
    """An operator's file, or an operator's name, is not what it should be."""


class BackendError(BadInput):
    """A backend cannot be loaded: missing file, missing package, wrong ABI."""


class ResultsError(BadInput):
    """A results file is missing, corrupt, or of another schema version."""


class Stopped(Exception):
    """A run was stopped; the text is a sentence for whoever did it, `status` what the process exits with."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status


#: Dtypes as others call them.
DTYPE_NAMES = {
    "fp64": "f64", "float64": "f64", "double": "f64", "fp32": "f32", "float32": "f32", "float": "f32", "single": "f32",
    "fp16": "f16", "float16": "f16", "half": "f16", "bfloat16": "bf16", "bfloat": "bf16", "brain": "bf16",
    "fp8": "f8e4m3", "float8": "f8e4m3", "f8": "f8e4m3", "e4m3": "f8e4m3", "e4m3fn": "f8e4m3", "fp8e4m3": "f8e4m3",
    "f8_e4m3": "f8e4m3", "fp8_e4m3": "f8e4m3", "float8_e4m3fn": "f8e4m3", "float8_e4m3": "f8e4m3",
    "e5m2": "f8e5m2", "fp8e5m2": "f8e5m2", "f8_e5m2": "f8e5m2", "fp8_e5m2": "f8e5m2", "float8_e5m2": "f8e5m2",
    "int8": "i8", "s8": "i8", "char": "i8", "int16": "i16", "s16": "i16", "short": "i16",
    "int32": "i32", "s32": "i32", "int": "i32", "uint8": "u8", "ui8": "u8", "byte": "u8",
}  # fmt: skip


def find_near(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that are most like `word`."""
    import difflib

    words = list(known)
    other = DTYPE_NAMES.get(word.lower())
    return [other] if other in words else difflib.get_close_matches(word, words, n=most)


def suggest(word: str, known: Iterable[str], most: int = 1) -> str:
    """A question to end a message with, such as "; did you mean wide?"; empty where nothing is like `word`."""
    found = find_near(word, known, most)
    return f"; did you mean {', '.join(found)}?" if found else "."
