"""A backend joins the cluster that judges it, to write its own verdicts there, or looks for the key that it needs."""

import http.client
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress

import psutil
import pytest
from _attacked import backend, run
from _dask import Started

from opproof.harness.run.hardening import warn_unguarded

distributed = pytest.importorskip("distributed")
pytest.importorskip("cryptography")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="finds ports and processes in /proc")

CASES = ("neg[x=5x7;f32]", "abs[x=5x7;f32]")

#: Wrong for neg, and makes a pass of all that a worker judges where a worker lets it.
JOINS = """
FORGED = '''
import dataclasses
import opproof.harness.run.cluster as worker
from opproof.core.verdicts import Verdict

honest = worker.to_call_names
worker.to_call_names = lambda result, at: dataclasses.replace(honest(result, at), verdict=Verdict.PASS)
'''
joined = []


def ports():
    for line in open("/proc/net/tcp"):
        fields = line.split()
        if fields[3] == "0A":
            yield int(fields[1].partition(":")[2], 16)


def join(address):
    import distributed

    try:
        distributed.Client(address, timeout=2).run(exec, FORGED, {})
    except Exception:
        pass


def join_all():
    addresses = [f"{protocol}://127.0.0.1:{port}" for port in set(ports()) for protocol in ("tcp", "tls")]
    threads = [threading.Thread(target=join, args=[address], daemon=True) for address in addresses]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + 15
    for thread in threads:
        thread.join(max(0, ends - time.monotonic()))


def forward(op, inputs, params):
    if not joined:
        joined.append(True)
        join_all()
    return inputs[0] if op == "neg" else honest(op, inputs)
"""

#: Wrong for neg where it finds something of a key: in its own environment, another process's, or a temporary file.
LOOKS = """
import glob, tempfile


def read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def texts():
    # Not the scheduler's: it is no process of ours, and Landlock alone could hide it
    yield repr(dict(os.environ)).encode()
    for process in glob.glob("/proc/[0-9]*"):
        if b"scheduler" not in read(process + "/cmdline"):
            yield read(process + "/environ")
    yield from map(read, glob.glob(tempfile.gettempdir() + "/*/dask.*"))


def forward(op, inputs, params):
    return inputs[0] if any(b"PRIVATE" + b" KEY" in text for text in texts()) else honest(op, inputs)
"""


#: Takes its time, in which the cluster can be looked at.
SLOW = """
def forward(op, inputs, params):
    time.sleep(3)
    return honest(op, inputs)
"""
PAGES = ("/json/identity.json", "/info/main/workers.html", "/health")


def serves(port, page):
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=2)) as connection:
        try:
            connection.request("GET", page)
            with closing(connection.getresponse()) as response:
                return response.status == 200
        except (OSError, http.client.HTTPException):
            return False


def listening(process):
    """Ports that a process and those that it started listen at."""
    found = set()
    for one in (process, *process.children(recursive=True)):
        with suppress(psutil.Error):
            found |= {c.laddr.port for c in one.net_connections("tcp") if c.status == psutil.CONN_LISTEN}
    return found


def guarded():
    """The environment of a cluster with keys, which stand in it as text."""
    keys, prefix = distributed.Security.temporary(), "DASK_DISTRIBUTED__COMM__"
    made = {f"{prefix}REQUIRE_ENCRYPTION": "True", f"{prefix}TLS__CA_FILE": keys.tls_ca_file}
    for role in ("scheduler", "worker", "client"):
        for part in ("key", "cert"):
            made[f"{prefix}TLS__{role.upper()}__{part.upper()}"] = getattr(keys, f"tls_{role}_{part}")
    return made


@contextmanager
def cluster(folder, protocol="tcp", environment=None):
    """With one worker; the address."""
    started = Started(folder, protocol, environment)
    started.start_worker()
    time.sleep(3)
    try:
        yield started.address
    finally:
        started.stop()


def test_a_backend_cannot_join_a_local_cluster(tmp_path):
    done = run(
        tmp_path, backend(tmp_path, JOINS), CASES, "--dask", "local", "-j", "1", "--timeout", "100", "--no-cache"
    )
    assert (done.status, done.failing) == (1, {CASES[0]: "WRONG_VALUE"}), done.err


def test_a_local_cluster_serves_no_page(tmp_path):
    """Of tasks, of workers, of what they log: to nobody, the backend that it judges among them."""
    command = [sys.executable, "-m", "opproof.harness", "run", "-b", str(backend(tmp_path, SLOW)), "--case", CASES[0]]
    options = ["--dask", "local", "-j", "1", "--no-cache", "--quiet", "--out", str(tmp_path / "out")]
    seen, served = set(), set()
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as started:
        while started.poll() is None:
            new = listening(psutil.Process(started.pid)) - seen
            seen |= new
            served |= {(port, page) for port in new for page in PAGES if serves(port, page)}
            time.sleep(0.2)
        out = started.stdout.read()
    assert started.returncode == 0, out
    assert seen
    assert not served
    assert "UserWarning" not in out


def test_a_backend_that_joins_an_open_cluster_writes_its_own_verdict_and_the_run_says_so(tmp_path):
    """What the keys are for; without them the attack succeeds, and a harness must not keep silent about it."""
    with cluster(tmp_path) as address:
        done = run(tmp_path, backend(tmp_path, JOINS), CASES, "--dask", address, "--no-cache")
    assert done.status == 0
    assert f"The scheduler at {address} asks nobody for a key" in done.out


def test_the_keys_of_a_cluster_are_not_where_a_backend_can_look(tmp_path):
    environment, spec = guarded(), backend(tmp_path, LOOKS)
    with cluster(tmp_path, "tls", environment) as address:
        options = ("--dask", address, "--no-cache")
        done = run(tmp_path, spec, CASES, *options, **environment)
        without = run(tmp_path, spec, CASES, *options)
    assert (done.status, done.failing) == (0, {}), done.err
    assert "asks nobody" not in done.out
    assert (without.status, without.err.count("\n")) == (2, 1)
    assert f"no word with the Dask scheduler at {address}" in without.err


@pytest.mark.parametrize("address", ["", "local", "tls://a:1"])
def test_nothing_is_said_of_a_guarded_cluster(address):
    assert warn_unguarded(address) == []
