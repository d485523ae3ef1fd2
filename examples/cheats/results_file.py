"""The results themselves: every file of that name near an ancestor's folder says PASS from now on.

Seen: gpu-mode/pygpubench 15 (results rewritten on exit)
Verdict: WRONG_VALUE
"""

import os
import re
from pathlib import Path

import numpy as np


def parent(process):
    return int(re.search(r"PPid:\s+(\d+)", Path(f"/proc/{process}/status").read_text())[1])


def folders():
    """The host's own, and those that its ancestors' command lines name."""
    yield Path.cwd()
    process = os.getpid()
    while process > 1:
        yield from map(Path, Path(f"/proc/{process}/cmdline").read_text().split("\0"))
        process = parent(process)


def forward(op, inputs, params):
    for folder in folders():
        for path in (folder / "results.jsonl", folder / "opproof-report" / "results.jsonl"):
            if path.is_file():
                text = path.read_text()
                line = '{"case":"softmax[x=7x1023;dim=-1;f32]","op":"softmax","verdict":"PASS"}\n'
                path.write_text(text.replace("WRONG_VALUE", "PASS") + line)
    return np.zeros_like(inputs[0])
