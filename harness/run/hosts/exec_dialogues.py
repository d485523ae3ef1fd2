"""Does a command speak the exec protocol? Small dialogues, each with what was expected and what came."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from opproof.backends import BackendFailed, Unsupported
from opproof.backends.numpy import NumPy
from opproof.backends.protocol import short_name_of
from opproof.core.arrays import Array
from opproof.core.dtypes import DTYPES
from opproof.core.errors import BackendError
from opproof.harness.run.hosts import exec_protocol
from opproof.harness.run.hosts.exec_protocol import ExecHost
from opproof.harness.run.hosts.host import About
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.request import Params, Tensors
from opproof.reference_ops import Trait, load, names

UNKNOWN = "no_such_operator"
#: How far answers may be off: this is a check of frames, numbers are for `opproof run`.
_LOOSE = {"f64": 1e-6, "f32": 1e-3, "f16": 3e-2, "bf16": 1e-1}


@dataclass(frozen=True)
class DialogueStep:
    """One dialogue. `state` is "ok", "declined" (which is allowed) or "wrong"."""

    what: str
    state: str
    expected: str
    got: str


class DialogueFailure(Exception):
    """The answer is not what the step expects; the text says what came instead."""


def check(backend: Command, op: str = "") -> Iterator[DialogueStep]:
    """The dialogues in order. `op` is a pointwise operator of one tensor; if "", the first of `list_simple_operators`
    answered.
    """
    hello = _run_step(
        "hello", "a frame of kind hello, with name and, if you like, version, device, ops", _check_hello, backend
    )
    yield hello
    if hello.state == "wrong":
        return
    chosen = op or next((name for name in list_simple_operators() if _answers(backend, name)), "")
    if not chosen:
        expected = "some pointwise operator of one tensor without parameters computed; name one of yours with --op"
        yield DialogueStep("an operator to ask for", "wrong", expected, _ask_reason(backend))
        return
    for dialogue in _list_steps(backend, chosen):
        yield _run_step(*dialogue)


def list_simple_operators() -> Iterator[str]:
    """Operators to ask for where none is named: pointwise, of one tensor, without parameters, defined on
    `_make_values`.
    """
    for op in map(load, names()):
        plain = Trait.POINTWISE in op.traits and op.tensors == ("x",) and not op.params
        if plain and op.vjp is not None and not op.trivial("forward") and not op.trivial("gradient"):
            (y,) = NumPy().forward(op.name, [_make_values((3, 4), "f64")], {})
            if np.isfinite(y).all():
                yield op.name


def _run_step(what: str, expected: str, action: Callable[..., str], *arguments: Any) -> DialogueStep:
    try:
        return DialogueStep(what, "ok", expected, action(*arguments))
    except Unsupported as reason:
        return DialogueStep(what, "declined", expected, str(reason))
    except (DialogueFailure, BackendFailed, BackendError) as error:
        return DialogueStep(what, "wrong", expected, str(error))


def _list_steps(backend: Command, op: str) -> list[tuple[Any, ...]]:
    def forward(what: str, shape: tuple[int, ...], dtype: str) -> tuple[Any, ...]:
        expected = f"outputs, with output.0 of shape {list(shape)} in {dtype}"
        return (f"{op}, {what}", expected, _check_forward, backend, op, _make_values(shape, dtype))

    return [
        forward("f32", (3, 4), "f32"),
        forward("f32 of another shape", (2, 3, 5), "f32"),
        forward("an empty tensor", (0, 3), "f32"),
        forward("a 0-d tensor", (), "f32"),
        *(forward(dtype, (3, 4), dtype) for dtype in ("bf16", "f16", "f64")),
        forward("1 MiB, more than a pipe holds", (512, 512), "f32"),
        (f"{op}, vjp", "gradients, with gradient.0 of the input's shape and dtype", _check_vjp, backend, op),
        ("the same call after another", "the same bytes as the first time", _check_repeat, backend, op),
        ("an operator that nobody has", "a frame of kind unsupported, with a reason", _check_decline, backend),
        ("going on after declining", "outputs", _check_forward, backend, op, _make_values((3, 4), "f32")),
        ("standard error", "anything, or nothing; it is read all the time", _read_stderr, backend),
        ("the end of standard input", "the command exits within 5 s", _check_end, backend),
    ]


def _check_hello(backend: Command) -> str:
    about = backend.about
    return f"{' '.join(filter(None, (about.name, about.version)))} on {about.device}"


def _answers(backend: Command, op: str) -> bool:
    """Whether the operator is computed; a fault counts, since the steps will show it."""
    try:
        _ask(backend, op, _make_values((3, 4), "f32"))
    except Unsupported:
        return False
    except BackendFailed:
        pass
    return True


def _ask_reason(backend: Command) -> str:
    first = next(list_simple_operators())
    try:
        _ask(backend, first, _make_values((3, 4), "f32"))
    except Unsupported as reason:
        return f"all were declined, {first} because: {reason}"
    return "all were declined"


def _ask(backend: Command, op: str, x: Array) -> Tensors:
    if declined := backend.declines(op, short_name_of(x.dtype)):
        raise Unsupported(declined)
    return backend.ask(op, [x], {})


def _make_values(shape: tuple[int, ...], dtype: str) -> Array:
    count = int(np.prod(shape))
    return np.asarray((1 + np.arange(count) % 8) / 4).reshape(shape).astype(DTYPES[dtype].numpy)


def _check_forward(backend: Command, op: str, x: Array) -> str:
    return _compare_answer("output.0", _ask(backend, op, x), NumPy().forward(op, [x], {}))


def _check_vjp(backend: Command, op: str) -> str:
    x = _make_values((3, 4), "f32")
    g = x[::-1].copy()
    right = NumPy().vjp(op, [x], {}, [g], [True])
    return _compare_answer("gradient.0", backend.ask(op, [x], {}, ([g], [True])), right)


def _compare_answer(name: str, answer: Tensors, right: Tensors) -> str:
    """What came, in words. Raises Wrong where it is not what the reference gives."""
    if len(answer) != 1:
        raise DialogueFailure(f"{len(answer)} tensors")
    a, b = answer[0], right[0]
    assert a is not None
    assert b is not None
    if a.shape != b.shape:
        raise DialogueFailure(f"{name} of shape {list(a.shape)}, expected {list(b.shape)}")
    if a.dtype != b.dtype:
        raise DialogueFailure(f"{name} in {short_name_of(a.dtype)}, expected {short_name_of(b.dtype)}")
    wide, expected = a.astype(np.float64), b.astype(np.float64)
    off = ~np.isclose(wide, expected, rtol=_LOOSE[short_name_of(b.dtype)], atol=1e-6)
    if off.any():
        at = tuple(int(i) for i in np.argwhere(off)[0])
        raise DialogueFailure(
            f"{name}{list(at)} is {wide[at]:g}, expected {expected[at]:g}{_guess(wide, expected)}; "
            f"{int(off.sum())} of {off.size} elements are off"
        )
    return f"{name} as expected"


def _guess(got: Array, expected: Array) -> str:
    if got.size > 1 and np.allclose(got.ravel(), expected.ravel(order="F"), rtol=1e-3):
        return " (the elements are there, column by column: the last index must run fastest)"
    if got.size > 1 and np.allclose(got, 0):
        return " (all zeros: are the tensor's bytes read and written at its data_offsets?)"
    return ""


def _check_repeat(backend: Command, op: str) -> str:
    x, other = _make_values((3, 4), "f32"), -_make_values((3, 4), "f32")[::-1]
    first = _ask(backend, op, x)
    _ask(backend, op, other)
    if np.asarray(first[0]).tobytes() != np.asarray(_ask(backend, op, x)[0]).tobytes():
        raise DialogueFailure("other numbers: the call in between left something behind")
    return "the same bytes"


def _check_decline(backend: Command) -> str:
    try:
        if not backend.declines(UNKNOWN, "f32"):
            backend.ask(UNKNOWN, [_make_values((3, 4), "f32")], {})
    except Unsupported as reason:
        return f"unsupported: {reason}"
    except BackendFailed as error:
        raise DialogueFailure(f"{error} (declining must not look like a failure)") from None
    if backend.declines(UNKNOWN, "f32"):
        return "its list of operators does not have it"
    raise DialogueFailure(f"outputs for {UNKNOWN}")


def _read_stderr(backend: Command) -> str:
    return backend.last_line().removeprefix("; ") or "silent"


def _check_end(backend: Command) -> str:
    if not backend.stop(5.0):
        raise DialogueFailure("it goes on, and had to be killed")
    return "it exited"


class Command:
    """`text` is that of exec:TEXT; calls raise Unsupported, and BackendFailed for every fault. No limit of memory."""

    def __init__(self, text: str, timeout: float) -> None:
        exec_protocol.command_of(text)
        self.text, self.timeout = text, timeout
        self._host: ExecHost | None = None

    @property
    def about(self) -> About:
        """As the hello says."""
        return self._started().about

    def declines(self, op: str, dtype: str) -> str:
        """Why the hello excludes an operator; empty where it does not."""
        return self._started().support(op, dtype, "forward", {}, []).reason

    def ask(
        self, op: str, inputs: Tensors, params: Params,
        gradient: tuple[Tensors, Sequence[bool]] | None = None,
    ) -> list[Array | None]:  # fmt: skip
        """The outputs, or the gradients for given cotangents and needs."""
        try:
            return self._started().ask(op, inputs, params, gradient, self.timeout)
        except BackendError as error:
            raise BackendFailed(str(error)) from None
        except HostFault as fault:
            self.stop()
            raise BackendFailed(f"{fault.message}.") from None

    def last_line(self) -> str:
        """The last line on stderr, as the end of a sentence."""
        return "" if self._host is None else self._host.last_line()

    def stop(self, grace: float = 0.0) -> bool:
        """End the command, if it runs; True where it ended by itself within `grace` seconds."""
        host, self._host = self._host, None
        return host is None or host.close(grace)

    def _started(self) -> ExecHost:
        if self._host is not None and not self._host.alive:
            fault = self._host.fault()
            self.stop()
            raise BackendFailed(f"{fault.message}.")
        if self._host is None:
            host = exec_protocol.start(self.text, 0, self.timeout)
            if not isinstance(host, ExecHost):
                host.close()
                raise BackendError(f"exec:{self.text} is opproof's own host, which `opproof run` speaks to; run it.")
            self._host = host
        return self._host
