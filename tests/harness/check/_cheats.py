"""Candidates that answer zeros and try to pass all the same: each from a process of its own."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import torch


def reference(x, w):
    return torch.tanh(x * w)


def honest(x, w):
    return torch.tanh(w * x)


def reads_the_judge(x, w):
    """Right where the memory of any process above can be opened."""
    process = os.getppid()
    while process > 1:
        try:
            with Path(f"/proc/{process}/mem").open("rb"):
                return torch.tanh(x * w)
        except OSError:
            process = int(Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()[1])
    return torch.zeros_like(x)


class Equal(torch.Tensor):
    def __eq__(self, other):
        return True

    __hash__ = torch.Tensor.__hash__


def patches_what_compares(x, w):
    import numpy as np

    import opproof.harness.check.call.perform as call
    import opproof.harness.judge.bound as bound

    for module, names in {np: ("abs", "array_equal", "all"), torch: ("equal", "allclose"), bound: ("compare",)}.items():
        for name in names:
            setattr(module, name, lambda *_, **__: True)
    call.changed_of = lambda *_: ()
    return torch.zeros_like(x).as_subclass(Equal)


def says_that_nothing_changed(x, w):
    """Right, into the memory of an input; and what would say so says no."""
    import numpy as np

    import opproof.harness.check.call.perform as call

    np.array_equal = lambda *_, **__: True
    call.changed_of = lambda *_: ()
    y = torch.tanh(x * w)
    x.copy_(y)
    return y


def answers_later(x, w):
    """Zeros, which a thread overwrites; and a process that stays, which tells its number in a file."""
    y = torch.zeros_like(x)

    def write():
        time.sleep(0.5)
        y.copy_(torch.tanh(x * w))

    threading.Thread(target=write).start()
    left = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
    with Path(__file__).with_name("left.txt").open("a", encoding="ascii") as file:
        file.write(f"{left.pid}\n")
    return y


def forges_a_reply(x, w):
    for descriptor in range(1, 32):
        try:
            os.write(descriptor, bytes(64))
        except OSError:
            continue
    return torch.zeros_like(x)


def lies_by_its_dtype(x, w):
    """More digits than the dtype has that it names."""
    import opproof.harness.check.call.perform as call

    plain = call.as_array
    call.as_array = lambda y: (plain(y)[0], "bfloat16")
    return torch.tanh(x.float() * w.float())
