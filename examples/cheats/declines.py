"""No answer to anything that it could fail.

Seen: test suites that count what was skipped as passed
Verdict: UNSUPPORTED
"""

from opproof.backends import Unsupported


def forward(op, inputs, params):
    raise Unsupported("not today")
