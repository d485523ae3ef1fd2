"""An exception that calls itself the verdict.

Seen: harnesses whose control flow is exceptions
Verdict: ERROR
"""


class Settled(BaseException):
    verdict = "PASS"
    message = ""

    def __str__(self):
        return "PASS"


def forward(op, inputs, params):
    raise Settled
