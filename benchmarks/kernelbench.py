"""KernelBench's problems at reduced sizes: what passes that is right, and what fails that is wrong.

    python benchmarks/kernelbench.py FOLDER [--count 100] [--compiled 20] [--page docs/kernelbench.md]

FOLDER is KernelBench/ of https://github.com/ScalingIntelligence/KernelBench. Sizes are the numbers that a problem's
file gives names to; all above 8 are divided until its largest tensor has at most 2^12 elements.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import opproof.harness.check.compared as comparing
import opproof.harness.check.trial as trying
from opproof.harness.check.compared import Wish, compared
from opproof.vocabulary.errors import BadInput

MOST = 1 << 12
SECONDS = 60
LIMITS = (256, 128, 64, 32, 16, 8, 6, 4, 3)


@dataclass
class Row:
    """What became of a problem."""

    name: str
    same: str = ""  # ModelNew = Model
    wrong: dict[str, str] = field(default_factory=dict)
    compiled: str = ""
    note: str = ""


class Smaller(ast.NodeTransformer):
    """Whole numbers that are given a name at the top of a file, none above `limit`."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        """Functions stay."""
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        """Classes stay."""
        return node

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        """A size that is a multiple of the limit stays one."""
        value = node.value
        if type(value) is int and value > self.limit:
            return ast.copy_location(ast.Constant(self.limit), node)
        return node


def problem(path: Path) -> tuple[Any, Callable[[], Any]]:
    """A model and its inputs at the largest of the sizes that are small enough. Raises ValueError where none is."""
    import torch

    why = "no size is small enough"
    for limit in LIMITS:
        names: dict[str, Any] = {"__name__": "problem"}
        tree = ast.fix_missing_locations(Smaller(limit).visit(ast.parse(path.read_text())))
        try:
            exec(compile(tree, str(path), "exec"), names)  # noqa: S102 - what it is given to run
            torch.manual_seed(0)
            model = names["Model"](*names["get_init_inputs"]())
            inputs = names["get_inputs"]()
            tensors = [t for t in inputs if torch.is_tensor(t)]
            sizes = [t.numel() for t in tensors] + [p.numel() for p in model.parameters()]
            if max(sizes, default=0) > MOST:
                continue
            y = model(*inputs)
            if torch.is_tensor(y) and y.numel() > 4 * MOST:
                continue
        except Exception as error:
            why = f"{type(error).__name__}: {str(error)[:80]}"
            continue
        return model, names["get_inputs"]
    raise ValueError(why)


def wrongs(model: Any) -> dict[str, Any]:
    """Modules that take the same and answer something else."""
    import torch
    from torch.utils._pytree import tree_map

    def answering(change: Callable[..., Any]) -> Any:
        made, plain = copy.deepcopy(model), type(model).forward
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
        "times 1.02": answering(all_of(lambda y: y * 1.02 if y.is_floating_point() else y)),
    }


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
    truth, widened = trying.truth, trying.widened
    known: dict[Any, Any] = {}

    def key(question: Any) -> Any:
        arrays = (*question.inputs, *question.cotangents)
        return question.kinds, question.dtypes, tuple(None if a is None else a.tobytes() for a in arrays)

    def kept(name: str, question: Any, made: Callable[[], Any]) -> Any:
        at = (name, key(question))
        if at not in known:
            known[at] = made()
        return known[at]

    trying.truth = lambda question: kept("truth", question, lambda: truth(question))
    trying.widened = lambda question, first: kept("widened", question, lambda: widened(question, first))
    try:
        yield
    finally:
        trying.truth, trying.widened = truth, widened


def verdict(candidate: Any, model: Any, inputs: Any, dtype: str) -> str:
    """Pass, fail, or why neither."""
    wish = Wish(dtype=dtype, seconds=1e9, neighbours=False)
    try:
        with within(SECONDS):
            report = compared(candidate, model, inputs, wish)
    except (BadInput, TimeoutError) as error:
        return f"refused: {str(error)[:90]}"
    if report.failures:
        worst = report.worst
        what = f"{float(worst.units):.3g} units" if worst is not None and worst.units is not None else ""
        return f"fail ({', '.join(report.failures)}{'; ' + what if what else ''})"
    if report.ok:
        return "pass"
    return (
        "; ".join(f"{r.verdict}: {r.message[:70]}" for r in report.results if r.verdict != "PASS") or "nothing judged"
    )


def row(path: Path, compiled: bool) -> Row:
    """One problem tried."""
    with one_truth():
        return _row(path, compiled)


def _row(path: Path, compiled: bool) -> Row:
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
    if compiled:
        torch.compiler.reset()
        made.compiled = verdict(torch.compile(copy.deepcopy(model)), model, inputs, "f32")
    return made


def page(rows: list[Row], seconds: float) -> str:
    """The table, and how many."""
    ran = [r for r in rows if r.same]
    wrong = [v for r in ran for v in r.wrong.values()]
    tried = [r for r in ran if r.compiled]
    found = (
        f"{len(ran)} problems of levels 1 and 2 at reduced sizes on a CPU, as given, in {seconds:.0f} s of a "
        f"processor: "
        f"{sum(r.same == 'pass' for r in ran)} pass with `ModelNew = Model`; of {len(wrong)} wrong answers "
        f"{sum(v.startswith('fail') for v in wrong)} fail; of {len(tried)} compiled by torch.compile "
        f"{sum(r.compiled == 'pass' for r in tried)} pass. "
        f"{len(rows) - len(ran)} more could not be made small enough. Generated by"
    )
    lines = [
        "# KernelBench's problems",
        "",
        found,
        "`python benchmarks/kernelbench.py KernelBench --page docs/kernelbench.md`.",
        "",
        "MISTRUSTED is no pass: of the problem's own inputs something trivial is right. They are from 0 to 1, where",
        "a rectifier answers its input; a mean over all that a group norm has centred is its bias, whatever the input.",
        "`opproof check` tries other values beside, of both signs among them, and decides by those.",
        "",
        "| Problem | Model | zeros | ones | an input | × 1.02 in bf16 | compiled |",
        "|---|---|---|---|---|---|---|",
    ]
    for r in ran:
        cells = [r.wrong.get(n, "").partition(" (")[0] for n in ("zeros", "ones", "an input", "times 1.02")]
        lines.append(f"| {r.name} | {r.same} | {' | '.join(cells)} | {r.compiled} |")
    return "\n".join([*lines, ""])


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--compiled", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no problem after so many")
    parser.add_argument("--page", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    comparing.EXPLAINED = 0  # no verdict depends on a diagnosis, which takes half of the time
    start, rows, ran = time.monotonic(), list[Row](), 0
    levels = [sorted((options.folder / level).glob("*.py"), key=_number) for level in ("level1", "level2")]
    paths = [p for pair in zip(*levels, strict=True) for p in pair if options.only in str(p)]
    for path in paths:
        if ran >= options.count or time.monotonic() - start > options.seconds:
            break
        made = row(path, compiled=ran % max(1, options.count // max(1, options.compiled)) == 0)
        rows.append(made)
        ran += bool(made.same)
        print(made.name, "|", made.same or made.note, "|", made.wrong, "|", made.compiled, file=sys.stderr, flush=True)
        if options.page:  # at every row: hours may be cut short
            options.page.write_text(page(rows, time.process_time()))
    if not options.page:
        print(page(rows, time.process_time()))


def _number(path: Path) -> int:
    return int(path.stem.partition("_")[0])


if __name__ == "__main__":
    main()
