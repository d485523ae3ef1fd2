"""Files of cases: shapes of a model, or those that a program ran, as TOML; or ids alone, one a line.

    title = "Llama 3 8B"
    source = "https://..., config.json"

    [[case]]
    id = "linear[x=1x128x4096;weight=4096x4096;bf16]"
    calls = 64            how often the model, or the program, calls it; 1 where it is left out
    flops = 274877906944  of all these calls
    where = "q and o projection"
    level = "smoke"       standard where it is left out

Ids alone are what `opproof list cases` prints; lines that are blank or begin with # do not count.

`opproof run --cases FILE` tries them; cases/models/ holds those that are known by name.
"""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from opproof.cases._case import Case
from opproof.cases._fills.stored import relocate
from opproof.core.errors import CaseError, UsageError
from opproof.core.verdicts import LEVELS

MODELS = Path(__file__).parent / "models"
_ID = re.compile(r"\w+\[.*\]")


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One case of a file."""

    id: str
    level: str = "standard"
    calls: int = 1
    flops: int = 0  # of all calls together; 0 where nobody counted
    where: str = ""


class CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A file of cases; `unmapped`: what a captured program called that is no operator of opproof, and how often."""

    title: str = ""
    source: str = ""
    case: tuple[Entry, ...] = ()
    unmapped: dict[str, int] = {}

    def cases(self, level: str, folder: Path) -> list[Case]:
        """The cases up to `level`, in file order, of a file in `folder`. Raises CaseError for an id that is none."""
        known = LEVELS[: LEVELS.index(level) + 1]
        return [relocate(Case.parse(e.id), folder) for e in self.case if e.level in known]


def names() -> list[str]:
    """Models whose shapes come with opproof."""
    return sorted(p.stem for p in MODELS.glob("*.toml"))


def path_of(text: str) -> Path:
    """The file that `text` names: a path, or a model. Raises UsageError where there is none."""
    path = Path(text)
    if path.is_file():
        return path
    model = MODELS / f"{text}.toml"
    if "/" not in text and model.is_file():
        return model
    raise UsageError(f"no file of cases {text!r}: expected a path to one, or one of {', '.join(names())}.")


def read(path: Path) -> CaseFile:
    """The file at `path`. Raises CaseError where it is no file of cases."""
    try:
        text = path.read_text(encoding="utf-8")
        file = _of_ids(text) or msgspec.toml.decode(text, type=CaseFile)
    except (OSError, UnicodeDecodeError, msgspec.DecodeError) as error:
        raise CaseError(f"{path} is no file of cases: {error}.") from None
    for entry in file.case:
        if entry.level not in LEVELS:
            raise CaseError(f"{path}: level {entry.level!r} of {entry.id}: expected one of {', '.join(LEVELS)}.")
    if not file.case:
        raise CaseError(f"{path} holds no case: expected tables [[case]] with an id each, or an id a line.")
    return file


def _of_ids(text: str) -> CaseFile | None:
    """The file of ids that `text` is, if its first line is one."""
    lines = [line.strip() for line in text.splitlines()]
    ids = [line for line in lines if line and not line.startswith("#")]
    return CaseFile(case=tuple(Entry(i) for i in ids)) if ids and _ID.fullmatch(ids[0]) else None
