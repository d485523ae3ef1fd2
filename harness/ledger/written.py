"""An entry as it stands in a ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import asdict

from opproof.core.text import visible
from opproof.harness.ledger.limits import limits_of
from opproof.reports import Result
from opproof.reports._text import line, plural

_BLANK = "  # say why this fails, and whose defect it is; opproof refuses an entry without a reason"

#: Where on this machine a package lies: of no interest in a file that others read.
_PLACE = re.compile(r"(?<=\()/\S*?/(?:site-packages/|(?=opproof/))")


def written(patterns: Sequence[str], failures: Sequence[Result], reason: str = "", **more: str) -> str:
    """The entry for failures of one backend, mode and verdict, with `more` keys; in a comment, what it is made of."""
    first = failures[0]
    why = next((t for r in failures for t in (r.diagnosis, r.message) if t), "")
    example = " ".join(visible(first.repro or first.case).split())
    rows = [f"# {plural(len(failures), 'record')}, such as {example}"]
    rows += [f"# {_PLACE.sub('', line(why))[:200]}"] * bool(why)
    rows += ["[[known]]", f"patterns = {_listed(patterns)}", f"backends = {_listed([first.backend])}"]
    rows += [f'modes = ["{first.mode}"]', f'verdict = "{first.verdict}"']
    rows += [f"{name} = {_value(value)}" for name, value in asdict(limits_of(failures)).items() if value]
    rows += [f"{name} = {value}" for name, value in more.items()]
    rows.append(f"reason = {_toml(reason)}{'' if reason else _BLANK}")
    return "\n".join(rows) + "\n"


def _listed(texts: Sequence[str]) -> str:
    if len(texts) == 1:
        return f"[{_toml(texts[0])}]"
    return "[\n" + "".join(f"    {_toml(text)},\n" for text in texts) + "]"


def _value(value: float | bool) -> str:
    return "true" if value is True else f"{value:.12g}"


def _toml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
