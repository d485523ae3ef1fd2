"""exec:COMMAND: a program in any language that speaks frames on stdin and stdout.

It is started when first asked, and anew after each fault, so a fault costs the case at hand.
docs/reference/exec-protocol.md is the specification, `opproof check-backend` tests it. A command that turns out to be
opproof's own host, on another machine for instance, is spoken to as such (native.py).
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from opproof.backends import MADE_OF_REFERENCES
from opproof.backends.protocol import BackendFailed, Unsupported
from opproof.backends.worker.protocol import LONGEST, params_to_json
from opproof.core.arrays import Array, bytes_of
from opproof.core.capabilities import format_variables
from opproof.core.dtypes import DECLARED, DTYPES, Declaration
from opproof.core.errors import BackendError
from opproof.core.text import make_plain
from opproof.core.verdicts import Destination, Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.data import to_dtype
from opproof.harness.run.hosts.host import About, ProcessHost, Support
from opproof.harness.run.hosts.native import PROTOCOL, NativeHost
from opproof.harness.run.hosts.process import HostFault, HostProcess, references_allowed, request_answer
from opproof.harness.run.request import Request, Returned, check_returned

#: Seconds that a command may take to start and to say hello.
START = 60.0

#: Digits that no tensor's number has.
_DIGITS = 10
#: What is read of an answer: so many times the bytes that it should have, for dtypes and shapes may be wrong, and more.
_MAX_ANSWER_RATIO = 8
_MAX_EXTRA_ANSWER_BYTES = 1 << 26


class ExecHost(ProcessHost):
    """A command that has said hello. Tensors travel, perhaps to another machine."""

    def __init__(self, process: HostProcess, hello: Mapping[str, Any], timeout: float = 30.0) -> None:
        self._process, self.timeout = process, timeout
        words = hello.get("destinations", ())
        name, version, device = (
            make_plain(hello["name"]),
            make_plain(hello.get("version", "")),
            make_plain(hello.get("device", "cpu")),
        )
        threads, places = hello.get("threads", False), frozenset(map(Destination, words))
        dtypes = frozenset(hello.get("dtypes", ()))
        mixed = hello.get("mixed", False)
        self.about = About(name, version, device, destinations=places, dtypes=dtypes, mixed=mixed, threads=threads)
        self._ops = hello.get("ops")
        self._declared = {f.name: hello.get(f.name, {}) for f in fields(Declaration)}
        self._count = 0

    def support(
        self, op: str, dtype: str, mode: str, params: Mapping[str, Any], shapes: Sequence[Sequence[int] | None]
    ) -> Support:
        """See Host. Answers from the hello, without a request."""
        del dtype, mode, params, shapes
        declined = self._ops is not None and op not in self._ops
        reason = f"{self.about.name} does not name {op} among its operators" if declined else ""
        said = {name: make_plain(str(words[op])) for name, words in self._declared.items() if words.get(op) is not None}
        return Support(reason, Declaration(**said))

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host."""
        posed = question.posed
        native = posed.case.dtype
        pairs = zip(posed.names, posed.inputs, strict=True)
        inputs = [None if v is None else to_dtype(v, posed.case.dtype_of(name)) for name, v in pairs]
        cotangents = [None if g is None else to_dtype(g, native) for g in posed.cotangents]
        longest = _max_frame_bytes_of(question, [*inputs, *cotangents])
        try:
            if posed.case.inplace:
                arrays: Sequence[Array | None] = self._in_place(question, inputs, cotangents, timeout, longest)
            elif posed.mode is Mode.FORWARD:
                arrays = self.forward(posed.op.called, inputs, posed.params, timeout, question.threads, longest)
            else:
                given = (posed.op.called, inputs, posed.params, cotangents, posed.needs)
                arrays = self.vjp(*given, timeout, question.threads, longest)
        except Unsupported as reason:
            raise EarlyVerdict(Verdict.UNSUPPORTED, str(reason)) from None
        except BackendFailed as failure:
            raise EarlyVerdict(Verdict.ERROR, str(failure)) from None
        return check_returned([None if a is None else Returned(a.shape, a.dtype.name, a) for a in arrays], question)

    def forward(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], timeout: float | None = None,
        threads: int = 0, longest: int = LONGEST,
    ) -> list[Array]:  # fmt: skip
        """The outputs. Raises Unsupported, BackendFailed and HostFault."""
        metadata, tensors = _request("forward", op, inputs, params, threads)
        arrays = _index_tensors(self._ask(metadata, tensors, "outputs", timeout, longest), "output")
        missing = [i for i in range(len(arrays)) if i not in arrays]
        if missing:
            raise BackendFailed(f"the answer has no tensor output.{missing[0]}, but {_list_names(arrays, 'output')}")
        return [arrays[i] for i in range(len(arrays))]

    def vjp(
        self, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any],
        cotangents: Sequence[Array | None], needs: Sequence[bool], timeout: float | None = None, threads: int = 0,
        longest: int = LONGEST,
    ) -> list[Array | None]:  # fmt: skip
        """The gradients. Raises Unsupported, BackendFailed and HostFault."""
        metadata, tensors = _request("vjp", op, inputs, params, threads)
        more, others = _of_gradient(cotangents, needs)
        metadata, tensors = metadata | more, tensors | others
        arrays = _index_tensors(self._ask(metadata, tensors, "gradients", timeout, longest), "gradient")
        for i, need in enumerate(needs):
            if need and i not in arrays:
                raise BackendFailed(f"the answer has no tensor gradient.{i}, but {_list_names(arrays, 'gradient')}")
        return [arrays[i] if need else None for i, need in enumerate(needs)]

    def _in_place(
        self,
        question: Request,
        inputs: Sequence[Array | None],
        cotangents: Sequence[Array | None],
        timeout: float,
        longest: int,
    ) -> list[Array | None]:
        """The results of a call in place, whose answer brings back all else that was sent, as it is then.

        Raises Settled where that changed, and what the other calls do.
        """
        posed, forward = question.posed, question.posed.mode is Mode.FORWARD
        where = posed.names.index(posed.case.inplace)
        kind = "forward" if forward else "vjp"
        metadata, tensors = _request(kind, posed.op.called, inputs, posed.params, question.threads)
        if not forward:
            more, others = _of_gradient(cotangents, posed.needs)
            metadata, tensors = metadata | more, tensors | others
        metadata["in_place"] = str(where)
        answer = self._ask(metadata, tensors, "outputs" if forward else "gradients", timeout, longest)
        overwritten = f"input.{where}" if forward else "cotangent.0"
        for name, sent in tensors.items():
            if name != overwritten:
                check_kept(_name_of_tensor(name, posed.names), name, sent, answer)
        results = _index_tensors(answer, "output" if forward else "gradient")
        return [results.get(i) for i in range(len(question.wanted))]

    def close(self, grace: float = 0.0) -> bool:
        """See Host; True where it ended by itself within `grace` seconds of the end of its input."""
        return self._process.stop(grace)

    def last_line(self) -> str:
        """Its last line on stderr, as the end of a sentence."""
        return make_plain(self._process.last_line())

    def _ask(
        self, metadata: dict[str, str], tensors: Mapping[str, Array], wanted: str, timeout: float | None, longest: int
    ) -> dict[str, Array]:
        self._count += 1
        limit = self.timeout if timeout is None else timeout
        answer, arrays = request_answer(self._process, str(self._count), metadata, tensors, limit, longest)
        kind = answer.get("kind", "")
        if kind == "unsupported":
            raise Unsupported(make_plain(answer.get("reason", "")) or "the command declined, and gave no reason")
        if kind == "failed":
            raise BackendFailed(make_plain(answer.get("message", "")) or "the command failed, and gave no message")
        if kind != wanted:
            got = make_plain(repr(kind))
            raise HostFault(
                Verdict.ERROR, f"the answer is of kind {got}; expected {wanted!r}, 'unsupported' or 'failed'"
            )
        self.impls |= {make_plain(answer.get("impl", ""))}
        return arrays


def start(
    text: str, memory: int, timeout: float = 30.0, variables: Mapping[str, str] | None = None
) -> ExecHost | NativeHost:
    """The command of `exec:text`, with `variables` in its environment, which has said hello. Raises BackendError."""
    command = command_of(text)
    own = "opproof.backends.worker" in command and command[-1].partition(":")[0] in MADE_OF_REFERENCES
    process = HostProcess(command, memory, trusted=own or references_allowed(), variables=variables)
    try:
        answer, _ = request_answer(process, "0", {"kind": "hello", "protocol": PROTOCOL}, {}, START)
        hello = _check_hello(answer)
        if hello.get("arena") != "frames":
            return ExecHost(process, hello, timeout)
        if not variables:
            return NativeHost(process, None, hello)
    except (HostFault, BackendFailed, BackendError) as error:
        process.stop()
        raise BackendError(f"exec: {shlex.join(command)} did not say hello: {error}.") from None
    process.stop()  # it may run on another machine, which the variables do not come to
    raise BackendError(
        f"exec:{text} is opproof's own host, which --isa cannot reach: "
        f"set {format_variables(variables)} in its command."
    )


def command_of(text: str) -> list[str]:
    """The words of a command that there is. Raises BackendError."""
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
    return command


def _request(
    kind: str, op: str, inputs: Sequence[Array | None], params: Mapping[str, Any], threads: int
) -> tuple[dict[str, str], dict[str, Array]]:
    metadata = {"kind": kind, "op": op, "params": params_to_json(params), "inputs": str(len(inputs))}
    if threads:
        metadata["threads"] = str(threads)
    return metadata, {f"input.{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}


def _of_gradient(cotangents: Sequence[Array | None], needs: Sequence[bool]) -> tuple[dict[str, str], dict[str, Array]]:
    metadata = {"needs": json.dumps(list(map(bool, needs))), "cotangents": str(len(cotangents))}
    return metadata, {f"cotangent.{i}": np.asarray(g) for i, g in enumerate(cotangents) if g is not None}


def _name_of_tensor(name: str, names: Sequence[str | None]) -> str:
    kind, _, number = name.partition(".")
    return f"input {names[int(number)]}" if kind == "input" else f"cotangent {number}"


def _check_hello(answer: Mapping[str, str]) -> dict[str, Any]:
    if answer.get("kind") == "failed":
        raise BackendFailed(make_plain(answer.get("message", "it failed, and gave no message")))
    if answer.get("kind") != "hello":
        raise BackendFailed(f"the answer is of kind {make_plain(repr(answer.get('kind')))}; expected 'hello'")
    if not answer.get("name"):
        raise BackendFailed("the hello has no name, which reports call the backend by")
    hello: dict[str, Any] = dict(answer)
    expected = (
        ("ops", list, '["relu", "add"]'),
        ("compute", dict, '{"matmul": "tf32"}'),
        ("rounding", dict, '{"mul": "truncate"}'),
        ("bits", dict, '{"scatter_add": "vary"}'),
        ("destinations", list, '["in place"]'),
        ("dtypes", list, '["i32", "f8e4m3"]'),
        ("mixed", bool, "true"),
        ("threads", bool, "true"),
    )
    for key, kind, example in expected:
        if key not in answer:
            continue
        try:
            hello[key] = json.loads(answer[key])
        except (ValueError, RecursionError):
            hello[key] = None
        if not isinstance(hello[key], kind):
            raise BackendFailed(
                f"{key} in the hello is {make_plain(repr(answer[key]))}; expected JSON such as {example}"
            )
    if wrong := [word for word in hello.get("dtypes", ()) if word not in list(DTYPES)]:
        raise BackendFailed(
            f"dtypes in the hello hold {make_plain(repr(wrong[0]))}; expected some of {', '.join(DECLARED)}"
        )
    if any(word != Destination.IN_PLACE for word in hello.get("destinations", ())):
        raise BackendFailed(
            f'destinations in the hello are {make_plain(repr(answer["destinations"]))}; expected ["in place"], '
            f"for tensors of the protocol have no strides"
        )
    return hello


def _index_tensors(arrays: Mapping[str, Array], word: str) -> dict[int, Array]:
    """Tensors word.0, word.1, … by their number. Raises BackendFailed for any other name."""
    numbered = {}
    for name, array in arrays.items():
        head, _, number = name.partition(".")
        if head != word or not (number.isascii() and number.isdigit() and len(number) < _DIGITS):
            raise BackendFailed(f"the answer has a tensor {make_plain(name)!r}; expected {word}.0, {word}.1 and so on")
        numbered[int(number)] = array
    return numbered


def _max_frame_bytes_of(question: Request, inputs: Sequence[Array | None]) -> int:
    """Bytes of the longest frame that is read as an answer: more would be the judge's memory."""
    wanted = sum(math.prod(w.shape) * w.dtype.itemsize for w in question.wanted if w is not None)
    sent = sum(x.nbytes for x in inputs if x is not None)
    return min(LONGEST, _MAX_ANSWER_RATIO * (wanted + sent) + _MAX_EXTRA_ANSWER_BYTES)


def _list_names(numbered: Mapping[int, Array], word: str) -> str:
    return ", ".join(f"{word}.{i}" for i in sorted(numbered)) if numbered else "no tensors at all"


def check_kept(called: str, name: str, sent: Array, answer: dict[str, Array]) -> None:
    """Take tensor `name`, which messages call otherwise, out of an answer, and compare it to what was sent.

    Raises BackendFailed where it did not come back, Settled where it came back changed.
    """
    back = answer.pop(name, None)
    if back is None:
        raise BackendFailed(f"the answer to a call in place has no tensor {name}, to show that it is as it was sent")
    if (back.dtype, back.shape) != (sent.dtype, sent.shape):
        raise BackendFailed(f"the answer has {name} in another dtype or shape than it was sent")
    changed = int(np.count_nonzero(bytes_of(back) != bytes_of(sent)))
    if changed:
        what = f"{called}: {changed} of {sent.nbytes} bytes changed during the call"
        raise EarlyVerdict(Verdict.INPUT_CHANGED, what)
