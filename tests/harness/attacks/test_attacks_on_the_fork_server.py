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
        elif path.startswith("@opproof-"):
            yield "\\0" + path[1:]


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


#: The socket is a file: another one in its place gets what the run sends its next judge, with the pipes of its records.
STANDS_IN = """
import socket, tempfile
from multiprocessing import reduction


def stand_in(path):
    os.unlink(path)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    while True:
        connection, _ = listener.accept()
        reduction.recvfds(connection, 32)
        open("taken for the server", "w").close()


for line in open("/proc/net/unix"):
    path = line.split()[-1]
    if path.startswith(tempfile.gettempdir()):
        threading.Thread(target=stand_in, args=[path], daemon=True).start()
        time.sleep(0.5)
"""


def test_the_run_takes_nobody_for_the_server(tmp_path):
    (tmp_path / "t").mkdir()
    cases = tuple(f"neg[x=5x{n};f32]" for n in range(1, 200))
    done = run(tmp_path, backend(tmp_path, STANDS_IN), cases, "-j", "4", limit=60, TMPDIR=str(tmp_path / "t"))
    assert not (tmp_path / "taken for the server").exists()
    assert (done.status, done.failing) == (0, {}), done.err


def test_the_server_hears_nobody_but_the_run(tmp_path):
    (tmp_path / "t").mkdir()
    done = run(tmp_path, backend(tmp_path, ASKS), CASES, "-j", "1", TMPDIR=str(tmp_path / "t"))
    assert not (tmp_path / "broken into").exists()
    assert (done.status, done.failing, done.left) == (1, {CASES[2]: "CRASH"}, []), done.err
