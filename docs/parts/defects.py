"""The reproductions of defects in docs/defects/LIBRARY/, and the pages of them.

    python docs/parts/defects.py [LIBRARY...]     runs them with the installed library, into docs/data/defects.json
    python docs/parts/defects.py --run LIBRARY    prints what each says, as JSON
    python docs/parts/defects.py --missing        prints the known failures' operators that no reproduction names

A reproduction is a short program with the library alone. Its docstring has a title, a blank line, why it is so where
that helps, and then `Ledger:` (operator and mode, comma by comma), or `OpInfo:` (entries of tests/opinfo/rows.toml
that show it), or `Refused:` (operators whose reference refuses the call), `Upstream:` (an address) where one is known,
`Unless:` (a processor's feature, such as vnni) where it hides the defect, and `Expected:`, what a library without the
defect prints.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.metadata
import io
import itertools
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import tomllib
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from opproof.core.text import dump_json

DOCS = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(DOCS))  # run as a script, it finds its neighbours too
from parts.tables import DATA, read  # noqa: E402 - see above

HERE = DOCS / "defects"
#: What programs of a library with a C interface import: a file beside them, printed before them on the page.
PREAMBLE = "preamble"
#: Libraries whose programs may end their process, or keep what the one before defined.
FORKED = {"ggml", "onednn", "warp"}
LEDGERS = DOCS.parent / "backends"
#: The day on which reports of the defects were last searched for.
SOUGHT = "2026-11-22"
#: What to call each library, and its distribution on PyPI.
LIBRARIES = {
    "aidge": ("Aidge", "aidge_core"),
    "autograd": ("autograd", "autograd"),
    "ggml": ("ggml", "pywhispercpp"),
    "jax": ("JAX", "jax"),
    "mlx": ("MLX", "mlx"),
    "onednn": ("oneDNN", "onednn-cpu-gomp"),
    "onnxruntime": ("ONNX Runtime", "onnxruntime"),
    "openvino": ("OpenVINO", "openvino"),
    "tinygrad": ("tinygrad", "tinygrad"),
    "torch": ("PyTorch", "torch"),
    "warp": ("Warp", "warp-lang"),
}
#: What an entry of known failures, or its pattern, may name.
DTYPES = ("f64", "f32", "f16", "bf16")
#: What ledgers hold that is no defect to report: the library does what its own definition says, which is not ours.
DIFFERENCES = {
    "autograd": {("step", "forward"): "heaviside of NaN is NaN by NumPy's definition; ours, ggml's, is x > 0"},
    "jax": {
        ("step", "forward"): "heaviside of NaN is NaN by NumPy's definition; ours, ggml's, is x > 0",
    },
    "onnxruntime": {
        (
            "hardshrink",
            "forward",
        ): "what is neither below -lambd nor above lambd is 0 by ONNX's text, NaN too",
        (
            "softshrink",
            "forward",
        ): "what is neither below -lambd nor above lambd is 0 by ONNX's text, NaN too",
        ("prelu", "forward"): "PRelu of x = 0 is x by ONNX's text: a slope that is not finite does not show",
    },
    "openvino": {
        ("prelu", "forward"): "PRelu of x = 0 is x by ONNX's text: a slope that is not finite does not show",
        ("gelu_quick", "forward"): "the model is of three nodes, and each rounds its result to float16",
    },
}


@dataclass(frozen=True)
class Reproduction:
    """One defect: `ledger` holds (operator, mode), `expected` what a right library prints, `code` the program.

    `opinfo` holds entries of PyTorch's OpInfo that show it, where no case of ours does; `refused` operators whose
    reference refuses the call, as it has no meaning.

    `unless` is part of the name of a processor's feature with which the defect does not show, `needs` of one without
    which it does not; empty mostly.
    """

    name: str
    title: str
    why: str
    ledger: tuple[tuple[str, str], ...]
    opinfo: tuple[str, ...]
    refused: tuple[str, ...]
    upstream: str
    unless: str
    needs: str
    expected: str
    code: str


def reproductions(library: str) -> list[Reproduction]:
    """Return those of a library, by name. Raises ValueError where a docstring lacks a part."""
    return [_read(path) for path in _programs(library)]


def _programs(library: str) -> list[Path]:
    return [path for path in sorted((HERE / library).glob("*.py")) if path.stem != PREAMBLE]


def _read(path: Path) -> Reproduction:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    doc = ast.get_docstring(tree) or ""
    title, _, rest = doc.partition("\n")
    fields: dict[str, list[str]] = {}
    key = "why"
    for line in rest.strip().splitlines():
        head, colon, value = line.partition(":")
        if colon and head in {"Ledger", "OpInfo", "Refused", "Upstream", "Unless", "Needs", "Expected"}:
            key = head
            fields[key] = [value.strip()] if value.strip() else []
        else:
            fields.setdefault(key, []).append(line if key == "why" else line.strip())
    for names in (("Ledger", "OpInfo", "Refused"), ("Expected",)):
        if not fields.keys() & set(names):
            raise ValueError(f"{path}: the docstring has no {' or '.join(f'`{name}:`' for name in names)}.")
    pairs = [pair.split() for pair in " ".join(fields.get("Ledger", [])).split(",") if pair]
    entries = [entry.strip() for entry in " ".join(fields.get("OpInfo", [])).split(",") if entry.strip()]
    if any(len(pair) != 2 for pair in pairs):
        raise ValueError(f"{path}: `Ledger:` holds an operator and a mode each, such as `cosh forward, sinh gradient`.")
    body = text.split('"""', 2)[2].strip()
    return Reproduction(
        path.stem,
        title,
        "\n".join(fields.get("why", [])).strip(),
        tuple((op, mode) for op, mode in pairs),
        tuple(entries),
        tuple(name.strip() for name in " ".join(fields.get("Refused", [])).split(",") if name.strip()),
        " ".join(fields.get("Upstream", [])),
        " ".join(fields.get("Unless", [])),
        " ".join(fields.get("Needs", [])),
        "\n".join(fields["Expected"]),
        body,
    )


def answers(library: str) -> dict[str, str]:
    """Return what each reproduction of a library prints, by name; an exception is its type and first line.

    Where a program gets a fork, the signal that it dies of is its answer.
    """
    sys.path.insert(0, str(HERE / library))
    return {path.stem: _forked(path) if library in FORKED else _printed(path) for path in _programs(library)}


def _printed(path: Path) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            runpy.run_path(str(path), run_name="__main__")
        except Exception as error:
            first = (str(error).strip().splitlines() or [""])[0]
            print(f"{type(error).__name__}: {first[:110]}")
    return out.getvalue().strip()


def _forked(path: Path) -> str:
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, _printed(path).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    return f"the process died of {signal.Signals(os.WTERMSIG(status)).name}" if os.WIFSIGNALED(status) else text


def hidden(r: Reproduction) -> bool:
    """Tell whether this processor hides the defect: it has the feature of `unless`, or lacks that of `needs`."""
    if not (r.unless or r.needs):
        return False
    features = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return bool(r.unless and r.unless in features) or r.needs not in features


def asked(library: str) -> dict[str, str]:
    """Return the answers, from a process of their own: a library keeps no state of another."""
    call = [sys.executable, __file__, "--run", library]
    done = subprocess.run(call, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"the reproductions of {library} stopped:\n{done.stderr[-2000:]}")
    answers: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answers


def version(library: str) -> str:
    """Return the installed version, without what a wheel adds to it. Raises PackageNotFoundError."""
    return importlib.metadata.version(LIBRARIES[library][1]).partition("+")[0]


def pages() -> dict[str, str]:
    """Return the page of each library, by its place in docs/."""
    return {f"reference/defects/{library}.md": page(library) for library in LIBRARIES}


def page(library: str) -> str:
    """Return the page of a library, with what the version said that last ran."""
    name, said = LIBRARIES[library][0], read("defects")[library]
    head = (
        f"Each program needs {name} alone. *Got* is what version {said['version']} prints on an x86-64 CPU, *expected* "
        "what it would print without the defect; a test compares both with the installed version. Reports were sought "
        f"on {SOUGHT} in a stored copy of public issues and pull requests, which does not hold all of a tracker: look "
        f"again before you file one. What was found, with figures: [{name}](../backends/{library}.md)."
    )
    sections = [line for r in reproductions(library) for line in _section(library, r, said["answers"][r.name])]
    return (
        "\n".join([f"# {name}: defects to report", "", head, *_preamble(library), *sections, *_differences(library)])
        + "\n"
    )


def _preamble(library: str) -> list[str]:
    """Return the part of a page that holds what its programs import, where they do."""
    path = HERE / library / f"{PREAMBLE}.py"
    if not path.is_file():
        return []
    text = f"What the programs import: `{library}/{PREAMBLE}.py`, which needs NumPy and {LIBRARIES[library][0]}."
    return ["", text, "", "```python", path.read_text(encoding="utf-8").strip(), "```"]


def _differences(library: str) -> list[str]:
    """Return the part of a page on entries of the ledger that are not to be reported."""
    rows = [f"- `{op}` ({mode}): {why}." for (op, mode), why in sorted(DIFFERENCES.get(library, {}).items())]
    return ["", "## Not to be reported: other definitions than ours", "", *rows] if rows else []


def _section(library: str, r: Reproduction, got: str) -> Iterator[str]:
    yield from ("", f'<a id="{r.name}"></a>', "", f"## {r.title}", "")
    if r.why:
        yield from (r.why, "")
    where = f"[reported]({r.upstream})" if r.upstream else "no report of it was found"
    where += f"; only on a CPU with {r.needs}" * bool(r.needs) + f"; only on a CPU without {r.unless}" * bool(r.unless)
    seen = [f"`{op}` ({mode})" for op, mode in r.ledger] + [f"OpInfo's `{entry}`" for entry in r.opinfo]
    seen += [f"calls that the reference of `{name}` refuses" for name in r.refused]
    yield f"Seen in {', '.join(seen)}; {where}."
    yield from ("", f"`{library}/{r.name}.py`", "", "```python", r.code, "```", "")
    yield from ("Expected:", "", "```text", r.expected, "```", "", "Got:", "", "```text", got, "```")


def entries(library: str) -> set[tuple[str, str]]:
    """Return (operator, mode) of every entry of the library's ledger."""
    with (LEDGERS / library / "known.toml").open("rb") as file:
        tables = tomllib.load(file)
    rows = next(value for value in tables.values() if isinstance(value, list))
    return {(op, mode) for row in rows for op, mode, _ in meant(row)}


def meant(row: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield operator, mode and dtype of each that the row speaks of."""
    of_formulas = [mode for mode, key in (("forward", "forward"), ("gradient", "vjp")) if key in row]
    modes = row.get("modes") or of_formulas or ["forward", "gradient"]
    if "operators" in row:
        yield from itertools.product(row["operators"], modes, row.get("dtypes", [""]))
    for pattern, mode in itertools.product(row.get("patterns", ()), modes):
        yield pattern.partition("[")[0], mode, _dtype(pattern)


def _dtype(pattern: str) -> str:
    words = re.split(r"[;\[\]*]", pattern)
    return next((d for d in DTYPES if d in words), "")


def _missing() -> None:
    for library in LIBRARIES:
        named = {pair for r in reproductions(library) for pair in r.ledger} | DIFFERENCES.get(library, {}).keys()
        left = sorted(entries(library) - named)
        print(f"{library}: {', '.join(f'{op} {mode}' for op, mode in left) or 'none'}")


def main(words: Sequence[str]) -> int:
    """Return the exit status."""
    libraries = [word for word in words if not word.startswith("--")]
    if unknown := [word for word in libraries if word not in LIBRARIES]:
        print(f"unknown library {unknown[0]!r}: expected some of {', '.join(LIBRARIES)}.")
        return 2
    if words[:1] == ["--run"]:
        said = answers(words[1])
        print(json.dumps(said))
    elif words == ["--missing"]:
        _missing()
    else:
        told = read("defects")
        for library in words or LIBRARIES:
            unseen = {r.name for r in reproductions(library) if hidden(r)}  # what another processor showed stays
            before = {name: said for name, said in told[library]["answers"].items() if name in unseen}
            told[library] = {"version": version(library), "answers": asked(library) | before}
        (DATA / "defects.json").write_text(dump_json(told), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
