"""A failing case as a program: it runs with NumPy alone, and its numbers are those of the record."""

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
import report_samples as samples
from _runs import opproof, write_run

from opproof.cases import Case, cases_of
from opproof.harness.cli.repro import arrays_of
from opproof.harness.repro.script import scripts_of, write_script
from opproof.reports import Worst

# One op each of: plain, helpers, erf, another operator's functions, dataclasses, integers, several outputs, windows.
OPS = "softmax matmul gelu geglu conv2d embedding topk scaled_dot_product_attention layer_norm max_pool2d where".split()

RUNNER = """
import sys
for name in list(sys.modules):
    assert not name.startswith("opproof")
class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("opproof", "scipy", "ml_dtypes", "torch"):
            raise ImportError(name + " is not for scripts")
sys.meta_path.insert(0, Refuse())
exec(compile(open(sys.argv[1], encoding="utf-8").read(), "script", "exec", dont_inherit=True))
"""


def run(tmp_path, text, alone=True):
    (tmp_path / "script.py").write_text(text, encoding="utf-8")
    (tmp_path / "runner.py").write_text(RUNNER, encoding="utf-8")
    call = [sys.executable, "-W", "error", *(["runner.py"] if alone else []), "script.py"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("op", OPS)
def test_small_cases_need_numpy_alone(op):
    case = next(c for c in cases_of(op, "smoke") if c.dtype in ("f32", "bf16"))
    text = write_script(case, [])
    assert "import opproof" not in text
    assert "from opproof" not in text
    assert "scipy" not in text
    names: dict = {}
    exec(compile(text, "script", "exec", dont_inherit=True), names)
    for key, want in arrays_of(case).items():
        kind, _, name = key.partition(" ")
        where = {"input": "inputs", "expected": "outputs", "gradient": "gradients"}.get(kind)
        if where is not None and not name.startswith("bound "):
            np.testing.assert_allclose(np.asarray(names[where][name], float), want.astype(float), rtol=1e-11, atol=0)


def failing(case, mode, tensor, index, got, **more):
    worst = Worst(tensor=tensor, index=index, got=got, expected=0.0, bound=1e-7)
    return samples.result(str(case), mode, verdict="WRONG_VALUE", worst=worst, **more)


def test_it_prints_what_the_record_says(tmp_path):
    case = Case.parse("gelu[x=7x9;f32;layout=transposed]")
    arrays = arrays_of(case)
    records = [
        failing(case, "forward", "y", (2, 3), 0.25, diagnosis='it says "so"\\n'),
        failing(case, "gradient", "x", (0, 1), "nan"),
    ]
    text = write_script(case, records)
    assert "another layout: transposed" in text
    lines = run(tmp_path, text).splitlines()
    for line, name, index in zip(lines, ("expected y", "gradient x"), ((2, 3), (0, 1)), strict=True):
        said = float(line.partition("expected ")[2].partition(",")[0])
        assert said == pytest.approx(float(arrays[name][index]), rel=1e-14)
    assert "torch gave 0.25" in lines[0]
    assert "torch gave nan" in lines[1]


def test_without_a_worst_element_it_prints_what_is_expected(tmp_path):
    case = Case.parse("relu[x=2x3;f32]")
    crash = samples.result(str(case), "forward", verdict="CRASH", message="SIGSEGV")
    lines = run(tmp_path, write_script(case, [crash])).splitlines()
    assert [line for line in lines if "(" in line] == ["y (2, 3)", "gradient of x (2, 3)"]


def test_special_numbers_and_exact_digits():
    for text in ("relu[x=5x9;f16;fill=special]", "relu[x=3x5;bf16]", "relu[x=3x5;f64]", "relu[x=0x5;f32]"):
        case = Case.parse(text)
        names: dict = {}
        exec(compile(write_script(case, []), "script", "exec", dont_inherit=True), names)
        np.testing.assert_array_equal(names["inputs"]["x"], arrays_of(case)["input x"])


def test_large_cases_import_opproof(tmp_path):
    case = Case.parse("softmax[x=40x66;dim=-1;f32]")
    want = float(arrays_of(case)["expected y"][3, 4])
    text = write_script(case, [failing(case, "forward", "y", (3, 4), 0.5)])
    assert len(text) < 3000
    assert f"expected {want!r}, torch gave 0.5" in run(tmp_path, text, alone=False)


OWN = '''"""snake: x + sin(x)²."""

import numpy as np

SMOKE = ["x=3x5"]


def forward(x):
    return x + np.sin(x) ** 2
'''


@pytest.mark.parametrize("shape", ["66x11", "150x11"], ids=["alone", "with opproof"])
def test_a_forward_record_has_its_own_data(tmp_path, shape):
    case = Case.parse(f"asin[x={shape};f16;fill=branches]")
    own, other = (arrays_of(case, asked=mode)["expected y"] for mode in ("forward", "gradient"))
    index = tuple(map(int, np.argwhere(own != other)[0]))
    forward = failing(case, "forward", "y", index, 0.25)
    for records in ([forward], [failing(case, "gradient", "x", (0, 1), 0.5), forward]):
        lines = run(tmp_path, write_script(case, records), alone=False).splitlines()
        assert [line.partition(" expected ")[2].partition(",")[0] for line in lines] == [repr(float(own[index]))]


def test_a_users_own_operator(tmp_path):
    (tmp_path / "snake.py").write_text(OWN, encoding="utf-8")
    case = Case.parse("snake[x=3x5;f32]")
    want = arrays_of(case, [str(tmp_path)])["expected y"][1, 1]
    text = write_script(case, [failing(case, "forward", "y", (1, 1), 0.5)], [str(tmp_path)])
    assert f"expected {float(want)!r}" in run(tmp_path, text)


def test_a_report_has_some_of_every_operator():
    cases = [Case.parse(f"{op}[x=3x{n};f32]") for op in ("relu", "exp") for n in range(2, 9)]
    results = [failing(c, m, "y", (0, 0), 0.5) for c in cases for m in ("forward", "gradient")]
    header = samples.header(len(results))
    found = scripts_of(header, results)
    assert [c.partition("[")[0] for c in found] == ["relu"] * 3 + ["exp"] * 3
    assert scripts_of(header, [replace(r, verdict="PASS") for r in results]) == {}
    assert scripts_of(header, samples.oddities()) is not None  # ids and operators that do not exist here


def test_the_html_report_holds_them(tmp_path, capsys):
    write_run(tmp_path, [failing("relu[x=3x5;f32]", "forward", "y", (0, 0), 0.5)])
    status, _, _ = opproof(capsys, "report", tmp_path, "--html", tmp_path / "r.html")
    assert status == 1
    assert "Prints what the float64 reference expects" in (tmp_path / "r.html").read_text(encoding="utf-8")
