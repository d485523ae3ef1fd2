"""Gather of no indices kills the process: SIGFPE

Ledger: embedding forward, index_select forward
Expected: lives
"""

import subprocess
import sys
from pathlib import Path

program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import numpy as np
from preamble import run
run("Gather", [np.ones((3, 5), np.float32), np.zeros(0, np.int64)])
"""
status = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True).returncode
print(f"dies of signal {-status}" if status < 0 else "lives")
