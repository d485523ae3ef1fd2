"""The reference, in a new interpreter that knows nothing of what is forbidden here.

Seen: opproof's own attack
Verdict: ERROR
"""

import json
import subprocess
import sys

import numpy as np

PROGRAM = """
import json, sys
import numpy as np
from opproof.reference_ops import load
x, params = json.load(sys.stdin)
print(json.dumps(load(sys.argv[1]).forward(np.array(x), **params).tolist()))
"""


def forward(op, inputs, params):
    asked = json.dumps([inputs[0].tolist(), params])
    done = subprocess.run([sys.executable, "-c", PROGRAM, op], input=asked, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr.splitlines()[-1])
    return np.array(json.loads(done.stdout), inputs[0].dtype)
