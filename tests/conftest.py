"""What all tests share."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile

# Worker processes of several tests run at once; each keeps to one thread.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# A background job of a script ignores SIGINT, and so would everything that it starts; tests of Ctrl-C send it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Runs of tests share a cache of their own, which ends with them.
os.environ["OPPROOF_CACHE"] = tempfile.mkdtemp(prefix="opproof-tests-")
atexit.register(shutil.rmtree, os.environ["OPPROOF_CACHE"], ignore_errors=True)

# The tests' faulty backends are made of the references, which hosts refuse to backends otherwise.
os.environ["OPPROOF_REFERENCES"] = "allowed"
