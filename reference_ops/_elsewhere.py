"""What operators are called elsewhere: in docstrings, and in the lists of reference_ops/lists/.

A list holds one name a line, `NAME` or `NAME = ours ours`, under a head `# title: source and version`. Our operators
compute a name of a list where its line says so; without that where one of ours has the name, or where a docstring of
ours says that the library calls it so. Both disregard the namespace, for libraries have one function under several:
torch.relu is nn.functional.relu, and linalg.cholesky is our cholesky. A namespace in which a name means something else
(masked.softmax) counts as part of the name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from opproof.reference_ops._op import FOLDER, Op

LISTS = FOLDER / "lists"
#: Libraries of which docstrings say what they call an operator.
LIBRARIES = ("PyTorch", "ONNX", "ggml")
#: How the names of each of them look in a sentence.
_WRITTEN = {"PyTorch": r"\btorch\.[\w.]*\w", "ONNX": r"\b[A-Z]\w+", "ggml": r"\bggml_\w+"}
#: The library whose names stand in a list, where docstrings have that library.
_LIBRARY_OF = {"OpInfo": "PyTorch", "core ATen": "PyTorch", "ONNX": "ONNX", "ggml ops": "ggml"}
#: What a docstring may say behind the names.
_KEYS = (*LIBRARIES, "aidge", "Source", "Gradient", "Kinks", "Shapes", "JAX", "Conventions")
#: Namespaces whose functions are what their names say; ggml has one of functions and none of labels.
_NAMESPACES = re.compile(r"^(torch\.)?((Tensor|nn\.functional|linalg|fft|special|ops\.aten)\.)?|^ggml_")


@dataclass(frozen=True)
class NameList:
    """One list: what it is of, where it was read, and by name the operators of ours that compute it, perhaps none."""

    title: str
    source: str
    names: Mapping[str, tuple[str, ...]]

    @property
    def missing(self) -> tuple[str, ...]:
        """The names that no operator of ours computes."""
        return tuple(name for name, ours in self.names.items() if not ours)


def equivalents(doc: str) -> dict[str, str]:
    """By library, the sentence of a docstring that says what it calls the operator."""
    text, keys = " ".join(doc.split()), "|".join(_KEYS)
    found: dict[str, str] = {}
    for match in re.finditer(rf"(?:(?<=\. )|(?<=\) )|(?<= ))({keys}): (.*?)(?=\s(?:{keys}): |$)", text):
        key, value = match.groups()
        if key in LIBRARIES and key not in found:
            found[key] = value.strip().rstrip(".")
    return found


def named_in(sentence: str, library: str) -> Iterator[str]:
    """The names that such a sentence gives the operator: not those in brackets, nor of steps that follow each other."""
    plain = re.sub(r" \((?:[^()]|\([^()]*\))*\)", "", sentence)
    for clause in plain.split("; "):
        if not clause.startswith("none") and ", then " not in clause:
            yield from re.findall(_WRITTEN[library], clause)


def read_lists(ops: Iterable[Op], folder: Path = LISTS) -> list[NameList]:
    """Every list, matched with the operators `ops`. Raises ValueError where a list names one that is none."""
    ops = list(ops)
    own = {op.name for op in ops}
    called: dict[str, dict[str, list[str]]] = {library: {} for library in LIBRARIES}
    for op in ops:
        for library, sentence in equivalents(op.doc).items():
            for name in named_in(sentence, library):
                called[library].setdefault(_plain(name), []).append(op.name)
    return [_read(path, own, called) for path in sorted(folder.glob("*.txt"))]


def names_by_operator(ops: Iterable[Op]) -> dict[str, dict[str, list[str]]]:
    """By operator and library or list, what the operator is called there, in the order of docstring and list."""
    ops = list(ops)
    lists = read_lists(ops)
    titles = dict.fromkeys([*LIBRARIES, *(found.title for found in lists)])
    names: dict[str, dict[str, list[str]]] = {op.name: {title: [] for title in titles} for op in ops}
    for op in ops:
        for library, sentence in equivalents(op.doc).items():
            names[op.name][library] += named_in(sentence, library)
    for found in lists:
        for name, ours in found.names.items():
            for one in ours:
                names[one][found.title].append(name)
    return {one: {title: list(dict.fromkeys(n)) for title, n in by.items()} for one, by in names.items()}


def _read(path: Path, own: set[str], called: Mapping[str, Mapping[str, list[str]]]) -> NameList:
    head, *rest = path.read_text(encoding="utf-8").splitlines()
    title, _, source = head.removeprefix("# ").partition(": ")
    entries = [line.partition("=") for line in rest if line and not line.startswith("#")]
    said = {name.strip(): tuple(ours.split()) for name, _, ours in entries}
    unknown = {one for ours in said.values() for one in ours} - own
    if unknown:
        raise ValueError(f"{path} names operators that we have not: {', '.join(sorted(unknown))}")
    docstrings = called.get(_LIBRARY_OF.get(title, ""), {})
    names = {}
    for name, ours in said.items():
        plain = _plain(name)
        same = [plain] if plain in own else []
        names[name] = ours or tuple(dict.fromkeys([*same, *docstrings.get(plain, ())]))
    return NameList(title, source, names)


def _plain(name: str) -> str:
    """The name without its namespace, in small letters."""
    return _NAMESPACES.sub("", name).removesuffix(".default").lower()
