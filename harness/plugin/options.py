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
    if config.getoption("opproof_backend"):
        from opproof.harness.plugin.items import Registry

        config.pluginmanager.register(Registry(config), "opproof-registry")


def by_reference(fn: Callable[..., Any], op: str | None, **options: Any) -> Any:
    """The report on `fn` by a reference of PyTorch. Raises AssertionError that explains the failures."""
    __tracebackhide__ = True
    from opproof.harness.check.front import judged

    given = {"like": None, "inputs": None, "vjp": None, "dtype": None, "isolate": False, **options}
    report = judged(fn, op, **given)
    if not report.ok:
        raise AssertionError(repr(report))
    return report


@pytest.fixture(scope="session")
def opproof_check() -> Callable[..., Any]:
    """Judge one Python function: `opproof_check(my_softmax, op="softmax")`.

    By a function or module of PyTorch: `opproof_check(my_kernel, like=reference, inputs=[(64, 33), (33,)])`, with the
    options of opproof.check; returns its report. By an operator's name, also `vjp=` (a function, or "autograd"),
    `dtypes=`, `level=`, `keyword=`, `device=` (PyTorch tensors), `compute=`; see opproof.harness.plugin.function.
    Returns the records; fails with the failures explained.
    """

    def check(fn: Callable[..., Any], op: str | None = None, **options: Any) -> Any:
        __tracebackhide__ = True
        if options.get("like") is not None or op is None:
            return by_reference(fn, op, **options)
        from opproof.harness.plugin.function import check as judge

        try:
            return judge(fn, op, **options)
        except AssertionError as error:
            # A new one, from here: the traceback through opproof says nothing of the function.
            message = str(error)
        raise AssertionError(message)

    return check
