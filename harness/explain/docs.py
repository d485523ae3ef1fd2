"""What reports say of operators: their docstrings, read without importing them."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from opproof.reference_ops._op import FOLDER
from opproof.reports import Result


def docs_of(results: Iterable[Result]) -> dict[str, str]:
    """Docstring of every built-in operator among the results."""
    docs = {}
    for name in sorted({r.op for r in results}):
        path = FOLDER / f"{name}.py"
        if path.is_file():
            docs[name] = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    return docs
