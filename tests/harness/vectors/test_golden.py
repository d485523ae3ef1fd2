"""opproof export and opproof judge: files out, answers back, the verdicts of a run."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from _runs import opproof
from safetensors.numpy import load_file, save_file

from opproof.backends.load import load_backend
from opproof.backends.loaded import resolve_members
from opproof.cases._layouts import row_major
from opproof.reports import read_results

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples" / "golden"
OPS = "softmax,matmul,max_pool1d,embedding"


def exported(capsys, folder, *args):
    status, out, err = opproof(capsys, "export", *args, folder)
    assert status == 0, (out, err)
    return json.loads((folder / "manifest.json").read_text("utf-8"))


def read(vectors, tensor, tensors):
    if tensor is None:
        return None
    stored = np.ascontiguousarray(tensors[tensor["tensor"]]).reshape(-1)
    strides = [s * stored.itemsize for s in tensor["strides"]]
    at = stored[tensor.get("offset", 0) :]
    return np.lib.stride_tricks.as_strided(at, tensor["shape"], strides)


def answered(manifest, vectors, answers, spec, *, change=None):
    """A backend asked from the files alone; what it says, as files. `change` may edit the arrays."""
    backend = resolve_members(load_backend(str(spec)), str(spec))
    for record in manifest["records"]:
        tensors = load_file(vectors / record["file"])
        inputs = [read(vectors, t, tensors) for t in record["inputs"]]
        params = {n: tuple(v) if isinstance(v, list) else v for n, v in record["params"].items()}
        if record["mode"] == "forward":
            given = backend.forward(record["op"], inputs, params)
        else:
            cotangents = [read(vectors, t, tensors) for t in record["cotangents"]]
            needs = [r is not None for r in record["results"]]
            given = backend.vjp(record["op"], inputs, params, cotangents, needs)
        pairs = zip(given if isinstance(given, list | tuple) else [given], record["results"], strict=True)
        arrays = {want["answer"]: np.asarray(a).copy() for a, want in pairs if want is not None}
        if change is not None:
            change(record, arrays)
        path = answers / record["answer"]
        path.parent.mkdir(parents=True, exist_ok=True)
        save_file(arrays, path)


def records(folder):
    return {(r.case, str(r.mode)): r for r in read_results(folder)[1]}


def test_answers_of_numpy_pass_and_figures_are_those_of_a_run(tmp_path, capsys):
    vectors, answers = tmp_path / "vectors", tmp_path / "answers"
    manifest = exported(capsys, vectors, "-o", OPS, "--level", "smoke", "--dtype", "f32")
    answered(manifest, vectors, answers, "numpy")
    args = ("--answers", answers, "--out", tmp_path / "judged", "-j", 1)
    status, out, err = opproof(capsys, "judge", vectors, *args)
    assert status == 0, (out, err)
    found = records(tmp_path / "judged")
    assert len(found) == len(manifest["records"])
    assert {r.verdict for r in found.values()} == {"PASS"}
    names = sorted(p.name for p in (tmp_path / "judged").iterdir())
    assert names == ["report.html", "report.md", "results.jsonl", "results.marks"]
    run = ("run", "-b", "numpy", "-o", OPS, "--level", "smoke", "--dtype", "f32", "-j", 1, "--out", tmp_path / "run")
    assert opproof(capsys, *run)[0] == 0
    direct = records(tmp_path / "run")
    assert {k: (r.units, r.rms, r.limit) for k, r in found.items()} == {
        k: (direct[k].units, direct[k].rms, direct[k].limit) for k in found
    }


def test_a_defect_has_the_verdict_units_and_diagnosis_of_a_run(tmp_path, capsys):
    """A backend whose answers come as files, wrong in the way that a backend in a file is wrong."""
    small = ROOT / "tests" / "_small_backend.py"
    vectors, answers = tmp_path / "vectors", tmp_path / "answers"
    manifest = exported(capsys, vectors, "-o", "neg,relu", "--level", "smoke", "--dtype", "f32")
    answered(manifest, vectors, answers, small)
    assert opproof(capsys, "judge", vectors, "--answers", answers, "--out", tmp_path / "judged", "-j", 1)[0] == 1
    run = ("run", "-b", small, "-o", "neg,relu", "--level", "smoke", "--dtype", "f32", "-j", 1)
    assert opproof(capsys, *run, "--out", tmp_path / "run")[0] == 1
    found, direct = records(tmp_path / "judged"), records(tmp_path / "run")
    assert {r.verdict for (case, _), r in found.items() if case.startswith("neg")} == {"WRONG_VALUE", "WRONG_GRADIENT"}
    for key, r in found.items():
        same = direct[key]
        assert (r.verdict, r.units, r.limit, r.worst) == (same.verdict, same.units, same.limit, same.worst)
        assert (r.message, r.diagnosis) == (same.message, same.diagnosis)


CASE = "relu[x=7x33;f32]"


@pytest.fixture
def one(tmp_path, capsys):
    """The files of one case, and right answers to it."""
    vectors, answers = tmp_path / "vectors", tmp_path / "answers"
    manifest = exported(capsys, vectors, "--case", CASE)
    answered(manifest, vectors, answers, "numpy")
    return vectors, answers, manifest["records"]


def judged(capsys, tmp_path, vectors, answers):
    out = tmp_path / "out"
    status, _, err = opproof(capsys, "judge", vectors, "--answers", answers, "--out", out, "-j", 1)
    return status, {mode: r for (_, mode), r in records(out).items()} if out.exists() else err


BROKEN = [
    (lambda p: p.unlink(), "NOT_WRITTEN", "there is no answer: no file relu/"),
    (lambda p: p.write_bytes(b"text"), "ERROR", "expected safetensors, got 4 bytes"),
    (lambda p: p.write_bytes(p.read_bytes()[:-4]), "ERROR", "is not safetensors"),
    (lambda p: save_file({"y": np.zeros(3, np.float32)}, p), "ERROR", "has no tensor output.0; it has: y"),
    (lambda p: save_file({"output.0": np.zeros(3, np.float32)}, p), "WRONG_SHAPE", "has shape (3,), expected (7, 33)"),
    (lambda p: save_file({"output.0": np.zeros((7, 33))}, p), "WRONG_DTYPE", "has dtype float64, expected float32"),
    (lambda p: save_file({}, p, {"kind": "unsupported", "reason": "no relu"}), "UNSUPPORTED", "no relu"),
    (lambda p: save_file({}, p, {"kind": "failed", "message": "it burnt"}), "ERROR", "it burnt"),
    (lambda p: (p.unlink(), os.mkfifo(p)), "ERROR", "it is no ordinary file"),
    (lambda p: (p.unlink(), p.symlink_to("/dev/zero")), "ERROR", "it is no ordinary file"),
    (lambda p: os.truncate(p, 2**42), "ERROR", "no answer has more than"),
    (lambda p: p.write_bytes((2**17).to_bytes(8, "little") + b"[" * 2**17), "ERROR", "is not JSON"),
]


@pytest.mark.parametrize(("change", "verdict", "said"), BROKEN, ids=lambda v: v if isinstance(v, str) else "")
def test_what_is_wrong_with_a_file_is_a_verdict(one, tmp_path, capsys, change, verdict, said):
    vectors, answers, rows = one
    change(answers / rows[0]["answer"])
    _, found = judged(capsys, tmp_path, vectors, answers)
    assert found["forward"].verdict == verdict
    assert said in found["forward"].message
    assert found["gradient"].verdict == ("INCONCLUSIVE" if verdict == "WRONG_SHAPE" else "PASS")


def test_other_inputs_than_those_of_the_files_are_noticed(one, tmp_path, capsys):
    vectors, answers, rows = one
    text = (vectors / "manifest.json").read_text("utf-8")
    (vectors / "manifest.json").write_text(text.replace(rows[0]["question"], "0" * 64), encoding="utf-8")
    status, found = judged(capsys, tmp_path, vectors, answers)
    assert (status, found["forward"].verdict) == (4, "HARNESS_ERROR")
    assert "not those that this opproof draws" in found["forward"].message


def test_who_answered_and_in_which_precision(one, tmp_path, capsys):
    vectors, answers, _ = one
    about = {"name": "board", "version": "3", "device": "npu", "compute": {"relu": "int3"}}
    (answers / "about.json").write_text(json.dumps(about), encoding="utf-8")
    _, found = judged(capsys, tmp_path, vectors, answers)
    assert "declares the precision 'int3'" in found["forward"].message
    header, _ = read_results(tmp_path / "out")
    assert (header.backends[0]["name"], header.backends[0]["version"], header.backends[0]["device"]) == (
        "board", "3", "npu",
    )  # fmt: skip
    (answers / "about.json").write_text('{"nme": 1}', encoding="utf-8")
    shutil.rmtree(tmp_path / "out")
    status, said = judged(capsys, tmp_path, vectors, answers)
    assert (status, "about.json is not as expected" in said) == (2, True)


def test_wrong_calls_are_one_sentence(one, tmp_path, capsys):
    vectors, answers, _ = one
    empty = tmp_path / "empty"
    empty.mkdir()
    for args, said in [
        ((empty, "--answers", answers), f"no manifest.json in {empty}: give the folder that opproof export wrote."),
        ((vectors, "--answers", tmp_path / "none"), "there is no folder"),
        ((vectors, "--answers", empty), "holds no answer to"),
    ]:
        status, _, err = opproof(capsys, "judge", *args)
        assert (status, said in err, err.count("\n")) == (2, True, 1), err
    (vectors / "manifest.json").write_text("{}", encoding="utf-8")
    status, _, err = opproof(capsys, "judge", vectors, "--answers", answers)
    assert (status, "is no manifest of opproof export" in err) == (2, True)
    status, _, err = opproof(capsys, "export", "-o", "relu", answers)
    assert (status, "holds something else than an export" in err) == (2, True)


def content(folder):
    files = sorted(p for p in folder.rglob("*") if p.is_file())
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def test_the_same_to_the_byte_in_two_processes(tmp_path):
    made = []
    for name in "ab":
        args = ["export", "-o", OPS, "--level", "smoke", str(tmp_path / name)]
        subprocess.run([sys.executable, "-m", "opproof.harness", *args], check=True, capture_output=True)
        made.append(content(tmp_path / name))
    assert made[0] == made[1]
    assert len(made[0]) > 10


def test_sizes_are_bounded_and_what_is_left_out_is_told(tmp_path, capsys):
    args = ("-o", "matmul,relu", "--level", "smoke", "--mode", "forward")
    whole = exported(capsys, tmp_path / "whole", *args)
    sizes = {p: p.stat().st_size for p in (tmp_path / "whole").rglob("*.safetensors")}
    largest = -(-max(sizes.values()) // 1024) - 1
    part = exported(capsys, tmp_path / "part", *args, "--largest", largest)
    assert 0 < len(part["records"]) < len(whole["records"])
    assert len(part["records"]) + len(part["left_out"]) == len(whole["records"]) + len(whole["left_out"])
    assert all(p.stat().st_size <= largest * 1024 for p in (tmp_path / "part").rglob("*.safetensors"))
    assert "larger than" in part["left_out"][0]["reason"]


def test_layouts_and_kinks(tmp_path, capsys):
    cases = ("relu[x=7x33;f32;layout=offset]", "relu[x=4x6;f32;layout=transposed]", "relu[x=7x33;f32;fill=kink]")
    manifest = exported(capsys, tmp_path / "v", *(a for c in cases for a in ("--case", c)))
    rows = {(r["case"], r["mode"]): r for r in manifest["records"]}
    plain = load_file(tmp_path / "v" / rows[cases[0], "forward"]["file"])
    assert rows[cases[0], "forward"]["inputs"][0]["offset"] == 1
    assert plain["input.0"].shape == (7 * 33 + 1,)
    assert np.isnan(plain["input.0"][0])
    assert rows[cases[1], "forward"]["inputs"][0]["strides"] == list(row_major((6, 4))[::-1])
    kinked = rows[cases[2], "gradient"]["results"][0]
    tensors = load_file(tmp_path / "v" / rows[cases[2], "gradient"]["file"])
    low, high, g = tensors[kinked["low"]], tensors[kinked["high"]], tensors["cotangent.0"]
    at = tensors["input.0"] == 0
    assert at.any()
    assert np.allclose(low[at], np.minimum(g, 0)[at], atol=1e-6)
    assert np.allclose(high[at], np.maximum(g, 0)[at], atol=1e-6)
    assert np.array_equal(low[~at], tensors[kinked["expected"]][~at])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
def test_the_reader_in_c(tmp_path, capsys):
    assert len((EXAMPLES / "relu.c").read_text("utf-8").splitlines()) <= 70
    exported(capsys, tmp_path / "v", "-o", "relu", "--dtype", "f32", "--level", "smoke", "--mode", "forward")
    files = sorted((tmp_path / "v" / "relu").glob("*.safetensors"))
    for flags, wrong in [([], False), (["-DDEFECT"], True)]:
        call = ["cc", "-O2", "-Wall", "-Werror", *flags, str(EXAMPLES / "relu.c"), "-o", str(tmp_path / "relu")]
        subprocess.run(call, check=True)
        done = subprocess.run([tmp_path / "relu", *files], capture_output=True, text=True, check=False)
        assert done.returncode == wrong, done
        assert done.stdout.startswith("0 of") is not wrong


def test_the_reader_in_plain_python(tmp_path, capsys):
    args = ("-o", "softmax", "--dtype", "f32", "--level", "smoke", "--mode", "forward")
    exported(capsys, tmp_path / "v", *args)
    call = [sys.executable, "-S", str(EXAMPLES / "softmax.py"), str(tmp_path / "v"), str(tmp_path / "a")]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0 elements out of bounds\n"), done.stderr
    args = ("--answers", tmp_path / "a", "--out", tmp_path / "o", "-j", 1)
    assert opproof(capsys, "judge", tmp_path / "v", *args)[0] == 0
