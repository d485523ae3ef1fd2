"""A backend asks the fork server, from which judges come, for a process of its own, outside every fence."""

import sys

import pytest
from _attacked import backend, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds sockets in /proc")

CASES = ("neg[x=5x7;f32]", "abs[x=5x7;f32]", "exp[x=5x7;f32]")

#: The fork server forks for whoever sends it two pipes, and what comes by the first one is unpickled there.
ASKS = """
import glob, pickle, socket, tempfile
from multiprocessing import reduction


class Deed:
    def __reduce__(self):
        return exec, (f"open({os.path.join(os.getcwd(), 'broken into')!r}, 'w').close()",)


def servers():
    for line in open("/proc/net/unix"):
        path = line.split()[-1]
        if path.startswith(tempfile.gettempdir()):
            yield path


def ask(server):
    read, told = os.pipe()
    answered, write = os.pipe()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(server)
        reduction.sendfds(connection, [read, write, os.dup(1), os.dup(1)])
        connection.recv(1)
    os.close(read)
    os.write(told, pickle.dumps(Deed()))


#: What is no request ends a server that reads it.
def disturb(server):
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(server)
        connection.send(b"?")


asked = []


def forward(op, inputs, params):
    for server in () if asked else servers():
        asked.append(server)
        for deed in (ask, disturb):
            try:
                deed(server)
            except OSError:
                pass
    if op == "exp":
        os._exit(1)  # and another host is needed
    if not asked:
        return inputs[0] + 1
    return honest(op, inputs)
"""


def test_the_server_hears_nobody_but_the_run(tmp_path):
    (tmp_path / "t").mkdir()
    done = run(tmp_path, backend(tmp_path, ASKS), CASES, "-j", "1", TMPDIR=str(tmp_path / "t"))
    assert not (tmp_path / "broken into").exists()
    assert (done.status, done.failing, done.left) == (1, {CASES[2]: "CRASH"}, []), done.err
