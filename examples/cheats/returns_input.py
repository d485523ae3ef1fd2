"""The input itself, for operators near the identity, or to fill a result with plausible numbers.

Seen: wafer.ai, "A Field Guide to Reward Hacking in AI Kernel Generation"
Verdict: WRONG_VALUE
"""


def forward(op, inputs, params):
    return inputs[0]
