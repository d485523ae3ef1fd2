"""The house: a star of imports, a cases file for every operator, docstrings that say what they must."""

import ast
import functools
import importlib
from pathlib import Path

import pytest

from opproof.backends import MADE_OF_REFERENCES
from opproof.cases import cases_of
from opproof.cases._registry import all_names
from opproof.core.errors import OpError
from opproof.reference_ops import Trait, load, load_file, names, summary

PACKAGES = ("core", "reference_ops", "cases", "backends", "harness", "reports")
ROOT = {p: Path(importlib.import_module(f"opproof.{p}").__file__).parent for p in PACKAGES}
FILES = [(p, f) for p in PACKAGES for f in sorted(ROOT[p].rglob("*.py"))]

#: What a package may import beside itself and core.
ALLOWED = {"harness": set(PACKAGES)}


def imports(tree):
    """Every imported module by its absolute name, and whether it is imported with the file."""
    inside = {id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, id(node) not in inside) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                continue  # see below who has them
            yield node.module, id(node) not in inside
            yield from ((f"{node.module}.{alias.name}", id(node) not in inside) for alias in node.names)


@functools.cache
def parsed(path):
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imported(path):
    return tuple(imports(parsed(path)))


@pytest.fixture(scope="module", autouse=True)
def trees():
    """Half a million objects: they go with these tests."""
    yield
    parsed.cache_clear()


def allowed_packages(package, path):
    """What a file may import of this package's folders."""
    allowed = ALLOWED.get(package, {package, "core"})
    if path.parent.parent == ROOT["backends"] and path.parent.name in MADE_OF_REFERENCES:
        allowed = {*allowed, "reference_ops"}
    # The changed references of a list of known failures, or of several: judges read them, no backend does.
    if ROOT["backends"] in path.parents[:2] and path.name in ("causes.py", "traced.py"):
        allowed = {*allowed, "cases", "reference_ops", "harness"}
    return allowed


def forbidden_imports(package, path, imported):
    """What a file imports of this package's folders and may not."""
    allowed = allowed_packages(package, path)
    parts = (module.split(".") for module, _ in imported)
    return [".".join(p) for p in parts if p[0] == "opproof" and len(p) > 1 and p[1] not in allowed]


def test_star_of_imports():
    found = {str(path): forbidden_imports(package, path, imported(path)) for package, path in FILES}
    assert {path: modules for path, modules in found.items() if modules} == {}
    wrong = imports(ast.parse("from opproof.harness.run import pool\n"))
    assert forbidden_imports("cases", ROOT["cases"] / "relu.py", wrong) == [
        "opproof.harness.run",
        "opproof.harness.run.pool",
    ]


def test_who_runs_under_another_name_alone_imports_relatively():
    """The program that asks a backend's file is copied beside its jobs, and nothing in it has this package's name."""
    relative = {
        path.parent for _, path in FILES for n in ast.walk(parsed(path)) if isinstance(n, ast.ImportFrom) and n.level
    }
    assert relative == {ROOT["harness"] / "run" / "standalone" / "program"}
    own = {m.partition(".")[0] for folder in relative for p in folder.glob("*.py") for m, _ in imported(p)}
    assert "opproof" not in own


def test_backends_made_of_references_are_so():
    for name in MADE_OF_REFERENCES:
        found = {m for p in (ROOT["backends"] / name).glob("*.py") for m, _ in imported(p)}
        assert any(m.startswith("opproof.reference_ops") for m in found), name


def test_names_of_test_files_are_unique():
    """pytest imports them by that name alone: two of one name are an error of whichever comes second."""
    files = [path.name for path in Path(__file__).parent.rglob("test_*.py")]
    assert sorted(files) == sorted(set(files))


def test_the_star_is_checked():
    """The check above sees every form of import."""
    text = "import opproof.harness.run.scheduler\nfrom opproof.harness import pool\nfrom opproof import harness\n"
    text += "def f():\n    import opproof.reports\n"
    found = dict(imports(ast.parse(text)))
    assert {m for m in found if m.startswith("opproof.")} == {
        *("opproof.harness.run.scheduler", "opproof.harness", "opproof.harness.pool", "opproof.reports"),
    }
    assert found["opproof.reports"] is False


HEAVY = (
    "torch", "jax", "mlx", "onnx", "onnxruntime", "openvino", "tinygrad", "autograd", "candle", "warp", "tvm_ffi",
    "array_api_strict", "dask", "executorch", "gguf", "ndonnx",
)  # fmt: skip


def early_frameworks(package, path, imported):
    """Frameworks that a file imports with itself and is no adapter of."""
    early = {module.partition(".")[0] for module, with_the_file in imported if with_the_file}
    own = path.parent.name if package == "backends" and path.name != "__init__.py" else ""
    return sorted(early.intersection(HEAVY) - {own})


def test_frameworks_are_imported_by_their_adapters_alone_and_late():
    found = {str(path): early_frameworks(package, path, imported(path)) for package, path in FILES}
    assert {path: frameworks for path, frameworks in found.items() if frameworks} == {}
    jax = ROOT["backends"] / "jax"
    for package, path, text, wrong in (
        ("harness", ROOT["harness"] / "stop.py", "import jax.numpy\n", ["jax"]),
        ("harness", ROOT["harness"] / "stop.py", "def f():\n    import jax\n", []),
        ("backends", jax / "ops.py", "import jax\n", []),
        ("backends", jax / "__init__.py", "import jax\n", ["jax"]),
        ("backends", jax / "ops.py", "import onnx\n", ["onnx"]),
    ):
        assert early_frameworks(package, path, imports(ast.parse(text))) == wrong, text


def test_torch_is_never_imported_with_a_file():
    early = {path: {m.partition(".")[0] for m, with_the_file in imported(path) if with_the_file} for _, path in FILES}
    assert [path for path, modules in early.items() if "torch" in modules] == []


def test_every_operator_has_cases_and_every_cases_file_an_operator():
    assert names() == all_names()


def test_operators_say_what_they_must():
    missing = {name: missing_of(name) for name in names()}
    assert {name: parts for name, parts in missing.items() if parts} == {}


def missing_of(name):
    """What an operator's two files lack."""
    op = load(name)
    parts = ["Shapes", "Source", "PyTorch", "ONNX", "ggml"]
    parts += ["Gradient"] if op.vjp is not None else []
    parts += ["Kinks"] if op.kinks is not None else []
    lines = op.doc.splitlines()
    missing = [part for part in parts if not any(x.startswith(f"{part}:") or f". {part}: " in x for x in lines)]
    functions = {n.name for n in parsed(op.source).body if isinstance(n, ast.FunctionDef)}
    there = {
        "its name": op.name == name,
        "a summary": summary(name),
        "its name in the docstring": lines[0].startswith(f"{name}: "),
        "forward": "forward" in functions,
        "a docstring of the cases": ast.get_docstring(parsed(ROOT["cases"] / f"{name}.py")),
        "cases of smoke": cases_of(name, "smoke"),
    }
    return missing + [what for what, found in there.items() if not found]


def public_constants(tree):
    """Names of the public constants of a file."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (t.id for t in targets if isinstance(t, ast.Name) and not t.id.startswith("_"))


def test_facts_are_spelt_as_they_are_read():
    """A misspelt fact would be no fact: every constant of an operator's file is a known one or private."""
    from opproof.reference_ops._op import FACTS

    allowed = {*FACTS, "SMOKE", "STANDARD", "FULL"}
    for name in names():
        op = load(name)
        assert set(public_constants(parsed(op.source))) <= allowed, name
        assert set(op.facts["TRIVIAL"]) <= {"forward", "vjp"}, name
        assert set(op.facts["EXACT"]) <= {"forward", "vjp"}, name
        assert op.facts["REPEATS"] in {"", "forward", "vjp"}, name
        assert set(op.neighbours) <= set(names()) - {name}, name


@pytest.mark.parametrize("traits", ['("windy",)', '"pointwise"'])
def test_a_misspelt_trait_is_refused(traits, tmp_path):
    file = tmp_path / "snap.py"
    file.write_text(f'"""snap: x."""\n\nTRAITS = {traits}\n\n\ndef forward(x):\n    return x\n', encoding="utf-8")
    with pytest.raises(OpError, match="expected a tuple of words among pointwise, broadcasts"):
        load_file(file)


def test_every_trait_is_somebodys():
    assert {trait for name in names() for trait in load(name).traits} == set(Trait)


#: Words that are an operator's name and something else, in harness/.
OTHER_WORDS = {
    "all": "every capability of a backend",
    "any": "the convention under which any subgradient passes",
    "bernoulli": "PyTorch's, among those that draw",
    "constant": "a fill, a way to pad, and an answer of one number",
    "contiguous": "a layout",
    "fill": "a factor of the space",
    "loop": "Python's, in which a judge is asked",
    "numel": "a method of PyTorch's tensors",
    "repeat": "an option of a run",
    "shape": "an attribute of arrays",
    "sign": "a diagnosis",
    "slice": "Python's, as an argument",
}


def operators_named(tree):
    """Operators that a string constant of the source is the name of, or a list of."""
    known = set(names())
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.split()
            if node.value in known or (len(words) > 1 and known.issuperset(words)):
                yield from words


#: Names here are of PyTorch's operations, under which our operators' references are not looked up.
OF_PYTORCH = ROOT["harness"] / "reference" / "torch"
#: The table from ONNX's operators to ours, for models.
OF_ONNX = ROOT["harness"] / "capture" / "onnx"
HARNESS = [f for p, f in FILES if p == "harness" and f.parent not in (OF_PYTORCH, OF_ONNX)]


def test_the_harness_names_no_operator():
    """What is true of an operator stands in its own files, so that adding one is adding two files."""
    named = {str(path): set(operators_named(parsed(path))) for path in HARNESS}
    wrong = {path: words - set(OTHER_WORDS) for path, words in named.items() if words - set(OTHER_WORDS)}
    assert wrong == {}, "state the fact in the operator's own file"
    assert set().union(*named.values()) == set(OTHER_WORDS)


def test_named_operators_are_seen():
    text = 'A = "relu"\nB = frozenset("conv1d matmul".split())\nC = "a row of relu"\n# softmax\n'
    assert list(operators_named(ast.parse(text))) == ["relu", "conv1d", "matmul"]


def test_every_file_says_what_it_is():
    silent = [str(path) for _, path in FILES if parsed(path).body and not ast.get_docstring(parsed(path))]
    assert silent == []
