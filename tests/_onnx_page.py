"""docs/reference/onnx.md from the verdicts. `python tests/_onnx_page.py` writes it."""

from collections import Counter
from importlib.metadata import version
from pathlib import Path

from _onnx_cases import EXPLAINED, node_cases, run

PAGE = Path(__file__).parent.parent / "docs" / "reference" / "onnx.md"
HEAD = """\
# ONNX as an independent oracle

<!-- Written by tests/_onnx_page.py, which tests/reference_ops/test_onnx_oracle.py compares with this page. -->

`opproof selfcheck` compares the NumPy references with PyTorch. ONNX is a third party to both: its node
cases (pip `onnx` {version}) hold inputs and expected outputs that its own reference computed.
`tests/reference_ops/test_onnx_oracle.py` runs every one of them that our operators express, through tables
(`harness/capture/onnx/table.py`) that translate attributes and move axes but do no arithmetic.

Inputs are widened to float64. Integers, indices, booleans and the outputs of operators that do not round are
compared exactly. Others are compared within the rounding of ONNX's own arithmetic: relative 10⁻⁵ and absolute 10⁻⁶
for float32, 2·10⁻³ and 10⁻⁴ for float16, 2·10⁻² and 10⁻³ for bfloat16.

| node cases | |
|---|---:|
| in the package | {total} |
| run on our references | {tried} |
| agree | {agree} |
| differ, each explained below | {differ} |
| not run | {others} |

{ops} of our operators take part.
"""


def verdicts():
    """The verdicts on all node cases."""
    return [run(case) for case in node_cases()]


def page(found):
    """The page."""
    agree = [v for v in found if v.verdict == "agrees"]
    differ = [v for v in found if v.verdict == "differs"]
    others = [v for v in found if v.verdict == "not ours"]
    numbers = {"total": len(found), "tried": len(agree) + len(differ), "agree": len(agree), "differ": len(differ)}
    ops = len({o for v in agree for o in v.ops})
    text = HEAD.format(version=version("onnx"), others=len(others), ops=ops, **numbers)
    text += "\n## What differs\n\n| case | seen | because |\n|---|---|---|\n"
    text += "".join(f"| `{v.case}` | {v.why} | {EXPLAINED.get(v.case, 'unexplained')} |\n" for v in differ)
    text += "\n## What agrees\n\n| ONNX | our operators | cases |\n|---|---|---:|\n"
    for node in sorted({v.node for v in agree}):
        mine = [v for v in agree if v.node == node]
        ops = ", ".join(f"`{o}`" for o in dict.fromkeys(o for v in mine for o in v.ops))
        text += f"| {node} | {ops} | {len(mine)} |\n"
    text += "\n## What is not run\n\n| reason | cases | ONNX |\n|---|---:|---|\n"
    reasons = Counter(v.why for v in others)
    for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0])):
        nodes = sorted({v.node for v in others if v.why == reason})
        text += f"| {reason} | {count} | {', '.join(nodes)} |\n"
    return text


if __name__ == "__main__":
    PAGE.write_text(page(verdicts()), encoding="utf-8")
