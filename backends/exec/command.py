"""exec:COMMAND: a backend in any language, a child process that speaks frames on stdin and stdout.

The child is started when first asked, by every worker process its own, and anew after each fault, so a
fault costs the case at hand. docs/exec-protocol.md is the specification, `opproof check-backend` tests it.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from opproof.backends.exec.child import Child, ChildError
from opproof.backends.host.frames import FrameError, decode, encode, params_text
from opproof.backends.protocol import BackendFailed, Unsupported
from opproof.vocabulary.arrays import Array
from opproof.vocabulary.errors import BackendError

PROTOCOL = "1"
#: Seconds that a command may take to start and to say hello.
START = 60.0


class Exec:
    """The command as a backend. `timeout` bounds each call where no pool of workers does."""

    def __init__(self, command: Sequence[str], timeout: float | None = None) -> None:
        self.command, self.timeout = command, timeout
        self._child: Child | None = None
        self._hello: dict[str, Any] | None = None
        self._count = 0

    @property
    def name(self) -> str:
        return str(self._greeting()["name"])

    @property
    def version(self) -> str:
        return str(self._greeting().get("version", ""))

    @property
    def device(self) -> str:
        return str(self._greeting().get("device", "cpu"))

    def supports(self, op: str, dtypes: Sequence[str], params: Mapping[str, Any]) -> bool | str:
        """Answers from the list of operators in the hello, where there is one."""
        del dtypes, params
        ops = self._said("ops")
        return ops is None or op in ops or f"{self.name} does not name {op} among its operators"

    def compute(self, op: str, dtype: str, mode: str) -> str | None:
        """The lower precision that the hello declares for the operator."""
        del dtype, mode
        declared = self._said("compute")
        return None if declared is None else declared.get(op)

    def forward(self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]) -> list[Array]:
        metadata, tensors = _request("forward", op, inputs, params)
        found = _indexed(self._call(metadata, tensors, "outputs"), "output")
        missing = [i for i in range(len(found)) if i not in found]
        if missing:
            raise BackendFailed(f"the answer has no tensor output.{missing[0]}, but {_listed(found, 'output')}")
        return [found[i] for i in range(len(found))]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool],
    ) -> list[Array | None]:  # fmt: skip
        metadata, tensors = _request("vjp", op, inputs, params)
        metadata |= {"needs": json.dumps(list(map(bool, needs))), "cotangents": str(len(cotangents))}
        tensors |= {f"cotangent.{i}": g for i, g in enumerate(cotangents) if g is not None}
        found = _indexed(self._call(metadata, tensors, "gradients"), "gradient")
        for i, need in enumerate(needs):
            if need and i not in found:
                raise BackendFailed(f"the answer has no tensor gradient.{i}, but {_listed(found, 'gradient')}")
        return [found[i] if need else None for i, need in enumerate(needs)]

    def stop(self, grace: float = 0.0) -> bool:
        """End the child, if there is one; True where it ended by itself at the end of its input."""
        child, self._child = self._child, None
        return child is None or child.stop(grace)

    def said(self) -> str:
        """The child's last line on stderr, as the end of a sentence."""
        return "" if self._child is None else self._child.said()

    def _call(self, metadata: dict[str, str], tensors: Mapping[str, Array], wanted: str) -> dict[str, Array]:
        try:
            self._greeting()
        except BackendError as error:
            raise BackendFailed(str(error)) from None
        answer, arrays = self._exchange(metadata, tensors, self.timeout)
        kind = answer.get("kind", "")
        if kind == "unsupported":
            raise Unsupported(answer.get("reason", "") or "the command declined, and gave no reason")
        if kind == "failed":
            raise BackendFailed(answer.get("message", "") or "the command failed, and gave no message")
        if kind != wanted:
            self.stop()
            raise BackendFailed(f"the answer is of kind {kind!r}; expected {wanted!r}, 'unsupported' or 'failed'.")
        return arrays

    def _exchange(
        self, metadata: dict[str, str], tensors: Mapping[str, Array], timeout: float | None
    ) -> tuple[dict[str, str], dict[str, Array]]:
        """Ask the child and read its answer; BackendFailed ends it."""
        child = self._child
        assert child is not None
        self._count += 1
        number = str(self._count)
        try:
            answer, arrays = decode(child.exchange(encode({**metadata, "id": number}, tensors), timeout))
        except (ChildError, FrameError) as error:
            text = f"{error}{child.said()}."
            self.stop()
            raise BackendFailed(text) from None
        if answer.get("id") != number:
            self.stop()
            raise BackendFailed(f"the answer has id {answer.get('id')!r}; expected {number!r}, that of the request.")
        return answer, arrays

    def _greeting(self) -> dict[str, Any]:
        """What the child said in its hello; starts it where none runs. Raises BackendError."""
        if self._child is not None and self._hello is not None:
            return self._hello
        try:
            self._child = Child(self.command)
        except OSError as error:
            raise BackendError(f"{shlex.join(self.command)} could not be started: {error}.") from None
        try:
            answer, _ = self._exchange({"kind": "hello", "protocol": PROTOCOL}, {}, START)
            self._hello = _checked(answer)
        except BackendFailed as error:
            self.stop()
            raise BackendError(f"exec: {shlex.join(self.command)} did not say hello: {error}") from None
        return self._hello

    def _said(self, key: str) -> Any:
        """An optional field of the hello; None also where there is no hello, which the call itself will report."""
        try:
            return self._greeting().get(key)
        except BackendError:
            return None


def load(text: str) -> Exec:
    """The backend of `exec:text`, not started yet. Raises BackendError."""
    if os.name != "posix":
        raise BackendError("exec: backends need a POSIX system; on Windows run opproof in WSL.")
    try:
        command = shlex.split(text)
    except ValueError as error:
        raise BackendError(f"exec:{text} is no command: {error}; quote it as in a shell.") from None
    if not command:
        raise BackendError("exec: needs a command, such as -b 'exec:node my_backend.js'.")
    if shutil.which(command[0]) is None:
        raise BackendError(f"there is no command {command[0]!r} for exec:{text}; install it, or give its path.")
    return Exec(command)


def _request(
    kind: str, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any]
) -> tuple[dict[str, str], dict[str, Array]]:
    metadata = {"kind": kind, "op": op, "params": params_text(params), "inputs": str(len(inputs))}
    return metadata, {f"input.{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}


def _checked(answer: Mapping[str, str]) -> dict[str, Any]:
    """The hello with its JSON read. Raises BackendFailed."""
    if answer.get("kind") == "failed":
        raise BackendFailed(answer.get("message", "it failed, and gave no message"))
    if answer.get("kind") != "hello":
        raise BackendFailed(f"the answer is of kind {answer.get('kind')!r}; expected 'hello'.")
    if not answer.get("name"):
        raise BackendFailed("the hello has no name, which reports call the backend by.")
    found: dict[str, Any] = dict(answer)
    for key, kind, example in (("ops", list, '["relu", "add"]'), ("compute", dict, '{"matmul": "tf32"}')):
        if key not in answer:
            continue
        try:
            found[key] = json.loads(answer[key])
        except ValueError:
            found[key] = None
        if not isinstance(found[key], kind):
            raise BackendFailed(f"{key} in the hello is {answer[key]!r}; expected JSON such as {example}.")
    return found


def _indexed(arrays: Mapping[str, Array], word: str) -> dict[int, Array]:
    """Tensors word.0, word.1, … by their number. Raises BackendFailed for any other name."""
    found = {}
    for name, array in arrays.items():
        head, _, number = name.partition(".")
        if head != word or not (number.isascii() and number.isdigit()):
            raise BackendFailed(f"the answer has a tensor {name!r}; expected {word}.0, {word}.1 and so on")
        found[int(number)] = array
    return found


def _listed(found: Mapping[int, Array], word: str) -> str:
    return ", ".join(f"{word}.{i}" for i in sorted(found)) if found else "no tensors at all"
