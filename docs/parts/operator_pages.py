"""A page of each operator: formula, shapes, gradient, sources, cases, backends.

It is built of the docstring in reference_ops/, the rows in cases/ and docs/data/support.json.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from html import escape
from pathlib import Path
from typing import Any

from opproof.cases import LEVELS, cases_of
from opproof.harness.space.coverage import count_coverage
from opproof.reference_ops import load, names
from parts.support import states
from parts.typeset import typeset

#: Parts of a docstring, in their order on the page, and how they are headed.
PARTS = {
    "Shapes": "Shapes",
    "Gradient": "Gradient",
    "Kinks": "Kinks",
    "Conventions": "Conventions",
    "Source": "Sources",
}
ELSEWHERE = ("PyTorch", "ONNX", "ggml")
#: The page that says what factors and levels are.
SPACE = "../../explanation/space.md#factors-and-levels"
#: How many cases are listed; the others are counted.
LISTED = 12


def parts(doc: str) -> dict[str, str]:
    """Return a docstring by parts: "formula", what "more" stands before the first key, and the keys that it has."""
    head, _, rest = doc.partition("\n\n")
    keys = "|".join((*PARTS, *ELSEWHERE))
    marks = list(re.finditer(rf"(?:^|(?<=\. )|(?<=\) ))({keys}): ", rest, re.MULTILINE))
    ends = [*(m.start() for m in marks[1:]), len(rest)]
    found = {"formula": head.partition(": ")[2], "more": rest[: marks[0].start()] if marks else rest}
    for mark, end in zip(marks, ends, strict=True):
        found[mark[1]] = f"{found.get(mark[1], '')} {rest[mark.end() : end]}"
    return {key: " ".join(text.split()) for key, text in found.items()}


def page(op: Any, cases: dict[str, list[Any]], support: dict[str, str]) -> str:
    """Return the Markdown of an operator's page; `support` holds what each backend does with it."""
    found = parts(op.doc)
    names = {*op.tensors, *op.params, *op.outputs}
    source = f"../../../reference_ops/{op.name}.py"
    lines = [f"# {op.name}", "", f'<p class="formula">{typeset(found["formula"], names)}</p>', ""]
    if found["more"]:
        lines += [f"<p>{typeset(found['more'], names)}</p>", ""]
    for key, title in PARTS.items():
        if key in found:
            lines += [f"## {title}", "", f"<p>{typeset(found[key], names)}</p>", ""]
    if op.vjp is None:
        lines += ["It has no gradient.", ""]
    lines += [*_parameters(op), *_elsewhere(found), *_cases(op, cases), *_support(op.name, support)]
    return "\n".join([*lines, "## The reference", "", f"[reference_ops/{op.name}.py]({source}) in NumPy:", ""]) + (
        f"\n```python\n{_code(op)}\n```\n"
    )


def _code(op: Any) -> str:
    """Return the operator's file behind its docstring, without the PyTorch twin."""
    text = Path(sys.modules[op.forward.__module__].__file__ or "").read_text(encoding="utf-8")
    body = text.split('"""', 2)[2].strip()
    return re.sub(r"\n\n\ndef torch\(.*?(?=\n\n\n|\Z)", "", body, flags=re.DOTALL)


def _parameters(op: Any) -> Iterator[str]:
    if op.params:
        yield from ("## Parameters", "", "| parameter | default |", "| --- | --- |")
        needed = inspect.Parameter.empty
        yield from (f"| `{n}` | {'has none' if v is needed else f'`{v!r}`'} |" for n, v in op.params.items())
        yield ""


def _elsewhere(found: dict[str, str]) -> Iterator[str]:
    yield from ("## Elsewhere", "", "| library | name |", "| --- | --- |")
    for key in ELSEWHERE:
        if key in found:
            yield f"| {key} | {_text(found[key].rstrip('.'))} |"
    yield ""


def _cases(op: Any, cases: dict[str, list[Any]]) -> Iterator[str]:
    counts = ", ".join(f"{len(some)} at {level} level" for level, some in cases.items())
    has = count_coverage(cases["standard"], op)
    covered = f" Those at standard level have {has.pairs:,} of {has.of_pairs:,} pairs of [factor levels]({SPACE})."
    told = f"{counts}; `opproof list cases -o {op.name}` prints them.{covered * bool(has.of_pairs)} The first:"
    yield from ("## Cases", "", told, "")
    yield from ("```text", *(str(case) for case in cases["standard"][:LISTED]), "```", "")


def _support(name: str, support: dict[str, str]) -> Iterator[str]:
    yield from ("## Backends", "")
    if not any(state.strip("– /") for state in support.values()):
        yield from ("None of the libraries with an adapter has it.", "")
        return
    yield from ("What each library's adapter takes on:", "")
    yield from ("| backend | takes on |", "| --- | --- |")
    taken = {b: state for b, state in support.items() if state.strip("– /")}
    yield from (f"| [{b}](../backends/{b}.md) | {state} |" for b, state in taken.items())
    yield from ("", f"`opproof run -b BACKEND -o {name}` judges it; [Support](../support.md) has all operators.", "")


def _text(text: str) -> str:
    return escape(text, quote=False).replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


@cache
def pages() -> dict[str, str]:
    """Return every operator's page, by its place in docs/."""
    support = states()
    return {
        f"reference/operators/{name}.md": page(
            load(name), {level: cases_of(name, level) for level in LEVELS}, support.get(name, {})
        )
        for name in names()
    }
