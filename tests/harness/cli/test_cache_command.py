"""opproof cache, and what a run says of the cache: on real runs in processes of their own."""

import os
import shutil
import sqlite3
import subprocess
import sys

import pytest

from opproof.reports import read_results

CASE = "softmax[x=7x33;dim=-1;f32]"


def opproof(tmp_path, *args, **environment):
    command = [sys.executable, "-m", "opproof.harness", *map(str, args)]
    env = {**os.environ, "OPPROOF_CACHE": str(tmp_path / "cache"), **environment}
    return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, env=env)


def run(tmp_path, *args, backend="numpy", **environment):
    done = opproof(
        tmp_path, "run", "-b", backend, "--case", CASE, "-j", 1, "--quiet", "--out", "out", *args, **environment
    )
    records = [(r.mode, r.verdict, r.units, r.rms) for r in read_results(tmp_path / "out")[1]]
    return done, records


def test_a_cache_from_the_first_run_to_the_last(tmp_path):
    done, first = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(first) == 2
    said = opproof(tmp_path, "cache", "info").stdout
    assert "\n2 entries" in said
    assert str(tmp_path / "cache") in said

    database = sqlite3.connect(tmp_path / "cache" / "entries.sqlite")
    with database:
        database.execute("UPDATE entries SET data = zeroblob(length(data))")
    database.close()
    done, second = run(tmp_path)
    assert done.returncode == 0, done.stderr
    assert second == first
    assert "2 entries of the cache" in done.stdout + done.stderr
    assert "2 entries were not believed" in opproof(tmp_path, "cache", "info").stdout
    assert opproof(tmp_path, "cache", "clear").returncode == 0
    assert "\n0 entries" in opproof(tmp_path, "cache", "info").stdout


def test_the_folder_of_the_users_caches_goes_with_its_key_to_another_machine(tmp_path):
    """As CI keeps it; without the key nothing of it is believed."""
    there = {"OPPROOF_CACHE": "", "XDG_CACHE_HOME": str(tmp_path / "there")}
    run(tmp_path, **{**there, "XDG_CACHE_HOME": str(tmp_path / "here")})
    shutil.copytree(tmp_path / "here", tmp_path / "there")
    run(tmp_path, **there)
    said = opproof(tmp_path, "cache", "info", **there).stdout
    assert "\n2 entries" in said
    assert "not believed" not in said
    (tmp_path / "there" / "opproof" / "key").unlink()
    run(tmp_path, **there)
    assert "2 entries were not believed" in opproof(tmp_path, "cache", "info", **there).stdout


def test_no_cache_leaves_none(tmp_path):
    done, _ = run(tmp_path, "--no-cache")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "cache").exists()


SPY = """
import os
import sqlite3
import numpy as np
from pathlib import Path

home = Path(os.environ["XDG_CACHE_HOME"]) / "opproof"


def forward(op, inputs, params):
    told = [v for v in os.environ.values() if "golden" in v or "elsewhere" in v]
    opened = []
    there = [home / "golden" / "entries.sqlite", home / "golden" / "new"] if (home / "golden").exists() else []
    for path in (home / "key", *there):
        for way in (open, lambda p: os.open(p, os.O_RDONLY), lambda p: sqlite3.connect(p)):
            try:
                way(path)
            except PermissionError:
                continue
            except Exception as error:
                opened.append(repr(error))
            opened.append(str(path))
    raise RuntimeError(f"told {told}, opened {opened}")
"""


@pytest.mark.parametrize("elsewhere", [False, True])
def test_a_backend_is_not_told_where_the_cache_is_and_does_not_open_it(tmp_path, elsewhere):
    (tmp_path / "spy.py").write_text(SPY)
    environment = {"XDG_CACHE_HOME": str(tmp_path / "home"), "OPPROOF_REFERENCES": ""}
    environment["OPPROOF_CACHE"] = str(tmp_path / "elsewhere") if elsewhere else ""
    run(tmp_path, backend="numpy", **environment)
    folder = tmp_path / "elsewhere" if elsewhere else tmp_path / "home" / "opproof" / "golden"
    assert (folder / "entries.sqlite").exists()
    run(tmp_path, "--mode", "forward", "--out", "spied", backend="./spy.py", **environment)
    (record,) = read_results(tmp_path / "spied")[1]
    assert "told [], opened []" in record.message
