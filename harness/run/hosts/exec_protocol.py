"""exec:COMMAND: a program in any language that speaks frames on stdin and stdout.

It is started when first asked, and anew after each fault, so a fault costs the case at hand.
docs/reference/exec-protocol.md is the specification, `opproof check-backend` tests it. A command that turns out to be
opproof's own host, on another machine for instance, is spoken to as such (native.py).
"""

from __future__ import annotations

import json
import math
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import msgspec
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
from opproof.harness.run.hosts.process import HostFault, HostProcess, references_allowed
from opproof.harness.run.request import Params, Request, Returned, Shapes, Tensors, check_returned

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
        self.about = About(
            make_plain(hello["name"]),
            make_plain(hello.get("version", "")),
            make_plain(hello.get("device", "cpu")),
            destinations=frozenset(map(Destination, hello.get("destinations", ()))),
            dtypes=frozenset(hello.get("dtypes", ())),
            mixed=hello.get("mixed", False),
            threads=hello.get("threads", False),
        )
        self._ops = hello.get("ops")
        self._declared = {f.name: hello.get(f.name, {}) for f in fields(Declaration)}

    def support(self, op: str, dtype: str, mode: str, params: Params, shapes: Shapes) -> Support:
        """See Host. Answers from the hello, without a request."""
        del dtype, mode, params, shapes
        declined = self._ops is not None and op not in self._ops
        reason = f"{self.about.name} does not name {op} among its operators" if declined else ""
        said = {name: make_plain(str(words[op])) for name, words in self._declared.items() if words.get(op) is not None}
        return Support(reason, Declaration(**said))

    def call(self, question: Request, timeout: float) -> list[Array | None]:
        """See Host."""
        posed = question.posed
        pairs = zip(posed.names, posed.inputs, strict=True)
        inputs = [None if v is None else to_dtype(v, posed.case.dtype_of(name)) for name, v in pairs]
        cotangents = [None if g is None else to_dtype(g, posed.case.dtype) for g in posed.cotangents]
        longest = _max_frame_bytes_of(question, [*inputs, *cotangents])
        gradient = None if posed.mode is Mode.FORWARD else (cotangents, posed.needs)
        place = posed.names.index(posed.case.inplace) if posed.case.inplace else None
        try:
            arrays = self.ask(
                posed.op.called, inputs, posed.params, gradient, timeout,
                threads=question.threads, longest=longest, place=place, names=posed.names,
            )  # fmt: skip
        except Unsupported as reason:
            raise EarlyVerdict(Verdict.UNSUPPORTED, str(reason)) from None
        except BackendFailed as failure:
            raise EarlyVerdict(Verdict.ERROR, str(failure)) from None
        return check_returned([None if a is None else Returned(a.shape, a.dtype.name, a) for a in arrays], question)

    def ask(
        self, op: str, inputs: Tensors, params: Params,
        gradient: tuple[Tensors, Sequence[bool]] | None = None, timeout: float | None = None, *,
        threads: int = 0, longest: int = LONGEST, place: int | None = None, names: Sequence[str | None] = (),
    ) -> list[Array | None]:  # fmt: skip
        """The outputs, or the gradients for given cotangents and needs.

        `place` is the number of the input, of those with these `names`, that the result lies in: then all else that was
        sent comes back, as it is. Raises Unsupported, BackendFailed and HostFault, EarlyVerdict where that changed.
        """
        word = "output" if gradient is None else "gradient"
        metadata, tensors = _request("forward" if gradient is None else "vjp", op, inputs, params, threads)
        if gradient is not None:
            cotangents, needs = gradient
            metadata |= {"needs": json.dumps(list(map(bool, needs))), "cotangents": str(len(cotangents))}
            tensors |= {f"cotangent.{i}": np.asarray(g) for i, g in enumerate(cotangents) if g is not None}
        if place is not None:
            metadata["in_place"] = str(place)
        answer = self._exchange(metadata, tensors, f"{word}s", timeout, longest)
        if place is not None:
            _check_kept(tensors, f"input.{place}" if gradient is None else "cotangent.0", answer, names)
        arrays = _index_tensors(answer, word)
        wanted = [True] * len(arrays) if gradient is None else gradient[1]
        missing = [i for i, want in enumerate(wanted) if want and i not in arrays]
        if missing and place is None:
            there = ", ".join(f"{word}.{i}" for i in sorted(arrays)) or "no tensors at all"
            raise BackendFailed(f"the answer has no tensor {word}.{missing[0]}, but {there}")
        return [arrays.get(i) if want else None for i, want in enumerate(wanted)]

    def close(self, grace: float = 0.0) -> bool:
        """See Host; True where it ended by itself within `grace` seconds of the end of its input."""
        return self._process.stop(grace)

    def last_line(self) -> str:
        """Its last line on stderr, as the end of a sentence."""
        return make_plain(self._process.last_line())

    def _exchange(
        self, metadata: dict[str, str], tensors: Mapping[str, Array], wanted: str, timeout: float | None, longest: int
    ) -> dict[str, Array]:
        limit = self.timeout if timeout is None else timeout
        answer, arrays = self._process.ask(metadata, tensors, limit, longest)[0]
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
        answer, _ = process.ask({"kind": "hello", "protocol": PROTOCOL}, {}, START)[0]
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
    kind: str, op: str, inputs: Tensors, params: Params, threads: int
) -> tuple[dict[str, str], dict[str, Array]]:
    metadata = {"kind": kind, "op": op, "params": params_to_json(params), "inputs": str(len(inputs))}
    if threads:
        metadata["threads"] = str(threads)
    return metadata, {f"input.{i}": np.asarray(x) for i, x in enumerate(inputs) if x is not None}


#: Of what a hello may say in JSON the type, and an example.
_HELLO: Mapping[str, tuple[Any, str]] = {
    "ops": (list, '["relu", "add"]'),
    "compute": (dict, '{"matmul": "tf32"}'),
    "rounding": (dict, '{"mul": "truncate"}'),
    "bits": (dict, '{"scatter_add": "vary"}'),
    "destinations": (list, '["in place"]'),
    "dtypes": (list, '["i32", "f8e4m3"]'),
    "mixed": (bool, "true"),
    "threads": (bool, "true"),
}


def _check_hello(answer: Mapping[str, str]) -> dict[str, Any]:
    if answer.get("kind") == "failed":
        raise BackendFailed(make_plain(answer.get("message", "it failed, and gave no message")))
    if answer.get("kind") != "hello":
        raise BackendFailed(f"the answer is of kind {make_plain(repr(answer.get('kind')))}; expected 'hello'")
    if not answer.get("name"):
        raise BackendFailed("the hello has no name, which reports call the backend by")
    hello: dict[str, Any] = dict(answer)
    for key, (kind, example) in _HELLO.items():
        if key in answer:
            try:
                hello[key] = msgspec.json.decode(answer[key], type=kind)
            except (msgspec.DecodeError, RecursionError):
                got = make_plain(repr(answer[key]))
                raise BackendFailed(f"{key} in the hello is {got}; expected JSON such as {example}") from None
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


def _max_frame_bytes_of(question: Request, inputs: Tensors) -> int:
    """Bytes of the longest frame that is read as an answer: more would be the judge's memory."""
    wanted = sum(math.prod(w.shape) * w.dtype.itemsize for w in question.wanted if w is not None)
    sent = sum(x.nbytes for x in inputs if x is not None)
    return min(LONGEST, _MAX_ANSWER_RATIO * (wanted + sent) + _MAX_EXTRA_ANSWER_BYTES)


def _check_kept(
    tensors: Mapping[str, Array], overwritten: str, answer: dict[str, Array], names: Sequence[str | None]
) -> None:
    """Take all tensors but one out of the answer to a call in place, and compare each to what was sent.

    Raises BackendFailed where one did not come back, EarlyVerdict where it came back changed.
    """
    for name, sent in tensors.items():
        if name == overwritten:
            continue
        back = answer.pop(name, None)
        if back is None:
            raise BackendFailed(
                f"the answer to a call in place has no tensor {name}, to show that it is as it was sent"
            )
        if (back.dtype, back.shape) != (sent.dtype, sent.shape):
            raise BackendFailed(f"the answer has {name} in another dtype or shape than it was sent")
        if changed := int(np.count_nonzero(bytes_of(back) != bytes_of(sent))):
            kind, _, number = name.partition(".")
            called = f"input {names[int(number)]}" if kind == "input" else f"cotangent {number}"
            what = f"{called}: {changed} of {sent.nbytes} bytes changed during the call"
            raise EarlyVerdict(Verdict.INPUT_CHANGED, what)
