"""In the process of the tests: a function replaced by itself with one defect, and a record of the tests that call it.

pytest loads this file by `-p`, before any file of the tests; a plan, whose file $OPPROOF_AUDIT names, says what to do.
Without a defect in the plan the function stays right, and the record says of every test which defects it would reach.
"""

from __future__ import annotations

import functools
import gc
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from opproof.cases._defects import PLANTED, RESOLUTION, Change, InputNumbers, PlantedDefect, RightCall, measure_off
from opproof.core.arrays import Array


def is_tensor(value: Any) -> bool:
    """Whether it is PyTorch's."""
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor)


def is_array(value: Any) -> bool:
    """Whether its numbers can be read and replaced."""
    if is_tensor(value):
        return str(value.layout) == "torch.strided" and not value.is_complex() and "bool" not in name_dtype(value)
    jax = sys.modules.get("jax")
    if jax is not None and isinstance(value, jax.Array):
        return not isinstance(value, jax.core.Tracer)
    return isinstance(value, np.ndarray) and value.dtype.kind in "fiu"


def name_dtype(value: Any) -> str:
    """The dtype by its name in NumPy."""
    return str(value.dtype).removeprefix("torch.")


def resolution_of(value: Any) -> float:
    """The part of the largest number that is seen as an error by default."""
    return RESOLUTION.get(name_dtype(value), 0.0)


def read_numbers(value: Any) -> Array:
    """A copy in float64."""
    return np.array(value.detach().cpu().double().numpy() if is_tensor(value) else value, dtype=np.float64)


def describe_input(value: Any) -> InputNumbers:
    """Its numbers, and those that a reader sees that takes it for contiguous."""
    packed = None
    if isinstance(value, np.ndarray) and not value.flags.c_contiguous:
        packed = read_numbers(value.ravel(order="K")).reshape(value.shape)
    elif is_tensor(value) and not value.is_contiguous():
        room = value.untyped_storage().nbytes() // value.element_size() - value.storage_offset()
        plain = value.detach().as_strided((min(room, value.numel()),), (1,), value.storage_offset())
        packed = np.resize(read_numbers(plain), tuple(value.shape))
    return InputNumbers(read_numbers(value), name_dtype(value), packed)


def map_arrays(change: Callable[[Any], Any], values: Any) -> Any:
    """`change` of every array in nested tuples, lists and dicts."""
    if isinstance(values, tuple | list):
        found = [map_arrays(change, v) for v in values]
        return type(values)(*found) if hasattr(values, "_fields") else type(values)(found)
    if isinstance(values, dict):
        return {k: map_arrays(change, v) for k, v in values.items()}
    return change(values) if is_array(values) else values


def list_arrays(values: Any) -> list[Any]:
    """Every array in them, in order."""
    found: list[Any] = []
    map_arrays(found.append, values)
    return found


def replace_numbers(value: Any, numbers: Array | None = None, gradient: Change | None = None) -> Any:
    """The array with other numbers, None for its own; PyTorch's stays in the graph, with another gradient if given."""
    if not is_tensor(value):
        new = np.asarray(numbers).astype(value.dtype)
        return new if isinstance(value, np.ndarray) else sys.modules["jax"].numpy.asarray(new)
    import torch

    def like(other: Any, found: Array) -> torch.Tensor:
        return torch.from_numpy(np.array(found, order="C")).to(other)

    if not (value.requires_grad and torch.is_grad_enabled()):
        return value if numbers is None else like(value, numbers)

    class Planted(torch.autograd.Function):  # type: ignore[misc, unused-ignore]
        @staticmethod
        def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
            return x.view_as(x) if numbers is None else like(x, numbers)

        @staticmethod
        def backward(_: Any, g: torch.Tensor) -> torch.Tensor:
            return g if gradient is None else like(g, gradient(read_numbers(g)))

    return Planted.apply(value)


#: The variable that names the plan's file.
PLAN = "OPPROOF_AUDIT"
#: Where 1 % of a gradient is nothing that a test sees.
COARSE_RESOLUTION = 5e-3


class Audited:
    """The function under test, right or with its defect, and what is recorded of its calls."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.module, _, self.path = plan["kernel"].partition(":")
        self.requests, self.answers = plan["requests"], plan["answers"]  # pipes
        self.plan: dict[str, Any] = {}  # of one run
        self.defect: PlantedDefect | None = None
        self.original: Any = None
        self.busy = False
        self.calls = 0
        self.first: dict[Any, list[Array]] = {}  # results by the shapes of inputs
        self.written: set[int] = set()  # arguments that hold the results, by number
        self.tests: dict[str, set[str]] = {}  # what each test that calls it reaches
        self.off: dict[str, float] = {}
        self.record: dict[str, Any] = {"problem": "", "failed": [], "shown": False}

    def take(self, plan: dict[str, Any], items: list[pytest.Item]) -> None:
        """Do what a request says in this process."""
        self.plan, self.written = plan, set(plan["written"])
        self.defect = next((d for d in PLANTED if d.name == plan["defect"]), None)
        wanted = set(plan["tests"])
        items[:] = [i for i in items if not wanted or i.nodeid in wanted]

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """The function's answer, in a test as the plan says."""
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if self.busy or not test:
            return self.original(*args, **kwargs)
        self.busy = True
        self.calls += 1
        try:
            return self._observe(test, args, kwargs) if self.defect is None else self._plant(self.defect, args, kwargs)
        finally:
            self.busy = False

    def _observe(self, test: str, args: Any, kwargs: Any) -> Any:
        """The right answer; which defects would show in it is recorded, and how large they are."""
        given = list_arrays((args, kwargs))
        before = [describe_input(x) for x in given]
        answer = self.original(*args, **kwargs)
        if not list_arrays(answer):
            pairs = zip(given, before, strict=True)
            self.written |= {i for i, (x, old) in enumerate(pairs) if measure_off(read_numbers(x), old.values)}
        inputs, results = self._choose(before), list_arrays(answer) or self._choose(given, written=True)
        reached, call = self.tests.setdefault(test, set()), self._describe(inputs, results)
        for d in PLANTED:
            if d.results is not None:
                made = zip(d.results(call), call.results, results, strict=False)
                offs = [off for w, y, r in made if w is not None and (off := measure_off(w, y)) > resolution_of(r)]
                self.off[d.name] = max([*offs, self.off.get(d.name, 0.0)])
            elif d.inputs is not None:
                made_inputs = zip(d.inputs(inputs), inputs, strict=False)
                offs = [1.0 for w, x in made_inputs if w is not None and not np.array_equal(w, x.values, True)]
            else:
                offs = [1.0] * (d.overwrites and not self.written and any(x.values.any() for x in inputs[:1]))
            reached |= {d.name} if offs else set()
        leaves = [x for x in self._choose(given) if is_tensor(x) and x.requires_grad]
        for y in results:
            if is_tensor(y) and y.requires_grad:
                y.register_hook(functools.partial(self._note_backward, reached, len(leaves)))
        return answer

    @staticmethod
    def _note_backward(reached: set[str], leaves: int, g: Any) -> None:
        if g is None:  # undefined, as gradcheck tries too
            return
        found = {d.name for d in PLANTED if d.gradient and (d.of_input is None or max(d.of_input, 0) < leaves)}
        reached |= found - ({"gradients × 1.01"} if resolution_of(g) > COARSE_RESOLUTION else set())

    def _choose(self, given: Sequence[Any], *, written: bool = False) -> list[Any]:
        return [x for i, x in enumerate(given) if (i in self.written) == written]

    def _describe(self, inputs: Sequence[InputNumbers], results: Sequence[Any]) -> RightCall:
        """The call with the numbers of its results; the first of these shapes is remembered."""
        numbers = [read_numbers(y) for y in results]
        first = self.first.setdefault(tuple((x.values.shape, x.dtype) for x in inputs), numbers)
        return RightCall(inputs, numbers, self.calls, first)

    def _plant(self, d: PlantedDefect, args: Any, kwargs: Any) -> Any:
        given = list_arrays((args, kwargs))
        inputs, others = self._choose(given), {}  # what is given in the place of an input, by its identity
        if d.inputs is not None:
            pairs = zip(inputs, d.inputs([describe_input(x) for x in inputs]), strict=False)
            others = {id(x): replace_numbers(x, w) for x, w in pairs if w is not None}
        elif d.of_input is not None:
            leaves = [x for x in inputs if is_tensor(x) and x.requires_grad]
            chosen = leaves if d.of_input < 0 else leaves[d.of_input :][:1]
            others = {id(x): replace_numbers(x, gradient=self._note_gradient(d)) for x in chosen}
        right = self._call_aside(args, kwargs) if others and d.inputs and not self.record["shown"] else []
        args, kwargs = map_arrays(lambda x: others.get(id(x), x), (args, kwargs))
        answer = self.original(*args, **kwargs)
        results = list_arrays(answer) or self._choose(given, written=True)
        for y, w in zip(results, right, strict=False):
            off = measure_off(read_numbers(y), w)
            self.record["shown"] |= off > resolution_of(y)
            self.off[d.name] = max(off, self.off.get(d.name, 0.0))
        if d.overwrites and inputs:
            self.record["shown"] = True
            (inputs[0].data.zero_ if is_tensor(inputs[0]) else functools.partial(inputs[0].fill, 0))()
        elif d.gradient is not None and d.of_input is None:
            change = self._note_gradient(d)
            answer = map_arrays(lambda y: replace_numbers(y, gradient=change) if is_tensor(y) else y, answer)
        elif d.results is not None:
            self.record["shown"] = True  # else no test of this would run
            call = self._describe([describe_input(x) for x in inputs], results)
            answer = self._answer_wrong(answer, results, d.results(call))
        return answer

    @staticmethod
    def _answer_wrong(answer: Any, results: Sequence[Any], wrong: Sequence[Array | None]) -> Any:
        """The answer with other numbers; they are written where the results are, if it holds none."""
        left = iter([*wrong, *[None] * len(results)])
        if list_arrays(answer):
            return map_arrays(lambda y: y if (w := next(left)) is None else replace_numbers(y, w), answer)
        for y, w in zip(results, left, strict=False):
            if w is not None:
                (y.data if is_tensor(y) else y)[...] = replace_numbers(y.detach() if is_tensor(y) else y, w)
        return answer

    def _call_aside(self, args: Any, kwargs: Any) -> list[Array]:
        """What the right call gives, made with copies; random numbers come again as they came."""
        torch, drawn = sys.modules.get("torch"), np.random.get_state()  # noqa: NPY002
        own = None if torch is None else torch.get_rng_state()
        copies = map_arrays(lambda x: x.detach().clone() if is_tensor(x) else x.copy(), (args, kwargs))
        answer = self.original(*copies[0], **copies[1])
        np.random.set_state(drawn)  # noqa: NPY002
        if torch is not None:
            torch.set_rng_state(own)
        return [read_numbers(y) for y in list_arrays(answer) or self._choose(list_arrays(copies), written=True)]

    def _note_gradient(self, d: PlantedDefect) -> Callable[[Array], Array]:
        """The change of a gradient; that it changes something is recorded."""

        def changed(g: Array) -> Array:
            assert d.gradient is not None
            wrong = d.gradient(np.atleast_1d(g)).reshape(g.shape)
            self.record["shown"] |= not np.array_equal(wrong, g)
            return wrong

        return changed

    def install(self) -> None:
        """Have every call of the function come here; of a class those of forward, of an autograd.Function of apply."""
        *holders, name = self.path.split(".")
        try:
            holder: Any = functools.reduce(getattr, holders, importlib.import_module(self.module))
            found = getattr(holder, name)
        except (ImportError, AttributeError) as error:
            self.record["problem"] = f"{error}, after all tests were collected"
            return
        if inspect.isclass(found):
            holder, name = found, "apply" if hasattr(found, "apply") and hasattr(found, "backward") else "forward"
            found = getattr(holder, name, None)
        if not callable(found) or hasattr(found, "__getitem__"):
            self.record["problem"] = f"{self.path} of {self.module} is no function: name the one that starts it"
        elif inspect.isfunction(found):  # whoever has it, has it under whatever name
            code, signature = found.__code__, inspect.signature(found)
            self.original = FunctionType(code, found.__globals__, name, found.__defaults__, found.__closure__)
            self.original.__kwdefaults__ = found.__kwdefaults__
            found.__defaults__ = found.__kwdefaults__ = None
            found.__signature__ = signature  # type: ignore[attr-defined]
            consts = tuple(self.call if c == _PLACE else c for c in _jump.__code__.co_consts)
            found.__code__ = _jump.__code__.replace(co_consts=consts, co_freevars=code.co_freevars)
        else:
            self.original, call = found, self.call
            setattr(holder, name, staticmethod(call) if inspect.isclass(holder) else call)
            for module in list(sys.modules.values()):
                for other, value in list(getattr(module, "__dict__", {}).items()):
                    if type(value) is type(found) and value == found:
                        setattr(module, other, call)


#: What stands for the call in the code of a function that jumps there.
_PLACE = "opproof.harness.audit: the function under test"


def _jump(*args: Any, **kwargs: Any) -> Any:
    return "opproof.harness.audit: the function under test".__call__(*args, **kwargs)  # type: ignore[operator]


AUDITED = Audited(json.loads(os.environ[PLAN])) if PLAN in os.environ else None

if AUDITED is not None:

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(session: pytest.Session, audited: Audited = AUDITED) -> bool | None:
        """Run the tests at every request, in a copy of this process."""
        audited.install()
        with os.fdopen(audited.requests, "rb", buffering=0) as requests:
            while line := requests.readline():
                plan = json.loads(line)
                gc.freeze()  # at its end pytest looks through all that there is, five times
                pid = os.fork() if len([*Path("/proc/self/task").glob("*")]) == 1 else 0  # a copy has this thread alone
                if not pid:
                    session.config.option.maxfail = 1 if plan["defect"] else session.config.option.maxfail
                    audited.take(plan, session.items)
                    os.close(audited.answers)
                    return None
                os.write(audited.answers, b"%d\n" % os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
        return True

    def pytest_runtest_logreport(report: Any, audited: Audited = AUDITED) -> None:
        """Note what fails, or cannot be collected."""
        if report.failed:
            audited.record["failed"].append(report.nodeid)

    pytest_collectreport = pytest_runtest_logreport

    def pytest_sessionfinish(audited: Audited = AUDITED) -> None:
        """Write what the plan's maker reads."""
        found = audited.record | {"written": sorted(audited.written), "off": audited.off}
        found["tests"] = {test: sorted(reached) for test, reached in audited.tests.items()}
        if audited.plan:
            Path(audited.plan["record"]).write_text(json.dumps(found), encoding="utf-8")
