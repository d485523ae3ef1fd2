"""The pytest plugin: `pytest --opproof-backend mylib` runs the registry, `opproof_check` judges one function.

Only options and the fixture stand here, so that pytest starts as fast as without opproof.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

#: Options that take a value: name, what stands for it in --help, default, help.
_OPTIONS = (
    ("ops", "OP[,OP...]", "", "only these operators"),
    ("level", "LEVEL", "smoke", "smoke (the default), standard or full"),
    ("mode", "MODE", "", "forward or gradient; both by default"),
    ("dtype", "f32,f16,...", "", "only these dtypes"),
    ("seed", "N", "0", "another seed draws all data anew"),
    ("op-folder", "DIR", "", "operators of your own: a folder or a file"),
    ("known", "FILE", "", "ledger of known failures, which become xfailed"),
    ("timeout", "SECONDS", "30", "seconds a case"),
    ("memory", "MIB", "4096", "MiB the worker process may use"),
    ("convention", "any|torch", "any", "at kinks"),
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of the group `opproof`."""
    group = parser.getgroup("opproof", "validate a backend of tensor operators")
    group.addoption(
        "--opproof-backend",
        action="append",
        default=[],
        metavar="BACKEND",
        help="run opproof's cases on this backend as tests: a name, ./file.py or ./library.so",
    )
    for name, metavar, default, text in _OPTIONS:
        group.addoption(f"--opproof-{name}", default=default, metavar=metavar, help=f"with --opproof-backend: {text}")


def pytest_configure(config: pytest.Config) -> None:
    """Bring in the registry where a backend is named."""
    from opproof.harness.plugin.fixture import NotJudged

    config.pluginmanager.register(NotJudged(), "opproof-not-judged")
    if config.getoption("opproof_backend"):
        from opproof.harness.plugin.items import Registry

        config.pluginmanager.register(Registry(config), "opproof-registry")


@pytest.fixture
def opproof_check(request: pytest.FixtureRequest) -> Callable[..., Any]:
    """Judge one function: `opproof_check(my_softmax, op="softmax")`, or `opproof_check(my_kernel, like=, inputs=)`.

    By a function or module of PyTorch, with the options of opproof.check: returns its report. By an operator's name and
    its standard cases, with the options of opproof.harness.check.by_operator.check: `vjp=` (a function, or "autograd"),
    `dtypes=`, `level=`, `keyword=`, `device=` (PyTorch tensors), `compute=`, `seconds=`: returns the records.
    Every case is a subtest with its id; what was not judged is said in the summary. Fails where one fails, or where
    nothing passes; with `raises=False` nothing fails and nothing is a subtest.
    """
    from opproof.harness.plugin.fixture import judge

    def check(fn: Callable[..., Any], op: str | None = None, *, raises: bool = True, **options: Any) -> Any:
        __tracebackhide__ = True
        found = judge(fn, op, options)
        if raises and (text := found.told(request)):
            # From here: the traceback through opproof says nothing of the function.
            raise AssertionError(text)
        return found.answer

    return check
