"""Counts what ONNX's node cases say of the references. `python tests/_onnx_page.py` writes docs/data/onnx.json."""

from collections import Counter
from importlib.metadata import version
from pathlib import Path

from _onnx_cases import EXPLAINED, node_cases, run

from opproof.core.text import dump_json

FILE = Path(__file__).parent.parent / "docs" / "data" / "onnx.json"


def verdicts():
    """The verdicts on all node cases."""
    return [run(case) for case in node_cases()]


def summarize(found):
    """The counts of agreement by node, every disagreement with its reason, and what is not run."""
    agree = [v for v in found if v.verdict == "agrees"]
    others = [v for v in found if v.verdict == "not ours"]
    reasons = Counter(v.why for v in others)
    return {
        "version": version("onnx"),
        "cases": len(found),
        "operators": len({o for v in agree for o in v.ops}),
        "differ": [
            {"case": v.case, "seen": v.why, "because": EXPLAINED.get(v.case, "unexplained")}
            for v in found
            if v.verdict == "differs"
        ],
        "agree": [_count_node(node, agree) for node in sorted({v.node for v in agree})],
        "not run": [
            {"reason": reason, "cases": count, "nodes": sorted({v.node for v in others if v.why == reason})}
            for reason, count in sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        ],
    }


def _count_node(node, agree):
    mine = [v for v in agree if v.node == node]
    return {"node": node, "operators": [*dict.fromkeys(o for v in mine for o in v.ops)], "cases": len(mine)}


if __name__ == "__main__":
    FILE.write_text(dump_json(summarize(verdicts())), encoding="utf-8")
