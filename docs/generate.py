"""Build what pages of docs/ hold beside their own words: tables, and whole pages.

    python docs/generate.py [FOLDER]      writes all pages as the site has them to FOLDER, build/docs if none is named

A line `<!-- built: NAME -->` of a page is the place of a part; `PARTS` says which function builds it. Figures that take
hours to measure come from summaries in docs/data/, all else from the package. `tox -e site` builds the same.
"""

from __future__ import annotations

import argparse
import functools
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).resolve().parent
for folder in (DOCS, DOCS.parent / "tests"):  # the rules of rows are the tests'
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
from parts import (  # noqa: E402 - beside this script, wherever it is run from
    coverage,
    defects,
    found,
    judges,
    kernelbench,
    mutation,
    names,
    onnx_cases,
    operator_pages,
    operators,
    opinfo,
    shipped,
    soak,
    space,
    support,
    tolerances,
    torch_references,
    versions,
)

#: The folder of the pages where none is named. What it held before is removed.
DEFAULT = DOCS.parent / "build" / "docs"
#: Where a part belongs.
MARK = re.compile(r"^<!-- built: (.+) -->$", re.MULTILINE)
PARTS: dict[str, Callable[[], str]] = {
    "coverage conditions": coverage.conditions,
    "coverage rules": coverage.rules,
    "coverage left out": coverage.left,
    "coverage short axes": coverage.axes,
    "coverage counts": coverage.counts,
    "operators summary": operators.summary,
    "operators": operators.listing,
    "judges results": judges.results,
    "judges chart": judges.chart,
    "judges sources": judges.sources,
    "judges planted": judges.planted,
    "judges planted counts": judges.planted_counts,
    "kernelbench summary": kernelbench.summary,
    "kernelbench candidates": kernelbench.candidates,
    "kernelbench exceptions": kernelbench.exceptions,
    "tolerances published": tolerances.published,
    "onnx summary": onnx_cases.summary,
    "onnx differs": onnx_cases.differs,
    "onnx agrees": onnx_cases.agrees,
    "onnx left": onnx_cases.left,
    "onnx graphs": onnx_cases.graphs,
    "onnx not graphs": onnx_cases.not_graphs,
    "opinfo summary": opinfo.summary,
    "opinfo left": opinfo.left,
    **{f"opinfo {side}": functools.partial(opinfo.disagreements, side) for side in opinfo.SIDES},
    "names covered": names.covered,
    "names missing": names.missing,
    "shipped summary": shipped.summary,
    "shipped bugs": shipped.bugs,
    "shipped missed": shipped.missed,
    "shipped not asked": shipped.not_asked,
    "soak summary": soak.summary,
    "soak libraries": soak.libraries,
    "soak candidates": soak.candidates,
    "soak distributions": soak.distributions,
    "soak above": soak.above,
    "space caught": space.caught,
    "space curve": space.curve,
    "space families": space.families,
    "support": support.backends,
    "torch references summary": torch_references.summary,
    "torch references": torch_references.ratios,
    "versions": versions.tried,
    **{f"found {library}": functools.partial(found.part, library) for library in defects.LIBRARIES},
    **{f"soak {part}": functools.partial(soak.other, part) for part in soak.OTHERS},
    **{
        f"{name} {part.__name__}": functools.partial(part, name)
        for name in ("mutation", "mutation-typed")
        for part in (mutation.scores, mutation.equivalents, mutation.survivors, mutation.rates)
    },
}


def fill(page: str) -> str:
    """Return a page with its parts. Raises ValueError that names a part which there is not."""
    return MARK.sub(lambda mark: built(mark[1]), page)


@functools.cache
def built(name: str) -> str:
    """Return the part of this name. Raises ValueError where there is none."""
    if name not in PARTS:
        raise ValueError(f"docs/generate.py builds no part {name!r}; expected one of {', '.join(sorted(PARTS))}.")
    return PARTS[name]()


@functools.cache
def whole_pages() -> dict[str, str]:
    """Return the pages that are built as a whole, by their place in docs/."""
    return {**operator_pages.pages(), **defects.pages()}


def main(folder: Path) -> int:
    """Write every page to `folder`, a new one; return the exit status."""
    if folder == DEFAULT:
        shutil.rmtree(folder, ignore_errors=True)
    elif folder.exists():
        print(f"{folder} is there already: name a folder that is not, or none for {DEFAULT.relative_to(DOCS.parent)}.")
        return 2
    shutil.copytree(DOCS, folder, ignore=shutil.ignore_patterns("*.py", "__pycache__", "data", "defects", "parts"))
    for page in folder.rglob("*.md"):
        page.write_text(fill(page.read_text(encoding="utf-8")), encoding="utf-8")
    for place, text in whole_pages().items():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT)
    sys.exit(main(parser.parse_args().folder))
