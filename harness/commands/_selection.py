"""The options of a command that choose cases, as the selection they stand for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from opproof.harness.commands._values import listed

if TYPE_CHECKING:
    from opproof.harness.run.plan import Selection


def selection_of(options: Mapping[str, Any], **rest: Any) -> Selection:
    """What -o, -k, --level, --mode, --dtype, --case, --cases and --ops choose; `rest` are other fields of Selection.

    Raises UsageError for a file of cases that is neither a file nor a model's name.
    """
    from opproof.cases._file import path_of
    from opproof.core.verdicts import MODES
    from opproof.harness.run.plan import Selection

    return Selection(
        ops=listed(options["names"]),
        keyword=options["keyword"],
        level=options["level"],
        modes=(options["mode"],) if options["mode"] else MODES,
        dtypes=listed(options["dtypes"]),
        cases=options["cases"],
        case_files=tuple(str(path_of(text)) for text in options["case_files"]),
        folders=options["folders"],
        **rest,
    )
