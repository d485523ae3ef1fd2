"""The rules of the house: sizes of files, circles, floors, front files, names. Each rule is shown to fail once."""

from __future__ import annotations

import ast
import collections
import re
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("core", "reference_ops", "cases", "reports", "backends", "harness")

#: Lines that a file of harness, core, reports or backends/worker may have.
MAX_LINES = 500
#: Lines below which a file that one other file alone imports is merged with it.
MIN_LINES = 60
#: Lines between which the median of harness lies.
MEDIAN_LINES = (120, 300)

#: Floors of harness: a file imports from its own folder or from lower ones. What is not here lies on floor 1.
FLOORS = {
    "harness.reference": 2,
    "harness.known_failures": 2,
    "harness.judge": 3,
    "harness.capture": 3,
    "harness.diagnose": 4,
    "harness.repro": 4,
    "harness.run": 5,
    "harness.check": 6,
    "harness.bench": 6,
    "harness.vectors": 6,
    "harness.precision": 6,
    "harness.selftest": 6,
    "harness.plugin": 7,
    "harness.cli": 7,
    "harness.__main__": 7,
}

#: Files of each folder that others may import; all else is private to its folder. The table only shrinks.
FRONT: dict[str, frozenset[str]] = {}  # FRONT-TABLE

#: Modules that are found or started by name, and may import what they need.
STARTED = ("harness.cli", "harness.__main__", "harness.plugin")

#: Words with which a public function begins, beside the verbs: what they say is a property of the argument.
PROPERTIES = frozenset("is has have can should must needs are does was to from as in of by with on at".split())


def read_sources() -> dict[str, str]:
    """Return the source of every module of the packages, by its dotted name."""
    files = [f for p in PACKAGES for f in sorted((ROOT / p).rglob("*.py"))]
    return {name_of(f.relative_to(ROOT)): f.read_text(encoding="utf-8") for f in files if "skeletons" not in f.parts}


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


SOURCES = read_sources()


def imports_of(module: str, text: str, modules: set[str]) -> dict[str, set[str]]:
    """Return the modules that a module imports, wherever the import stands, with the names that it takes of each."""
    found: dict[str, set[str]] = collections.defaultdict(set)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*module.split(".")[: -node.level], base]).strip(".")
            elif not base.startswith("opproof"):
                continue
            base = base.removeprefix("opproof").lstrip(".")
            for alias in node.names:
                full = f"{base}.{alias.name}".lstrip(".")
                found[full if full in modules else base].add(alias.name)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.startswith("opproof."):
                    found[alias.name.removeprefix("opproof.")].add("")
    return {m: names for m, names in found.items() if m in modules and m != module}


def graph_of(sources: dict[str, str]) -> dict[str, set[str]]:
    """Return which modules each module imports."""
    return {m: set(imports_of(m, text, set(sources))) for m, text in sources.items()}


def find_circle(graph: dict[str, set[str]]) -> list[str]:
    """Return modules that import each other in a ring, in order; [] where there is none."""
    done: set[str] = set()

    def search(node: str, path: list[str]) -> list[str]:
        if node in path:
            return path[path.index(node) :]
        if node in done:
            return []
        for other in sorted(graph.get(node, ())):
            if ring := search(other, [*path, node]):
                return ring
        done.add(node)
        return []

    return next((ring for node in sorted(graph) if (ring := search(node, []))), [])


def folder_of(module: str) -> str:
    """Return the folder of harness, or the package, in which a module lies."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "harness" and len(parts) > 1 else parts[0]


def list_lower_imports(sources: dict[str, str]) -> list[str]:
    """Return imports of harness that go up the floors, or across them."""
    found = []
    for module, used in graph_of(sources).items():
        floor = FLOORS.get(folder_of(module), 1)
        for other in used:
            above = FLOORS.get(folder_of(other), 1)
            if folder_of(other) != folder_of(module) and above > 1 and above >= floor:
                found.append(f"{module} imports {other}")
    return sorted(found)


def list_private_imports(sources: dict[str, str], front: dict[str, frozenset[str]]) -> list[str]:
    """Return imports from outside a folder of harness of a file that is none of its front files."""
    found = []
    for module, used in graph_of(sources).items():
        for other in used:
            folder = folder_of(other)
            inside = other.removeprefix(folder).lstrip(".")
            if folder in front and folder_of(module) != folder and inside and inside not in front[folder]:
                found.append(f"{module} imports {other}")
    return sorted(found)


def list_lone_files(sources: dict[str, str]) -> list[str]:
    """Return short files of harness that exactly one other file imports."""
    users = collections.Counter(other for used in graph_of(sources).values() for other in used)
    return sorted(
        m
        for m, text in sources.items()
        if m.startswith("harness.") and users[m] == 1 and text.count("\n") < MIN_LINES and not is_package(m, sources)
    )


def is_package(module: str, sources: dict[str, str]) -> bool:
    """Whether a module is the `__init__` of a folder."""
    return any(other.startswith(f"{module}.") for other in sources)


def list_twice_bound(text: str) -> list[str]:
    """Return names that a module binds twice at its top: the later binding holds for the functions of both."""
    bound: collections.Counter[str] = collections.Counter()
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            overload = any("overload" in ast.unparse(d) for d in node.decorator_list)
            bound[node.name] += not overload
        elif isinstance(node, ast.Assign):
            bound.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            bound[node.target.id] += 1
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound.update({a.asname or a.name.split(".")[0] for a in node.names})
    return sorted(name for name, count in bound.items() if count > 1)


#: Names of constants that do not say of what they are the most or the least.
BARE = re.compile(r"_?(MOST|LEAST|SMALL|NEAR|LONG|SEVERAL|FEWEST|EACH|TIMES)")


def list_nameless_numbers(text: str) -> list[str]:
    """Return numbers that stand two to a line, or under a name that says no quantity."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            target, value = node.targets[0], node.value
            if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and all(map(is_number, value.elts)):
                found.append(ast.unparse(target))
            elif isinstance(target, ast.Name) and BARE.fullmatch(target.id):
                found.append(target.id)
    return found


def is_number(node: ast.expr) -> bool:
    """Whether an expression is a number, or arithmetic of numbers."""
    parts = (n for n in ast.walk(node) if not isinstance(n, ast.operator | ast.unaryop))
    return all(isinstance(n, ast.BinOp | ast.UnaryOp | ast.Constant) for n in parts) and any(
        isinstance(n, ast.Constant) and isinstance(n.value, int | float) for n in ast.walk(node)
    )


def list_classes_twice(sources: dict[str, str]) -> list[str]:
    """Return public class names that stand in two modules of harness, backends, core and reports."""
    homes = collections.defaultdict(set)
    for module, text in sources.items():
        if module.startswith(("harness", "backends", "core", "reports")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].add(module)
    return sorted(name for name, modules in homes.items() if len(modules) > 1)


def test_files_have_a_subject_each():
    assert list_lone_files(SOURCES) == []
    assert list_lone_files({"harness.a": "import opproof.harness.b\n", "harness.b": "x = 1\n"}) == ["harness.b"]


def test_files_are_neither_fragments_nor_long():
    lines = {
        m: text.count("\n")
        for m, text in SOURCES.items()
        if m.startswith(("harness.", "core.", "reports.", "backends.worker.")) and not is_package(m, SOURCES)
    }
    assert {m: n for m, n in lines.items() if n > MAX_LINES} == {}
    low, high = MEDIAN_LINES
    assert low <= statistics.median(n for m, n in lines.items() if m.startswith("harness.")) <= high


def test_no_files_import_each_other_in_a_circle():
    assert find_circle({m: used for m, used in graph_of(SOURCES).items() if not is_package(m, SOURCES)}) == []
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


def test_folders_lie_on_floors():
    assert list_lower_imports(SOURCES) == []
    up = {"harness.judge.bound": "from opproof.harness.run import pool\n", "harness.run.pool": ""}
    assert list_lower_imports(up) == ["harness.judge.bound imports harness.run.pool"]


def test_outsiders_import_front_files_alone():
    assert list_private_imports(SOURCES, FRONT) == []
    used = graph_of(SOURCES)
    needless = [
        f"{folder}.{name}"
        for folder, names in FRONT.items()
        for name in names
        if not any(f"{folder}.{name}" in imported and folder_of(m) != folder for m, imported in used.items())
    ]
    assert needless == [], "nobody outside imports these any more: take them out of the table"
    deep = {"harness.run.pool": "from opproof.harness.judge import kinks\n", "harness.judge.kinks": ""}
    assert list_private_imports(deep, {"harness.judge": frozenset({"bound"})}) == [
        "harness.run.pool imports harness.judge.kinks"
    ]


@pytest.mark.parametrize("module", sorted(m for m in SOURCES if m.startswith(("harness", "core", "reports"))))
def test_constants_have_names_of_their_own(module):
    assert list_nameless_numbers(SOURCES[module]) == []
    assert list_twice_bound(SOURCES[module]) == []


def test_nameless_numbers_and_second_bindings_are_seen():
    assert list_nameless_numbers("_A, _B = 1, -2.5\nC, D = f()\n_MOST = 3\nMAX_ROWS = 3\n") == ["(_A, _B)", "_MOST"]
    assert list_twice_bound("from a import f\nX = 1\ndef f(): ...\nX = 2\n") == ["X", "f"]


#: Names that a contract fixes: every backend has them.
OF_CONTRACTS = frozenset({"Backend"})


def test_a_class_name_stands_once():
    assert set(list_classes_twice(SOURCES)) - OF_CONTRACTS == set()
    assert list_classes_twice({"harness.a": "class A: ...", "core.b": "class A: ..."}) == ["A"]
