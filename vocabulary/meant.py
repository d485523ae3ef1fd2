"""What somebody may have meant by a word that is none."""

from __future__ import annotations

from collections.abc import Iterable

#: Dtypes as others call them.
DTYPE_NAMES = {
    "fp64": "f64", "float64": "f64", "double": "f64", "fp32": "f32", "float32": "f32", "float": "f32", "single": "f32",
    "fp16": "f16", "float16": "f16", "half": "f16", "bfloat16": "bf16", "bfloat": "bf16", "brain": "bf16",
}  # fmt: skip


def near(word: str, known: Iterable[str], most: int = 1) -> list[str]:
    """The known words that are most like `word`."""
    import difflib

    words = list(known)
    other = DTYPE_NAMES.get(word.lower())
    return [other] if other in words else difflib.get_close_matches(word, words, n=most)


def meant(word: str, known: Iterable[str], most: int = 1) -> str:
    """A question to end a message with, such as "; did you mean wide?"; empty where nothing is like `word`."""
    found = near(word, known, most)
    return f"; did you mean {', '.join(found)}?" if found else "."
