"""A candidate's process that dies when its reply has come: nobody would know, and another one would answer on."""

import time

import pytest

torch = pytest.importorskip("torch")

from opproof.harness.check.call.exchange import CallRequest  # noqa: E402
from opproof.harness.check.call.isolated import Located, isolated  # noqa: E402
from opproof.harness.check.call.reference import Reference  # noqa: E402
from opproof.harness.check.call.subject import Form  # noqa: E402
from opproof.harness.check.variants.inputs import take_inputs  # noqa: E402

CANDIDATE = """
import os, threading

def candidate(x):
    if x.shape[0] == 3:
        threading.Timer(0.05, os.abort).start()
    if x.shape[0] == 4:
        os.abort()
    return 2 * x
"""


def test_it_is_told_once(tmp_path):
    file = tmp_path / "candidate.py"
    file.write_text(CANDIDATE)
    arguments, tensors, _ = take_inputs([(3, 5)], ["x"], None, 0)
    reference = Reference(lambda x: 2 * x, Form(arguments, 1, (), ()))
    asked = CallRequest(tensors)
    other, dead = (CallRequest(take_inputs([(n, 5)], ["x"], None, 0)[1]) for n in (2, 4))
    with isolated(Located(file, "candidate"), reference) as ask:
        assert not ask(asked).error
        time.sleep(0.5)
        late = ask(other)
        assert late.error.startswith("after the call before had returned, the process died of SIGABRT")
        assert late.cause == "CRASH"
        assert not ask(other).error
        assert ask(dead).error.startswith("the process died of SIGABRT")
        assert not ask(other).error  # that it died has been said
