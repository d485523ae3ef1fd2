"""Which names of other libraries' lists our operators express: docs/lists/, one file a list, one name a line.

A name counts where the line names operators of ours behind `=`, where one of ours has the name itself, or where an
operator's docstring calls it that of PyTorch. Of ONNX's nodes it counts where docs/onnx.md has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from opproof.reference_ops import Op

FOLDER = Path(__file__).parent / "lists"


@dataclass(frozen=True)
class Names:
    """One list: what it is, where it was read, its names, and those that are missing."""

    title: str
    source: str
    names: tuple[str, ...]
    missing: tuple[str, ...]


def section(ops: Iterable[Op]) -> list[str]:
    """Lines of docs/operators.md: how many names of each list are covered, and which are not."""
    ops = list(ops)
    lists = [_read(path, ops) for path in sorted(FOLDER.glob("*.txt"))]
    lines = [
        "## Names of other libraries",
        "",
        "A name is covered where an operator above computes it, some perhaps only with certain attributes.",
        "",
        "| list | names | covered | read from |",
        "| --- | ---: | ---: | --- |",
    ]
    lines += [f"| {n.title} | {len(n.names)} | {len(n.names) - len(n.missing)} | {n.source} |" for n in lists]
    for n in lists:
        lines += ["", f"Missing of {n.title}: {', '.join(n.missing)}."]
    return lines


def _read(path: Path, ops: list[Op]) -> Names:
    title, source, *rest = path.read_text(encoding="utf-8").splitlines()
    entries = [line.partition("=") for line in rest if line and not line.startswith("#")]
    names = tuple(name.strip() for name, _, _ in entries)
    own = {op.name for op in ops}
    unknown = {o for _, _, ours in entries for o in ours.split()} - own
    if unknown:
        raise ValueError(f"{path} names operators that we have not: {', '.join(sorted(unknown))}")
    covered = {name.strip() for name, _, ours in entries if ours.strip()} | set(_same(names, own))
    covered |= _expressed() if path.stem == "onnx" else set(_called(ops)) if path.stem == "opinfo" else set()
    return Names(
        title.removeprefix("# "), source.removeprefix("# "), names, tuple(n for n in names if n not in covered)
    )


def _same(names: Iterable[str], own: set[str]) -> Iterator[str]:
    return (name for name in names if name.lower() in own)


def _called(ops: Iterable[Op]) -> Iterator[str]:
    """What operators are called in torch, as OpInfo writes it."""
    for op in ops:
        text = " ".join(op.doc.split()).partition("PyTorch: ")[2].partition(" ONNX: ")[0]
        yield from (name.rstrip(".") for name in re.findall(r"torch\.([\w.]+)", text))


def _expressed() -> set[str]:
    """The nodes of which docs/onnx.md says that cases agree."""
    page = (FOLDER.parent / "onnx.md").read_text(encoding="utf-8").partition("## What agrees")[2].partition("\n## ")[0]
    return set(re.findall(r"^\| (\w+) \| `", page, re.MULTILINE))
