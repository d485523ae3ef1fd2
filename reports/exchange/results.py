"""The answer in the form of the benchmark whose files were judged, which has fields of its own for each."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from opproof.core.errors import UsageError
from opproof.core.verdicts import FAILED, Mode, Verdict
from opproof.reports._record import Result
from opproof.reports.check import CANDIDATE, Report, SideTime
from opproof.reports.exchange.definitions import ResultForm
from opproof.reports.files import write

#: FlashInfer-Bench's statuses of evaluations; what is not right otherwise is incorrect in its numbers.
_STATUSES: Mapping[str, str] = {
    Verdict.PASS: "PASSED",
    Verdict.WRONG_SHAPE: "INCORRECT_SHAPE",
    Verdict.WRONG_DTYPE: "INCORRECT_DTYPE",
    Verdict.ERROR: "RUNTIME_ERROR",
    Verdict.CRASH: "RUNTIME_ERROR",
    Verdict.OUT_OF_MEMORY: "RUNTIME_ERROR",
    Verdict.TIMEOUT: "TIMEOUT",
}
_INCORRECT = "INCORRECT_NUMERICAL"


def write_result(report: Report, path: Path, form: ResultForm | None, files: Sequence[Path]) -> None:
    """Write the answer on these files in their form. Raises UsageError where they have none, or nothing is proved."""
    if form is None:
        names = ", ".join(ResultForm)
        raise UsageError(f"--result is the answer in the form of a benchmark ({names}), of which these files are none.")
    if not report.ok and not report.failures:
        raise UsageError(f"nothing was proved, for which {form} has no word: {path} was not written.")
    make = {
        ResultForm.FLASHINFER: _make_trace,
        ResultForm.KERNELBENCH: _make_kernelbench,
        ResultForm.GPU_MODE: _make_lines,
        ResultForm.BACKENDBENCH: _make_rows,
    }[form]
    write(path, make(report, files))


def _make_trace(report: Report, files: Sequence[Path]) -> str:
    """A Trace of FlashInfer-Bench, a line of JSON. Errors are of the worst element of a record that was looked at."""
    definition, solution = (json.loads(file.read_bytes()) for file in files[:2])
    line = json.loads(files[2].read_bytes().splitlines()[0]) if len(files) > 2 else {}
    usual = {"axes": {}, "inputs": {name: {"type": "random"} for name in definition["inputs"]}, "uuid": "opproof"}
    worst = report.worst
    status = _STATUSES.get(worst.verdict, _INCORRECT) if report.failures and worst is not None else "PASSED"
    evaluation: dict[str, Any] = {
        "status": status,
        "environment": {
            "hardware": platform.processor() or platform.machine(),
            "libs": {"opproof": report.header.opproof},
        },
        "timestamp": datetime.now(UTC).isoformat(),
        "log": repr(report),
    }
    if status in ("PASSED", _INCORRECT):
        absolute, relative = _measure_errors(report.results)
        largest = max((float(r.units) for r in report.results if r.units is not None), default=0.0)
        extra = {"judge": "opproof", "units": largest, "records": len(report.results)}
        evaluation["correctness"] = {
            "max_relative_error": _as_json(relative), "max_absolute_error": _as_json(absolute),
            "extra": {name: _as_json(value) for name, value in extra.items()},
        }  # fmt: skip
    if status == "PASSED":
        own, eager = _find_times(report)
        found = {"latency_ms": 0.0, "reference_latency_ms": 0.0, "speedup_factor": 0.0}  # what was not measured is 0
        if own is not None and eager is not None:
            found["latency_ms"], found["reference_latency_ms"] = (1e3 * t.interval.median for t in (own, eager))
            found["speedup_factor"] = eager.interval.median / own.interval.median
        evaluation["performance"] = found
    trace = {
        "definition": definition["name"], "workload": line.get("workload", usual), "solution": solution["name"],
        "evaluation": evaluation,
    }  # fmt: skip
    return json.dumps(trace) + "\n"


def _make_kernelbench(report: Report, files: Sequence[Path]) -> str:
    """A KernelExecResult: what was not measured is -1."""
    del files
    own, eager = _find_times(report)
    failed = [r for some in report.failures.values() for r in some]
    metadata: dict[str, Any] = {
        "hardware": platform.processor() or platform.machine(),
        "device": "cpu",
        "correctness_trials": f"({len(report.results) - len(failed)} / {len(report.results)})",
        "judge": f"opproof {report.header.opproof}".strip(),
    }
    worst = report.worst
    if failed and worst is not None:
        raised = worst.verdict in (Verdict.ERROR, Verdict.CRASH)
        metadata["runtime_error" if raised else "correctness_issue"] = _describe(worst)
        metadata["max_difference"] = [f"{_measure_errors([r])[0]:.6f}" for r in failed]
    document: dict[str, Any] = {"compiled": True, "correctness": report.ok, "metadata": metadata}
    for prefix, time in (("", own), ("ref_", eager)):
        document[f"{prefix}runtime"] = -1.0 if time is None else 1e3 * time.interval.median
        stats = {} if time is None else {"mean": 1e3 * time.interval.median, "num_trials": time.interval.blocks}
        document[f"{prefix}runtime_stats"] = stats
    document["speedup"] = -1.0 if own is None or eager is None else eager.interval.median / own.interval.median
    return json.dumps(document, indent=1) + "\n"


def _make_lines(report: Report, files: Sequence[Path]) -> str:
    """Lines of GPU MODE's runner, a test for each variant."""
    del files
    tests = dict[str, list[Result]]()
    for r in report.results:
        tests.setdefault(r.case, []).append(r)
    lines = [f"test-count: {len(tests)}"]
    for k, (case, some) in enumerate(tests.items()):
        wrong = next((r for r in some if r.verdict in FAILED), None)
        lines += [
            f"test.{k}.spec: {report.variants.get(case, case)}",
            f"test.{k}.status: {'fail' if wrong else 'pass'}",
        ]
        lines += [f"test.{k}.error: {_describe(wrong)}"] if wrong else []
    return "\n".join([*lines, f"check: {'pass' if report.ok else 'fail'}"]) + "\n"


def _make_rows(report: Report, files: Sequence[Path]) -> str:
    """Rows of BackendBench's full_results.json, one for each record, and one for the time."""
    del files
    rows: list[dict[str, Any]] = []
    for r in report.results:
        absolute, relative = _measure_errors([r])
        wrong = r.verdict in FAILED
        rows.append({
            "op_name": report.reference, "args": r.case, "is_correct": not wrong,
            "error_msg": _describe(r) if wrong else "", "error_type": str(r.verdict) if wrong else "",
            "traceback": "", "max_abs_error": _as_json(absolute), "max_rel_error": _as_json(relative),
            "test_type": "correctness",
        })  # fmt: skip
    own, eager = _find_times(report)
    if own is not None and eager is not None:
        rows.append({
            "op_name": report.reference, "args": report.results[0].case,
            "speedup": eager.interval.median / own.interval.median,
            "benchmark_time_ms": 1e3 * own.interval.median, "reference_time_ms": 1e3 * eager.interval.median,
            "error_msg": "", "successfully_ran": True, "test_type": "performance",
        })  # fmt: skip
    return json.dumps(rows, indent=2) + "\n"


def _measure_errors(results: Sequence[Result]) -> tuple[float, float]:
    """The largest error and relative error of the worst elements of records."""
    elements = [(float(r.worst.got), float(r.worst.expected)) for r in results if r.worst is not None]
    pairs = [(abs(got - expected), abs(expected)) for got, expected in elements]
    relative = [error / size if size else float("inf") for error, size in pairs if error]
    return max((error for error, _ in pairs), default=0.0), max(relative, default=0.0)


def _find_times(report: Report) -> tuple[SideTime | None, SideTime | None]:
    """Of the forward, the candidate's time and eager PyTorch's."""
    of = {t.side: t for t in report.times if t.mode == Mode.FORWARD}
    return of.get(CANDIDATE), of.get("eager")


def _describe(result: Result) -> str:
    """A failure in one line: what it is, and else its worst element."""
    why = result.diagnosis or result.message
    if not why and (w := result.worst) is not None:
        why = f"{w.tensor}{list(w.index)}: got {w.got}, expected {w.expected}"
    return f"{result.mode}: {result.verdict}: {why}".replace("\n", " ")


def _as_json(value: Any) -> Any:
    """A number as JSON has it: what is no finite one is its name."""
    return value if not isinstance(value, float) or value - value == 0 else str(value)
