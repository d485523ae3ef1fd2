"""The command line: exit statuses, what a run leaves behind, lists, show, report."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode
from opproof.harness import __version__
from opproof.harness.__main__ import COMMANDS, main
from opproof.harness.judge.bound import C
from opproof.harness.run import runner
from opproof.harness.run.finish import Exit
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.session.worker import Session
from opproof.reports import read_results

SMALL = str(Path(__file__).parents[2] / "_small_backend.py")


def call(*args):
    """Exit status."""
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in args])
    return caught.value.code


def run(out, *args):
    """Exit status, header and records by (case, mode)."""
    status = call("run", "--out", out, "-j", 1, *args)
    header, results = read_results(out)
    return status, header, {(r.case, r.mode): r for r in results}


def test_a_run_in_which_all_is_well(tmp_path, capfd):
    out = tmp_path / "deep" / "out"
    status, header, found = run(
        out, "-b", "numpy", "-o", "relu,tanh", "-o", "sum", "--level", "smoke", "--dtype", "f32"
    )
    assert status == 0
    assert {r.verdict for r in found.values()} == {"PASS"}
    assert {r.op for r in found.values()} == {"relu", "tanh", "sum"}
    assert {r.dtype for r in found.values()} == {"f32"}
    assert {mode for _, mode in found} == {"forward", "gradient"}
    assert header.cases == len(found)
    assert (header.opproof, header.schema, header.constant) == (__version__, 1, C)
    assert [b["name"] for b in header.backends] == ["numpy"]
    assert header.backends[0] == {"spec": "numpy", "name": "numpy", "version": np.__version__, "device": "cpu"}
    assert header.started.endswith("+00:00")
    assert set(header.host) >= {"system", "machine", "processor", "vectors", "python", "numpy", "cpus", "cores"}
    assert header.host["OMP_NUM_THREADS"] == "1"  # one thread a judge, where nobody says otherwise
    for report in ("report.html", "report.md"):
        text = (out / report).read_text(encoding="utf-8").replace("\\_", "_")  # as Markdown needs it
        for fact in ("processor", "vectors", "python"):
            assert f"{fact} {header.host[fact]}".split("(")[0] in text, (report, fact)
    options = header.options
    assert options["selection"]["ops"] == ["relu", "tanh", "sum"]
    assert (options["selection"]["level"], options["selection"]["dtypes"]) == ("smoke", ["f32"])
    assert (options["jobs"], options["timeout"], options["memory"], options["known"]) == (1, 30, 4096, "")
    assert sorted(p.name for p in out.iterdir()) == ["report.html", "report.md", "results.jsonl", "results.marks"]
    shown = capfd.readouterr().out
    assert str(out / "report.html") in shown
    (where,) = [
        row for row in shown.splitlines() if row.startswith(f"opproof {__version__}, numpy {np.__version__} cpu; ")
    ]
    assert all(f"{name} {text}" in where for name, text in header.host.items())
    assert f"numpy passes {len(found)} of {len(found)} records in 3 operators" in shown


def test_failures(tmp_path, capfd):
    status, _, found = run(tmp_path, "-b", SMALL, "--case", "neg[x=7x33;f32]", "--case", "relu[x=7x33;f32]")
    assert status == 1
    verdicts = {key: r.verdict for key, r in found.items()}
    assert verdicts == {
        ("neg[x=7x33;f32]", "forward"): "WRONG_VALUE",
        ("neg[x=7x33;f32]", "gradient"): "WRONG_GRADIENT",
        ("relu[x=7x33;f32]", "forward"): "PASS",
        ("relu[x=7x33;f32]", "gradient"): "PASS",
    }
    shown = capfd.readouterr().out
    for r in found.values():
        assert (r.repro in shown) is (r.verdict != "PASS")


def test_nothing_matches(tmp_path, capfd):
    assert call("run", "-b", "numpy", "--out", tmp_path / "out", "-k", "nothingmatchesthis") == 3
    assert capfd.readouterr().err.startswith("opproof: no case matches; ")
    assert not (tmp_path / "out").exists()


def test_declining_everything_is_no_success(tmp_path):
    status, _, found = run(tmp_path, "-b", SMALL, "-o", "tan", "--level", "smoke")
    assert {r.verdict for r in found.values()} == {"UNSUPPORTED"}
    assert status == 3


def test_several_backends_and_one_mode(tmp_path):
    args = ("-b", "numpy", "-b", SMALL, "-b", "numpy", "--mode", "gradient", "--case", "relu[x=7x33;f32]")
    status = call("run", "--out", tmp_path, "-j", 1, *args)
    header, results = read_results(tmp_path)
    assert status == 0
    assert [(r.backend, r.mode) for r in sorted(results, key=lambda r: r.backend == SMALL)] == [
        ("numpy", "gradient"),
        (SMALL, "gradient"),
    ]
    assert [b["device"] for b in header.backends] == ["cpu", "test bench"]


def test_another_seed(tmp_path):
    _, header, found = run(tmp_path, "-b", "numpy", "-o", "exp", "--level", "smoke", "--seed", "5", "--dtype", "f16")
    assert {case for case, _ in found} == {"exp[x=7x33;f16;seed=5]"}
    assert header.options["selection"]["seed"] == 5


def test_a_seed_that_is_drawn_repeats_the_run(tmp_path, capfd):
    args = ("-b", "numpy", "-o", "exp", "--level", "smoke", "--dtype", "f32", "--mode", "forward")
    _, header, found = run(tmp_path / "one", *args, "--seed", "random")
    seed = header.options["selection"]["seed"]
    assert 0 < seed < 2**31
    assert (
        f"opproof: drew the seed {seed}; --seed {seed} instead of random repeats this run.\n" in capfd.readouterr().err
    )
    assert all(f";seed={seed}]" in case for case, _ in found)
    _, _, again = run(tmp_path / "two", *args, "--seed", seed)
    assert {key: r.units for key, r in again.items()} == {key: r.units for key, r in found.items()}
    _, other, _ = run(tmp_path / "three", *args, "--seed", "random")
    assert other.options["selection"]["seed"] != seed


def test_in_process_is_recorded(tmp_path):
    args = ("-b", "numpy", "--case", "relu[x=7x33;f32]", "--in-process")
    status, header, _ = run(tmp_path, *args)
    assert (status, header.options["in_process"]) == (0, True)


def test_in_process_there_is_no_pool(tmp_path, monkeypatch):
    limits = []
    monkeypatch.setattr(runner, "Pool", lambda given, *more: limits.append(given) or Pool(given, *more))
    monkeypatch.setattr(runner, "Session", lambda given: limits.append(given) or Session(given))
    run(tmp_path / "in", "-b", "numpy", "--case", "relu[x=7x33;f32]", "--in-process")
    run(tmp_path / "out", "-b", "numpy", "--case", "relu[x=7x33;f32]")
    assert [given.in_process for given in limits] == [True, False]


@pytest.mark.parametrize("place", ["help", "README.md", "docs/how-to/ci.md"])
def test_every_exit_status_is_told(capfd, place):
    if place == "help":
        assert call("run", "--help") == 0
        text = capfd.readouterr().out
    else:
        text = (Path(__file__).parents[3] / place).read_text(encoding="utf-8")
    text = " ".join(text[text.lower().index("exit status") :][:900].split())
    assert all(re.search(rf"\b{status}\b", text) for status in Exit)
    assert "evidence" in text
    assert "opproof itself" in text


def test_known_failures(tmp_path, capfd):
    ledger = tmp_path / "known.toml"
    entry = '[[known]]\npattern = "neg[*f32*"\nnonfinite = true\nunits = 1e9\nreason = "signs are hard"\n'
    ledger.write_text(entry, encoding="utf-8")
    args = ("-b", SMALL, "--case", "neg[x=7x33;f32]", "--known", ledger)
    status, header, found = run(tmp_path / "out", *args)
    assert status == 0
    assert {r.known for r in found.values()} == {"signs are hard"}
    assert header.options["known"] == str(ledger)
    ledger.write_text(ledger.read_text("utf-8") + "until = 2020-01-01\n", encoding="utf-8")
    capfd.readouterr()
    assert run(tmp_path / "out", *args)[0] == 1
    assert "known failure 'neg[*f32*' has expired on 2020-01-01" in capfd.readouterr().out


@pytest.mark.parametrize("filtered", [(), ("-k", "7x33"), ("--dtype", "f32"), ("--mode", "forward")])
@pytest.mark.parametrize("pattern", ["relu[*", "relu[*f32*"])
def test_a_known_failure_that_passes_fails_every_run(tmp_path, capfd, filtered, pattern):
    """README and docs/how-to/ci.md say so."""
    ledger = tmp_path / "known.toml"
    limit = 'verdict = "CRASH"' if pattern == "relu[*" else "units = 10"
    entry = f'[[known]]\npattern = "{pattern}"\n{limit}\nreason = "said to crash"\n'
    args = ("-b", SMALL, "-o", "relu", *filtered, "--level", "smoke", "--known", ledger)
    ledger.write_text(entry, encoding="utf-8")
    assert run(tmp_path / "out", *args)[0] == 1
    assert f"known failure '{pattern}' no longer fails (PASS): remove it." in capfd.readouterr().out


def test_a_known_failure_mended_in_part_is_told(tmp_path, capfd):
    ledger = tmp_path / "known.toml"
    lines = ('patterns = ["neg[*f32*", "relu[*f32*"]', "nonfinite = true", "units = 1e9", 'reason = "signs are hard"')
    ledger.write_text("\n".join(("[[known]]", *lines)), encoding="utf-8")
    args = ("-b", SMALL, "-o", "relu,neg", "--dtype", "f32", "--level", "smoke", "--known", ledger)
    assert run(tmp_path / "out", *args)[0] == 0
    assert "known failure 'neg[*f32*' and 1 more is mended in part: 2 (relu[" in capfd.readouterr().out


def test_a_ledger_of_another_version_explains_nothing(tmp_path, capfd):
    ledger = tmp_path / "known.toml"
    lines = ('pattern = "neg[*f32*"', 'versions = ["8"]', "units = 1e9", 'reason = "signs are hard"')
    ledger.write_text("\n".join(("[[known]]", *lines)), encoding="utf-8")
    args = ("-b", SMALL, "--case", "neg[x=7x33;f32]", "--known", ledger)
    assert run(tmp_path / "out", *args)[0] == 1
    said = f"1 known failure of {SMALL} was seen in other versions than 7, and explains nothing in this run."
    assert said in capfd.readouterr().out


def test_a_repro_line_repeats_the_record(tmp_path, capfd):
    _, _, found = run(tmp_path / "one", "-b", SMALL, "-o", "neg", "--level", "smoke", "--dtype", "bf16")
    import shlex

    for number, (key, r) in enumerate(found.items()):
        program, *args = shlex.split(r.repro)
        assert program == "opproof"
        call(*args, "--out", tmp_path / f"again {number}", "-j", 1)
        (again,) = read_results(tmp_path / f"again {number}")[1]
        assert (again.case, again.mode) == key
        assert (again.verdict, again.units, again.worst) == (r.verdict, r.units, r.worst)


def test_quiet(tmp_path, capfd):
    run(tmp_path, "-b", "numpy", "-o", "relu", "--level", "smoke", "--quiet")
    quiet = capfd.readouterr()
    run(tmp_path, "-b", "numpy", "-o", "relu", "--level", "smoke")
    assert len(quiet.out) < len(capfd.readouterr().out)
    assert quiet.err == ""


def test_report(tmp_path, capfd):
    run(tmp_path, "-b", SMALL, "--case", "neg[x=7x33;f32]", "--case", "relu[x=7x33;f32]")
    capfd.readouterr()
    page, text = tmp_path / "new" / "a.html", tmp_path / "a.md"
    assert call("report", tmp_path, "--html", page, "--markdown", text) == 1
    assert "WRONG_VALUE" in capfd.readouterr().out
    assert "neg[x=7x33;f32]" in page.read_text("utf-8")
    assert "neg[x=7x33;f32]" in text.read_text("utf-8")
    assert call("report", tmp_path / "results.jsonl") == 1


def listed(capfd, *args):
    assert call("list", *args) == 0
    return json.loads(capfd.readouterr().out)


def test_list_ops(capfd):
    rows = listed(capfd, "ops", "--json")
    assert len(rows) > 100
    assert all(r["summary"] and r["cases"] and r["dtypes"] for r in rows)
    assert {"relu", "softmax", "conv2d"} <= {r["op"] for r in rows}
    assert all(p["levels"] for r in rows for p in r["parameters"].values())
    (cast,) = (r for r in rows if r["op"] == "cast")
    assert cast["tensors"] == [{"name": "x", "optional": False}]
    assert (cast["gradient"], cast["traits"], cast["outputs"]) == (True, ["pointwise"], ["y"])
    assert {"f32", "f8e4m3", "i8"} <= set(cast["dtypes"])
    assert cast["parameters"]["to"]["default"] is None
    assert set(cast["parameters"]["to"]["levels"]) == {"bf16", "f16", "f32", "f8e4m3", "f8e5m2", "i16", "i32", "i8"}
    assert cast["names"]["PyTorch"] == ["torch.Tensor.to"]
    assert cast["names"]["StableHLO"] == ["convert", "reduce_precision"]
    assert cast["said"]["ggml"] == "ggml_cast, ggml_cpy between types"
    (gelu,) = (r for r in rows if r["op"] == "gelu")
    assert gelu["parameters"] == {"approximate": {"default": "none", "levels": ["none", "tanh"]}}
    assert call("list", "ops") == 0
    assert len(capfd.readouterr().out.splitlines()) == len(rows)


def test_list_cases(capfd):
    rows = listed(capfd, "cases", "-o", "relu,add", "--dtype", "f16", "--json")
    assert {r["op"] for r in rows} == {"relu", "add"}
    assert {r["dtype"] for r in rows} == {"f16"}
    assert all(str(Case.parse(r["case"])) == r["case"] for r in rows)
    assert call("list", "cases", "-o", "relu,add", "--dtype", "f16") == 0
    assert capfd.readouterr().out.splitlines() == [r["case"] for r in rows]
    assert all(r["case"].endswith("seed=3]") for r in listed(capfd, "cases", "-o", "relu", "--seed", "3", "--json"))


@pytest.mark.parametrize(
    ("expression", "kept"),
    [
        ("wide", lambda c: "wide" in c),
        ("WIDE", lambda c: "wide" in c),
        ("wide or extreme", lambda c: "wide" in c or "extreme" in c),
        ("wide and not f16", lambda c: "wide" in c and "f16" not in c),
        ("not (wide or layout)", lambda c: "wide" not in c and "layout" not in c),
        ("x=5x31 and (f32 or bf16)", lambda c: "x=5x31" in c and ("f32" in c or "bf16" in c)),
        ("fill=wide;layout", lambda c: "fill=wide;layout" in c),
    ],
)
def test_expressions(capfd, expression, kept):
    every = [r["case"] for r in listed(capfd, "cases", "-o", "relu", "--json")]
    chosen = [r["case"] for r in listed(capfd, "cases", "-o", "relu", "-k", expression, "--json")]
    assert chosen == [c for c in every if kept(c)]
    assert 0 < len(chosen) < len(every)


def test_list_backends(capfd):
    rows = listed(capfd, "backends", "--json")
    assert {"numpy", "torch"} <= {r["backend"] for r in rows}
    assert {"backend": "numpy", "from": "opproof"} in rows


def test_list_devices_of_a_backend(capfd):
    pytest.importorskip("torch")
    assert listed(capfd, "backends", "-b", "torch", "--json")[0]["backend"] == "torch:cpu"
    assert call("list", "backends", "-b", "numpy") == 2
    said = capfd.readouterr().err
    assert said.startswith("opproof: numpy is no backend that names its devices: give one of array_api, ")


def test_list_backends_says_what_is_not_installed(capfd, monkeypatch, tmp_path):
    monkeypatch.setattr("opproof.backends.load.distributions", lambda name: [] if name == "autograd" else [name])
    monkeypatch.setattr(
        "opproof.backends.load.requires", lambda _: ['autograd>=1.8; extra == "autograd"', 'jax; extra == "jax"']
    )
    monkeypatch.chdir(tmp_path)
    rows = {r["backend"]: r["from"] for r in listed(capfd, "backends", "--json")}
    assert rows["autograd"] == "opproof; needs autograd: pip install 'opproof[autograd]'"
    assert rows["jax"] == "opproof"
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).touch()
    (tmp_path / "reference_ops").mkdir()
    rows = {r["backend"]: r["from"] for r in listed(capfd, "backends", "--json")}
    assert rows["autograd"] == "opproof; needs autograd: pip install -c constraints.txt '.[autograd]'"


def test_show(capfd, tmp_path):
    assert call("show", "mul[a=2x3;b=3,;f32]", "--npz", tmp_path / "a.npz") == 0
    text = capfd.readouterr().out
    assert text.startswith("mul[a=2x3;b=3,;f32]  gradient\n")
    with np.load(tmp_path / "a.npz") as file:
        arrays = dict(file)
    names = ["input a", "input b", "expected y", "bound y", "cotangent y"]
    names += [f"gradient {kind}{t}" for t in "ab" for kind in ("", "bound ")]
    assert sorted(arrays) == sorted(names)
    assert all(f"{n}  shape" in text for n in names)
    a, b, g = arrays["input a"], arrays["input b"], arrays["cotangent y"]
    np.testing.assert_array_equal(arrays["expected y"], a * b)
    np.testing.assert_array_equal(arrays["gradient b"], (g * a).sum(axis=0))
    assert (arrays["bound y"] > 0).all()
    assert (arrays["bound y"] < 1e-4).all()


@pytest.mark.parametrize(
    ("case", "said"),
    [
        ("log[x=3x5;f32]", "domain of x: between 0 and inf; what is drawn is mapped into it"),
        ("log[x=3x5;f32;fill=special]", "domain of x: between 0 and inf; what is drawn stays"),
        ("log[x=16x16;f16;fill=every]", "domain of x: between 0 and inf; numbers outside are asked for too"),
        ("reciprocal[x=3x5;f32]", "domain of x: numbers other than 0; what is drawn is mapped into it"),
        ("cross_entropy[x=3x5;target=3x5;f32]", "domain of target: from 0 to 1; what is drawn is mapped into it"),
        ("cholesky[x=3x3;f32]", "domain of x: symmetric positive definite matrices; what is drawn is mapped into it"),
        ("embedding[weight=5x3;indices=4,;f32]", ""),
        ("add[a=3x5;b=3x5;f32]", ""),
    ],
)
def test_show_says_what_a_domain_does_to_the_data(capfd, case, said):
    assert call("show", case) == 0
    out = capfd.readouterr().out
    assert said in out
    assert ("domain of" in out) is bool(said)


def test_show_has_the_data_of_the_mode_that_is_asked_for(capfd, tmp_path):
    """A forward record's: near 1 and -1 arc sines have no gradient that 16 bits hold, so its data are others."""
    from opproof.harness.reference.question import make_question
    from opproof.reference_ops import load

    case, inputs = "asin[x=66x11;f16;fill=branches]", {}
    for mode in ("forward", "gradient"):
        assert call("show", case, "--mode", mode, "--npz", tmp_path / f"{mode}.npz") == 0
        assert capfd.readouterr().out.startswith(f"{case}  {mode}\n")
        with np.load(tmp_path / f"{mode}.npz") as file:
            inputs[mode] = file["input x"]
            assert ("gradient x" in file) is (mode == "gradient")
        np.testing.assert_array_equal(
            inputs[mode], make_question(Case.parse(case), load("asin"), Mode(mode)).case_data.inputs[0]
        )
    assert not np.array_equal(inputs["forward"], inputs["gradient"])
    assert call("show", case) == 0
    assert capfd.readouterr().out.startswith(f"{case}  gradient\n")


def test_show_of_an_exact_case_and_of_one_without_gradient(capfd):
    assert call("show", "argmax[x=3x5;dim=-1;f32]") == 0
    assert "gradient" not in capfd.readouterr().out
    assert call("show", "relu[x=2x3;f32]") == 0
    assert "bound y  shape (2, 3)  float64\n[[0. 0. 0.]\n [0. 0. 0.]]" in capfd.readouterr().out


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help(capfd, args):
    assert call(*args) in (0, 2)  # click's status for a call without a command
    captured = capfd.readouterr()
    assert all(f"  {name} " in captured.out + captured.err for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_command(capfd, name):
    assert call(name, "--help") == 0
    assert capfd.readouterr().out.startswith(f"Usage: opproof {name} ")


def test_version(capfd):
    assert call("--version") == 0
    assert capfd.readouterr().out == f"opproof, version {__version__}\n"


LIGHT = """
import sys
from opproof.harness.__main__ import main
try:
    main({args})
except SystemExit as end:
    assert end.code == 0
heavy = [m for m in ("numpy", "torch", "scipy", "multiprocessing", "jinja2") if m in sys.modules]
sys.exit(f"imported {{heavy}}" if heavy else 0)
"""


@pytest.mark.parametrize("args", [["--help"], ["list", "ops"], ["run", "--help"], ["cache", "info"]])
def test_quick_commands_import_nothing_heavy(args):
    command = [sys.executable, "-c", LIGHT.format(args=args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_torch_is_not_imported_for_another_backend():
    code = "import sys, opproof.harness.run.runner, opproof.harness.run.task; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
