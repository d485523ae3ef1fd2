"""What all tests share."""

from __future__ import annotations

import os

# Worker processes of several tests run at once; each keeps to one thread.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

# The tests' faulty backends are made of the references, which hosts refuse to backends otherwise.
os.environ["OPPROOF_REFERENCES"] = "allowed"
