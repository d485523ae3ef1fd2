"""Baselines: what a run found, as small sorted text files that git can keep.

A folder with `baseline.json`, which says how it was made, and one file per operator with a line a record:

    # backend torch
    PASS 1.2/16 0.34 -0.012 forward softmax[x=7x33;dim=-1;f32]
    WRONG_GRADIENT(known) 4.1e+03/16 - - gradient softmax[x=7x33;dim=-1;f32]

verdict, largest error in units and how many are allowed there, RMS and bias of a whole array (two digits each, `-`
where there is none), mode, case id. No times, no durations, no messages: the files change when a verdict does, a case
comes or goes, or an error moves. Backends that ran in opproof's own process are named in `baseline.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from opproof.core.dtypes import DTYPES
from opproof.core.errors import ResultsError
from opproof.core.text import escape_unprintable
from opproof.core.verdicts import Mode, Verdict
from opproof.reports._kinds import ResultKind, name_verdict, result_kind_of, severity_of, share
from opproof.reports._record import SCHEMA_VERSION, Header, Result
from opproof.reports._results import Texts, read_results
from opproof.reports._summary import group_results
from opproof.reports.changes.growth import LEAST_BIAS, LEAST_RMS
from opproof.reports.files import replacing

HEADER = "baseline.json"
BASELINE_VERSION = 2
#: `update_records` keeps an old figure where it moved by less than this factor.
STEADY_FACTOR = 2.0
_OPTIONS = ("convention", "strict_subnormals", "selection")


def is_baseline(folder: Path) -> bool:
    """Whether `folder` holds a baseline."""
    return (folder / HEADER).is_file()


def read_run(path: Path, *, brief: Texts | None = None) -> tuple[Header, list[Result]]:
    """A run's folder, a results file, or a baseline; see `read_results` for `brief`. Raises ResultsError."""
    return read_baseline(path) if is_baseline(path) else read_results(path, brief=brief)


def write_baseline(folder: Path, header: Header, results: Sequence[Result]) -> None:
    """Write all files, or none; those of operators that are no longer there are removed. Raises BadInput."""
    options = {name: header.options[name] for name in _OPTIONS if name in header.options}
    about = {
        "baseline": BASELINE_VERSION,
        "schema": header.schema,
        "opproof": header.opproof,
        "constants": header.constants,
        "backends": header.backends,
        "options": options,
    }
    if reachable := sorted({r.backend for r in results if r.in_process}):
        about["in_process"] = reachable
    texts = {f"{op}.txt": _format_records(some) for op, some in group_results(results, lambda r: r.op).items()}
    texts[HEADER] = json.dumps(about, indent=1, sort_keys=True) + "\n"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_baseline(folder) and any(folder.iterdir()):
            raise ResultsError(f"{folder} holds other files and no baseline; give a new or empty folder.")
        with ExitStack() as files:
            for name, text in texts.items():
                fresh = files.enter_context(replacing(folder / name))
                fresh.write_text(text, encoding="utf-8", newline="\n")
        for old in folder.glob("*.txt"):
            if old.name not in texts:
                old.unlink()
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror or error}; give another folder.") from None


def read_baseline(folder: Path) -> tuple[Header, list[Result]]:
    """Header and records of a baseline; messages, durations and repro lines are empty. Raises ResultsError."""
    path = folder / HEADER
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        files = [(file, file.read_text(encoding="utf-8")) for file in sorted(folder.glob("*.txt"))]
    except OSError as error:
        reason = error.strerror or error
        raise ResultsError(f"cannot read {path}: {reason}; `opproof baseline save RUN {folder}` writes it.") from None
    except ValueError as error:
        raise ResultsError(f"{path} is not JSON ({error}); restore it, or save the baseline anew.") from None
    versions = (about.get("baseline"), about.get("schema")) if isinstance(about, dict) else (None, None)
    if versions != (BASELINE_VERSION, SCHEMA_VERSION):
        raise ResultsError(
            f"{path} has versions {versions}, expected {(BASELINE_VERSION, SCHEMA_VERSION)}; save it anew."
        )
    reachable = set(about.get("in_process", ()))
    records = [r for file, text in files for r in _parse_records(file, text)]
    results = [replace(r, in_process=True) if r.backend in reachable else r for r in records]
    header = Header(
        opproof=str(about["opproof"]),
        backends=about["backends"],
        options=about["options"],
        cases=len(results),
        constants=about["constants"],
    )
    return header, results


def update_records(before: Sequence[Result], after: Sequence[Result], *, prune: bool) -> list[Result]:
    """The records of `after`, with the old figures where they are about as they were.

    Those that the run did not try stay, unless `prune`; those that opproof itself failed on stay always.
    """
    old = {(r.case, r.mode, r.backend): r for r in before}
    tried = [_keep_steady(old.pop((r.case, r.mode, r.backend), None), r) for r in after]
    return tried if prune else [*tried, *old.values()]


def _keep_steady(old: Result | None, new: Result) -> Result:
    if old is not None and result_kind_of(new) is ResultKind.HARNESS_ERROR:
        return old
    if old is None:
        return new
    if old.units is not None and new.units is not None and _has_same_error(old, new):
        new = replace(new, units=old.units, limit=old.limit)
    if old.rms is not None and new.rms is not None and _is_near(max(old.rms, LEAST_RMS), max(new.rms, LEAST_RMS)):
        new = replace(new, rms=old.rms)
    if old.bias is not None and new.bias is not None and _leans_alike(old.bias, new.bias):
        new = replace(new, bias=old.bias)
    return new


def _has_same_error(old: Result, new: Result) -> bool:
    return _is_near(severity_of(old.units), severity_of(new.units)) and _is_near(share(old), share(new))


def _is_near(old: float, new: float) -> bool:
    low, high = sorted((old, new))
    return high <= low * STEADY_FACTOR


def _leans_alike(old: float, new: float) -> bool:
    """Whether two biases are about the same; the sign of a small one is chance."""
    small = max(abs(old), abs(new)) <= LEAST_BIAS
    return small or (old * new > 0 and _is_near(max(abs(old), LEAST_BIAS), max(abs(new), LEAST_BIAS)))


def _format_records(results: Sequence[Result]) -> str:
    lines: list[str] = []
    for backend, some in group_results(results, lambda r: r.backend).items():
        lines += [
            f"# backend {_name(backend)}",
            *sorted(map(_format_record, some), key=lambda text: text.split(" ", 5)[::-1]),
        ]
    return "\n".join(lines) + "\n"


def _format_record(r: Result) -> str:
    most = "" if r.units is None or r.limit is None else f"/{_format_digits(r.limit)}"
    figures = f"{_format_digits(r.units)}{most} {_format_digits(r.rms)} {_format_digits(r.bias)}"
    return f"{name_verdict(r)} {figures} {r.mode} {_name(r.case)}"


def _format_digits(value: float | str | None) -> str:
    return "-" if value is None else f"{float(value):.2g}"


def _name(text: str) -> str:
    return escape_unprintable(text).replace("\n", "\\n")


def _parse_records(file: Path, text: str) -> Iterator[Result]:
    backend = ""
    for number, row in enumerate(text.splitlines(), start=1):
        if row.startswith("# backend "):
            backend = row.removeprefix("# backend ")
            continue
        parts = row.split(" ", 5)
        if len(parts) != 6 or not backend:
            raise ResultsError(
                f"{file}, line {number}: expected `VERDICT UNITS/LIMIT RMS BIAS MODE CASE`, "
                f"got {row[:60]!r}; mend or restore it."
            )
        verdict, units, rms, bias, mode, case = parts
        units, _, limit = units.partition("/")
        yield Result(
            case=case,
            op=file.stem,
            dtype=_dtype_of(case),
            backend=backend,
            mode=_parse_mode(mode, file, number),
            verdict=_parse_verdict(verdict, file, number),
            units=_number(units, file, number),
            limit=_parse_finite(limit or "-", file, number),
            rms=_parse_finite(rms, file, number),
            bias=_parse_finite(bias, file, number),
            known="known in the baseline" if verdict.endswith("(known)") else "",
        )


def _parse_verdict(text: str, file: Path, number: int) -> Verdict:
    verdict = text.removesuffix("(known)")
    try:
        return Verdict(verdict)
    except ValueError:
        raise ResultsError(f"{file}, line {number}: unknown verdict {verdict[:40]!r}; mend or restore it.") from None


def _parse_mode(text: str, file: Path, number: int) -> Mode:
    try:
        return Mode(text)
    except ValueError:
        raise ResultsError(f"{file}, line {number}: unknown mode {text[:40]!r}; mend or restore it.") from None


def _number(text: str, file: Path, number: int) -> Any:
    try:
        value = None if text == "-" else float(text)
    except ValueError:
        raise ResultsError(f"{file}, line {number}: {text[:40]!r} is no number; mend or restore it.") from None
    return text if value is not None and not abs(value) < float("inf") else value


def _parse_finite(text: str, file: Path, number: int) -> float | None:
    value = _number(text, file, number)
    if isinstance(value, str):
        raise ResultsError(f"{file}, line {number}: {text[:40]!r} is no finite number; mend or restore it.")
    return None if value is None else float(value)


def _dtype_of(case: str) -> str:
    parts = case.partition("[")[2].rstrip("]").split(";")
    return next((p for p in parts if p in DTYPES), "")
