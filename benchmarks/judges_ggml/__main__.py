"""Mistakes planted in ggml's own source, judged by its test-backend-ops and by opproof side by side.

    python benchmarks/judges_ggml FOLDER [--json docs/data/judges-ggml.json] [--only 3,17] [--show]

ggml is built in FOLDER, once. --show makes the direct call of each mistake alone. With --json what was found is kept,
mistake by mistake: a second call goes on where the first was stopped.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from mistake import BACKWARD, Calls, Mistake
from planted_build import build
from structures import MISTAKES as STRUCTURES
from values import MISTAKES as VALUES

from opproof.backends.ggml import create
from opproof.backends.ggml.devices import open_device
from opproof.backends.ggml.library import load_library
from opproof.core.text import dump_json
from opproof.core.verdicts import FAILED

MISTAKES = [*VALUES, *STRUCTURES]
HONEST = 0
#: What takes minutes, and is left out where all are asked without a mistake.
SLOW = frozenset("FLASH_ATTN_EXT MUL_MAT ROPE scaled_dot_product_attention matmul bmm linear rope".split())
#: Of <sys/prctl.h>: orphans among the descendants become children of this process.
PR_SET_CHILD_SUBREAPER = 36
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_FAILED = re.compile(r"\): .*FAIL")
_ASKED = re.compile(r"\): .*(OK|FAIL)")


def main() -> None:
    """Build, show that each mistake is one, and judge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", default="", help="numbers of mistakes; 0 is none")
    parser.add_argument("--show", action="store_true", help="the direct calls alone")
    parser.add_argument("--again", action="store_true", help="ask opproof anew about what it missed")
    options = parser.parse_args()
    folder = options.folder.absolute()
    libraries, program = build(folder, MISTAKES)
    numbers = [int(n) for n in options.only.split(",")] if options.only else list(range(1, len(MISTAKES) + 1))
    if options.show:
        show(libraries, folder, numbers)
    else:
        judge(libraries, program, numbers, options.json, options.again)


def show(libraries: Path, folder: Path, numbers: list[int]) -> None:
    """Say of each mistake whether its direct call gives other numbers than without it."""
    library = load_library(str(libraries), registry=False)
    calls = Calls(create(str(libraries)), open_device(library))
    for number in numbers:
        honest, wrong = (_call_apart(calls, number, on, folder / "call.npz") for on in (HONEST, number))
        pairs = [(y, wrong.get(name)) for name, y in honest.items()]
        other = any(w is None or not np.array_equal(y, w, equal_nan=y.dtype.kind == "f") for y, w in pairs)
        print(f"{number} {'shown' if other else 'NO MISTAKE'}: {MISTAKES[number - 1].what}", flush=True)


def _call_apart(calls: Calls, number: int, on: int, kept: Path) -> dict[str, Any]:
    """What a mistake's call gives in a child where mistake `on` is: the library reads that once."""
    kept.unlink(missing_ok=True)
    child = os.fork()
    if not child:
        os.environ["MISTAKE"] = str(on)
        outputs = enumerate(MISTAKES[number - 1].witness(calls))
        np.savez(kept, **{str(i): y for i, y in outputs if y is not None})
        os._exit(0)
    os.waitpid(child, 0)
    if not kept.exists():
        return {}
    with np.load(kept) as arrays:
        return dict(arrays)


def judge(libraries: Path, program: Path, numbers: list[int], to: Path | None, again: bool) -> None:
    """Ask both about each mistake, and about the honest build with the functions of all.

    What opproof missed when it was first asked stays a miss; what it says `again` is kept beside it.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    kept: dict[str, Any] = json.loads(to.read_text(encoding="utf-8")) if to and to.exists() else {"mistakes": {}}
    for number in numbers:
        mistake = MISTAKES[number - 1] if number else _everything()
        if row := kept["mistakes"].get(str(number)):
            if not number or not again or row["ours"]["failing"]:
                continue
            row["since"] = ask_ours(libraries, number, mistake.ours)
            _write(to, kept)
            continue
        row = {"kind": mistake.kind, "what": mistake.what, "functions": mistake.theirs, "operators": mistake.ours}
        modes = ("grad",) if mistake.file == BACKWARD else ("test", "grad")  # elsewhere such a mistake changes nothing
        row |= {
            "theirs": ask_theirs(program, number, mistake.theirs, modes),
            "ours": ask_ours(libraries, number, mistake.ours),
        }
        kept["mistakes"][str(number)] = row
        print(f"{number} {mistake.theirs}: {mistake.what}\n  {row['theirs']}\n  {row['ours']}", flush=True)
        _write(to, kept)


def _write(to: Path | None, kept: dict[str, Any]) -> None:
    if to:
        to.write_text(dump_json(kept), encoding="utf-8")


def _everything() -> Mistake:
    """No mistake, and whom all are asked about but the slow ones."""

    def join(names: Iterable[str]) -> str:
        return ",".join(dict.fromkeys(n for some in names for n in some.split(",") if n not in SLOW))

    ours, theirs = join(m.ours for m in MISTAKES), join(m.theirs for m in MISTAKES)
    return MISTAKES[0]._replace(kind="", what="none", theirs=theirs, ours=ours)


def ask_theirs(program: Path, number: int, functions: str, modes: Sequence[str]) -> dict[str, Any]:
    """What test-backend-ops says of functions in these modes, until it says FAIL.

    Where a mode fails without a mistake as well, what it says tells nothing.
    """
    found: dict[str, Any] = {"failing": 0, "asked": 0, "said": "", "seconds": 0.0}
    for mode in modes:
        code, lines, seconds = _run([str(program), mode, "-b", "CPU", "-o", functions], number, stop=_FAILED)
        found["asked"] += sum(_ASKED.search(line) is not None for line in lines)
        found["seconds"] = round(found["seconds"] + seconds, 1)
        if said := [line for line in lines if _FAILED.search(line)]:
            found |= {"failing": 1, "said": f"{mode}: {_COLOUR.sub('', said[0]).strip()}"}
        elif code < 0:
            found |= {"failing": 1, "said": f"{mode}: ended by signal {-code}"}
        if found["failing"] and number and mode == "grad":
            code, lines, _ = _run([str(program), mode, "-b", "CPU", "-o", functions], HONEST, stop=_FAILED)
            if code < 0 or any(map(_FAILED.search, lines)):
                found |= {"failing": 0, "said": f"{mode}: it fails without a mistake, too"}
        if found["failing"]:
            break
    return found


def ask_ours(libraries: Path, number: int, operators: str) -> dict[str, Any]:
    """What opproof says of operators at the standard level, until a record fails."""
    out = libraries.parent.parent / f"report-{number}"
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", f"ggml:{libraries}", "-o", operators]
    _, _, seconds = _run([*command, "-j", "1", "-x", "--quiet", "--out", str(out)], number)
    records = [json.loads(line) for line in (out / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    records = [r for r in records if r.get("verdict") not in (None, "UNSUPPORTED")]
    failed = [r for r in records if r["verdict"] in FAILED and not r["known"]]
    said = [f"{r['case']} {r['mode']}, {r['verdict']}: {r['diagnosis'] or r['message']}" for r in failed]
    return {"failing": len(failed), "asked": len(records), "said": (said or [""])[0], "seconds": round(seconds, 1)}


def _run(command: list[str], number: int, stop: re.Pattern[str] | None = None) -> tuple[int, list[str], float]:
    """A judge's exit code, its lines, and the seconds of processors that it and all its processes took.

    It is ended at a line that has `stop`. What its processes leave behind comes to this one, which waits for it.
    """
    environment = os.environ | {"MISTAKE": str(number), "GGML_NO_BACKTRACE": "1", "OMP_WAIT_POLICY": "passive"}
    lines = []
    with subprocess.Popen(command, env=environment, stdout=-1, stderr=subprocess.STDOUT, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            if stop is not None and stop.search(line):
                process.terminate()
                break
        process.stdout.close()
        code, seconds = 0, 0.0
        while True:
            try:
                pid, status, used = os.wait4(-1, 0)
            except ChildProcessError:
                break
            seconds += used.ru_utime + used.ru_stime
            if pid == process.pid:
                code = process.returncode = os.waitstatus_to_exitcode(status)
    return code, lines, seconds


if __name__ == "__main__":
    main()
