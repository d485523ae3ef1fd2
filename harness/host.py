"""The machine that judges, as headers of results and benches have it."""

from __future__ import annotations

import os
import platform

import numpy as np


def host() -> dict[str, str]:
    """System, machine, versions of Python and NumPy, and how many processors there are."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "cpus": str(os.cpu_count()),
    }
