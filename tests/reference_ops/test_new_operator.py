"""An operator is two files: beside the others, they are enough for coverage and mutation."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(importlib.import_module("opproof.harness").__file__).parent.parent

REFERENCE = '''"""bent: (sqrt(x² + 1) - 1) / 2 + x.

Shapes: x any; y as x.
Gradient: g (x / (2 sqrt(x² + 1)) + 1).
Source: a test. PyTorch: none. ONNX: none. ggml: none.
"""

import numpy as np

ANALYTIC = True
TRAITS = ("pointwise",)
NEIGHBOURS = ("softplus", "leaky_relu")


def forward(x):
    return (np.sqrt(x * x + 1) - 1) / 2 + x


def vjp(g, y, x):
    return g * (x / (2 * np.sqrt(x * x + 1)) + 1)
'''

CASES = '''"""Cases of bent."""

from opproof.cases._rows.laid import laid_rows
from opproof.cases._rows.long import long_rows
from opproof.cases._rows.elementwise import elementwise, full_elementwise

SMOKE = ["x=7x33"]
STANDARD = [row for row in elementwise() if "transposed" not in row or KEPT]
LAID = laid_rows()
LONG, LONGEST = long_rows()
FULL = full_elementwise()
'''

SCRIPT = """
import json
from case_rules.rules import RULES
from opproof.cases import cases_of
from mutation.trials import of_op
from opproof.reference_ops import load

op = load("bent")
counted = [f for f in of_op("bent", "standard") if f.counts]
print(json.dumps({
    "missed": [r.name for r in RULES if r.missing(op, cases_of("bent", r.level))],
    "mutants": [f.name for f in counted],
    "survivors": [f.name for f in counted if not f.killed_by],
}))
"""


@pytest.fixture
def proved(tmp_path):
    """What coverage and mutation say of a tree with the two files more."""
    house = tmp_path / "opproof"
    house.mkdir()
    (house / "__init__.py").symlink_to(PACKAGE / "__init__.py")  # a folder without one loses against the wheel
    for room in ("core", "backends", "harness", "reports"):
        (house / room).symlink_to(PACKAGE / room)
    for room in ("reference_ops", "cases"):
        shutil.copytree(PACKAGE / room, house / room, ignore=shutil.ignore_patterns("__pycache__"))
    (house / "reference_ops" / "bent.py").write_text(REFERENCE, encoding="utf-8")

    def prove(kept):
        (house / "cases" / "bent.py").write_text(CASES.replace("KEPT", str(kept)), encoding="utf-8")
        tests = Path(__file__).parents[1]
        paths = os.pathsep.join(map(str, (tmp_path, tests, tests.parent / "benchmarks")))
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
        call = [sys.executable, "-W", "ignore", "-c", SCRIPT]
        return json.loads(subprocess.run(call, check=True, capture_output=True, env=environment, timeout=120).stdout)

    return prove


@pytest.mark.skipif(os.name != "posix", reason="makes symbolic links")
def test_two_files_are_enough(proved):
    found = proved(kept=True)
    assert found["missed"] == []
    assert found["survivors"] == []
    assert {"forward: softplus instead", "gradient: leaky_relu instead", "forward: strides of x ignored"} <= set(
        found["mutants"]
    )
    found = proved(kept=False)
    assert found["missed"] == ["negative"]
    assert "forward: transposed inputs read as contiguous" in found["survivors"]
