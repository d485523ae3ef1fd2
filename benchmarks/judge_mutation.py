"""The mutation score of the judge: changes that cosmic-ray makes in its files, and whether their fast tests see them.

    pip install cosmic-ray
    python benchmarks/judge_mutation.py --count 60 --seed 51 --json benchmarks/judge_mutation.json

A place is a position in a file at which some operator of cosmic-ray changes something; of a sample of places each is
changed once, by an operator drawn. Each mutant runs in a fork of its own, where an import hook gives the changed
source: no file is touched. Mutants are tried until `--seconds` are over; operators that make no sense of floats
(shifts, bits) are left out.
"""

from __future__ import annotations

import argparse
import importlib.abc
import importlib.util
import json
import os
import random
import resource
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: Parts of names of operators that are left out.
LEFT_OUT = ("RShift", "LShift", "BitAnd", "BitOr", "BitXor", "FloorDiv", "Mod", "Pow", "Delete_Not", "Decorator")
#: Tests, the ones that see most first.
TESTS = (
    "compare figures ends_of_float64 rounding grid far coarse stored_rounding vacuity size_classes declared_range "
    "conventions zero_cotangents parameter_classes ill_conditioned ties"
).split()
#: Processor seconds after which a mutant counts as seen: it does not end.
MAX_CPU_SECONDS = 90


class ChangedSource(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """The import of one module from a text."""

    def __init__(self, module: str, file: str, text: str) -> None:
        self.module, self.file, self.text = module, file, text

    def find_spec(self, fullname: str, *_: Any) -> Any:
        """The module's own spec; None for all others."""
        return importlib.util.spec_from_loader(fullname, self, origin=self.file) if fullname == self.module else None

    def exec_module(self, module: Any) -> None:
        """Run the text."""
        module.__file__ = self.file
        exec(compile(self.text, self.file, "exec"), module.__dict__)  # noqa: S102 - our own source, changed


def list_places(files: list[str]) -> dict[tuple[str, tuple[int, int]], list[tuple[str, int]]]:
    """Return operators and their occurrences, by file and position."""
    from cosmic_ray import plugins
    from cosmic_ray.ast import ast_nodes, get_ast_from_path

    places = defaultdict(list)
    for file in files:
        tree = get_ast_from_path(ROOT / file)
        for name in sorted(plugins.operator_names()):
            if any(part in name for part in LEFT_OUT) or "core/" not in name:
                continue
            try:
                operator = plugins.get_operator(name)()
            except TypeError:  # it needs arguments
                continue
            positions = [p for node in ast_nodes(tree) for p in operator.mutation_positions(node)]
            for occurrence, position in enumerate(positions):
                places[file, position[0]].append((name, occurrence))
    return places


def run_tests(file: str, text: str) -> int:
    """Run the tests on a changed file, in this process; return pytest's status."""
    import pytest

    sys.meta_path.insert(0, ChangedSource(f"opproof.{file.removesuffix('.py').replace('/', '.')}", file, text))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU_SECONDS, MAX_CPU_SECONDS + 5))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    tests = [f"tests/harness/judge/test_{name}.py" for name in TESTS]
    quiet = ["-q", "-x", "-n", "0", "-p", "no:cacheprovider", "--assert=plain"]
    return int(pytest.main([*quiet, *tests]))


def survives(file: str, operator: str, occurrence: int) -> bool:
    """Whether the tests pass on a mutant; one without an operator is the file as it is."""
    from cosmic_ray import plugins
    from cosmic_ray.mutating import mutate_code

    source = (ROOT / file).read_text(encoding="utf-8")
    text = mutate_code(source, plugins.get_operator(operator)(), occurrence) if operator else source
    child = os.fork()
    if not child:
        status = 1
        try:
            status = run_tests(file, text)
        finally:
            os._exit(bool(status))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", nargs="+", default=["harness/judge/bound.py", "harness/judge/array_statistics.py"])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=51)
    parser.add_argument("--seconds", type=float, default=1800.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sys.dont_write_bytecode = True
    os.chdir(ROOT)
    sys.path.insert(0, str(ROOT / "src"))
    import numpy as np  # noqa: F401 - once for all forks
    import torch  # noqa: F401 - so too

    places, end = list_places(options.files), time.monotonic() + options.seconds
    draw = random.Random(options.seed)  # noqa: S311 - a sample that is the same again
    if not survives(options.files[0], "", 0):
        sys.exit("the tests fail on the files as they are")
    sample = sorted(places)
    draw.shuffle(sample)
    chosen = [(place, draw.choice(places[place])) for place in sample[: options.count]]
    tried, survivors = 0, []
    for (file, (line, _)), (operator, occurrence) in chosen:
        if time.monotonic() > end:
            break
        tried += 1
        if survives(file, operator, occurrence):
            survivors.append({"file": file, "line": line, "operator": operator, "occurrence": occurrence})
            print(f"survives: {file}:{line} {operator} {occurrence}", flush=True)
    plan = {"files": options.files, "places": len(places), "seed": options.seed}
    print(f"{tried - len(survivors)} of {tried} mutants are seen")
    if options.json:
        options.json.write_text(
            json.dumps({**plan, "tried": tried, "survivors": survivors}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
