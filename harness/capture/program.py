"""A program captured: run, its calls sorted, and the file of cases that they make."""

from __future__ import annotations

import contextlib
import runpy
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import tomlkit

from opproof.cases import Case
from opproof.cases._fills.stored import fill_of
from opproof.core.errors import CaseError, OpError, UsageError
from opproof.harness.capture.captured import CapturedCalls
from opproof.harness.capture.recorder import record_calls
from opproof.harness.reference.valid_case import check_case
from opproof.reference_ops import load
from opproof.reference_ops._tape import Tape


@contextlib.contextmanager
def capture_calls(path: Path, title: str, *, data: bool = False, tape: Tape | None = None) -> Iterator[CapturedCalls]:
    """A block whose calls of PyTorch become cases in the file at `path`, also where it ends by an exception.

    With `data` each case has that of its first call, in a file beside it, .safetensors; with a tape there are graphs.
    """
    _check_folder(path)
    calls = CapturedCalls()
    try:
        with record_calls(data=data, tape=tape) as calls:
            yield calls
        if tape is not None:
            calls.add_graphs(_finish(tape, calls, title))
    finally:
        _write_cases(calls, title, path)


def run(
    script: Path, arguments: Sequence[str], path: Path, *, data: bool = False, graphs: bool = False
) -> CapturedCalls:
    """Run a script as python would, and write its cases, with their `data` and its `graphs` too.

    Raises UsageError where there is no script, or it fails.
    """
    _check_script(script)
    with capture_calls(path, script.name, data=data, tape=Tape() if graphs else None) as calls:
        _run_script(script, arguments, f" What ran before stands in {path}.")
    return calls


def _check_script(script: Path) -> None:
    if not script.is_file():
        raise UsageError(f"no script {script}: expected a Python file that runs a PyTorch program.")


def _run_script(script: Path, arguments: Sequence[str], more: str = "") -> None:
    before = sys.argv, sys.path[:]
    sys.argv, sys.path[:0] = [str(script), *arguments], [str(script.resolve().parent)]
    try:
        runpy.run_path(str(script), run_name="__main__")
    except SystemExit:
        pass
    except Exception as error:
        text = " ".join(str(error).split())
        raise UsageError(f"{script} raised {type(error).__name__}: {text}.{more}") from error
    finally:
        sys.argv, sys.path[:] = before


def of_model(
    model: Path, dims: Mapping[str, int], path: Path, *, graphs: bool = False
) -> tuple[CapturedCalls, list[str]]:
    """Write the cases of an ONNX model, and its `graphs`, for which it is computed. Raises UsageError."""
    from opproof.reference_ops.onnx.model import trace_model
    from opproof.reference_ops.onnx.shapes import list_called_shapes

    _check_folder(path)
    called, unmapped, ones = list_called_shapes(model, dims)
    calls = CapturedCalls({Case(*call): counts for call, counts in called.items()}, unmapped=unmapped)
    if graphs:
        calls.add_graphs(trace_model(model, dims, 0)[0])
    _write_cases(calls, model.name, path)
    return calls, ones


def trace_program(script: Path, arguments: Sequence[str]) -> Tape:
    """Run a script, its calls on tape.

    Raises UsageError as `run`, and where it draws numbers, which no other call draws again.
    """
    _check_script(script)
    tape = Tape()
    with record_calls(tape=tape) as calls:
        _run_script(script, arguments)
    return _finish(tape, calls, str(script))


def _finish(tape: Tape, calls: CapturedCalls, name: str) -> Tape:
    if drawn := [case.op for case in calls.cases if load(case.op).drawn_from]:
        raise UsageError(f"{name}: {drawn[0]} draws numbers, which are others at each call: use the model's eval().")
    tape.others = calls.unmapped
    tape.finish(name)
    return tape


def _check_folder(path: Path) -> None:
    if not path.resolve().parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no folder {path.resolve().parent}.")


def _write_cases(calls: CapturedCalls, title: str, path: Path) -> None:
    """Write the file; what our operator of that name does not take counts among the unmapped."""
    for case in [*calls.cases]:
        try:
            check_case(case)
        except (CaseError, OpError):
            calls.unmapped[case.op] += calls.cases.pop(case).calls
    path.write_text(text_of(calls, title, _write_data(calls, path)), encoding="utf-8")


def _write_data(calls: CapturedCalls, path: Path) -> dict[Case, str]:
    """The fill of each case whose data lies in the file beside `path`, which is written; gradients need numbers."""
    import torch
    from safetensors.torch import save_file

    tensors: dict[str, torch.Tensor] = {}
    fills: dict[Case, str] = {}
    beside = path.with_suffix(".safetensors")
    for case, named in (calls.data or {}).items():
        if case in calls.cases and all(t.isfinite().all() for t in named.values()):
            fills[case] = fill_of(beside.name, str(len(fills)))
            tensors |= {f"{fills[case].rpartition('#')[2]}.{n}": _to_storable(t) for n, t in named.items()}
    if tensors:
        save_file(tensors, beside)
    return fills


def _to_storable(tensor: Any) -> Any:
    """The tensor in a type that holds its numbers and that NumPy reads."""
    import torch

    whole = torch.int64 if not tensor.is_floating_point() else torch.float32
    return tensor.to(tensor.dtype if tensor.dtype == torch.float64 else whole).contiguous()


def text_of(calls: CapturedCalls, title: str, fills: Mapping[Case, str]) -> str:
    """The file of cases: the most expensive first, then the most frequent."""
    document = tomlkit.document()
    document.add("title", tomlkit.item(title))
    if calls.unmapped:
        document.add("unmapped", tomlkit.item(dict(calls.unmapped.most_common())))
    tables = tomlkit.aot()
    for case, counts in sorted(calls.cases.items(), key=lambda item: (-item[1].flops, -item[1].calls, str(item[0]))):
        row = {"id": str(replace(case, fill=fills.get(case, case.fill))), "calls": counts.calls, "flops": counts.flops}
        tables.append(tomlkit.item({key: value for key, value in row.items() if value}))
    document.add("case", tables)
    return tomlkit.dumps(document)
