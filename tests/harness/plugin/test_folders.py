"""The plugin in a project whose folders have a conftest.py each."""

from __future__ import annotations

pytest_plugins = ["pytester"]


def test_a_conftest_in_one_folder_alone(pytester):
    for folder in ("one", "other"):
        pytester.mkdir(folder)
        (pytester.path / folder / f"test_{folder}.py").write_text("def test_own(): pass\n")
    (pytester.path / "one" / "conftest.py").write_text("import pytest\n")
    pytester.runpytest_subprocess("one", "other").assert_outcomes(passed=2)
