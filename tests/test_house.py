"""The rules of the house: sizes of files, circles, floors, front files, names. Each rule is shown to fail once."""

from __future__ import annotations

import ast
import collections
import functools
import json
import re
import shutil
import statistics
import subprocess
import sys
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
    "harness.known_failures": 3,
    "harness.judge": 4,
    "harness.capture": 4,
    "harness.diagnose": 5,
    "harness.repro": 5,
    "harness.space": 5,
    "harness.run": 6,
    "harness.audit": 7,
    "harness.drift": 7,
    "harness.check": 8,
    "harness.bench": 7,
    "harness.vectors": 7,
    "harness.precision": 7,
    "harness.selftest": 7,
    "harness.plugin": 9,
    "harness.cli": 9,
}

#: Files of each folder that others may import; all else is private to its folder. The table only shrinks.
FRONT: dict[str, frozenset[str]] = {
    "harness.audit": frozenset("run".split()),
    "harness.bench": frozenset("bench measure".split()),
    "harness.capture": frozenset("captured program".split()),
    "harness.drift": frozenset("follow".split()),
    "harness.check": frozenset("api by_operator call.isolated contract options run".split()),
    "harness.diagnose": frozenset("diagnosis precision wrong".split()),
    "harness.judge": frozenset(
        "alternatives array_statistics bound causes chunks gradient judgement outputs periods self_oracle".split()
    ),
    "harness.known_failures": frozenset("causes findings known proposals".split()),
    "harness.precision": frozenset("measure tolerance".split()),
    "harness.reference": frozenset(
        "array_bias chunks.blocks chunks.expected chunks.memory_budget chunks.question data error_scale "
        "axes expected kinks montecarlo.array question rounded_arithmetic roundoff "
        "torch.alternatives torch.arithmetic torch.dtype_leaks torch.evaluate "
        "torch.intercept torch.kinks torch.linear_algebra torch.random_draws valid_case wrong_call".split()
    ),
    "harness.repro": frozenset("evidence script".split()),
    "harness.run": frozenset(
        "attempt cache.questions cache.store calls finish hardening hosts.answer_files "
        "hosts.exec_dialogues hosts.host hosts.process hosts.start memory "
        "plan record request results.resume runner "
        "scheduler session.worker standalone.caller task".split()
    ),
    "harness.selftest": frozenset("selfcheck".split()),
    "harness.space": frozenset("coverage factors pairs delta shrink stream".split()),
    "harness.vectors": frozenset("export".split()),
}

#: Verbs with which public functions begin; a new one is one word here.
VERBS = frozenset(
    """
    accumulate add align allocate allow apply arrange ask assign attribute average bench bisect bound cache
    calculate call capture change check choose classify clear collect combine compare compile complete compute
    confine copy count cover cube cut decline decode decompose describe diagnose differentiate divide double draw
    dump encode end ensure escape estimate evaluate expect explain export express extend extract factor fail fill
    find finish fit flatten floor flush fold follow forbid format free gather generate group halve handle harden
    ignore import index init insert install invert iterate join judge keep limit list load locate log look make map
    mark measure mention merge move multiply mutate name note number open order pad paint parse pass perform place
    plan poison prepare probe propose publish put rank rate read recheck record reduce release remove rename render
    repeat replace report request require reserve reshape resize restore restrict rewrite round run sample save
    scale search seed select serve shard share shift show shrink sign solve sort split start state store strip
    subtract suggest sum summarise support swap take tally tell trace transform translate truncate try unpack unwrap
    update waive walk warn watch widen withdraw wrap write
    """.split()
)
#: First words of functions that are no verb: they say which property of the argument is meant.
PROPERTIES = frozenset("is has have can should must needs are does was to from as in of by with on at iter".split())


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
    return read_graph(frozenset(sources.items()))


@functools.cache
def read_graph(sources: frozenset[tuple[str, str]]) -> dict[str, set[str]]:
    """Read the graph of sources once: several rules look at that of all."""
    modules = {m for m, _ in sources}
    return {m: set(imports_of(m, text, modules)) for m, text in sources}


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
    parts = module.replace("harness.__main__", "harness.cli").split(".")
    return ".".join(parts[:2]) if parts[0] == "harness" and len(parts) > 1 else parts[0]


def list_lower_imports(sources: dict[str, str]) -> list[str]:
    """Return imports of harness that go up the floors, or across them."""
    found = []
    for module, used in graph_of(sources).items():
        if is_list_of_causes(module):
            continue
        floor = FLOORS.get(folder_of(module), 1)
        for other in used:
            above = FLOORS.get(folder_of(other), 1)
            if folder_of(other) != folder_of(module) and above > 1 and above >= floor:
                found.append(f"{module} imports {other}")
    return sorted(found)


def is_list_of_causes(module: str) -> bool:
    """Whether a module holds changed references of known failures, or their steps: judges read it, no backend does."""
    return module.startswith("backends.") and module.endswith((".causes", ".traced"))


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
            bound.update({a.asname or a.name for a in node.names})
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
            elif isinstance(target, ast.Name) and BARE.fullmatch(target.id) and is_number(value):
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
    ours = ("core", "harness", "reports", "backends.worker")  # an adapter's tables may know its front
    graph = {m: used for m, used in graph_of(SOURCES).items() if m.startswith(ours) and not is_package(m, SOURCES)}
    assert find_circle(graph) == []
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
    deep = {"harness.run.pool": "from opproof.harness.judge import chunk_screen\n", "harness.judge.chunk_screen": ""}
    assert list_private_imports(deep, {"harness.judge": frozenset({"bound"})}) == [
        "harness.run.pool imports harness.judge.chunk_screen"
    ]


def test_constants_have_names_of_their_own():
    ours = {m: text for m, text in SOURCES.items() if m.startswith(("harness", "core", "reports"))}
    assert {m: found for m, text in ours.items() if (found := list_nameless_numbers(text))} == {}
    assert {m: found for m, text in ours.items() if (found := list_twice_bound(text))} == {}


def test_nameless_numbers_and_second_bindings_are_seen():
    assert list_nameless_numbers("_A, _B = 1, -2.5\nC, D = f()\n_MOST = 3\nMAX_ROWS = 3\n") == ["(_A, _B)", "_MOST"]
    assert list_twice_bound("from a import f\nX = 1\ndef f(): ...\nX = 2\n") == ["X", "f"]


#: Names that a contract fixes: every backend has them.
OF_CONTRACTS = frozenset({"Backend"})


def test_a_class_name_stands_once():
    assert set(list_classes_twice(SOURCES)) - OF_CONTRACTS == set()
    assert list_classes_twice({"harness.a": "class A: ...", "core.b": "class A: ..."}) == ["A"]


#: Files whose functions are mathematics (exp, mean) or the names of hooks, which are fixed elsewhere.
NAMED_ELSEWHERE = ("harness.plugin", "harness.cli")
#: What the public functions of a few files are: kinds of mutants, and what users import.
KINDS = re.compile(r".*_mutants|cli|main|operator_test|.*_command")


def list_nameless_functions(text: str) -> list[str]:
    """Return public functions that begin with no verb and name no property; a block is named by the state within."""
    found = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            word = node.name.split("_")[0]
            block = "contextmanager" in ast.unparse(node).split("def ")[0] or "ContextManager" in ast.unparse(
                node.returns or node
            )
            asks = node.returns is not None and ast.unparse(node.returns) == "bool" and word.endswith("s")
            property_ = word in PROPERTIES or "_of" in node.name or "_to_" in node.name or asks
            if not (word in VERBS or property_ or block or KINDS.fullmatch(node.name)):
                found.append(node.name)
    return found


@pytest.mark.parametrize("package", ["core", "harness", "reports", "backends.worker"])
def test_functions_are_named_by_what_they_do(package):
    found = {
        m: list_nameless_functions(text)
        for m, text in SOURCES.items()
        if m.startswith(package) and not m.startswith(NAMED_ELSEWHERE)
    }
    assert {m: names for m, names in found.items() if names} == {}


def test_a_name_that_says_nothing_is_seen():
    text = "def told(x): ...\ndef judge_told(x): ...\ndef shape_of(x): ...\n@contextmanager\ndef quiet(): ...\n"
    assert list_nameless_functions(text) == ["told"]


#: Files of other projects that docstrings name.
OF_OTHERS = frozenset("logging.py op.py paddle.py mixin/elementwise.py mixin/gradient.py".split())
#: Files that commands and users write.
WRITTEN = frozenset("report.md cases.toml".split())
FILE_NAME = re.compile(r"(?<![\w/.*{<~-])((?:[\w-]+/)*[\w-]*[a-z][\w-]*\.(?:py|toml|md))\b(?!\.\w)")


def list_gone_files(text: str, files: frozenset[str]) -> list[str]:
    """Return Python, TOML and Markdown files that docstrings name, and that end no path of `files`."""
    nodes = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Module | ast.ClassDef | ast.FunctionDef))
    named = {name for node in nodes for name in FILE_NAME.findall(ast.get_docstring(node) or "")}
    named = {name for name in named if "NAME" not in name}
    return sorted(name for name in named if not any(f == name or f.endswith(f"/{name}") for f in files))


def test_files_that_docstrings_name_are_there():
    folders = (*PACKAGES, "benchmarks", "docs", "examples", "tests")
    found = [*ROOT.glob("*.*"), *(path for folder in folders for path in (ROOT / folder).rglob("*.*"))]
    paths = {p.relative_to(ROOT).as_posix(): p for p in found if not {"node_modules", "build"} & {*p.parts}}
    files = frozenset(paths) | OF_OTHERS | WRITTEN
    texts = {name: p.read_text(encoding="utf-8") for name, p in paths.items() if p.suffix == ".py"}
    gone = {name: list_gone_files(text, files) for name, text in texts.items()}
    assert {name: files for name, files in gone.items() if files} == {}


def test_a_file_that_is_gone_is_seen():
    text = "'''See judge/bound.py, gone.py, diagnose/gone.py and NAME.py.'''\ndef f():\n    '''See page.md.'''\n"
    assert list_gone_files(text, frozenset(["harness/judge/bound.py"])) == ["diagnose/gone.py", "gone.py", "page.md"]


def test_no_two_files_say_the_same_of_themselves():
    def first_sentence(text: str) -> str:
        return (ast.get_docstring(ast.parse(text)) or "").split("\n\n")[0].split(". ")[0]

    said = collections.Counter(filter(None, map(first_sentence, SOURCES.values())))
    assert [sentence for sentence, count in said.items() if count > 1] == []


def test_imports_resolve_in_an_editor():
    """src/opproof links the packages, so that pyright follows an import in a clone without anything installed."""
    checker = shutil.which("basedpyright", path=str(Path(sys.executable).parent))
    if checker is None:
        pytest.skip("basedpyright is not installed")
    if not (ROOT / "src" / "opproof" / "harness").is_dir():
        pytest.skip("the links of src/opproof are not here")
    python = Path(getattr(sys, "_base_executable", sys.executable))
    call = [checker, "--outputjson", "--pythonpath", str(python), str(ROOT / "harness" / "judge" / "bound.py")]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, check=False)
    told = json.loads(done.stdout)["generalDiagnostics"]
    unresolved = [d["message"] for d in told if d.get("rule") == "reportMissingImports"]
    assert [m for m in unresolved if "opproof" in m] == []
    assert done.stdout.count("numpy"), "the interpreter without packages misses NumPy: else the check sees nothing"
