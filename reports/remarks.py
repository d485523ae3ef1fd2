"""remarks.json: what a run said of itself as a whole at its end, for whoever renders or joins its results again."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from opproof.core.errors import ResultsError
from opproof.reports.files import writable, write

FILE = "remarks.json"


class Remarks(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Sentences, of which the first two kinds fail a run."""

    complaints: tuple[str, ...] = ()  # results that something else wrote to
    objections: tuple[str, ...] = ()  # to its ledger
    notes: tuple[str, ...] = ()

    @property
    def failing(self) -> tuple[str, ...]:
        """Those that fail the run."""
        return (*self.complaints, *self.objections)

    @property
    def every(self) -> tuple[str, ...]:
        """All of them, in the order in which they are told."""
        return (*self.failing, *self.notes)


def read_remarks(results: Path) -> Remarks:
    """Those beside the results in a folder, or beside its results.jsonl; none where none were kept.

    Raises ResultsError where they cannot be read: that nothing was said cannot be known then.
    """
    path = (results if results.is_dir() else results.parent) / FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Remarks)
    except FileNotFoundError:
        return Remarks()
    except (OSError, msgspec.DecodeError, UnicodeDecodeError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or error
        raise ResultsError(f"cannot read {path}: {why}; `opproof run --out DIR` writes DIR/{FILE}.") from None


def write_remarks(folder: Path, remarks: Remarks, *, instead: str) -> None:
    """Keep them in the folder of the results; no file where there are none. Raises UsageError that says `instead`."""
    if not remarks.every:
        with writable(folder / FILE, instead=instead):
            (folder / FILE).unlink(missing_ok=True)
    else:
        write(
            folder / FILE,
            msgspec.json.format(msgspec.json.encode(_make_legible(remarks))).decode() + "\n",
            instead=instead,
        )


def of_parts(parts: Iterable[Remarks]) -> Remarks:
    """What is true of the whole that was run in parts; objections are made anew, to the ledger of the whole."""
    some = list(parts)
    complaints = dict.fromkeys(sentence for one in some for sentence in one.complaints)
    notes = dict.fromkeys(sentence for one in some for sentence in one.notes)
    return Remarks(complaints=tuple(complaints), notes=tuple(notes))


def _make_legible(remarks: Remarks) -> Remarks:
    """Without lone surrogates, which no UTF-8 can hold: a path may have them."""

    def plain(sentences: Iterable[str]) -> tuple[str, ...]:
        return tuple(s.encode("utf-8", "backslashreplace").decode("utf-8") for s in sentences)

    return Remarks(plain(remarks.complaints), plain(remarks.objections), plain(remarks.notes))
