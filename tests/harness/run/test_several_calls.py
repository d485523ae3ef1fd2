"""The calls of a small case travel in one frame, and say what they say one by one."""

import os

import numpy as np
import pytest

from opproof.cases import Case
from opproof.core.verdicts import Mode, Verdict
from opproof.harness.judge.outputs import EarlyVerdict
from opproof.harness.reference.chunks.question import make_fitting_question
from opproof.harness.run.hosts.process import HostFault
from opproof.harness.run.hosts.start import start_host
from opproof.harness.run.request import Request, wanted_of
from opproof.harness.run.task import HostLimits
from opproof.reference_ops import load

pytestmark = pytest.mark.skipif(os.name != "posix", reason="hosts of their own need POSIX")

#: relu, which notes its calls in a file, and at the call of that number does something else.
NOTED = """
import time
from pathlib import Path
import numpy as np
name, version, device = "noted", "1", "cpu"
NOTES = Path({notes!r})
def forward(op, inputs, params):
    with NOTES.open("a") as file:
        file.write("x")
    if len(NOTES.read_text()) == {number}:
        {deed}
    return np.maximum(inputs[0], 0)
"""
WRITES = """
import numpy as np
name, version, device = "writes", "1", "cpu"
def forward_into(op, inputs, params, out):
    out[0][...] = np.maximum(inputs[0], 0)
"""


IN_PLACE = """
import numpy as np
name, version, device, destinations = "placed", "1", "cpu", ("in place",)
def forward(op, inputs, params, out=None):
    np.maximum(inputs[0], 0, out=out[0])
"""


@pytest.fixture
def host_of(tmp_path):
    """Hosts of backends, from their text."""
    hosts = []

    def started(text):
        (tmp_path / "b.py").write_text(text)
        hosts.append(start_host(str(tmp_path / "b.py"), HostLimits(1, 30.0, 2**32)))
        return hosts[-1]

    yield started
    for host in hosts:
        host.close()


def noted(tmp_path, number=0, deed="pass"):
    return NOTED.format(notes=str(tmp_path / "notes"), number=number, deed=deed)


def questions(text="relu[x=7x33;f32]"):
    """The three of a case: other data, the judged ones, the other data again."""
    case = Case.parse(text)
    pair = make_fitting_question(case, load(case.op), Mode.FORWARD)
    wanted = wanted_of(pair.case_data, pair.outputs)
    asked, other = Request(pair.case_data, wanted, at_end=True), Request(pair.decoy_data, wanted, at_end=False)
    return other, asked, other


@pytest.fixture
def requests(monkeypatch):
    """How many frames each request was answered by."""
    from opproof.harness.run.hosts.process import HostProcess

    counts = []
    exchanges = HostProcess.exchange_several

    def counted(self, request, timeout, longest, count):
        counts.append(count)
        return exchanges(self, request, timeout, longest, count)

    monkeypatch.setattr(HostProcess, "exchange_several", counted)
    return counts


def test_three_calls_are_one_request(tmp_path, host_of, requests):
    asked = questions()
    host = host_of(noted(tmp_path))
    del requests[:]
    given = list(host.several(asked, 30.0))
    assert requests == [3]
    assert (tmp_path / "notes").read_text() == "xxx"
    for question, (y,) in zip(asked, given, strict=True):
        assert np.array_equal(y, np.maximum(question.posed.inputs[0], 0))
        (alone,) = host.call(question, 30.0)
        assert np.array_equal(y, alone)


def test_each_call_has_its_own_parameters(host_of):
    """Other data of an operator that draws come with another key."""
    host = host_of("""
import numpy as np
name, version, device = "told", "1", "cpu"
def forward(op, inputs, params):
    return inputs[0], np.full(inputs[0].shape, params["key"] % 2 == 0)
""")
    case = Case.parse("dropout[x=7x33;p=0.4;key=2;f32]")
    pair = make_fitting_question(case, load(case.op), Mode.FORWARD)
    wanted = wanted_of(pair.case_data, pair.outputs)
    asked, other = Request(pair.case_data, wanted), Request(pair.decoy_data, wanted, at_end=False)
    keys = [q.posed.params["key"] for q in (other, asked, other)]
    assert len(set(keys)) == 2
    given = [bool(mask.all()) for _, mask in host.several((other, asked, other), 30.0)]
    assert given == [key % 2 == 0 for key in keys]


@pytest.mark.parametrize(
    ("text", "case"),
    [(WRITES, "relu[x=7x33;f32]"), (noted, "relu[x=700x1033;f32]"), (IN_PLACE, "relu[x=7x33;f32;inplace=x]")],
)
def test_one_by_one_where_it_would_not_be_the_same(tmp_path, host_of, requests, text, case):
    """What writes to the arena by itself could still be writing; large tensors would take three times the room."""
    host = host_of(text if isinstance(text, str) else noted(tmp_path))
    del requests[:]
    given = list(host.several(questions(case), 30.0))
    assert requests == [1, 1, 1]
    assert len(given) == 3


def test_after_a_call_that_went_wrong_there_are_no_more(tmp_path, host_of):
    host = host_of(noted(tmp_path, 2, "raise ValueError('the second')"))
    answers = host.several(questions(), 30.0)
    next(answers)
    with pytest.raises(EarlyVerdict, match="the second") as settled:
        next(answers)
    assert settled.value.verdict is Verdict.ERROR
    assert (tmp_path / "notes").read_text() == "xx"
    assert list(host.several(questions(), 30.0))  # and it can be asked again


def test_an_input_changed_in_one_call_of_three(tmp_path, host_of):
    host = host_of(noted(tmp_path, 2, "inputs[0][...] = 1"))
    answers = host.several(questions(), 30.0)
    next(answers)
    with pytest.raises(EarlyVerdict) as settled:
        next(answers)
    assert settled.value.verdict is Verdict.INPUT_CHANGED


def test_a_read_past_the_end_of_one_call_of_three(tmp_path, host_of):
    """Between the parts of the arena there are guards, as around the only one."""
    deed = "import ctypes; ctypes.string_at(inputs[0].ctypes.data + inputs[0].nbytes, 4096)"
    host = host_of(noted(tmp_path, 2, deed))
    with pytest.raises(HostFault) as fault:
        list(host.several(questions(), 30.0))
    assert fault.value.guard


def test_each_call_has_its_own_time(tmp_path, host_of):
    """Together they take longer than one may, and no call does."""
    host = host_of(noted(tmp_path).replace("        pass", "        pass\n    time.sleep(0.4)"))
    assert len(list(host.several(questions(), 1.0))) == 3
    (tmp_path / "notes").unlink()
    host = host_of(noted(tmp_path, 3, "time.sleep(60)"))
    with pytest.raises(HostFault, match="no answer within 1 s") as fault:
        list(host.several(questions(), 1.0))
    assert fault.value.verdict is Verdict.TIMEOUT


def test_what_is_written_to_the_last_of_three_after_it_returned(tmp_path, host_of):
    """A thread that goes on: `late` looks where the last call lay."""
    thread = (
        "import threading; x = inputs[0]; "
        "threading.Thread(target=lambda: (time.sleep(0.3), x.__setitem__(..., 1))).start()"
    )
    host = host_of(noted(tmp_path, 3, thread))
    import time

    list(host.several(questions(), 30.0))
    time.sleep(0.8)
    with pytest.raises(EarlyVerdict, match="after it had returned") as settled:
        host.late()
    assert settled.value.verdict is Verdict.INPUT_CHANGED
