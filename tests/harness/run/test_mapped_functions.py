"""The map operators of examples/user_ops: a user's function, mapped by a library, is judged as any operator."""

import shutil
from pathlib import Path

import pytest
from _runs import opproof

from opproof.reports import read_results

EXAMPLE = Path(__file__).parents[3] / "examples" / "user_ops"


def verdicts(capsys, backend, folder):
    call = ("run", "-b", backend, "--ops", EXAMPLE / "ops", "-o", "map_unary,map_binary", "--level", "smoke", "-j", 1)
    code, _, _ = opproof(capsys, *call, "--mode", "forward", "--out", folder / "report")
    _, results = read_results(folder / "report")
    return code, {op: {str(r.verdict) for r in results if r.op == op} for op in ("map_unary", "map_binary")}


def test_mapped_functions_pass(capsys, tmp_path):
    code, found = verdicts(capsys, EXAMPLE / "my_backend.py", tmp_path)
    assert code == 0
    assert found == {"map_unary": {"PASS"}, "map_binary": {"PASS"}}


@pytest.mark.parametrize(
    ("right", "wrong", "op"),
    [("v / (1 + v * v)", "v / (1 + v)", "map_unary"), ("v / (1 + w * w)", "w / (1 + v * v)", "map_binary")],
)
def test_another_function_is_found(right, wrong, op, capsys, tmp_path):
    shutil.copy(EXAMPLE / "my_backend.py", tmp_path)
    text = (EXAMPLE / "my_backend.py").read_text(encoding="utf-8")
    (tmp_path / "my_backend.py").write_text(text.replace(right, wrong), encoding="utf-8")
    code, found = verdicts(capsys, tmp_path / "my_backend.py", tmp_path)
    assert code == 1
    assert found[op] == {"WRONG_VALUE"}
    assert sorted(found) == ["map_binary", "map_unary"]
