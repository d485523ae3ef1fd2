"""KernelBench's problems at reduced sizes: what passes that is right, and what fails that is wrong.

    python benchmarks/kernelbench.py FOLDER [--count 100] [--rows rows.jsonl] [--summary docs/data/kernelbench.json]

FOLDER is KernelBench/ of https://github.com/ScalingIntelligence/KernelBench. Sizes are the numbers that a problem's
file gives names to: none is above a limit, the largest at which no tensor has more than 2^12 elements (2^16 where
the model itself is larger); what the model is made of, as channels and groups, has a limit of its own.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import itertools
import json
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import opproof
import opproof.harness.check.judge.judged_variant as knowing
import opproof.harness.check.judge.partial_gradients as parting
import opproof.harness.check.triage.conditioning as widening
from opproof.core.errors import BadInput
from opproof.core.text import dump_json
from opproof.core.verdicts import Verdict
from opproof.harness.check import summary
from opproof.harness.reference.roundoff import RUNS
from opproof.harness.reference.torch.alternatives import widen_truth
from opproof.harness.reference.torch.evaluate import compute_truth

MOST = 1 << 12
SECONDS = 60
#: Why a row is not as it should be, found out by hand.
EXCEPTIONS = {
    "level1/31_ELU": "compiled, ELU is exp(x) - 1, which cancels next to 0: up to 1.5e6 roundoffs off for x from "
    "-0.002 to 0, where eager's expm1 is off by 1 (PyTorch 2.13.0). torch.compile is wrong there.",
    "level1/50_conv_standard_2D__square_input__square_kernel": "not tried. Its images of 224 by 224 have no name, and "
    "with 96 filters are 290,400 numbers each.",
}
#: Candidates that are wrong, by how the page names them.
NAMES = {
    "zeros": "zeros",
    "ones": "ones",
    "an input": "a copy of an input",
    "times 1.02": "the model times 1.02 in bf16",
}
LIMITS = (256, 128, 64, 32, 16, 8, 6, 4, 3)


@dataclass
class Row:
    """What became of a problem."""

    name: str
    same: str = ""  # ModelNew = Model
    wrong: dict[str, str] = field(default_factory=dict)
    compiled: str = ""
    note: str = ""
    seconds: float = 0.0  # of a processor


class Smaller(ast.NodeTransformer):
    """Integers that are given a name at the top of a file, none above a limit: one for what a model is made of."""

    def __init__(self, model: int, data: int, made_of: frozenset[str]) -> None:
        self.model, self.data, self.made_of = model, data, made_of
        self.limit = data

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Functions stay."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Classes stay."""
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """Channels and groups are what a model is made of; batches, heights and widths are data alone."""
        names = {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
        self.limit = self.model if names & self.made_of else self.data
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """None is above the limit of its statement."""
        value = node.value
        if type(value) is int and value > self.limit:
            return ast.copy_location(ast.Constant(self.limit), node)
        return node


def problem(path: Path) -> tuple[Any, Callable[[], Any]]:
    """A model and its inputs at the largest of the sizes that are small enough. Raises ValueError where none is."""
    text = path.read_text()
    why = "no size is small enough"
    for most in (MOST, 16 * MOST):
        for model, data in ((m, d) for m in LIMITS for d in LIMITS if d <= m):
            try:
                made = _small(text, (model, data), most)
            except Exception as error:
                why = f"{type(error).__name__}: {str(error)[:80]}"
                continue
            if made is not None:
                return made
    raise ValueError(why)


def _small(text: str, limits: tuple[int, int], most: int) -> tuple[Any, Callable[[], Any]] | None:
    """A problem with its sizes limited; None where it is larger than `most`."""
    import torch

    with contextlib.suppress(NotImplementedError, RuntimeError), torch.device("meta"):  # shapes alone, of any size
        if _largest(*_made(text, limits)) > most:
            return None
    model, inputs = _made(text, limits)
    return (model, inputs) if _largest(model, inputs) <= most else None


def _made(text: str, limits: tuple[int, int]) -> tuple[Any, Callable[[], Any]]:
    import torch

    names: dict[str, Any] = {"__name__": "problem"}
    tree = ast.parse(text)
    used = {n.id for f in tree.body for n in ast.walk(f) if isinstance(n, ast.Name) and _makes(f)}
    tree = ast.fix_missing_locations(Smaller(*limits, frozenset(used)).visit(tree))
    exec(compile(tree, "problem", "exec"), names)  # noqa: S102 - what it is given to run
    torch.manual_seed(0)
    return names["Model"](*names["get_init_inputs"]()), names["get_inputs"]


def _makes(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.FunctionDef) and statement.name == "get_init_inputs"


def _largest(model: Any, made: Callable[[], Any]) -> int:
    """The size of the largest input or parameter, and a quarter of that of the output."""
    import torch

    inputs = made()
    sizes: list[int] = [t.numel() for t in (*inputs, *model.parameters()) if torch.is_tensor(t)]
    y = model(*inputs)
    return max([*sizes, y.numel() // 4 if torch.is_tensor(y) else 0])


def wrongs(model: Any) -> dict[str, Any]:
    """Modules that take the same and answer something else."""
    import torch
    from torch.utils._pytree import tree_map

    def answering(change: Callable[..., Any]) -> Any:
        made = copy.deepcopy(model)

        def plain(self: Any, *inputs: Any) -> Any:
            try:
                return type(model).forward(self, *inputs)
            except NotImplementedError:  # some operations PyTorch has on a CPU in float32 alone
                state = {n: _wide(t) for n, t in (*self.named_parameters(), *self.named_buffers())}
                ys = torch.func.functional_call(model, state, tree_map(_wide, inputs))
                return tree_map(lambda y: y.to(inputs[0].dtype) if torch.is_tensor(y) else y, ys)

        made.__class__ = type(
            "ModelNew", (type(model),), {"forward": lambda self, *inputs: change(plain(self, *inputs), inputs)}
        )
        return made

    def all_of(f: Callable[[Any], Any]) -> Callable[..., Any]:
        return lambda ys, _: tree_map(lambda y: f(y) if torch.is_tensor(y) else y, ys)

    def echoed(y: Any, inputs: Any) -> Any:
        tensors = [x for x in inputs if torch.is_tensor(x) and x.is_floating_point() and x.numel()]
        flat = tensors[0].reshape(-1) if tensors else y.reshape(-1) * 0
        return flat.repeat(-(-y.numel() // flat.numel()))[: y.numel()].reshape(y.shape).to(y.dtype)

    return {
        "zeros": answering(all_of(lambda y: y * 0)),
        "ones": answering(all_of(lambda y: torch.ones_like(y) + y * 0)),
        "an input": answering(lambda ys, inputs: all_of(lambda y: echoed(y, inputs) + y * 0)(ys, inputs)),
        "times 1.02": answering(
            all_of(lambda y: y * 1.02 if y.is_floating_point() else y + 1)
        ),  # of positions, the next
    }


def _wide(value: Any) -> Any:
    return value.float() if hasattr(value, "is_floating_point") and value.is_floating_point() else value


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """A block that is left by TimeoutError after so many seconds of this process's processors."""

    def late(*_: Any) -> None:
        raise TimeoutError(f"more than {seconds} s")

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@contextlib.contextmanager
def one_truth() -> Iterator[None]:
    """A block in which a question is answered once: all candidates of a problem ask the same."""
    known: dict[Any, Any] = {}

    def key(question: Any) -> Any:
        arrays = (*question.inputs, *question.cotangents)
        return question.kinds, question.dtypes, tuple(None if a is None else a.tobytes() for a in arrays)

    def kept(name: str, question: Any, made: Callable[[], Any]) -> Any:
        at = (name, key(question))
        if at not in known:
            known[at] = made()
        return known[at]

    def true(question: Any, runs: int = RUNS) -> Any:
        return kept(f"truth of {runs} runs", question, lambda: compute_truth(question, runs))

    def wider(question: Any, first: Any) -> Any:
        return kept("widened", question, lambda: widen_truth(question, first))

    with contextlib.ExitStack() as patched:
        for module, name, other in (
            (parting, "compute_truth", true),
            (knowing, "compute_truth", true),
            (widening, "widen_truth", wider),
        ):
            patched.enter_context(mock.patch.object(module, name, other))
        yield


def verdict(candidate: Any, model: Any, inputs: Any, dtype: str) -> str:
    """Pass, fail, or why neither, as `opproof.check` tells; other values are tried where those given decide nothing."""
    found = ""
    for neighbours in (False, True):
        try:
            with within(SECONDS):
                report = opproof.check(
                    candidate, like=model, inputs=inputs, dtype=dtype, raises=False, seconds=1e9, neighbours=neighbours
                )
        except (BadInput, TimeoutError) as error:
            return f"refused: {str(error)[:90]}"
        if errors := report.failures.get("ERROR"):
            return f"refused: {errors[0].message[:90]}"
        if report.failures:
            worst = report.worst
            what = f"; {float(worst.units):.3g} units" if worst is not None and worst.units is not None else ""
            return f"fail ({', '.join(report.failures)}{what})"
        if report.ok:
            return "pass" + " (by other values)" * neighbours
        found = "; ".join(f"{r.verdict}: {r.message[:70]}" for r in report.results[:2] if r.verdict is not Verdict.PASS)
    return found or "nothing judged"


def row(path: Path) -> Row:
    """One problem tried."""
    with one_truth():
        return _row(path)


def _row(path: Path) -> Row:
    import torch

    made = Row(f"{path.parent.name}/{path.stem}")
    try:
        with within(SECONDS):
            model, inputs = problem(path)
    except (ValueError, TimeoutError) as error:
        made.note = str(error)
        return made
    made.same = verdict(copy.deepcopy(model), model, inputs, "f32")
    if made.same.startswith("refused"):
        return made
    for name, candidate in wrongs(model).items():
        dtype = "bf16" if name == "times 1.02" else "f32"
        made.wrong[name] = verdict(candidate, model, inputs, dtype)
    torch.compiler.reset()
    made.compiled = verdict(torch.compile(copy.deepcopy(model)), model, inputs, "f32")
    return made


def summarize(rows: list[Row], seconds: float) -> dict[str, Any]:
    """Return what became of each kind of candidate, and which problems were tried."""
    ran = [r for r in rows if r.same]
    kinds = {
        "the model itself, `ModelNew = Model`": ({r.name: r.same for r in ran}, "pass"),
        **{NAMES[n]: ({r.name: r.wrong.get(n, "") for r in ran}, "fail") for n in NAMES},
        "the model by `torch.compile`": ({r.name: r.compiled for r in ran}, "pass"),
    }
    return {
        "problems": len(ran),
        "seconds": round(seconds),
        "numbers": _numbers(ran),
        "other values": sum(r.same.startswith("pass (") for r in ran),
        "candidates": [_count_kind(name, *kind) for name, kind in kinds.items()],
        "exceptions": [{"problem": r.name, "why": EXCEPTIONS[r.name]} for r in rows if r.name in EXCEPTIONS],
    }


def _count_kind(name: str, verdicts: dict[str, str], right: str) -> dict[str, Any]:
    """Return how many passed and failed, and the problems whose verdict is not the right one."""
    tried = {problem: said for problem, said in verdicts.items() if said}
    counts = {word: sum(said.startswith(word) for said in tried.values()) for word in ("pass", "fail")}
    wrong = [problem for problem, said in tried.items() if not said.startswith(right)]
    return {"candidate": name, "tried": len(tried), **counts, "exceptions": wrong}


def _numbers(rows: list[Row]) -> str:
    """Return the numbers of the problems by level, those in a row as the first and the last."""
    found: dict[str, list[int]] = {}
    for level, _, name in (r.name.partition("/") for r in rows):
        found.setdefault(level, []).append(_number(Path(name)))
    return "; ".join(f"{level} {', '.join(_spans(sorted(numbers)))}" for level, numbers in sorted(found.items()))


def _spans(numbers: list[int]) -> Iterator[str]:
    """Yield the numbers, those that follow each other as `1 to 49`."""
    for _, run in itertools.groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        one, *others = (number for _, number in run)
        yield f"{one} to {others[-1]}" if others else str(one)


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no problem after so many")
    parser.add_argument("--summary", type=Path)
    parser.add_argument("--rows", type=Path, help="where rows are kept as they finish: those there are not tried again")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    summary.MAX_DIAGNOSED = 0  # no verdict depends on a diagnosis, which takes half of the time
    start, known, rows = time.monotonic(), _kept(options.rows), list[Row]()
    levels = [sorted((options.folder / level).glob("*.py"), key=_number) for level in ("level1", "level2")]
    for path in (p for pair in zip(*levels, strict=True) for p in pair if options.only in str(p)):
        made = known.get(f"{path.parent.name}/{path.stem}")
        if sum(bool(r.same) for r in rows) >= options.count:
            break
        if made is None:
            if time.monotonic() - start > options.seconds:
                continue
            begun = time.process_time()
            made = row(path)
            made.seconds = time.process_time() - begun
            print(made, file=sys.stderr, flush=True)
            if options.rows:
                with options.rows.open("a") as file:
                    file.write(json.dumps(asdict(made)) + "\n")
        rows.append(made)
    text = dump_json(summarize(rows, sum(r.seconds for r in rows)))
    if options.summary:
        options.summary.write_text(text, encoding="utf-8")
    else:
        print(text)


def _kept(file: Path | None) -> dict[str, Row]:
    """The rows of earlier runs, by name."""
    lines = file.read_text().splitlines() if file is not None and file.exists() else []
    return {r.name: r for r in (Row(**json.loads(line)) for line in lines)}


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


if __name__ == "__main__":
    main()
