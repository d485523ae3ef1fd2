"""Files of benchmarks: FlashInfer-Bench's, put into the two Python files of a check, and a task of GPU MODE's.

The schema: https://bench.flashinfer.ai/docs/flashinfer-trace. A definition names its axes, constant or variable, the
shapes and dtypes of its tensors, and has a reference, `run`. A solution has sources and an entry point, which gets the
inputs in the definition's order, and behind them the outputs, to be written, unless it says otherwise.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import msgspec

from opproof.core.errors import UsageError

#: A variable axis that no workload names is so long.
USUAL_LENGTH = 7
#: Names of PyTorch's dtypes where the schema has others.
DTYPES = {"float8_e4m3": "float8_e4m3fn"}
#: Languages of sources that Python imports.
LANGUAGES = ("python", "pytorch", "triton")


class ResultForm(StrEnum):
    """Whose form it is."""

    FLASHINFER = "FlashInfer-Bench"
    KERNELBENCH = "KernelBench"
    GPU_MODE = "GPU MODE"
    BACKENDBENCH = "BackendBench"


class DefinedAxis(msgspec.Struct, frozen=True):
    """The length of an axis, or none where it may be any."""

    type: str
    value: int | None = None


class DefinedTensor(msgspec.Struct, frozen=True):
    """Axes by their names and a dtype; a number has no shape."""

    shape: list[str] | None
    dtype: str


class Definition(msgspec.Struct, frozen=True):
    """What is computed."""

    name: str
    axes: dict[str, DefinedAxis]
    inputs: dict[str, DefinedTensor]
    outputs: dict[str, DefinedTensor]
    reference: str


class SourceFile(msgspec.Struct, frozen=True):
    """A file of a solution."""

    path: str
    content: str


class BuildSpec(msgspec.Struct, frozen=True):
    """How a solution is called."""

    entry_point: str
    language: str = ""
    languages: list[str] = []
    destination_passing_style: bool = True


class Solution(msgspec.Struct, frozen=True):
    """A kernel for a definition."""

    name: str
    definition: str
    spec: BuildSpec
    sources: list[SourceFile]


class Workload(msgspec.Struct, frozen=True):
    """Lengths of the variable axes, and inputs that are not random."""

    axes: dict[str, int]
    inputs: dict[str, dict[str, Any]] = {}


class WorkloadLine(msgspec.Struct, frozen=True):
    """A line of a workload's file."""

    workload: Workload


def unpack_definition(definition: Path, solution: Path, workload: Path | None = None) -> tuple[Path, Path]:
    """Write the reference's file and the candidate's, in a new folder each. Raises UsageError for other files."""
    asked, given = _read(definition, Definition), _read(solution, Solution)
    if given.definition != asked.name:
        raise UsageError(f"{solution} is a solution of {given.definition}, and {definition} defines {asked.name}.")
    language = given.spec.language or ", ".join(given.spec.languages)
    if language not in LANGUAGES:
        raise UsageError(f"{solution} is in {language or 'no language'}: expected one of {', '.join(LANGUAGES)}.")
    chosen = Workload({}) if workload is None else _read_first(workload)
    spec = json.dumps({"definition": msgspec.to_builtins(asked), "workload": msgspec.to_builtins(chosen)})
    reference = Path(mkdtemp(prefix="opproof-definition-")) / "reference.py"
    axes = {name: axis.value for name, axis in asked.axes.items() if axis.value is not None}
    shapes = ",".join(f"({','.join(t.shape)})" for t in asked.inputs.values() if t.shape is not None)
    held = {name: (n,) for name, n in axes.items() if name in {a for t in asked.inputs.values() for a in t.shape or ()}}
    contract = {"signature": shapes, "sizes": held}
    reference.write_text(
        f"{asked.reference}\n\n\nimport json\n\nfrom {__name__} import draw_inputs\n\nSPEC = json.loads({spec!r})\n"
        f"PLACE = {str((workload or definition).resolve().parent)!r}\n"
        f"reference, contract = run, {contract!r}\n\n\n"
        "def inputs(seed):\n    return draw_inputs(SPEC, PLACE, seed)\n",
        encoding="utf-8",
    )
    return reference, _unpack_solution(asked, given, axes)


def _unpack_solution(asked: Definition, given: Solution, axes: Mapping[str, int]) -> Path:
    """Write the sources of a solution, and beside them a file with `candidate`."""
    folder = Path(mkdtemp(prefix="opproof-solution-"))
    for source in given.sources:
        path = (folder / source.path).resolve()
        if not path.is_relative_to(folder.resolve()):
            raise UsageError(f"{given.name} has a source {source.path!r} outside of its folder; name it below.")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source.content, encoding="utf-8")
    file, _, function = given.spec.entry_point.partition("::")
    module = file.removesuffix(".py").replace("/", ".")
    if not function or not (folder / file).is_file():
        raise UsageError(f"{given.name} has the entry point {given.spec.entry_point!r}: expected FILE.py::FUNCTION.")
    shapes = [t.shape for t in asked.inputs.values()]
    outputs = [(t.shape or [], DTYPES.get(t.dtype, t.dtype)) for t in asked.outputs.values()]
    text = _DESTINATIONS if given.spec.destination_passing_style else "candidate = run\n"
    head = (
        f"import sys\n\nimport torch\n\nsys.path.insert(0, {str(folder)!r})\nfrom {module} import {function} as run\n\n"
    )
    candidate = folder / "opproof_candidate.py"
    candidate.write_text(f"{head}AXES, SHAPES, OUTPUTS = {dict(axes)!r}, {shapes!r}, {outputs!r}\n\n\n{text}")
    return candidate


#: Makes the outputs that an entry point is to write.
_DESTINATIONS = """def candidate(*inputs):
    sizes = dict(AXES)
    for value, shape in zip(inputs, SHAPES):
        sizes.update(zip(shape or (), getattr(value, "shape", ())))
    made = [torch.empty([sizes[a] for a in shape], dtype=getattr(torch, dtype)) for shape, dtype in OUTPUTS]
    for one in made:
        one.fill_(float("nan") if one.is_floating_point() else 1)
    run(*inputs, *made)
    return made[0] if len(made) == 1 else tuple(made)
"""


def draw_inputs(spec: Mapping[str, Any], place: str, seed: int) -> list[Any]:
    """Draw the inputs of a definition in their own dtypes, or take them from where the workload says.

    Raises UsageError for whole numbers of which nothing says what they index.
    """
    import torch

    definition, workload = spec["definition"], spec["workload"]
    generator = torch.Generator().manual_seed(seed)
    sizes = {
        name: axis["value"] or workload["axes"].get(name, USUAL_LENGTH) for name, axis in definition["axes"].items()
    }
    found = []
    for name, tensor in definition["inputs"].items():
        how = workload["inputs"].get(name, {"type": "random"})
        if how["type"] == "safetensors":
            found.append(_load(Path(place, how["path"]), how["tensor_key"]))
        elif tensor["shape"] is None:
            found.append(how.get("value", 1.0))
        elif tensor["dtype"].startswith(("float", "bfloat")):
            values = torch.randn([sizes[a] for a in tensor["shape"]], generator=generator)
            found.append(values.to(getattr(torch, DTYPES.get(tensor["dtype"], tensor["dtype"]))))
        elif tensor["dtype"] == "bool":
            found.append(torch.rand([sizes[a] for a in tensor["shape"]], generator=generator) < 0.5)
        else:
            raise UsageError(f"{definition['name']} takes whole numbers, {name}: give the workload that has them.")
    return found


def read_sizes(task: Path) -> dict[str, Any]:
    """Read the sizes of the first test of a `task.yml`, without its seed. Raises UsageError where there is none."""
    try:
        text = task.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read {task}: {error.strerror or error}; it names the sizes of tests.") from None
    match = re.search(r"^tests:\s*\n\s*-\s*(\{.*?\})\s*$", text, re.MULTILINE)
    try:
        sizes: dict[str, Any] = json.loads(match[1]) if match else {}
    except ValueError:
        sizes = {}
    if not sizes:
        raise UsageError(f'{task} has no test: expected `tests:` and a line such as `- {{"size": 64, "seed": 1}}`.')
    return {name: value for name, value in sizes.items() if name != "seed"}


def _load(path: Path, key: str) -> Any:
    from safetensors.torch import load_file

    for folder in (path.parent, *path.parents):  # a path is from the root of the whole set
        candidate = folder / path.name
        if candidate.is_file():
            return load_file(candidate)[key]
    raise UsageError(f"there is no file {path}, which the workload takes inputs from: fetch it too.")


def _read(path: Path, kind: type[Any]) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; give a file that is there.") from None
    except msgspec.DecodeError as error:
        raise UsageError(f"{path} is no {kind.__name__} of FlashInfer-Bench: {error}.") from None


def _read_first(path: Path) -> Workload:
    """The workload of a file's first line."""
    try:
        lines: Sequence[bytes] = path.read_bytes().splitlines()
        return msgspec.json.decode(lines[0], type=WorkloadLine).workload
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; give a file that is there.") from None
    except (IndexError, msgspec.DecodeError) as error:
        raise UsageError(f"{path} holds no workload of FlashInfer-Bench in its first line: {error}.") from None
