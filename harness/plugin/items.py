"""The registry as pytest items: one per case and mode, each through a worker process."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from opproof.core.errors import BackendError, CaseError, OpError, UsageError
from opproof.core.verdicts import FAILED, MODES
from opproof.harness.known_failures.findings import of_versions, read_built_in
from opproof.harness.known_failures.known import Known, mark, read_known
from opproof.harness.run.plan import Selection, make_tasks, select_cases, with_known
from opproof.harness.run.scheduler import Pool
from opproof.harness.run.task import HostLimits, Task
from opproof.reports import Result, terminal
from opproof.reports._text import short_names_of

_NODE = "opproof"


class Failure(Exception):
    """A record that fails; its text explains it."""


class CaseItem(pytest.Item):
    """One case in one mode on one backend."""

    def __init__(self, *, task: Task, registry: Registry, **rest: Any) -> None:
        super().__init__(**rest)
        self.task, self.registry = task, registry

    def runtest(self) -> None:
        """Pass, raise Failure, skip what proves nothing, xfail what is known."""
        result = self.registry.judged(self.task)
        self.user_properties += [("verdict", str(result.verdict))]  # xdist sends plain texts
        for name in ("units", "limit", "rms", "bias"):
            if (value := getattr(result, name)) is not None:
                self.user_properties.append((name, value))
        if result.verdict in FAILED and result.known:
            pytest.xfail(f"{result.verdict}: {result.known}")
        if result.verdict in FAILED:
            raise Failure(terminal.format_failure(result))
        if result.verdict != "PASS":
            pytest.skip(f"{result.verdict}: {result.message}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The explanation alone; a traceback through opproof would say nothing."""
        return str(excinfo.value) if isinstance(excinfo.value, Failure) else super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Where pytest says that the test is."""
        return self.path, None, self.name


class Checks(pytest.Collector):
    """All cases of one backend."""

    def __init__(self, *, planned: list[Task], registry: Registry, **rest: Any) -> None:
        super().__init__(nodeid=rest["name"], **rest)
        self.planned, self.registry = planned, registry

    def collect(self) -> Iterator[CaseItem]:
        """One item a case and mode, in the order of the registry."""
        for task in self.planned:
            name = f"{task.mode}::{task.case}"  # JUnit and xdist want the brackets last
            # The id as text: pytest 9.2 reads brackets from it, and --lf compares what was read.
            yield CaseItem.from_parent(
                self, name=name, nodeid=f"{self.name}::{name}", task=task, registry=self.registry
            )


class Registry:
    """What pytest needs to know between its hooks; one per pytest process."""

    def __init__(self, config: pytest.Config) -> None:
        try:
            self.planned, self.limits, self.known = _plan(config)
        except (UsageError, OpError, CaseError) as error:
            raise pytest.UsageError(f"opproof: {error}") from None
        self.pool: Pool | None = None
        self.outcomes: Counter[str] = Counter()
        self.later: list[Result] = []
        self.described: list[str] = []

    def judged(self, task: Task) -> Result:
        """The record of a task; the worker process is kept from one to the next."""
        known = self._list_entries()
        *earlier, result = self._pool().run(with_known([task], known))
        self.later += [r for r in earlier if r.verdict in FAILED]  # passed, and found guilty of something afterwards
        return mark(result, known)

    def _list_entries(self) -> list[Known]:
        if any(entry.versions for entry in self.known):
            self.known, _ = of_versions(self.known, [self._pool().describe(spec) for spec in self.planned])
            self.known = [replace(entry, versions=()) for entry in self.known]
        return self.known

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Load every backend once, in the process that can still refuse to start."""
        config = session.config
        if hasattr(config, "workerinput") or config.option.collectonly:
            return
        try:
            for spec in self.planned:
                about = self._pool().describe(spec)
                self.described.append(" ".join(filter(None, (about["name"], about["version"], about["device"]))))
        except BackendError as error:
            self.pytest_unconfigure()
            raise pytest.UsageError(f"opproof: {error}") from None
        if getattr(config.option, "dist", "no") != "no":  # the workers of xdist have pools of their own
            self.pytest_unconfigure()

    def pytest_report_collectionfinish(self) -> list[str]:
        """Which backends the registry runs on."""
        return [f"opproof: {', '.join(self.described)}"] if self.described else []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> None:
        """Keep node ids of the registry from pytest, which takes them for files."""
        config = session.config
        self.chosen = [a for a in config.args if a.partition("::")[0] in self._names().values()]
        config.args = [a for a in config.args if a not in self.chosen]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, session: pytest.Session, items: list[pytest.Item]) -> None:
        """Add the registry's items, or those that were named, before -k and --lf select among them."""
        for spec, name in self._names().items():
            checks = Checks.from_parent(session, name=name, planned=self.planned[spec], registry=self)
            begun = tuple(f"{c.removesuffix('::')}::" for c in self.chosen)
            chosen: list[Any] = [i for i in checks.collect() if not begun or f"{i.nodeid}::".startswith(begun)]
            # So that they are counted among the collected.
            session.config.hook.pytest_collectreport(report=pytest.CollectReport(name, "passed", None, chosen))
            items += chosen

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count what became of the registry's items."""
        if report.when == "call" and report.nodeid.partition("::")[0] in self._names().values():
            self.outcomes["xfailed" if hasattr(report, "wasxfail") else report.outcome] += 1

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Faults that showed after their item had passed."""
        for result in self.later:
            terminalreporter.section("opproof: a fault that showed later")
            terminalreporter.write_line(terminal.format_failure(result))

    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """Only skipped items are no success: nothing ran. A fault that showed later is a failure."""
        if exitstatus == 0 and self.later:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        if exitstatus == 0 and self.outcomes and set(self.outcomes) == {"skipped"}:
            session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED

    def pytest_unconfigure(self) -> None:
        """End the worker process."""
        if self.pool is not None:
            self.pool.__exit__()
            self.pool = None

    def _pool(self) -> Pool:
        if self.pool is None:
            self.pool = Pool(self.limits)
        return self.pool

    def _names(self) -> dict[str, str]:
        short = short_names_of(self.planned)
        return {spec: _NODE if len(short) == 1 else f"{_NODE}({name})" for spec, name in short.items()}


def _plan(config: pytest.Config) -> tuple[dict[str, list[Task]], HostLimits, list[Known]]:
    """Tasks by backend. Raises UsageError, OpError or CaseError for a bad call."""
    asked = {name: str(config.getoption(f"opproof_{name}")) for name in ("ops", "level", "mode", "dtype", "known")}
    folder, convention = str(config.getoption("opproof_op_folder")), str(config.getoption("opproof_convention"))
    if asked["mode"] not in ("", *MODES):
        raise UsageError(f"unknown mode {asked['mode']!r}: expected forward or gradient.")
    if convention not in ("any", "torch"):
        raise UsageError(f"unknown convention {convention!r}: expected any or torch.")
    selection = Selection(
        ops=_split_values(asked["ops"]),
        level=asked["level"],
        modes=(asked["mode"],) if asked["mode"] else MODES,
        dtypes=_split_values(asked["dtype"]),
        seed=int(_number(config, "seed")),
        folders=(folder,) if folder else (),
    )
    backends = list(dict.fromkeys(config.getoption("opproof_backend")))
    timeout, memory = _number(config, "timeout"), int(_number(config, "memory") * 2**20)
    planned = make_tasks(
        backends, select_cases(selection), selection, convention=convention, timeout=timeout, memory=memory
    )
    if not planned:
        raise UsageError("no case matches; mend --opproof-ops, --opproof-dtype or --opproof-level.")
    by_backend = {b: [t for t in planned if t.backend == b] for b in backends}
    limits = HostLimits(1, timeout, memory)
    ledger = read_known(Path(asked["known"])) if asked["known"] else []
    return by_backend, limits, [*ledger, *(k for b in backends for k in read_built_in(b))]


def _number(config: pytest.Config, name: str) -> float:
    text = str(config.getoption(f"opproof_{name}"))
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf") or (value == 0 and name != "seed"):
        raise UsageError(f"--opproof-{name} is {text!r}: expected a number above 0.")
    return value


def _split_values(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())
